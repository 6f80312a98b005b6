"""Bodies and answers of annotators."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.models.entities import Unit
from chalicelib.core.models.integrations import Parameter, Url
from chalicelib.core.models.jobs import EmailSpec
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Id, Name, Resource
from chalicelib.core.responses import Change

Convention = Literal["limn", "label-studio", "nuclio"]
Kind = Literal["detector", "interactor", "tracker", "embedder"]
MOST_BOXES = 1_000
"""Maximum shapes of one frame."""
MOST_NUMBERS = 2_000
"""Numbers of one vector: as many as a float_array has."""
MediaQueryText = Annotated[
    str, Meta(max_length=8192, description="Parameters of GetMediaList, such as `?name=x`; it wins over `media_ids`.")
]
MOST_CLICKS = 100
MOST_TRACKED = 32
"""Boxes that are tracked together."""
MOST_EMBEDDED = 32
"""Crops of one request."""
Headers = Annotated[list[Parameter], Meta(max_length=20)]
AttributeName = Annotated[str, Meta(min_length=1, max_length=128)]


class AnnotatorUpdate(Resource, kw_only=True):
    """The body of a PATCH of an annotator."""

    names: ClassVar = {"drafts": "version"}

    name: Name | None = None
    url: Annotated[Url | None, Meta(description="Address of the model; give it or `algorithm`.")] = None
    convention: Convention | None = None
    headers: Headers | None = None
    algorithm: Annotated[Name | None, Meta(description="Name of an algorithm that takes the place of a URL.")] = None
    type: Annotated[Id | None, Meta(description="Id of the localization type of its boxes.")] = None
    label_attribute: AttributeName | None = None
    confidence_attribute: AttributeName | None = None
    kind: Annotated[
        Kind | None,
        Meta(description="What it does: shapes of a frame, the shape of clicks, boxes of the next frame, or vectors."),
    ] = None
    prompts: Annotated[
        Annotated[list[Literal["points", "box"]], Meta(min_length=1, max_length=2)] | None,
        Meta(description="What an interactor takes."),
    ] = None
    track_type: Annotated[
        Id | None, Meta(description="Id of the state type that shapes of one `track` become; it has localizations.")
    ] = None
    model_version: Annotated[Name | None, Meta(description="Where answers do not name the version of the model.")] = (
        None
    )
    model_attribute: Annotated[
        AttributeName | None, Meta(description="Attribute that gets the name and the version of the model.")
    ] = None
    embedding_attribute: Annotated[
        AttributeName | None, Meta(description="Of an embedder: the float_array that gets the vectors.")
    ] = None
    drafts: Annotated[Id | None, Meta(description="Id of the version that drafts are written to.")] = None


class AnnotatorSpec(AnnotatorUpdate, kw_only=True):
    """What registers an annotator: a URL, or the name of an algorithm; and the type of the boxes."""

    name: Name
    type: Annotated[Id, Meta(description="Id of the localization type of its boxes.")]


class Annotator(Resource, kw_only=True):
    """A model that returns boxes. Its headers, which may hold a key, are never shown."""

    hidden: ClassVar = frozenset({"sealed"})

    id: int
    project: int
    name: Name
    url: Annotated[str | None, Meta(description="Address of the model; give it or `algorithm`.")] = None
    convention: Convention = "limn"
    algorithm: Annotated[str | None, Meta(description="Name of an algorithm that takes the place of a URL.")] = None
    type: Annotated[int, Meta(description="Id of the localization type of its boxes.")]
    label_attribute: str | None = None
    confidence_attribute: str | None = None
    kind: Kind = "detector"
    prompts: Annotated[list[str] | None, Meta(description="What an interactor takes.")] = None
    track_type: Annotated[int | None, Meta(description="Id of the state type of its tracks.")] = None
    model_version: Annotated[str | None, Meta(description="Where answers do not name one.")] = None
    model_attribute: Annotated[str | None, Meta(description="Attribute with the name and version of the model.")] = None
    embedding_attribute: Annotated[str | None, Meta(description="The float_array that gets vectors.")] = None
    drafts: Annotated[int | None, Meta(description="Id of the version that drafts are written to.")] = None
    sealed: str = ""
    effective_permission: int = 0


class PredictionSpec(Resource, kw_only=True):
    """The annotator, the media and the frame of a prediction."""

    annotator: Id
    frame: Annotated[int, Meta(ge=0)] = 0


class Box(Resource, kw_only=True):
    """A box in fractions of the width and height of the picture."""

    x: Annotated[float, Meta(description="Left edge as a fraction of the picture, from 0 to 1.")]
    y: Annotated[float, Meta(description="Top edge as a fraction of the picture, from 0 to 1.")]
    width: Annotated[float, Meta(description="Width as a fraction of the picture, from 0 to 1.")]
    height: Annotated[float, Meta(description="Height as a fraction of the picture, from 0 to 1.")]
    label: Annotated[str | None, Meta(description="Class of the object.")] = None
    confidence: Annotated[float | None, Meta(description="Confidence, from 0 to 1.")] = None


class Prediction(Resource, kw_only=True):
    """What an annotator found on a frame; localizations and states are bodies without their media."""

    boxes: Annotated[list[Box], Meta(description="Boxes of the frame.")]
    localizations: Annotated[list[dict[str, Any]], Meta(description="The boxes as bodies, without media and version.")]
    states: Annotated[list[dict[str, Any]], Meta(description="Bodies of states: classes of the frame.")] = []
    tracks: Annotated[
        list[str | None], Meta(description="Of each localization: the key of its track in the media, or null.")
    ] = []
    version: Annotated[int | None, Meta(description="Id of the layer of drafts; null where it was deleted.")] = None
    model: Annotated[str | None, Meta(description="Name and version of the model.")] = None
    left_out: Annotated[
        int, Meta(description="How many shapes the type has no form of, or that lie outside of the picture.")
    ] = 0


class Sides(Resource, kw_only=True):
    """A box within the picture, in fractions of its width and height."""

    x: Unit
    y: Unit
    width: Unit
    height: Unit

    def as_list(self) -> list[float]:
        """Left, top, width and height."""
        return [self.x, self.y, self.width, self.height]


class Prompt(Resource, kw_only=True):
    """A click."""

    x: Unit
    y: Unit
    positive: Annotated[bool, Meta(description="False for a place that is not part of the object.")] = True


class SegmentationSpec(PredictionSpec, kw_only=True):
    """Clicks on a frame, and a box around the object."""

    points: Annotated[list[Prompt], Meta(max_length=MOST_CLICKS, description="Clicks on the frame.")] = []
    box: Annotated[Sides | None, Meta(description="A box around the object.")] = None
    form: Annotated[
        Literal["mask", "polygon"] | None, Meta(description="Of the answer; by default what the type holds.")
    ] = None


class Segmentation(Resource, kw_only=True):
    """The shape of an object that was clicked on."""

    localization: Annotated[
        dict[str, Any] | None,
        Meta(description="The body of a localization, without media and version; absent for no object."),
    ] = None
    confidence: Annotated[float | None, Meta(description="From 0 to 1, where the model tells it.")] = None
    model: Annotated[str | None, Meta(description="Name and version of the model.")] = None
    was_sent: Annotated[bool, Meta(description="Whether the picture was sent; else the model still had it.")] = True


class TrackingSpec(PredictionSpec, kw_only=True):
    """Boxes of a frame, and how far to follow them."""

    stop: Annotated[Annotated[int, Meta(ge=0)], Meta(description="The last frame; before `frame` to follow back.")]
    boxes: Annotated[
        list[Sides | None],
        Meta(min_length=1, max_length=MOST_TRACKED, description="Boxes on `frame`; null for one that was lost."),
    ]
    states: Annotated[
        Annotated[list[Any], Meta(max_length=MOST_TRACKED)] | None,
        Meta(description="`states` of the answer that this request goes on from."),
    ] = None


class TrackedFrame(Resource, kw_only=True):
    """The boxes on one frame, in the order of the request; null for one that was lost."""

    frame: Annotated[int, Meta(description="Number of the frame.")]
    boxes: Annotated[list[Box | None], Meta(description="Boxes on it; null for one that was lost.")]


class Tracking(Resource, kw_only=True):
    """Where boxes are on the frames after, or before, one."""

    frames: Annotated[list[TrackedFrame], Meta(description="The frames in the order in which they were followed.")]
    states: Annotated[list[Any], Meta(description="What the model remembers; the next request sends it along.")]
    next: Annotated[int | None, Meta(description="The first frame that did not fit into the time.")] = None
    model: Annotated[str | None, Meta(description="Name and version of the model.")] = None


class AnnotateSpec(Resource, kw_only=True):
    """The annotator, the media and frames to run it on, and the version that its boxes are written to."""

    names: ClassVar = {"version": "version", "media_ids": "media", "localization_ids": "localization"}

    annotator: Id
    version: Annotated[Id | None, Meta(description="Id of the version that the boxes are written to.")] = None
    media_ids: list[int] | None = None
    media_query: MediaQueryText | None = None
    every: Annotated[Annotated[int, Meta(ge=1, le=100_000)], Meta(description="Use every n-th frame.")] = 1
    start: Annotated[int, Meta(ge=0, description="First frame, from 0.")] = 0
    stop: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="The frame before which to stop; by default the end of the media."),
    ] = None
    localization_ids: Annotated[
        Annotated[list[Id], Meta(min_length=1, max_length=MOST_TRACKED)] | None,
        Meta(description="Of a tracker: the localizations to follow, all on one frame of the only media."),
    ] = None
    success_email_spec: EmailSpec | None = None
    failure_email_spec: EmailSpec | None = None


class EmbeddingsSpec(Resource, kw_only=True):
    """The embedder, and localizations of its type on the media."""

    names: ClassVar = {"localization_ids": "localization"}

    annotator: Id
    localization_ids: Annotated[
        list[Id], Meta(min_length=1, max_length=MOST_EMBEDDED, description="Localizations on the media.")
    ]


class Vectors(Resource, kw_only=True):
    """Vectors of crops, in the order of the request."""

    vectors: Annotated[list[list[float]], Meta(description="A vector for each crop, all of one length.")]
    model: Annotated[str | None, Meta(description="Name and version of the model.")] = None


class EmbedSpec(Resource, kw_only=True):
    """The embedder, and the localizations of its type that get vectors."""

    names: ClassVar = {"version": "version", "media_ids": "media"}

    annotator: Id
    version: Id | None = None
    media_ids: list[int] | None = None
    media_query: MediaQueryText | None = None
    anew: Annotated[bool, Meta(description="Whether those that have a vector get another one.")] = False
    success_email_spec: EmailSpec | None = None
    failure_email_spec: EmailSpec | None = None


class DraftsSpec(Resource, kw_only=True):
    """A decision on drafts, and which: its members combine by and."""

    names: ClassVar = {"version": "version", "ids": "localization", "state_ids": "state", "media_ids": "media"}

    decision: Annotated[Literal["accept", "reject"], Meta(description="`accept` moves drafts, `reject` deletes them.")]
    version: Annotated[Id | None, Meta(description="Id of the version that accepted drafts move to.")] = None
    ids: Annotated[list[Id], Meta(max_length=100_000, description="These localizations.")] | None = None
    state_ids: Annotated[list[Id], Meta(max_length=100_000, description="These states.")] | None = None
    media_ids: Annotated[list[Id], Meta(max_length=100_000, description="Those on these media.")] | None = None
    frames: Annotated[
        Annotated[list[Annotated[int, Meta(ge=0)]], Meta(min_length=2, max_length=2)] | None,
        Meta(description="Those on frames from the first to the last given."),
    ] = None
    labels: Annotated[
        Annotated[list[str], Meta(min_length=1, max_length=100)] | None, Meta(description="Those of these classes.")
    ] = None
    least: Annotated[float | None, Meta(description="Those with at least this confidence.")] = None
    most: Annotated[float | None, Meta(description="Those with at most this confidence.")] = None
    is_all: Annotated[bool, Meta(description="All drafts of the annotator, where nothing else selects.")] = False


class DraftsReviewed(Resource, kw_only=True):
    """The drafts that were accepted or rejected."""

    message: str
    localizations: Annotated[int, Meta(description="How many localizations.")]
    states: Annotated[int, Meta(description="How many states.")]
    change: Change = None


Metric = Literal["cosine", "l2norm"]


class SuggestionsSpec(Resource, kw_only=True):
    """The localizations to suggest labels for, and the labels that serve as examples."""

    names: ClassVar = {"ids": "localization", "version": "version"}

    ids: Annotated[list[Id], Meta(min_length=1, max_length=50, description="Localizations of one type.")]
    embedding_attribute: Annotated[AttributeName, Meta(description="The float_array that is compared.")]
    label_attribute: Annotated[AttributeName, Meta(description="The attribute with the labels.")]
    neighbours: Annotated[Annotated[int, Meta(ge=1, le=100)], Meta(description="How many vote.")] = 15
    metric: Annotated[Metric, Meta(description="Measure of distance.")] = "cosine"
    version: Annotated[Id | None, Meta(description="The version whose labels count; by default all.")] = None


class LabelVotes(Resource, kw_only=True):
    """A label that neighbours have."""

    label: Annotated[str, Meta(description="The label.")]
    votes: Annotated[int, Meta(description="How many neighbours have it.")]
    share: Annotated[float, Meta(description="Their part of all that voted.")]
    distance: Annotated[float, Meta(description="That of the nearest of them.")]


class LabelSuggestions(Resource, kw_only=True):
    """The labels of the neighbours of a localization, most votes first; none where it has no vector."""

    id: int
    labels: Annotated[list[LabelVotes], Meta(description="Labels by votes.")]


class ReviewQueueSpec(Resource, kw_only=True):
    """Which localizations to look at, and in which order."""

    names: ClassVar = {"version": "version"}

    order: Annotated[
        Literal["uncertain", "unlike", "duplicates"],
        Meta(description="By a confidence near one half, a distance from the mean, or pairs that are alike."),
    ]
    type: Annotated[Id, Meta(description="Id of their type.")]
    attribute: Annotated[AttributeName, Meta(description="The confidence, or the float_array that is compared.")]
    version: Annotated[Id | None, Meta(description="Id of their version; by default all.")] = None
    query: Annotated[
        Annotated[str, Meta(max_length=8192)] | None, Meta(description="Parameters of their list: `?media_id=5`.")
    ] = None
    metric: Annotated[Metric, Meta(description="Measure of distance.")] = "cosine"
    within: Annotated[Annotated[float, Meta(ge=0)], Meta(description="Of duplicates: the largest distance.")] = 0.05
    count: Annotated[Annotated[int, Meta(ge=1, le=1000)], Meta(description="How many to answer.")] = 100


class Queued(Resource, kw_only=True):
    """One to look at."""

    sparse: ClassVar = frozenset({"other"})

    id: int
    other: Annotated[int | None, Meta(description="Of duplicates: id of the other one.")] = None
    value: Annotated[float, Meta(description="Its confidence, or a distance.")]


ANNOTATOR = RecordKind(name="annotator", struct=Annotator, parent=("project", "project"))
