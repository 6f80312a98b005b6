"""Attribute types: the name, dtype, bounds and display of user-defined attributes.

Conversion, filling and merging of values are in `attribute_values.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from chalicelib.core.resource import Resource, shown

Dtype = Literal["bool", "int", "float", "enum", "string", "datetime", "geopos", "float_array", "blob"]


class AutocompleteService(Resource, kw_only=True):
    """The source of a string attribute's suggestions."""

    serviceUrl: Annotated[str | None, Meta(description="Address of the suggestions.")] = None  # noqa: N815 the wire's spelling
    match_any: Annotated[
        bool, Meta(description="Whether a suggestion may match anywhere and not only at the beginning.")
    ] = False
    mode: Annotated[Literal["tator", "worms"], Meta(description="Form of the service's answers.")] = "tator"
    minLevel: Annotated[  # noqa: N815 the wire's spelling
        int | None, Meta(description="Smallest number of levels below the ancestor; 1 is everything.")
    ] = None
    useCommon: Annotated[bool | None, Meta(description="Whether common names are suggested.")] = None  # noqa: N815 the wire's spelling


class AttributeType(Resource, kw_only=True):
    """The definition of one user-defined attribute of a type."""

    name: Annotated[
        Annotated[str, shown(r"^[^\x00-\x1f\x7f!\"$'*+./=?\[\\\]^`{|}~]{1,256}$")],
        Meta(min_length=1, description="Name of the attribute, unique within the type."),
    ]
    dtype: Dtype
    description: str = ""
    required: bool = False
    order: Annotated[
        int, Meta(description="Position among the attributes when shown; below 0 is hidden by default.")
    ] = 0
    default: Any = None
    minimum: float | None = None
    maximum: float | None = None
    choices: list[str] | None = None
    labels: list[str] | None = None
    size: Annotated[Annotated[int, Meta(ge=1, le=2000)] | None, Meta(description="The length of a float_array.")] = None
    use_current: Annotated[bool | None, Meta(description="For a datetime: fill in the time of creation.")] = None
    autocomplete: AutocompleteService | None = None
    style: str | None = None
    visible: Annotated[bool | None, Meta(description="Whether user interfaces show the attribute.")] = None
