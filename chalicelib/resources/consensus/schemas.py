"""The structs of consensus layers."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from chalicelib.core.models.datasets import FINISHED, WorkStatus
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Id, Name, Resource, Timestamp
from chalicelib.resources.quality.schemas import QualityReportSpec

MOST_LISTED = 500
"""Undecided objects that a consensus layer lists."""


class ConsensusLayerSpec(Resource, kw_only=True):
    """The body that orders a consensus layer: of the copies of a set of tasks, or of versions."""

    names: ClassVar = {"versions": "version", "media_ids": "media"}

    name: Annotated[Name, Meta(description="The name of the new version, and of the set of its review tasks.")]
    tasks: Annotated[
        Name | None,
        Meta(description="The name of a set of tasks: the copies that were handed in, where there are two or more."),
    ] = None
    versions: Annotated[
        Annotated[list[Id], Meta(min_length=2, max_length=10)] | None,
        Meta(description="The layers, instead of `tasks`; each counts on all frames."),
    ] = None
    report: Annotated[
        str | None,
        Meta(description="The uid of your quality report with a `reference`: a layer weighs what its F1 is there."),
    ] = None
    by_person: Annotated[
        bool,
        Meta(
            description="Whether a copy of `tasks` weighs what the quality of who did it is: their precision in"
            " `report`, or else their mean F1 on the honeypots of the set. Who has none weighs the mean of the others."
        ),
    ] = False
    agreement: Annotated[
        float,
        Meta(ge=0.5, lt=1, description="An object or class is decided by more than this share of the weight."),
    ] = 0.5
    review: Annotated[bool, Meta(description="Whether what is undecided becomes tasks.")] = True
    class_attribute: Annotated[
        str | None, Meta(description="The attribute with the class; without it the class is the name of the type.")
    ] = None
    iou: Annotated[float, Meta(gt=0, le=1, description="The smallest similarity of a pair, such as IoU.")] = 0.5
    distance: Annotated[
        float, Meta(gt=0, le=1, description="Distance at which the similarity of dots, or of the ends of lines, is 0.")
    ] = 0.02
    media_ids: Annotated[list[Id] | None, Meta(description="The media; all without it and without `query`.")] = None
    query: Annotated[
        str | None,
        Meta(description="Parameters of GetLocalizationList, as in an address, that narrow the shapes."),
    ] = None

    def comparison(self, versions: list[int]) -> QualityReportSpec:
        """The comparison of some layers by the same rules."""
        return QualityReportSpec(
            versions=versions,
            class_attribute=self.class_attribute,
            iou=self.iou,
            distance=self.distance,
            media_ids=self.media_ids,
            query=self.query,
        )


class Undecided(Resource, kw_only=True):
    """An object on which the copies disagree."""

    media: int
    frame: int
    ids: Annotated[list[int], Meta(description="The localizations of the copies.")]


class ConsensusLayer(Resource, kw_only=True):
    """A consensus layer: a version computed from the copies of several people."""

    hidden: ClassVar = frozenset({"user", "round", "after", "people"})

    uid: str
    id: str
    project: int
    user: int
    status: WorkStatus = "pending"
    message: Annotated[str, Meta(description="Why it failed.")] = ""
    created_datetime: Timestamp
    spec: ConsensusLayerSpec
    versions: Annotated[list[int], Meta(description="The layers that it is made of.")]
    version: Annotated[int, Meta(description="The new version; it is there as soon as the status is `running`.")]
    round: int = 0
    after: Annotated[int, Meta(description="The last media that is done.")] = 0
    people: dict[int, float] = {}
    """What the copies of each person weigh, as it was when the layer was ordered; empty where layers weigh."""
    kept: Annotated[int, Meta(description="Objects that the new version has.")] = 0
    dropped: Annotated[int, Meta(description="Objects that the copies outvoted.")] = 0
    undecided: Annotated[int, Meta(description="Objects on which the copies disagree; the new version lacks them.")] = 0
    skipped: Annotated[int, Meta(description="Shapes where fewer than two copies were handed in.")] = 0
    review_tasks: Annotated[int, Meta(description="Tasks made of what is undecided.")] = 0
    conflicts: Annotated[list[Undecided], Meta(description=f"The first {MOST_LISTED} undecided objects.")] = []

    @property
    def is_finished(self) -> bool:
        """Whether no work is left."""
        return self.status in FINISHED


class ConsensusLayerCreated(Resource, kw_only=True):
    """The id of the consensus layer that was ordered."""

    message: str
    id: str
    uid: str


CONSENSUS_LAYER = RecordKind(
    name="consensus_layer",
    struct=ConsensusLayer,
    parent=("project", "project"),
    identity="uid",
    key=lambda layer: f"{layer.created_datetime}|{layer.uid}",
)
