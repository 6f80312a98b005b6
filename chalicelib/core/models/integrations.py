"""Integrations of an organization: buckets, job clusters, hosted templates.

Secrets are sealed in one member of the record, which responses never show.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.records import RecordKind
from chalicelib.core.resource import HOST, ONE_LINE, WEB_URL, Name, Resource

BucketName = Annotated[str, Meta(min_length=1, max_length=63, pattern=ONE_LINE)]
StoreType = Literal["AWS", "MINIO", "GCP", "OCI", "VAST", "AZURE", "S3BASIC"]
StorageClass = Literal["STANDARD", "DEEP_ARCHIVE", "COLDLINE"]
Url = Annotated[str, Meta(min_length=1, max_length=2048), WEB_URL]
Host = Annotated[str, Meta(min_length=1, max_length=1024), HOST]
Port = Annotated[int, Meta(ge=1, le=65535)]
Credential = Annotated[str, Meta(max_length=1024)]
Secret = Annotated[str, Meta(min_length=1, max_length=8192)]


class BucketUpdate(Resource, kw_only=True):
    """The body of a PATCH of a bucket, in both generations: flat keys, or a store type with its configuration."""

    unused: ClassVar = {"effective_permission": "it is computed"}

    name: BucketName | None = None
    access_key: Credential | None = None
    secret_key: Credential | None = None
    endpoint_url: Annotated[str, Meta(max_length=2048)] | None = None
    region: Annotated[str, Meta(max_length=128)] | None = None
    gcs_key_info: Secret | None = None
    store_type: StoreType | None = None
    config: dict[str, Any] | None = None
    live_sc: StorageClass | None = None
    archive_sc: StorageClass | None = None
    external_host: Annotated[str, Meta(max_length=128)] | None = None


class BucketSpec(BucketUpdate, kw_only=True):
    """The body that creates a bucket."""

    name: BucketName


class Bucket(Resource, kw_only=True):
    """An object-storage bucket of an organization. Responses never show its credentials."""

    hidden: ClassVar = frozenset({"sealed"})

    id: int
    organization: int
    name: BucketName
    store_type: StoreType = "AWS"
    endpoint_url: str | None = None
    region: str | None = None
    access_key: str | None = None
    live_sc: StorageClass = "STANDARD"
    archive_sc: StorageClass = "STANDARD"
    external_host: str | None = None
    sealed: Annotated[str, Meta(description="The configuration as JSON, sealed.")] = ""
    effective_permission: int = 0


class JobClusterSpec(Resource, kw_only=True):
    """The body that creates or replaces a job cluster; all members are required both times."""

    name: Name
    host: Annotated[Host, Meta(description="Name or address of the Kubernetes API.")]
    port: Port
    token: Secret
    cert: Secret


class JobCluster(Resource, kw_only=True):
    """A cluster that runs workflows. Only administrators of the organization see its token and certificate."""

    hidden: ClassVar = frozenset({"sealed"})

    id: int
    organization: int
    name: Name
    host: Annotated[Host, Meta(description="Name or address of the Kubernetes API.")]
    port: Port
    token: str = ""
    cert: str = ""
    sealed: str = ""
    effective_permission: int = 0


class Parameter(Resource, kw_only=True):
    """A parameter or a header."""

    name: Annotated[str, Meta(min_length=1, max_length=256)]
    value: Annotated[str, Meta(max_length=8192)]


class HostedTemplateUpdate(Resource, kw_only=True):
    """The body of a PATCH of a hosted template."""

    name: Name | None = None
    url: Url | None = None
    tparams: list[Parameter] | None = None
    headers: list[Parameter] | None = None


class HostedTemplateSpec(HostedTemplateUpdate, kw_only=True):
    """The body that creates a hosted template."""

    name: Name
    url: Url


class HostedTemplate(Resource, kw_only=True):
    """A template of a manifest or applet on another server. Its headers may be secret; responses never show those."""

    hidden: ClassVar = frozenset({"sealed"})

    id: int
    organization: int
    name: Name
    url: Url
    tparams: list[Parameter] = []
    sealed: str = ""
    effective_permission: int = 0


BUCKET = RecordKind(name="bucket", struct=Bucket, parent=("organization", "organization"))
JOB_CLUSTER = RecordKind(
    name="jobcluster",
    struct=JobCluster,
    parent=("organization", "organization"),
    claims=lambda cluster: {"name": f"{cluster.organization}|{cluster.name.casefold()}"},
)
HOSTED_TEMPLATE = RecordKind(name="hostedtemplate", struct=HostedTemplate, parent=("organization", "organization"))
