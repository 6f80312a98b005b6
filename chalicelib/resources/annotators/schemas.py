"""Bodies and answers of annotators."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.models.integrations import Parameter, Url
from chalicelib.core.models.jobs import EmailSpec
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Id, Name, Resource

Convention = Literal["limn", "label-studio", "nuclio"]
MOST_BOXES = 1_000
"""Maximum boxes of one frame."""
Headers = Annotated[list[Parameter], Meta(max_length=20)]
AttributeName = Annotated[str, Meta(min_length=1, max_length=128)]


class AnnotatorUpdate(Resource, kw_only=True):
    """The body of a PATCH of an annotator."""

    name: Name | None = None
    url: Url | None = None
    convention: Convention | None = None
    headers: Headers | None = None
    algorithm: Name | None = None
    type: Id | None = None
    label_attribute: AttributeName | None = None
    confidence_attribute: AttributeName | None = None


class AnnotatorSpec(AnnotatorUpdate, kw_only=True):
    """What registers an annotator: a URL, or the name of an algorithm; and the type of the boxes."""

    name: Name
    type: Id


class Annotator(Resource, kw_only=True):
    """A model that returns boxes. Its headers, which may hold a key, are never shown."""

    hidden: ClassVar = frozenset({"sealed"})

    id: int
    project: int
    name: Name
    url: str | None = None
    convention: Convention = "limn"
    algorithm: str | None = None
    type: int
    label_attribute: str | None = None
    confidence_attribute: str | None = None
    sealed: str = ""
    effective_permission: int = 0


class PredictionSpec(Resource, kw_only=True):
    """The annotator, the media and the frame of a prediction."""

    annotator: Id
    frame: Annotated[int, Meta(ge=0)] = 0


class Box(Resource, kw_only=True):
    """A box in fractions of the width and height of the picture."""

    x: float
    y: float
    width: float
    height: float
    label: str | None = None
    confidence: float | None = None


class Prediction(Resource, kw_only=True):
    """The boxes of a frame, and the corresponding localizations, without media and version."""

    boxes: list[Box]
    localizations: list[dict[str, Any]]


class AnnotateSpec(Resource, kw_only=True):
    """The annotator, the media and frames to run it on, and the version that its boxes are written to."""

    names: ClassVar = {"version": "version", "media_ids": "media"}

    annotator: Id
    version: Id
    media_ids: list[int] | None = None
    media_query: Annotated[
        Annotated[str, Meta(max_length=8192)] | None,
        Meta(description="Parameters of GetMediaList, such as `?name=x`; it wins over `media_ids`."),
    ] = None
    every: Annotated[Annotated[int, Meta(ge=1, le=100_000)], Meta(description="Use every n-th frame.")] = 1
    start: Annotated[int, Meta(ge=0)] = 0
    stop: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        Meta(description="The frame before which to stop; by default the end of the media."),
    ] = None
    success_email_spec: EmailSpec | None = None
    failure_email_spec: EmailSpec | None = None


ANNOTATOR = RecordKind(name="annotator", struct=Annotator, parent=("project", "project"))
