"""Job clusters: the Kubernetes clusters that run an organization's workflows."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.core.models.accounts import Organization
from chalicelib.core.models.integrations import JOB_CLUSTER, JobCluster, JobClusterSpec
from chalicelib.core.permissions import Permission
from chalicelib.errors import BadInput, Taken
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.jobs.engines import kubernetes
from chalicelib.resources.jobs.engines.base import WorkflowRefused
from chalicelib.storage import outbound, sealing
from chalicelib.storage.dynamodb import ids, records

_PURPOSE = "job cluster"


def make_cluster(call: Call[Organization, NoQuery, JobClusterSpec]) -> JobCluster:
    """Register a cluster.

    Raises:
        BadInput: its host is malformed, or an internal one that the operator does not allow.
    """
    spec = call.body
    _check_host(spec)
    cluster = JobCluster(
        id=ids.reserve(JOB_CLUSTER.name)[0],
        organization=call.organization,
        name=spec.name,
        host=spec.host,
        port=spec.port,
        sealed=_seal(spec),
    )
    return records.create(JOB_CLUSTER, cluster, taken=_name_taken())


def change_cluster(call: Call[JobCluster, NoQuery, JobClusterSpec], change: dict[str, Any]) -> dict[str, Any]:
    """Replace all members; the secrets are encrypted."""
    _check_host(call.body)
    plain = {name: value for name, value in change.items() if name not in ("token", "cert")}
    return {**plain, "sealed": _seal(call.body)}


def show_cluster(cluster: JobCluster) -> JobCluster:
    """The cluster with its decrypted secrets, for administrators of the organization."""
    opened = msgspec.json.decode(sealing.unseal(cluster.sealed, _PURPOSE), type=dict[str, str])
    return msgspec.structs.replace(cluster, **opened)


def _check_host(spec: JobClusterSpec) -> None:
    """Raise BadInput for a host that is never allowed. Its addresses may change and are checked at each request."""
    try:
        address = kubernetes.address_of(spec.host, spec.port)
    except WorkflowRefused:
        raise BadInput(
            f"host: {spec.host[:200]!r} is neither a host name nor an address. Give one, without a path."
        ) from None
    if not outbound.is_service_allowed(address) and outbound.resolves_inside(address):
        message = f"host: {spec.host[:200]!r} has no public address, and the operator does not allow it."
        raise BadInput(message, outbound.HOW_TO_ALLOW)


def _seal(spec: JobClusterSpec) -> str:
    return sealing.seal(msgspec.json.encode({"token": spec.token, "cert": spec.cert}), _PURPOSE)


def _name_taken() -> BadInput:
    return Taken("name: the organization already has a job cluster of this name.")


OPERATIONS = record_operations(
    RecordResource(
        kind=JOB_CLUSTER,
        tag="Organizations",
        audits="policy",
        read=Permission.ADMIN,
        write=Permission.ADMIN,
        spec=JobClusterSpec,
        update=JobClusterSpec,
        store=make_cluster,
        check_change=change_cluster,
        show=show_cluster,
        taken_error=_name_taken,
        updated_message="Job Cluster {id} successfully updated!",
        deleted_message="Job cluster deleted successfully!",
    )
)
