"""Bodies that create and change definitions. The stored Structs are in `definitions.py`."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.models.definitions import (
    ArchiveConfig,
    Colors,
    Refinements,
    ResolutionConfig,
    Search,
    Skeleton,
)
from chalicelib.core.models.shapes import ColorMap, Fill
from chalicelib.core.resource import Description, Id, Name, Resource, Summary, TypeName, Uuid
from chalicelib.core.text.names import nearest
from chalicelib.core.values.attributes import AttributeType
from chalicelib.core.values.shapes import ShapeKind

FileFormat = Annotated[str, Meta(max_length=4)]
Volume = Annotated[int, Meta(ge=0, le=100)]
LineWidth = Annotated[int, Meta(ge=1)]
SectionTag = Annotated[str, Meta(max_length=128)]
SectionPath = Annotated[str, Meta(min_length=1, max_length=1024)]
MediaTypes = Annotated[list[Id], Meta(min_length=1)]


class MediaTypeUpdate(Resource, kw_only=True):
    """The body of a PATCH of a media type."""

    unused: ClassVar = {"keep_original": "the original file is always kept"}

    name: TypeName | None = None
    description: Description | None = None
    elemental_id: Uuid | None = None
    file_format: FileFormat | UnsetType | None = UNSET
    default_volume: Volume | None = None
    visible: bool | None = None
    archive_config: list[ArchiveConfig] | UnsetType | None = UNSET
    streaming_config: list[ResolutionConfig] | UnsetType | None = UNSET
    overlay_config: dict[str, Any] | UnsetType | None = UNSET
    default_box: Id | UnsetType | None = UNSET
    default_line: Id | UnsetType | None = UNSET
    default_dot: Id | UnsetType | None = UNSET


class MediaTypeSpec(MediaTypeUpdate, kw_only=True):
    """The body that creates a media type."""

    unused: ClassVar = {"effective_permission": "it is computed", "keep_original": "the original file is always kept"}

    name: TypeName
    dtype: Literal["image", "video", "multi", "live"]
    attribute_types: list[AttributeType] | None = None


class LocalizationTypeUpdate(Resource, kw_only=True):
    """The body of a PATCH of a localization type; `media_types` are added to the existing ones."""

    accepts: ClassVar = {"colorMap": "color_map"}

    name: TypeName | None = None
    description: Description | None = None
    elemental_id: Uuid | None = None
    color_map: Annotated[
        Colors | UnsetType | None,
        Meta(description="Colours are `[r, g, b]` or `[r, g, b, a]`, each 0 to 255, or `#RRGGBB`."),
    ] = UNSET
    refinements: Refinements | None = None
    skeleton: Annotated[
        Skeleton | None, Meta(description="Its points keep their number once the type has a skeleton.")
    ] = None
    line_width: LineWidth | None = None
    visible: bool | None = None
    drawable: bool | None = None
    grouping_default: bool | None = None
    media_types: list[Id] | None = None

    def __post_init__(self) -> None:
        """Refuse colours that cannot be drawn."""
        if isinstance(self.color_map, dict):
            check_color_map(self.color_map)


class LocalizationTypeSpec(LocalizationTypeUpdate, kw_only=True):
    """The body that creates a localization type."""

    unused: ClassVar = {"effective_permission": "it is computed"}

    name: TypeName
    dtype: ShapeKind
    media_types: MediaTypes
    attribute_types: list[AttributeType] | None = None


class StateTypeUpdate(Resource, kw_only=True):
    """The body of a PATCH of a state type; `media_types` are added to the existing ones."""

    name: TypeName | None = None
    description: Description | None = None
    elemental_id: Uuid | None = None
    association: Literal["Media", "Frame", "Localization"] | None = None
    interpolation: Literal["none", "latest", "attr_style_range"] | None = None
    visible: bool | None = None
    grouping_default: bool | None = None
    delete_child_localizations: bool | None = None
    default_localization: Id | UnsetType | None = UNSET
    extended_info: dict[str, Any] | None = None
    media_types: list[Id] | None = None


class StateTypeSpec(StateTypeUpdate, kw_only=True):
    """The body that creates a state type."""

    unused: ClassVar = {"effective_permission": "it is computed", "dtype": "it is always state"}

    name: TypeName
    association: Literal["Media", "Frame", "Localization"]
    media_types: MediaTypes
    attribute_types: list[AttributeType] | None = None


class LeafTypeUpdate(Resource, kw_only=True):
    """The body of a PATCH of a leaf type."""

    name: TypeName | None = None
    description: Description | None = None
    elemental_id: Uuid | None = None
    visible: bool | None = None


class LeafTypeSpec(LeafTypeUpdate, kw_only=True):
    """The body that creates a leaf type."""

    unused: ClassVar = {"dtype": "it is always leaf"}

    name: TypeName
    attribute_types: list[AttributeType] | None = None


class FileTypeUpdate(Resource, kw_only=True):
    """The body of a PATCH of a file type."""

    name: TypeName | None = None
    description: Description | None = None
    elemental_id: Uuid | None = None


class FileTypeSpec(FileTypeUpdate, kw_only=True):
    """The body that creates a file type."""

    name: TypeName
    attribute_types: list[AttributeType] | None = None


class VersionUpdate(Resource, kw_only=True):
    """The body of a PATCH of a version; `bases` replaces the existing ones."""

    names: ClassVar = {"bases": "version"}

    name: Name | None = None
    description: Summary | None = None
    show_empty: bool | None = None
    bases: list[Id] | None = None
    elemental_id: Uuid | None = None


class VersionSpec(VersionUpdate, kw_only=True):
    """The body that creates a version."""

    name: Name


class SectionUpdate(Resource, kw_only=True):
    """The body of a PATCH of a section."""

    accepts: ClassVar = {"svc_user_sections": "tator_user_sections", "lucene_search": "lucene_string"}

    names: ClassVar = {"media_add": "media", "media_del": "media", "master_section": "section"}
    drops_unknown: ClassVar = frozenset({"media_del"})

    name: Name | None = None
    path: Annotated[SectionPath | None, Meta(description="Names of the folders above and its own, with dots.")] = None
    dtype: Annotated[
        Literal["folder", "playlist", "saved_search"] | None,
        Meta(description="Kind of the section: folder, playlist or saved_search."),
    ] = None
    tator_user_sections: SectionTag | None = None
    object_search: Search | UnsetType | None = UNSET
    related_search: Search | UnsetType | None = UNSET
    visible: bool | None = None
    explicit_listing: bool | None = None
    elemental_id: Uuid | None = None
    attributes: dict[str, Any] | None = None
    media_add: Annotated[list[Id] | None, Meta(description="Ids of media to add to a playlist.")] = None
    media_del: Annotated[list[Id] | None, Meta(description="Ids of media to remove from a playlist.")] = None
    lucene_string: str | UnsetType | None = UNSET
    media_bools: list[dict[str, Any]] | UnsetType | None = UNSET
    annotation_bools: list[dict[str, Any]] | UnsetType | None = UNSET
    master_section: Id | UnsetType | None = UNSET


class SectionSpec(Resource, kw_only=True):
    """The body that creates a section. A missing tag is generated; null is refused."""

    accepts: ClassVar = {"svc_user_sections": "tator_user_sections", "lucene_search": "lucene_string"}

    names: ClassVar = {"media": "media", "master_section": "section"}

    name: Name
    path: Annotated[
        SectionPath | None,
        Meta(description="Names of the folders above and its own, with dots; by default from the name."),
    ] = None
    dtype: Annotated[
        Literal["folder", "playlist", "saved_search"] | None,
        Meta(description="Kind of the section: folder, playlist or saved_search."),
    ] = None
    tator_user_sections: SectionTag | UnsetType = UNSET
    object_search: Search | None = None
    related_search: Search | None = None
    visible: bool = True
    explicit_listing: bool = False
    elemental_id: Uuid | None = None
    attributes: dict[str, Any] | None = None
    media: Annotated[list[Id] | None, Meta(description="Ids of the media of a playlist.")] = None
    lucene_string: str | None = None
    media_bools: list[dict[str, Any]] | None = None
    annotation_bools: list[dict[str, Any]] | None = None
    master_section: Annotated[
        Id | None, Meta(description="The section that this one belongs to; it gives no permission.")
    ] = None


class PathSubstitution(Resource, kw_only=True):
    """A path prefix to replace, and its replacement."""

    old: Annotated[str, Meta(description="Prefix to replace.")]
    new: Annotated[str, Meta(description="Its replacement.")]


class SectionBulkUpdate(Resource, kw_only=True):
    """The body of a PATCH of many sections."""

    path_substitution: PathSubstitution | None = None


_COLOR = "a colour; accepted are [r, g, b] and [r, g, b, a], each a whole number from 0 to 255, and '#RRGGBB'"


def check_color_map(color_map: dict[str, Any]) -> None:
    """Raise ValueError for an unknown member, a malformed colour or a malformed fill, which is named by its member."""
    known = {*ColorMap.__struct_fields__, *ColorMap.accepts}
    for name in color_map.keys() - known:
        raise ValueError(f"color_map has no member {name!r}.{nearest(name, known)}")
    for old, name in ColorMap.accepts.items():
        if old in color_map and name in color_map:
            raise ValueError(f"color_map: {old} is the older name of {name}; give one of them.")
    _check_fills(color_map)
    _check_alpha(color_map.get("alpha_ranges"))
    for member in ("default", "map", "version"):
        found = color_map.get(member)
        colors = {member: found} if member == "default" else found if found is not None else {}
        if not isinstance(colors, dict):
            message = f"color_map.{member}: must be an object of colours."
            raise ValueError(message)  # noqa: TRY004 - msgspec makes it a refusal
        for name, color in colors.items():
            if color is not None and not _is_color(color):
                where = f"color_map.{member}" if name == member else f"color_map.{member}.{name}"
                raise ValueError(f"{where}: {color!r} is not {_COLOR}.")


def _check_fills(color_map: dict[str, Any]) -> None:
    for name, found in color_map.items():
        place, member = f"color_map.{name}", ColorMap.accepts.get(name, name)
        if member not in ColorMap.accepts.values():
            continue
        is_map = member == "fill_map" and isinstance(found, dict)
        fills = {f"{place}.{value}": fill for value, fill in found.items()} if is_map else {place: found}
        for where, fill in fills.items():
            members = fill.keys() if isinstance(fill, dict) else set()
            for unknown in members - set(Fill.__struct_fields__):
                raise ValueError(f"{where} has no member {unknown!r}.{nearest(unknown, Fill.__struct_fields__)}")
            try:
                color = msgspec.convert(fill, Fill | None)
            except msgspec.ValidationError as error:
                raise ValueError(f"{where}: {str(error).replace('`', '')}.") from None
            if color is not None and color.color is not None and not _is_color(color.color):
                raise ValueError(f"{where}.color: {color.color!r} is not {_COLOR}.")


def _check_alpha(ranges: Any) -> None:
    for name, given in (ranges or {}).items() if isinstance(ranges, dict | None) else [("", ranges)]:
        # Of an attribute one range, or several of them.
        found = given if isinstance(given, list) and given and isinstance(given[0], list) else [given]
        if not all(
            isinstance(each, list) and len(each) == _RANGE and set(map(type, each)) <= {int, float} for each in found
        ):
            raise ValueError(f"color_map.alpha_ranges{name and f'.{name}'}: must be [minimum, maximum, alpha].")


_RANGE = 3


def _is_color(color: Any) -> bool:
    if isinstance(color, str):
        return re.fullmatch(r"#[0-9A-Fa-f]{6}", color) is not None
    numbers = color if isinstance(color, list) and len(color) in (3, 4) else []
    return bool(numbers) and all(
        type(part) in (int, float) and part == int(part) and 0 <= part <= 255  # noqa: PLR2004 - eight bits
        for part in numbers
    )
