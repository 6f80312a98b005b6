"""Quality reports: orders, and their computation in the function of datasets."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.background import scope_of
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import VERSION, Definitions, StateType
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, NotFound, reason_of
from chalicelib.query.operators import Op
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.addresses import parse_address
from chalicelib.query.parsers.parameters import LocalizationQuery, StateQuery
from chalicelib.query.tree import Query, Test, both
from chalicelib.queues import send
from chalicelib.resources.quality import shapes
from chalicelib.resources.quality.comparison import Rules, compare
from chalicelib.resources.quality.matching import Shape
from chalicelib.resources.quality.messages import MakeQualityReport
from chalicelib.resources.quality.metrics import Confusion
from chalicelib.resources.quality.periods import compare_periods, periods_of, result_of
from chalicelib.resources.quality.schemas import QUALITY_REPORT, QualityReport, QualityReportSpec
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, limits, records
from chalicelib.storage.dynamodb.progress import outcomes

MOST_SHAPES = 2_000_000
"""Shapes of one report: what the function of datasets compares within its time."""
MOST_MEDIA = 1_000
"""Media that a report lists, of all pairs of layers together."""


class _StateRow(msgspec.Struct):
    """The members of a state's document that a comparison reads."""

    id: int
    type: int
    version: int
    media: list[int]
    localizations: list[int] = []
    frame: int | None = None
    attributes: dict[str, Any] = {}


_decode_state = msgspec.json.Decoder(_StateRow).decode


def order(scope: Scope, project: int, spec: QualityReportSpec) -> QualityReport:
    """Store the order of a report, and send it to the function of datasets.

    Raises:
        BadInput: fewer than two layers, a layer twice, an unknown class attribute, or a query that is not valid.
        NotFound: a layer is not in the project.
    """
    layers = layers_of(spec)
    if len(layers) < 2:  # noqa: PLR2004 a pair
        raise BadInput("versions: give two layers, or one and a reference.")
    if len(set(layers)) < len(layers):
        raise BadInput("versions: each layer once, and not the reference.")
    check(scope, project, spec)
    uid = str(uuid.uuid4())
    made = QualityReport(uid=uid, id=uid, project=project, user=scope.caller.id, created_datetime=now(), spec=spec)
    limits.check(QUALITY_REPORT, made)
    # sent first, so that no crash leaves a report that never begins; the function waits for the record
    send(settings().dataset_queue_url, MakeQualityReport(uid=uid))
    return records.create(QUALITY_REPORT, made)


def check(scope: Scope, project: int, spec: QualityReportSpec) -> None:
    """Refuse a comparison of unknown layers or classes, or of too many shapes.

    Raises:
        BadInput: an unknown class attribute, a query that is not valid, or too many shapes.
        NotFound: a layer is not in the project.
    """
    for number in layers_of(spec):
        if records.get(VERSION, number).project != project:
            raise NotFound.of("Version", number)
    view = view_queries.current(project)
    _check_attribute(view.definitions, spec.class_attribute)
    if view_queries.count(view, query_of(spec), scope) > MOST_SHAPES:
        raise BadInput(f"At most {MOST_SHAPES} shapes are compared; narrow it by media_ids or query.")


def layers_of(spec: QualityReportSpec) -> list[int]:
    """All versions of a report, the reference first."""
    return [*([] if spec.reference is None else [spec.reference]), *spec.versions]


def _check_attribute(definitions: Definitions, name: str | None) -> None:
    types = [*definitions.types(Kind.LOCALIZATION).values(), *definitions.types(Kind.STATE).values()]
    names = {each.name for type_ in types for each in type_.attribute_types}
    if name is not None and name not in names:
        raise BadInput(f"class_attribute: no type has {name!r}; there are {', '.join(sorted(names))}.")


def query_of(spec: QualityReportSpec) -> Query:
    """The shapes that a report compares. Raises BadInput: `query` is not valid."""
    given = LocalizationQuery()
    if spec.query is not None:
        given = parse_address(spec.query, LocalizationQuery, "query")
        if given.version or given.start or given.stop is not None or given.sort_by:
            raise BadInput("query: leave out version, start, stop and sort_by; the report sets them.")
    found = filters.parse(Kind.LOCALIZATION, given)
    narrowed = [Test("version", Op.IN, tuple(layers_of(spec)))]
    if spec.media_ids is not None:
        narrowed.append(Test("media", Op.IN, tuple(dict.fromkeys(spec.media_ids))))
    return replace(found, where=both(found.where, *narrowed))


def make(uid: str) -> None:
    """Compute a report. A repetition after a crash computes it again, with the same result for the same rows.

    Raises:
        NotFound: there is no such report: it is not stored yet, or deleted.
    """
    report = records.get(QUALITY_REPORT, uid)
    if report.is_finished:
        return
    records.edit(QUALITY_REPORT, uid, lambda found: msgspec.structs.replace(found, status="running"))
    scope = scope_of(report.user, report.project, "report")
    spec, layers = report.spec, layers_of(report.spec)
    pairs = list(combinations(layers, 2))
    if spec.reference is not None:
        pairs = [(spec.reference, each) for each in spec.versions]
    rules = Rules(threshold=spec.iou, reach=spec.distance, class_aware=spec.class_aware)
    states = list(_states(report, scope))
    track_of = {number: state.id for state in states for number in state.localizations}
    found, agreement, interval = compare(_rows(report, scope, track_of), layers, pairs, rules)
    results = [comparison.result() for comparison in found]
    for result, (one, two) in zip(results, pairs, strict=True):
        result["states"] = _in_time(report, states, one, two)
    for result in results:
        result["media_count"] = len(result["media"])
        result["media"] = sorted(result["media"], key=lambda each: each["f1"] or 0)[: MOST_MEDIA // len(results)]
    outcomes.end(
        QUALITY_REPORT,
        uid,
        status="succeeded",
        results=results,
        alpha=agreement,
        alpha_interval=interval and list(interval),
    )


def fail(uid: str, reason: Exception) -> None:
    """Mark a report as failed, with the reason."""
    outcomes.end(QUALITY_REPORT, uid, status="failed", message=reason_of(reason, has_details=True))


def reopen(uid: str) -> None:
    """Let a report that failed be computed again; another one stays as it is."""
    outcomes.reopen(QUALITY_REPORT, uid, message="")


def without_results(report: QualityReport) -> QualityReport:
    """A report as lists show it."""
    return msgspec.structs.replace(report, results=None)


def _states(report: QualityReport, scope: Scope) -> Iterator[_StateRow]:
    """The tracks of the layers, and their states of frames."""
    spec = report.spec
    narrowed = [Test("version", Op.IN, tuple(layers_of(spec)))]
    if spec.media_ids is not None:
        narrowed.append(Test("media", Op.OVERLAPS, tuple(dict.fromkeys(spec.media_ids))))
    found = filters.parse(Kind.STATE, StateQuery())
    query = replace(found, where=both(found.where, *narrowed), merge=False)
    for document in view_queries.documents(view_queries.current(report.project), query, scope):
        yield _decode_state(document)


def _in_time(report: QualityReport, states: list[_StateRow], one: int, two: int) -> dict[str, Any] | None:
    """How far the states of frames of two layers agree, by frames; each type is compared with itself."""
    known = view_queries.current(report.project).definitions.types(Kind.STATE)
    kinds = {n: each for n, each in known.items() if isinstance(each, StateType) and each.association == "Frame"}
    starts: defaultdict[tuple[int, int], defaultdict[int, list[tuple[int, str]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for state in states:
        if state.type in kinds and state.frame is not None:
            label = shapes.label_of(state.attributes, report.spec.class_attribute, kinds[state.type].name)
            starts[state.media[0], state.type][state.version].append((state.frame, label))
    frames = entities.many(Kind.MEDIA, {media for media, _ in starts})
    lengths = {media: getattr(stored.entity, "num_frames", None) or 0 for media, stored in frames.items()}
    confusion = Confusion()
    for (media, kind), of in starts.items():
        holds = kinds[kind].interpolation == "latest"
        ours, theirs = (periods_of(of[version], lengths.get(media, 0), holds=holds) for version in (one, two))
        compare_periods(confusion, ours, theirs)
    return result_of(confusion)


def _rows(report: QualityReport, scope: Scope, track_of: dict[int, int]) -> Iterator[tuple[int, int, int, Shape]]:
    for row, shape in shapes.rows(report.project, query_of(report.spec), scope, report.spec.class_attribute):
        shape.track = track_of.get(row.id)
        yield row.media, row.frame, row.version, shape
