"""Bodies and answers of exports.

A selection has the parameters and the members of the body of a list together: what a list answers, an export holds.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.models.datasets import WorkStatus
from chalicelib.core.models.jobs import JobProgress
from chalicelib.core.resource import Id, Name, Resource, Timestamp
from chalicelib.formats.registry import FormatName
from chalicelib.query.parsers.bodies import Ids
from chalicelib.query.parsers.parameters import LocalizationQuery, MediaQuery, StateQuery

MOST_CLASSES = 10_000
ObjectSearch = Annotated[dict[str, Any] | None, Meta(description="An object search.")]
REFUSED = ("start", "stop", "sort_by", "fields", "operation", "force_es", "show_deleted", "show_all_marks")
"""Parameters of lists that an export does not have: it holds all matches, in the order of media and frames."""


class LocalizationSelection(LocalizationQuery, kw_only=True):
    """Selects localizations, by the parameters and the body of GetLocalizationListById."""

    ids: Ids | None = None
    object_search: ObjectSearch = None
    media_ids: Annotated[Ids | None, Meta(description="Only annotations on these media.")] = None
    elemental_ids: list[str] | None = None
    state_ids: Annotated[Ids | None, Meta(description="Localizations that these tracks contain.")] = None
    frame_state_ids: Annotated[Ids | None, Meta(description="Localizations on the frames of these states.")] = None


class StateSelection(StateQuery, kw_only=True):
    """Selects states, by the parameters and the body of GetStateListById."""

    ids: Ids | None = None
    object_search: ObjectSearch = None
    media_ids: Annotated[Ids | None, Meta(description="Only annotations on these media.")] = None
    elemental_ids: list[str] | None = None
    localization_ids: Annotated[Ids | None, Meta(description="Tracks that contain any of these.")] = None


class MediaSelection(MediaQuery, kw_only=True):
    """Selects media, by the parameters and the body of GetMediaListById."""

    ids: Ids | None = None
    object_search: ObjectSearch = None
    localization_ids: Annotated[Ids | None, Meta(description="Media these localizations lie on.")] = None
    state_ids: Annotated[Ids | None, Meta(description="Media of these states.")] = None


class Selection(Resource, kw_only=True):
    """What is selected, in exports and versions of datasets. All members together; everything without any."""

    localizations: Annotated[
        LocalizationSelection | None,
        Meta(
            description="All on the selected media, if not given. If it is given, and `media` and `sections` are not, "
            "only the media of its matches are selected."
        ),
    ] = None
    states: StateSelection | None = None
    media: MediaSelection | None = None
    sections: Annotated[list[Id], Meta(max_length=1000, description="Media in any of these sections.")] | None = None
    versions: Annotated[list[Id], Meta(max_length=1000, description="Annotations in these versions.")] | None = None
    seq: (
        Annotated[
            int,
            Meta(ge=0, description="The commit whose data is selected: the last one, or one since the last snapshot."),
        ]
        | None
    ) = None


class Classes(Resource, kw_only=True):
    """How labels get their classes.

    The class of a label is the value of the attribute; where the label has none, its track's; where neither has one,
    the name of its type.
    """

    attribute: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=256,
                description="An attribute of text, enum, int or bool; the name of the type is the class if not given.",
            ),
        ]
        | None
    ) = None
    rename: (
        Annotated[
            dict[str, str | None],
            Meta(
                max_length=MOST_CLASSES,
                description="From a class to its name in the dataset; several may get one name. Labels of a class with "
                "null are left out.",
            ),
        ]
        | None
    ) = None
    order: (
        Annotated[
            list[str],
            Meta(max_length=MOST_CLASSES, description="The first classes, by number; the others follow by name."),
        ]
        | None
    ) = None


Share = Annotated[float, Meta(ge=0, le=1)]


class Split(Resource, kw_only=True):
    """The division of media into training, validation and test sets, by shares of their number."""

    train: Annotated[Share, Meta(description="Share of the media for training.")] = 0.8
    val: Annotated[Share, Meta(description="Share of the media for validation.")] = 0.2
    test: Annotated[Share, Meta(description="Share of the media for tests.")] = 0.0
    seed: Annotated[int, Meta(description="The same seed and media give the same division.")] = 0


class Conventions(Resource, kw_only=True):
    """Choices that a format leaves open."""

    task: Annotated[
        Literal["detect", "segment", "obb", "pose"],
        Meta(description="YOLO: boxes, polygons, turned boxes, or the points of skeletons."),
    ] = "detect"
    first_pixel: Annotated[Literal[0, 1], Meta(description="Pascal VOC: the number of the first pixel.")] = 1


class ExportSpec(Selection, kw_only=True):
    """The body that creates an export."""

    names: ClassVar = {"versions": "version", "sections": "section"}

    format: FormatName
    name: Name | None = None
    dataset: (
        Annotated[
            str, Meta(min_length=1, max_length=128, description="Name or uid of a version, in place of a selection.")
        ]
        | None
    ) = None
    frames: Annotated[
        Literal["none", "crops", "frames", "every"],
        Meta(description="Pictures: none; one of each box or polygon; of each frame with labels; of every n-th frame."),
    ] = "none"
    every: Annotated[int, Meta(ge=1, le=100_000, description="The n of `frames: every`.")] | None = None
    image_format: Annotated[Literal["jpg", "png"], Meta(description="Format of the pictures of frames.")] = "jpg"
    image_height: (
        Annotated[
            int,
            Meta(ge=16, le=8192, description="Higher pictures are scaled down to it, and pixels in annotations too."),
        ]
        | None
    ) = None
    split: Split | None = None
    classes: Classes | None = None
    conventions: Conventions | None = None
    interpolate: Annotated[
        bool, Meta(description="Whether tracks have labels on the frames between their localizations.")
    ] = True


class Export(Resource, kw_only=True):
    """An export with its status."""

    uid: str
    id: Annotated[str, Meta(description="The same as `uid`.")]
    project: int
    user: int
    name: str
    format: str
    dataset: Annotated[str | None, Meta(description="The uid of the version that it was made of.")]
    status: WorkStatus
    message: Annotated[str, Meta(description="Why it failed.")]
    created_datetime: Timestamp
    expires_datetime: Annotated[Timestamp, Meta(description="When it is deleted.")]
    seq: Annotated[int, Meta(description="The commit whose data it has.")]
    progress: Annotated[JobProgress, Meta(description="In parts.")]
    media: Annotated[int, Meta(description="How many media it holds.")]
    labels: Annotated[int, Meta(description="How many labels it holds.")]
    interpolated: Annotated[
        int, Meta(description="Labels between the localizations of tracks, those that are left out included.")
    ]
    left_out: Annotated[
        int, Meta(description="Labels that the format cannot hold, or whose class or picture is left out.")
    ]
    simplified: Annotated[
        int,
        Meta(description="Labels whose mask, angle, holes or the like the format cannot hold: it has the plain shape."),
    ]
    size: Annotated[int, Meta(description="Bytes of the archive.")]
    url: Annotated[str | None, Meta(description="A presigned URL of the archive, for an hour, once it is there.")]


class ExportCreated(Resource, kw_only=True):
    """The answer to the creation of an export."""

    message: str
    id: str
    uid: str
