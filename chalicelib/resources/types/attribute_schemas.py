"""Bodies that add, change and remove the definition of an attribute, in the names of older and newer clients."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType, field

from chalicelib.core.resource import ONE_LINE, Resource
from chalicelib.core.values.attributes import AttributeType, AutocompleteService, Dtype

EntityType = Literal["FileType", "MediaType", "LocalizationType", "StateType", "LeafType", "Section"]
AttributeName = Annotated[str, Meta(min_length=1, pattern=ONE_LINE)]


class AttributeTypeSpec(Resource, kw_only=True):
    """An attribute to add to a type, or to the sections of a project."""

    entity_type: EntityType
    addition: AttributeType


class AttributeTypeChange(Resource, kw_only=True):
    """The members of a definition that change; for a replacement, all its members."""

    is_change: ClassVar = True

    name: Annotated[AttributeName | None, Meta(description="Name of the attribute, unique within the type.")] = None
    dtype: Dtype | None = None
    description: str | None = None
    required: bool | None = None
    order: int | None = None
    default: Any = UNSET
    minimum: float | UnsetType | None = UNSET
    maximum: float | UnsetType | None = UNSET
    choices: list[str] | None = None
    labels: list[str] | UnsetType | None = UNSET
    size: Annotated[int, Meta(ge=1, le=2000, description="Length of a float_array, 1 to 2000.")] | None = None
    use_current: bool | UnsetType | None = UNSET
    autocomplete: AutocompleteService | UnsetType | None = UNSET
    style: str | UnsetType | None = UNSET
    visible: Annotated[bool | UnsetType | None, Meta(description="Whether user interfaces show the attribute.")] = UNSET


class AttributeTypeUpdate(Resource, kw_only=True):
    """The change of an attribute; `global` applies it to every type of the project that has the attribute."""

    accepts: ClassVar = {"old_attribute_type_name": "current_name", "new_attribute_type": "attribute_type_update"}

    entity_type: EntityType
    current_name: Annotated[AttributeName, Meta(description="Name of the attribute before the change.")]
    attribute_type_update: AttributeTypeChange
    everywhere: Annotated[
        Literal["true", "false"] | bool,
        Meta(description="Whether to change every type of the project that has the attribute."),
    ] = field(default=False, name="global")
    force: Annotated[
        bool,
        Meta(description="Change the definition although entities have values that it makes invalid; they keep them."),
    ] = False
    max_instances: Annotated[int | None, Meta(description="Sent by older clients; without effect.")] = None


class AttributeTypeDelete(Resource, kw_only=True):
    """The attribute to remove."""

    accepts: ClassVar = {"attribute_to_delete": "name"}

    entity_type: EntityType
    name: Annotated[AttributeName, Meta(description="Name of the attribute to remove.")]
