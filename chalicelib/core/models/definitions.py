"""Definitions of a project's entities: types, versions and sections.

They are records whose changes are also committed to the project's log, so that a reader of the log knows the attributes
at every commit.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, get_args

from msgspec import Meta, Struct, field

from chalicelib.core.kinds import TYPE_OF, DefinitionKind, Kind
from chalicelib.core.models.shapes import AttributeOperationSpec, ColorMap, shown_as
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Description, Id, KeepsUnknown, Name, Resource, Summary, Timestamp, TypeName
from chalicelib.core.values.attributes import AttributeType
from chalicelib.core.values.revisions import Revision
from chalicelib.core.values.shapes import Refinement, ShapeKind

Search = Annotated[dict[str, Any], shown_as(AttributeOperationSpec)]
"""An object search as it was sent: `query/parsers/object_search.py` parses it."""
Colors = Annotated[dict[str, Any], shown_as(ColorMap)]
"""A colour map as it was sent: `definition_specs.check_color_map` checks it."""


Preset = Literal["ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow"]
"""Presets of x264 and x265."""
Tune = Literal["film", "animation", "grain", "stillimage", "fastdecode", "zerolatency", "psnr", "ssim"]
PixelFormat = Literal[
    "yuv420p", "yuvj420p", "yuv422p", "yuvj422p", "yuv444p", "yuvj444p", "yuv420p10le", "yuv422p10le", "yuv444p10le"
]
_AV1_PRESETS = frozenset(str(number) for number in range(14))
_AV1_PIXEL_FORMATS = ("yuv420p", "yuv420p10le")
_LARGEST_CRF = 51


class EncodeConfig(KeepsUnknown, kw_only=True):
    """How an archival copy is encoded; unknown members are stored for tools and have no effect on the encoder."""

    vcodec: Annotated[Literal["copy", "h264", "hevc"], Meta(description="Codec.")] = "hevc"
    crf: Annotated[
        int, Meta(ge=0, le=51, description="Constant rate factor, from 0: smaller is better and larger in bytes.")
    ] = 23
    preset: Annotated[Preset, Meta(description="Speed of the encoder, as x264 and x265 name it.")] = "fast"
    tune: Annotated[Tune, Meta(description="What the encoder optimizes for, as x264 and x265 name it.")] = "fastdecode"
    movflags: Annotated[str, Meta(description="Flags of the MP4 writer.")] = ""
    pixel_format: Annotated[PixelFormat, Meta(description="Layout of the pixels.")] = "yuv420p"


class S3StorageConfig(Resource, kw_only=True):
    """A bucket of the user's own that an archival copy is written to. Responses never show its secret."""

    hidden: ClassVar = frozenset({"aws_secret_access_key"})

    aws_access_key: Annotated[str, Meta(description="Id of the access key.")]
    aws_secret_access_key: str
    bucket_name: Annotated[str, Meta(description="Name of the bucket.")]


class ArchiveConfig(Resource, kw_only=True):
    """One archival copy to make of every video of a type."""

    encode: EncodeConfig
    name: Annotated[str | None, Meta(description="Name of the copy.")] = None
    s3_storage: S3StorageConfig | None = None


class ResolutionConfig(KeepsUnknown, kw_only=True):
    """One streaming rendition to make of every video of a type; unknown members are stored and have no effect."""

    resolution: Annotated[Annotated[int, Meta(ge=0, le=8192)], Meta(description="Height in pixels.")]
    vcodec: Annotated[Literal["h264", "av1", "hevc"], Meta(description="Codec.")] = "h264"
    crf: Annotated[
        int, Meta(ge=0, le=63, description="Constant rate factor, from 0: smaller is better and larger in bytes.")
    ] = 23
    preset: Annotated[
        str, Meta(description="One of x264's presets by name, for AV1 a number from 0 to 13; empty for the default.")
    ] = ""
    pixel_format: Annotated[PixelFormat, Meta(description="Layout of the pixels.")] = "yuv420p"

    def __post_init__(self) -> None:
        """Refuse settings that the encoder does not support."""
        if self.vcodec == "av1":
            if self.preset not in {"", *_AV1_PRESETS}:
                raise ValueError(f"preset: {self.preset!r} is not a preset of AV1; accepted are '0' to '13'.")
            if self.pixel_format not in _AV1_PIXEL_FORMATS:
                message = f"pixel_format: AV1 accepts {' and '.join(_AV1_PIXEL_FORMATS)}, not {self.pixel_format!r}."
                raise ValueError(message)
            return
        if self.preset not in {"", *get_args(Preset)}:
            raise ValueError(f"preset: {self.preset!r} is not known; accepted are {', '.join(get_args(Preset))}.")
        if self.crf > _LARGEST_CRF:
            raise ValueError(f"crf: {self.vcodec} accepts 0 to {_LARGEST_CRF}, not {self.crf}.")


class Type(Resource, kw_only=True):
    """Members of all types."""

    hidden: ClassVar = frozenset({"revisions"})

    id: int
    project: int
    name: TypeName
    description: Description = ""
    attribute_types: list[AttributeType] = []
    revisions: Annotated[
        list[Revision], Meta(description="The effects of attribute changes on values written before them, in order.")
    ] = []
    elemental_id: str
    effective_permission: int = 0

    def attribute(self, name: str) -> AttributeType | None:
        """The definition of an attribute of this type, by its exact name."""
        return next((attribute for attribute in self.attribute_types if attribute.name == name), None)


class MediaType(Type, kw_only=True):
    """A type of images or videos."""

    dtype: Literal["image", "video", "multi", "live"]
    file_format: Annotated[str, Meta(max_length=4)] | None = None
    default_volume: Annotated[int, Meta(ge=0, le=100)] = 0
    visible: bool = True
    archive_config: list[ArchiveConfig] | None = None
    streaming_config: list[ResolutionConfig] | None = None
    overlay_config: dict[str, Any] | None = None
    default_box: Id | None = None
    default_line: Id | None = None
    default_dot: Id | None = None


SkeletonPoints = Annotated[list[TypeName], Meta(min_length=1, max_length=1_000, description="Names, in order.")]
Edge = Annotated[list[Annotated[int, Meta(ge=0)]], Meta(min_length=2, max_length=2)]


class Skeleton(Resource, kw_only=True):
    """The points of skeletons and how they are joined."""

    points: SkeletonPoints
    edges: Annotated[
        list[Edge], Meta(max_length=10_000, description="Pairs of places in `points`, from 0, that a line joins.")
    ] = []

    def __post_init__(self) -> None:
        """Refuse repeated names, and edges between unknown points."""
        if len(set(self.points)) < len(self.points):
            message = "skeleton.points: each name may stand there once."
            raise ValueError(message)
        for first, second in self.edges:
            if max(first, second) >= len(self.points) or first == second:
                raise ValueError(f"skeleton.edges: [{first}, {second}] does not join two of {len(self.points)} points.")


Refinements = Annotated[
    list[Refinement],
    Meta(description="Members that its localizations may have besides their coordinates: none by default."),
]


class LocalizationType(Type, kw_only=True):
    """A type of shapes."""

    also: ClassVar = {"colorMap": "color_map"}
    sent_as: ClassVar = {"media": "media_types"}

    dtype: ShapeKind
    refinements: Refinements = []
    skeleton: Annotated[Skeleton | None, Meta(description="Of types with the refinement `skeleton`.")] = None
    color_map: Colors | None = None
    line_width: Annotated[int, Meta(ge=1)] = 3
    visible: bool = True
    drawable: bool = True
    grouping_default: bool = True
    media: Annotated[list[int], Meta(description="The ids of media types that it may annotate.")] = []


class StateType(Type, kw_only=True):
    """A type of annotations of media, frames or localizations."""

    sent_as: ClassVar = {"media": "media_types"}

    dtype: str = "state"
    association: Literal["Media", "Frame", "Localization"]
    interpolation: Literal["none", "latest", "attr_style_range"] = "latest"
    visible: bool = True
    grouping_default: bool = True
    delete_child_localizations: bool = False
    default_localization: Id | None = None
    media: Annotated[list[int], Meta(description="Ids of the media types that it applies to.")] = []
    extended_info: dict[str, Any] = {}

    @property
    def is_interpolated(self) -> bool:
        """Whether its tracks have shapes between those of their localizations."""
        return self.association == "Localization" and self.interpolation != "none"


class LeafType(Type, kw_only=True):
    """A type of labels."""

    dtype: str = "leaf"
    visible: bool = True


class FileType(Type, kw_only=True):
    """A type of files that are not part of a media."""


class Version(Resource, kw_only=True):
    """A layer of annotations."""

    id: int
    project: int
    name: Name
    description: Summary = ""
    number: Annotated[int, Meta(description="Number of the version within the project.")]
    show_empty: bool = True
    bases: list[int] = []
    made_of: Annotated[list[int], Meta(description="Of a consensus, the versions that it was made of.")] = []
    elemental_id: str
    created_by: int | None = None
    effective_permission: int = 0


class Section(Resource, kw_only=True):
    """A group of media: a folder, a list, or the matches of a search."""

    also: ClassVar = {"svc_user_sections": "tator_user_sections"}
    hidden: ClassVar = frozenset({"by_name"})

    id: int
    project: int
    name: Name
    path: Annotated[str, Meta(description="Names of the folders above and its own, with dots.")]
    dtype: Annotated[Literal["folder", "playlist", "saved_search"], Meta(description="Kind of the section.")] = "folder"
    tator_user_sections: Annotated[str, Meta(max_length=128)] | None = None
    object_search: Search | None = None
    related_search: Search | None = None
    visible: bool = True
    explicit_listing: bool = False
    elemental_id: str
    attributes: dict[str, Any] = {}
    media: list[int] = []
    created_datetime: Timestamp | None = None
    created_by: int | None = None
    lucene_string: str | None = None
    media_bools: list[dict[str, Any]] | None = None
    annotation_bools: list[dict[str, Any]] | None = None
    master_section: int | None = None
    effective_permission: int = 0
    by_name: Annotated[
        bool,
        Meta(
            description="Whether a media created this folder by its name; one such folder per name, case-insensitive."
        ),
    ] = False


Definition = MediaType | LocalizationType | StateType | LeafType | FileType | Version | Section
AnyType = MediaType | LocalizationType | StateType | LeafType | FileType

DEFINITION_STRUCT: dict[DefinitionKind, type[Definition]] = {
    DefinitionKind.MEDIA_TYPE: MediaType,
    DefinitionKind.LOCALIZATION_TYPE: LocalizationType,
    DefinitionKind.STATE_TYPE: StateType,
    DefinitionKind.LEAF_TYPE: LeafType,
    DefinitionKind.FILE_TYPE: FileType,
    DefinitionKind.VERSION: Version,
    DefinitionKind.SECTION: Section,
}


class Definitions(Struct, kw_only=True):
    """All definitions of one project, by kind and id, at one commit."""

    project: int
    by_kind: dict[DefinitionKind, dict[int, Definition]] = field(
        default_factory=lambda: {kind: {} for kind in DefinitionKind}
    )

    def put(self, kind: DefinitionKind, definition: Definition) -> None:
        """Add or replace a definition."""
        self.by_kind[kind][definition.id] = definition

    def drop(self, kind: DefinitionKind, number: int) -> None:
        """Remove a definition."""
        self.by_kind[kind].pop(number, None)

    def types(self, kind: Kind) -> dict[int, AnyType]:
        """The types of one kind of entity, by id."""
        return self.by_kind[TYPE_OF[kind]]  # type: ignore[return-value]

    @property
    def versions(self) -> dict[int, Version]:
        """The versions by id."""
        return self.by_kind[DefinitionKind.VERSION]  # type: ignore[return-value]

    @property
    def sections(self) -> dict[int, Section]:
        """The sections by id."""
        return self.by_kind[DefinitionKind.SECTION]  # type: ignore[return-value]


def _definition(kind: DefinitionKind, title: str, **more: Any) -> RecordKind[Any]:
    return RecordKind(
        name=kind.value,
        struct=DEFINITION_STRUCT[kind],
        title=title,
        parent=("project", "project"),
        definition=kind,
        **more,
    )


MEDIA_TYPE = _definition(DefinitionKind.MEDIA_TYPE, "MediaType")
LOCALIZATION_TYPE = _definition(DefinitionKind.LOCALIZATION_TYPE, "LocalizationType")
STATE_TYPE = _definition(DefinitionKind.STATE_TYPE, "StateType")
LEAF_TYPE = _definition(DefinitionKind.LEAF_TYPE, "LeafType")
FILE_TYPE = _definition(DefinitionKind.FILE_TYPE, "FileType")
VERSION = _definition(
    DefinitionKind.VERSION, "Version", claims=lambda version: {"number": f"{version.project}|{version.number}"}
)


def _section_claims(section: Section) -> dict[str, str]:
    claims = {"path": f"{section.project}|{section.path}"}
    if section.by_name:
        claims["folder"] = f"{section.project}|{section.name.casefold()}"
    return claims


SECTION = _definition(DefinitionKind.SECTION, "Section", claims=_section_claims)
TYPE_RECORD: dict[Kind, RecordKind[Any]] = {
    Kind.MEDIA: MEDIA_TYPE,
    Kind.LOCALIZATION: LOCALIZATION_TYPE,
    Kind.STATE: STATE_TYPE,
    Kind.LEAF: LEAF_TYPE,
    Kind.FILE: FILE_TYPE,
}
