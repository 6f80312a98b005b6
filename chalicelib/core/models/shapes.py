"""Shapes that `/schema` shows for members whose value is a free JSON object in code.

The members have validators of their own, with better messages: `query/parsers/object_search.py` for searches,
`definition_specs.check_color_map` for colours, `resources/buckets` for the configuration of a store.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.resource import Resource

Method = Literal["and", "or", "not"]
Operation = Literal[
    "eq",
    "gt",
    "gte",
    "lt",
    "lte",
    "icontains",
    "iendswidth",
    "istartswith",
    "isnull",
    "in",
    "date_eq",
    "date_gte",
    "date_gt",
    "date_lt",
    "date_lte",
    "date_range",
    "distance_lte",
    "polygon",
    "search",
]


class AttributeFilterSpec(Resource, kw_only=True):
    """One comparison of an object search."""

    attribute: str | None = None
    operation: Operation | None = None
    inverse: bool = False
    value: Any = None


class AttributeCombinatorSpec(Resource, kw_only=True):
    """A combination of object searches."""

    method: Method | None = None
    operations: list[Any] | None = None


class AttributeOperationSpec(Resource, kw_only=True):
    """An object search: one comparison, or a combination of object searches in `operations`."""

    method: Annotated[Method | None, Meta(description="How `operations` are combined: AND, OR or NOT.")] = None
    operations: Annotated[list[Any] | None, Meta(description="Object searches to combine.")] = None
    attribute: Annotated[
        str | None, Meta(description="Name of the attribute; built-in members have a `$` prefix, such as $frame.")
    ] = None
    operation: Annotated[Operation | None, Meta(description="How the attribute is compared with `value`.")] = None
    inverse: Annotated[bool, Meta(description="Whether to select what does not match.")] = False
    value: Annotated[Any, Meta(description="What to compare with, in the data type of the attribute.")] = None


class Fill(Resource, kw_only=True):
    """How the inside of a shape is drawn."""

    style: Annotated[
        Literal["fill", "blur", "gray"] | None, Meta(description="Filled with a colour, blurred, or gray.")
    ] = None
    color: Annotated[Any, Meta(description="Colour as in ColorMap.")] = None


class ColorMap(Resource, kw_only=True):
    """Colours of shapes. A colour is `[r, g, b]` or `[r, g, b, a]`, each 0 to 255, or `#RRGGBB`."""

    accepts: ClassVar = {"defaultFill": "default_fill", "fillMap": "fill_map"}

    default: Annotated[Any, Meta(description="Colour of shapes that nothing else gives one.")] = None
    default_fill: Fill | None = None
    key: Annotated[
        str | None, Meta(description="The attribute whose value picks a colour of `map` and a fill of `fill_map`.")
    ] = None
    map: Annotated[dict[str, Any] | None, Meta(description="Colours by the value of the attribute `key`.")] = None
    fill_map: Annotated[dict[str, Fill] | None, Meta(description="Fills by the value of the attribute `key`.")] = None
    alpha_ranges: Annotated[
        dict[str, list[Any]] | None, Meta(description="By attribute: `[minimum, maximum, alpha]`.")
    ] = None
    version: Annotated[dict[str, Any] | None, Meta(description="Colours by the id of a version.")] = None


class BucketS3Config(Resource, kw_only=True):
    """The configuration of an S3 bucket."""

    aws_access_key_id: str
    aws_secret_access_key: str
    endpoint_url: str
    region_name: str


class BucketGCPConfig(Resource, kw_only=True):
    """The key of a service account of Google Cloud."""

    type: str
    project_id: str
    private_key_id: str
    private_key: str
    client_email: str
    client_id: str
    auth_uri: str
    token_uri: str
    auth_provider_x509_cert_url: str
    client_x509_cert_url: str


class BucketOCINativeConfig(Resource, kw_only=True):
    """The keys of Oracle's own interface."""

    user: str
    key_content: str
    fingerprint: str
    tenancy: str
    region: str


class BucketOCIConfig(Resource, kw_only=True):
    """The configuration of a bucket of Oracle Cloud."""

    boto3_config: BucketS3Config
    native_config: BucketOCINativeConfig


class BucketAzureConfig(Resource, kw_only=True):
    """The configuration of a container of Azure."""

    connection_string: str


SHAPES = (
    AttributeFilterSpec,
    AttributeCombinatorSpec,
    AttributeOperationSpec,
    ColorMap,
    BucketS3Config,
    BucketGCPConfig,
    BucketOCIConfig,
    BucketAzureConfig,
)
"""All of them; those within others follow."""


def shown_as(shape: type[Resource]) -> Meta:
    """The annotation of a member that `/schema` shows as a shape."""
    return Meta(extra_json_schema={"x-shape": shape.__name__})
