"""The structs of quality reports."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from chalicelib.core.models.datasets import FINISHED, WorkStatus
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Id, Resource, Timestamp


class QualityReportSpec(Resource, kw_only=True):
    """The body that orders a report: layers against a reference layer, or against each other."""

    names: ClassVar = {"reference": "version", "versions": "version", "media_ids": "media"}

    versions: Annotated[list[Id], Meta(min_length=1, max_length=10, description="The layers that are compared.")]
    reference: Annotated[
        Id | None,
        Meta(description="The layer that counts as truth; without it layers are compared in pairs."),
    ] = None
    class_attribute: Annotated[
        str | None, Meta(description="The attribute with the class; without it the class is the name of the type.")
    ] = None
    iou: Annotated[float, Meta(gt=0, le=1, description="The smallest similarity of a pair, such as IoU.")] = 0.5
    distance: Annotated[
        float,
        Meta(
            gt=0,
            le=1,
            description="Distance at which the similarity of dots, or of the ends of lines, is 0; 1 is the picture.",
        ),
    ] = 0.02
    class_aware: Annotated[bool, Meta(description="Pair shapes of the same class only.")] = False
    media_ids: Annotated[list[Id] | None, Meta(description="The media; all without it and without `query`.")] = None
    query: Annotated[
        str | None,
        Meta(description="Parameters of GetLocalizationList, as in an address, that narrow the shapes."),
    ] = None


class QualityReport(Resource, kw_only=True):
    """A report of how far layers agree."""

    hidden: ClassVar = frozenset({"user", "round"})

    uid: str
    id: str
    project: int
    user: int
    status: WorkStatus = "pending"
    message: Annotated[str, Meta(description="Why it failed.")] = ""
    created_datetime: Timestamp
    spec: QualityReportSpec
    round: int = 0
    """How many rounds are done."""
    compared: Annotated[int, Meta(description="Number of shapes compared so far; a large report takes rounds.")] = 0
    results: Annotated[
        list[dict[str, Any]] | None,
        Meta(
            description=(
                "For each pair of layers: `reference`, `version`; `overall` with `matched`, `missing`, `extra`, "
                "`precision`, `recall`, `f1`, `mean_iou`; the same in `classes`, `people` and `media`, worst media "
                "first; `weeks`, by the week in which shapes were made: `matched`, `extra`, `precision`, `mean_iou`; "
                "`confusion` with `labels` and `matrix`, whose last row and column mean no partner; `kappa`; "
                "`tracks` with `hota`, `detection`, `association`, `localization`, `idf1`; `states`, by frames, with "
                "`agreement`, `kappa`, `classes`, `confusion`; "
                "`conflicts` with `kind`, `media`, `frame`, `reference_id`, `id`, `user`, and the `row` and `column` "
                "of `confusion` that counts them; `conflict_count`; `media_count`."
            )
        ),
    ] = None
    alpha: Annotated[float | None, Meta(description="Krippendorff's alpha of the classes over all layers.")] = None
    alpha_interval: Annotated[list[float] | None, Meta(description="Its bootstrap interval of 95 %, by media.")] = None

    @property
    def is_finished(self) -> bool:
        """Whether no work is left."""
        return self.status in FINISHED


class QualityReportCreated(Resource, kw_only=True):
    """The id of the report that was ordered."""

    message: str
    id: str
    uid: str


QUALITY_REPORT = RecordKind(
    name="quality_report",
    struct=QualityReport,
    parent=("project", "project"),
    identity="uid",
    key=lambda report: f"{report.created_datetime}|{report.uid}",
)
