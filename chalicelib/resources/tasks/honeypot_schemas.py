"""The structs of honeypots: tasks on media whose reference is known, and the scores of people on them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.core.records import RecordKind, padded
from chalicelib.core.resource import Id, Resource, Timestamp

MOST_RESULTS = 100
"""Honeypots that a running score has at most."""
MOST_MEDIA = 10_000
Share = Annotated[float, Meta(gt=0, le=0.9)]
Score = Annotated[float, Meta(ge=0, le=1)]
_Results = Annotated[int, Meta(ge=1, le=MOST_RESULTS)]


class HoneypotSpec(Resource, kw_only=True):
    """Which tasks of a set are honeypots, and how they are scored."""

    names: ClassVar = {"reference": "version", "media_ids": "media"}

    reference: Annotated[
        Id, Meta(description="The layer with the known annotations. It is hidden from members below Full Control.")
    ]
    share: Annotated[
        Share | None,
        Meta(
            description="The share of the set's units that are honeypots. They are drawn from the media with "
            "localizations in `reference`; of those, media that are not drawn become no tasks."
        ),
    ] = None
    media_ids: Annotated[
        Annotated[list[Id], Meta(min_length=1, max_length=MOST_MEDIA)] | None,
        Meta(description="The media whose reference is known, instead of `share`; each becomes a honeypot."),
    ] = None
    minimum: Annotated[
        Score, Meta(description="Who has a lower mean F1 over the last honeypots gets no more tasks of the set.")
    ] = 0.8
    last: Annotated[_Results, Meta(description="How many of a person's latest honeypots count.")] = 10
    least: Annotated[_Results, Meta(description="The number of results from which a person is judged.")] = 3
    class_attribute: Annotated[
        str | None, Meta(description="The attribute with the class; without it the class is the name of the type.")
    ] = None
    class_aware: Annotated[bool, Meta(description="Pair shapes of the same class only.")] = True
    iou: Annotated[float, Meta(gt=0, le=1, description="The smallest similarity of a pair, such as IoU.")] = 0.5
    distance: Annotated[
        float, Meta(gt=0, le=1, description="Distance at which the similarity of dots, or of the ends of lines, is 0.")
    ] = 0.02


class HoneypotSet(Resource, kw_only=True):
    """A set of tasks some of which are honeypots."""

    hidden: ClassVar = frozenset({"seed"})

    uid: str
    id: str
    project: int
    name: Annotated[str, Meta(description="The name of the set of tasks.")]
    spec: HoneypotSpec
    seed: str
    """Draws the honeypots and orders the tasks: the same ones when a request is repeated."""
    created_by: int
    created_datetime: Timestamp


class HoneypotResult(Resource, kw_only=True):
    """How a person did one honeypot."""

    task: Annotated[int, Meta(description="The task.")]
    media_id: int
    start_frame: Annotated[int | None, Meta(description="The first frame; null for a whole media.")] = None
    end_frame: Annotated[int | None, Meta(description="The last frame, included.")] = None
    version: Annotated[int, Meta(description="The layer that was compared with the reference.")]
    matched: Annotated[int, Meta(description="Shapes of the reference that were found.")]
    missing: Annotated[int, Meta(description="Shapes of the reference that were not found.")]
    extra: Annotated[int, Meta(description="Shapes that the reference does not have.")]
    f1: Annotated[float, Meta(description="2 matched / (2 matched + missing + extra); 1 where all are 0.")]
    handed_in: Annotated[Timestamp, Meta(description="When the task was handed in.")]


class HoneypotScore(Resource, kw_only=True):
    """The running score of a person on the honeypots of a set."""

    hidden: ClassVar = frozenset({"is_told"})

    uid: str
    id: str
    project: int
    set: Annotated[str, Meta(description="The uid of the set.")]
    name: Annotated[str, Meta(description="The name of the set of tasks.")]
    user: Annotated[int, Meta(description="Whose score it is.")]
    score: Annotated[float | None, Meta(description="The mean F1 of `results`; null without any.")] = None
    results: Annotated[list[HoneypotResult], Meta(description="The latest honeypots, oldest first.")] = []
    suspended_datetime: Annotated[
        Timestamp | None, Meta(description="Since when NextTask gives the person none of the set; null for never.")
    ] = None
    reinstated_datetime: Annotated[
        Timestamp | None, Meta(description="When a manager let the person again; earlier results do not count.")
    ] = None
    is_told: bool = False

    @property
    def suspended_user(self) -> int | None:
        """The person, while suspended."""
        return None if self.suspended_datetime is None else self.user


HONEYPOT_SET = RecordKind(
    name="honeypotset", struct=HoneypotSet, parent=("project", "project"), identity="uid", key=lambda each: each.uid
)
SUSPENDED = "suspendeduser"
"""The word under which the suspensions of a user are listed."""
HONEYPOT_SCORE = RecordKind(
    name="honeypotscore",
    struct=HoneypotScore,
    parent=("project", "project"),
    identity="uid",
    key=lambda score: f"{score.set}|{padded(score.user)}",
    links={"suspended_user": SUSPENDED},
)
