"""The entities: media, annotations, leaves and files.

Each is three nested Structs: members that a PATCH may change, members given at creation, members that the service adds.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.kinds import Kind
from chalicelib.core.models.media_files import MediaFiles
from chalicelib.core.resource import Flag, Id, Resource, Timestamp, Uuid

Unit = Annotated[float, Meta(ge=0, le=1, description="relative to the width or height of the media")]
SignedUnit = Annotated[float, Meta(ge=-1, le=1, description="relative to the width or height of the media")]
Point = Annotated[list[Unit], Meta(min_length=2, max_length=2)]
Frame = Annotated[int, Meta(ge=0, description="number of the frame in presentation order; 0 for an image")]
Parent = Annotated[int, Meta(extra_json_schema={"x-type": "number"})]  # an id; clients read it with decimals
ArchiveState = Literal["live", "to_archive", "archived", "to_live"]
Attributes = dict[str, Any]
Revisions = Annotated[int, Meta(ge=0)]
"""The number of its type's revisions (`revisions.py`) that were applied to an entity's attributes."""


class AttributeChange(Resource, kw_only=True):
    """Members of every PATCH of an entity that change its attributes, applied in this order."""

    attributes: Attributes | None = None
    reset_attributes: list[str] | None = None
    null_attributes: list[str] | None = None
    user_elemental_id: Uuid | None = None


class Mask(Resource, kw_only=True):
    """The pixels of an object within its box."""

    size: Annotated[
        list[Annotated[int, Meta(ge=1, le=65_536)]],
        Meta(min_length=2, max_length=2, description="Height and width of the box in pixels of the media."),
    ]
    counts: Annotated[
        str, Meta(description="Run lengths, in columns, in the compressed form of COCO; at most 65,536 characters.")
    ]


Turn = Annotated[
    float, Meta(ge=-360, le=360, description="Degrees clockwise by which a box is turned about its centre.")
]
Form = Annotated[Literal["ellipse"], Meta(description="`ellipse`: the shape is the ellipse within the box.")]
Closed = Annotated[bool, Meta(description="False for a polyline: its last point is not joined to its first.")]
Holes = Annotated[
    list[Annotated[list[Point], Meta(max_length=100_000)]],
    Meta(max_length=10_000, description="Outlines within a polygon that are not part of it, each a list of points."),
]
Visible = Annotated[
    list[Annotated[int, Meta(ge=0, le=2)]],
    Meta(max_length=10_000, description="Of each point of a skeleton: 0 not marked, 1 hidden, 2 visible."),
]
MadeOf = Annotated[list[Id], Meta(max_length=100, description="Ids of the localizations that it was made of.")]
MaskMember = Annotated[Mask, Meta(description="The pixels of the object within its box.")]


class Coordinates(Resource, kw_only=True):
    """The place of a localization: box x, y, width, height; line x, y, u, v; dot x, y; poly points. All relative."""

    x: Unit | None = None
    y: Unit | None = None
    width: Unit | None = None
    height: Unit | None = None
    u: SignedUnit | None = None
    v: SignedUnit | None = None
    points: list[Point] | None = None


class Geometry(Coordinates, kw_only=True):
    """The shape of a localization: its coordinates, refined where its type allows that in `refinements`."""

    mask: MaskMember | None = None
    angle: Turn | None = None
    form: Form | None = None
    closed: Closed | None = None
    holes: Holes | None = None
    visible: Visible | None = None


class LocalizationUpdate(Coordinates, kw_only=True):
    """The body of a PATCH of one localization."""

    # with the members of AttributeChange: a Struct has one base with members
    may_be_empty: ClassVar = True
    names: ClassVar = {"version": "version", "parent": "localization"}
    answers_unchanged: ClassVar = True

    mask: MaskMember | UnsetType | None = UNSET
    angle: Turn | UnsetType | None = UNSET
    form: Form | UnsetType | None = UNSET
    closed: Closed | UnsetType | None = UNSET
    holes: Holes | UnsetType | None = UNSET
    visible: Visible | UnsetType | None = UNSET
    attributes: Attributes | None = None
    reset_attributes: list[str] | None = None
    null_attributes: list[str] | None = None
    user_elemental_id: Uuid | None = None
    frame: Frame | None = None
    version: Id | None = None
    parent: float | None = None
    elemental_id: Uuid | None = None
    mark: int | None = None
    in_place: Flag | None = None
    pedantic: Flag | None = None


class LocalizationSpec(Geometry, kw_only=True):
    """The body that creates a localization; older clients send `attributes` at base level."""

    gathers: ClassVar[str | None] = "attributes"
    names: ClassVar = {"media_id": "media", "version": "version", "parent": "localization", "made_of": "localization"}

    media_id: Id
    type: Id
    frame: Frame
    version: Id | None = None
    parent: float | None = None
    made_of: MadeOf | None = None
    elemental_id: Uuid | None = None
    mark: int | None = None
    attributes: Attributes | None = None
    user_elemental_id: Uuid | None = None


class Localization(Geometry, kw_only=True):
    """A shape on an image or a video frame."""

    also: ClassVar = {"meta": "type", "user": "created_by"}
    sent_as: ClassVar = {"media": "media_id"}
    hidden: ClassVar = frozenset({"latest", "revision"})
    sparse: ClassVar = frozenset({"mask", "angle", "form", "closed", "holes", "visible", "bounds", "made_of"})
    computed: ClassVar = {
        "interpolated": {
            "type": "boolean",
            "description": "In lists with `interpolate`: it lies between two localizations of a track, and has no ids.",
        }
    }

    id: int
    project: int
    type: int
    media: Annotated[int, Meta(description="Id of the media.")]
    frame: int
    bounds: Annotated[
        list[float] | None,
        Meta(description="Of a turned box: the upright one around it, [x, y, width, height] in fractions."),
    ] = None
    version: Annotated[int, Meta(description="Id of the version.")]
    parent: Parent | None = None
    made_of: MadeOf | None = None
    attributes: Attributes = {}
    revision: Revisions = 0
    elemental_id: str
    mark: int = 0
    latest: Annotated[
        bool, Meta(description="Whether this is the newest mark of its element, which ordinary queries see.")
    ] = True
    variant_deleted: bool = False
    created_by: int | None
    created_datetime: Timestamp
    modified_by: int | None
    modified_datetime: Timestamp
    thumbnail_image: Annotated[str | None, Meta(description="Id of a media with its picture.")] = None
    master_section: Annotated[int | None, Meta(description="Always null: an annotation is where its media is.")] = None
    effective_permission: int = 0


class StateUpdate(AttributeChange, kw_only=True):
    """The body of a PATCH of one state."""

    may_be_empty: ClassVar = True
    names: ClassVar = {
        "parent": "state",
        "media_ids": "media",
        "localization_ids": "localization",
        "localization_ids_add": "localization",
        "localization_ids_remove": "localization",
    }
    drops_unknown: ClassVar = frozenset({"localization_ids_add", "localization_ids_remove"})
    answers_unchanged: ClassVar = True

    frame: Frame | None = None
    parent: float | None = None
    elemental_id: Uuid | None = None
    mark: int | None = None
    localization_ids_add: Annotated[list[int] | None, Meta(description="Ids of localizations to add.")] = None
    localization_ids_remove: Annotated[list[int] | None, Meta(description="Ids of localizations to remove.")] = None
    localization_ids: Annotated[list[int] | None, Meta(description="All localizations of the track, by id.")] = None
    media_ids: Annotated[list[int] | None, Meta(description="All media of the state, by id.")] = None
    in_place: Flag | None = None
    pedantic: Flag | None = None


class StateSpec(Resource, kw_only=True):
    """The body that creates a state."""

    gathers: ClassVar[str | None] = "attributes"
    names: ClassVar = {
        "media_ids": "media", "localization_ids": "localization", "version": "version", "parent": "state"
    }  # fmt: skip

    type: Id
    media_ids: Annotated[list[Id], Meta(min_length=1, description="Ids of the media, at least one.")]
    localization_ids: list[Id] | None = None
    frame: Frame | None = None
    version: Id | None = None
    parent: float | None = None
    elemental_id: Uuid | None = None
    mark: int | None = None
    attributes: Attributes | None = None
    user_elemental_id: Uuid | None = None


class State(Resource, kw_only=True):
    """An annotation of a media, of a frame, or of localizations (then it is a track)."""

    also: ClassVar = {"meta": "type", "user": "created_by"}
    sent_as: ClassVar = {"media": "media_ids", "localizations": "localization_ids"}
    hidden: ClassVar = frozenset({"latest", "revision"})

    id: int
    project: int
    type: int
    media: list[int]
    localizations: Annotated[list[int], Meta(description="Ids of the localizations of a track.")] = []
    segments: Annotated[
        list[list[int]] | None,
        Meta(description="Maximal runs of consecutive frames of its localizations, each `[first, last]`."),
    ] = None
    frame: Annotated[int | None, Meta(description="Frame number, from 0; null for none.")] = None
    version: Annotated[int, Meta(description="Id of the version.")]
    parent: Parent | None = None
    attributes: Attributes = {}
    revision: Revisions = 0
    elemental_id: str
    mark: int = 0
    latest: bool = True
    variant_deleted: bool = False
    created_by: int | None
    created_datetime: Timestamp
    modified_by: int | None
    modified_datetime: Timestamp
    master_section: Annotated[int | None, Meta(description="Always null: an annotation is where its media is.")] = None
    effective_permission: int = 0


class Leaf(Resource, kw_only=True):
    """A node of a label hierarchy."""

    also: ClassVar = {"meta": "type"}
    hidden: ClassVar = frozenset({"revision"})

    id: int
    project: int
    type: int
    name: str
    parent: Annotated[int | None, Meta(description="Id of the parent; null for a root.")] = None
    path: Annotated[str, Meta(description="Names of its ancestors and its own, with dots.")]
    depth: Annotated[int, Meta(description="0 for a root.")] = 0
    attributes: Attributes = {}
    revision: Revisions = 0
    created_by: int | None
    created_datetime: Timestamp
    modified_by: int | None
    modified_datetime: Timestamp


class File(Resource, kw_only=True):
    """A permanent file that is not part of a media."""

    also: ClassVar = {"meta": "type"}
    hidden: ClassVar = frozenset({"revision"})

    id: int
    project: int
    type: int
    name: str
    description: str = ""
    path: str = ""
    attributes: Attributes = {}
    revision: Revisions = 0
    elemental_id: str
    created_by: int | None
    created_datetime: Timestamp
    modified_by: int | None
    modified_datetime: Timestamp


class Dimensions(Resource, kw_only=True):
    """Metadata of an image or video; for an image it is read from the file."""

    accepts: ClassVar = {"summaryLevel": "summary_level"}

    num_frames: Annotated[int, Meta(ge=0)] | None = None
    fps: float | None = None
    codec: Annotated[str, Meta(max_length=256)] | None = None
    width: int | None = None
    height: int | None = None
    summary_level: int | None = None


class DamagedFrames(Resource, kw_only=True, omit_defaults=False):
    """The frames of a video whose file is damaged there."""

    count: Annotated[int, Meta(ge=0, description="How many frames.")]
    spans: Annotated[
        list[list[int]],
        Meta(description="The first and the last frame of each run of them, in order; the first 1,000 runs."),
    ]
    missing_ends: Annotated[
        list[Literal["start", "end"]],
        Meta(
            description="Ends at which a transport stream also lost frames without a trace of their times, so "
            "that nobody knows how many; frame 0 is the first one with a time."
        ),
    ] = []


class Media(Dimensions, kw_only=True):
    """An image or a video."""

    also: ClassVar = {"meta": "type", "summaryLevel": "summary_level"}
    sent_as: ClassVar = {"primary_section": "section_id"}
    also_attributes: ClassVar = {"svc_user_sections": "tator_user_sections"}
    hidden: ClassVar = frozenset({"source_url", "deleted", "revision"})
    opened: ClassVar = ("media_files",)

    id: int
    project: int
    type: int
    name: str
    md5: str = ""
    gid: Annotated[str | None, Meta(description="Id of the group of its upload.")] = None
    uid: Annotated[str | None, Meta(description="Id of its upload.")] = None
    created_datetime: Timestamp
    created_by: int | None
    modified_datetime: Timestamp
    modified_by: int | None
    attributes: Attributes = {}
    revision: Revisions = 0
    primary_section: Annotated[int | None, Meta(description="Id of its folder; null if it is in none.")] = None
    master_section: Annotated[
        int | None, Meta(description="The section that its folder belongs to; it gives no permission.")
    ] = None
    last_edit_start: Timestamp | None = None
    last_edit_end: Timestamp | None = None
    elemental_id: str
    archive_state: ArchiveState = "live"
    archive_status_date: Annotated[
        Timestamp | None, Meta(description="When `archive_state` changed last, ISO 8601 in UTC.")
    ] = None
    media_files: MediaFiles | None = None
    import_error: Annotated[
        str | None,
        Meta(description="Why the file of its last upload could not be read or transcoded; null where it was."),
    ] = None
    damaged_frames: Annotated[
        DamagedFrames | None,
        Meta(
            description="Frames that could not be decoded, or only in part; those without any picture repeat the frame "
            "before. Set by the transcode; null where there are none."
        ),
    ] = None
    source_url: str | None = None
    deleted: bool = False
    incident: Annotated[int | None, Meta(description="With a related search: annotations that match.")] = None
    effective_permission: int = 0

    @property
    def frame_count(self) -> int | None:
        """How many frames it has: 1 if its only file is an image; None where it is not known yet."""
        files = self.media_files
        is_image = files is not None and bool(files.image) and not (files.streaming or files.archival)
        return 1 if self.num_frames is None and is_image else self.num_frames


Entity = Media | Localization | State | Leaf | File


def media_of(annotation: Any) -> list[int]:
    """The ids of the media that a localization or a state, whole or partly read, is on."""
    media = annotation.media
    return media if isinstance(media, list) else [media]


STRUCT_OF: dict[Kind, type[Resource]] = {
    Kind.MEDIA: Media,
    Kind.LOCALIZATION: Localization,
    Kind.STATE: State,
    Kind.LEAF: Leaf,
    Kind.FILE: File,
}
