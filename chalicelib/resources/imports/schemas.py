"""Bodies, answers and records of imports."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta, Struct

from chalicelib.core.keys.key_forms import UPLOAD_KEY
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import ONE_LINE, Id, Resource, Timestamp, shown

Format = Literal[
    "coco", "kwcoco", "yolo", "voc", "mot", "mots", "cvat", "dota", "masks", "viame", "dive", "coralnet", "csv",
    "jsonl", "parquet", "camtrapdp", "vars", "eventmeasure", "biigle", "ifdo",
]  # fmt: skip
Target = Literal["media", "image", "video", "box", "line", "dot", "poly", "track", "frame", "note"]
MOST_CLASSES = 1_000
MOST_ROWS = 5_000_000
"""Rows of one import: one run of the queue function reads them."""
MOST_SHOWN = 200
"""Refusals, notes, classes and media that a report lists; the counts are exact."""
ShortText = Annotated[str, Meta(max_length=256)]


class ClassTarget(Resource, kw_only=True):
    """What a class of the archive becomes."""

    type: Annotated[int | None, Meta(description="Localization type; without it, as for other classes.")] = None
    attributes: Annotated[dict[str, Any], Meta(description="Attribute values of its annotations.")] = {}
    skip: Annotated[bool, Meta(description="Whether its annotations are left out.")] = False


class ImportSpec(Resource, kw_only=True):
    """The body that starts an import."""

    names: ClassVar = {"version": "version"}

    format: Format
    key: Annotated[
        Annotated[str, shown(f"^{UPLOAD_KEY}$")],
        Meta(min_length=1, max_length=1024, description="Key of the upload: a zip, or a single file."),
    ]
    name: Annotated[str, Meta(max_length=256, pattern=ONE_LINE, description="A name for lists.")] = ""
    dry_run: Annotated[bool, Meta(description="Only read the archive and report what an import would do.")] = False
    version: Annotated[
        Id | None, Meta(description="Version of the annotations; without it, the one of the same name, or the default.")
    ] = None
    match: Annotated[
        Literal["name", "path", "md5"],
        Meta(description="How media of the archive are found: by name, by section and name, or by MD5 sum."),
    ] = "name"
    create_media: Annotated[
        bool, Meta(description="Whether images and videos in the archive that match no media become media.")
    ] = True
    create_types: Annotated[
        bool,
        Meta(
            description="Whether types and attributes that the rows need and the project lacks are created; needs "
            "'Full Control'. A dry run says which."
        ),
    ] = False
    section: Annotated[
        ShortText | None, Meta(description="Section of created media; without it, that of the archive.")
    ] = None
    types: Annotated[
        dict[Target, Id],
        Meta(
            description="Type for images (also called `media`) and videos that are created, for each kind of "
            "localization, and for states of tracks, frames and media (`note`)."
        ),
    ] = {}
    classes: Annotated[dict[ShortText, ClassTarget], Meta(max_length=MOST_CLASSES, description="By name.")] = {}
    class_attribute: Annotated[ShortText | None, Meta(description="Attribute that takes the name of the class.")] = None
    unknown_attributes: Annotated[
        Literal["refuse", "drop"], Meta(description="Rows with attributes that the type does not have.")
    ] = "refuse"
    outside: Annotated[Literal["refuse", "clip"], Meta(description="Shapes that reach beyond the picture.")] = "refuse"
    first_pixel: Annotated[Literal[0, 1], Meta(description="Number of the first pixel in Pascal VOC.")] = 1


class Tally(Resource, kw_only=True):
    """How many rows of one kind. read = accepted + refused + skipped."""

    read: Annotated[int, Meta(description="Rows of the archive.")] = 0
    accepted: Annotated[int, Meta(description="Rows that are, or would be, in the project after the import.")] = 0
    present: Annotated[int, Meta(description="Of these, those that were there before.")] = 0
    refused: Annotated[int, Meta(description="Rows that are not imported.")] = 0
    skipped: Annotated[int, Meta(description="Interpolated boxes, and classes that the body skips.")] = 0


class RefusedRow(Resource, kw_only=True):
    """A row that is not imported."""

    place: Annotated[str, Meta(description="File and line or element: `labels/a.txt:3`.")]
    reason: str


class MappedClass(Resource, kw_only=True):
    """What a class becomes: a type, or why not."""

    name: Annotated[str, Meta(description="Name of the class.")]
    kind: Annotated[str, Meta(description="Kind of the annotation.")]
    type: int | None = None
    reason: str | None = None
    rows: Annotated[int, Meta(description="How many rows have it.")] = 0


class MappedMedia(Resource, kw_only=True):
    """What a media of the archive becomes."""

    key: Annotated[str, Meta(description="Name of the media in the archive.")]
    media: Annotated[int | None, Meta(description="The media that it matches; none where it is created.")] = None


class PlannedType(Resource, kw_only=True):
    """A type that the import creates, or that gets attributes."""

    kind: Annotated[str, Meta(description="media, localization or state.")]
    dtype: Annotated[str, Meta(description="Of media and localizations; `track`, `frame` or `note` of states.")]
    name: str
    type: Annotated[int | None, Meta(description="The type that gets them; absent where it is created.")] = None
    attributes: Annotated[dict[str, str], Meta(description="The attributes to be created, with their dtypes.")] = {}


class DroppedMember(Resource, kw_only=True):
    """A column or member of the archive that is not imported."""

    name: Annotated[str, Meta(description="With what it is of: `annotations.score`, `object.pose`, `line.confidence`.")]
    rows: Annotated[int, Meta(description="Rows that have a value of it.")]


class ImportReport(Resource, kw_only=True):
    """What the archive holds. The counts are exact; each list has the first 200."""

    media: Tally
    localizations: Tally
    states: Tally
    classes: Annotated[
        list[MappedClass], Meta(description="Classes of the archive, and the types that they become.")
    ] = []
    types: Annotated[list[PlannedType], Meta(description="What `create_types` creates.")] = []
    matched: Annotated[
        list[MappedMedia], Meta(description="Media of the archive, and those of the project that they match.")
    ] = []
    refusals: Annotated[list[RefusedRow], Meta(description="Rows that are not imported.")] = []
    notes: Annotated[list[RefusedRow], Meta(description="What of imported rows is left out.")] = []
    note_count: Annotated[int, Meta(description="How many notes there are.")] = 0
    dropped: Annotated[
        list[DroppedMember],
        Meta(description="Columns and members of the archive that have no place here, by name; the first 200."),
    ] = []


class ImportProgress(Resource, kw_only=True):
    """Rows created, or found to be there, and all rows of the import."""

    done: int
    total: int


class Import(Resource, kw_only=True):
    """An import in responses."""

    id: str
    uid: str
    project: int
    user: int
    name: str
    format: str
    dry_run: Annotated[bool, Meta(description="Whether it only reports what it would do.")]
    status: Annotated[str, Meta(description="pending, checking, running, succeeded or failed.")]
    start_time: Timestamp
    stop_time: Timestamp | None = None
    message: Annotated[str | None, Meta(description="Why it failed.")] = None
    progress: ImportProgress
    report: ImportReport | None = None


class ImportCreated(Resource, kw_only=True):
    """The answer to a started import."""

    message: str
    id: str
    uid: str
    object: Import


class StoredImport(Struct, kw_only=True, omit_defaults=True):
    """An import as it is stored: its state machine.

    pending → running → succeeded | failed. `part` is the next part; a cancelled import is removed, and work on it stops
    when it finds the record missing.
    """

    uid: str
    project: int
    user: int
    spec: ImportSpec
    status: Literal["pending", "running", "succeeded", "failed"] = "pending"
    start_time: Timestamp
    stop_time: Timestamp | None = None
    message: str | None = None
    planned: list[PlannedType] | None = None
    """What `create_types` creates."""
    report: ImportReport | None = None
    parts: dict[str, list[int]] = {}
    """The rows of each part, by phase, in the order in which they are created."""
    part: int = 0
    """The next part, counted over all phases."""

    @property
    def sources(self) -> list[int]:
        """The media that it is made from: none, so it is open to those who see the project."""
        return []

    @property
    def is_finished(self) -> bool:
        """Whether it has ended."""
        return self.status in ("succeeded", "failed")


IMPORT = RecordKind(
    name="import",
    struct=StoredImport,
    title="Import",
    parent=("project", "project"),
    claims=lambda found: {"uid": found.uid},
    identity="uid",
)
