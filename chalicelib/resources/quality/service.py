"""Quality reports: orders, and their computation in the function of datasets."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any

import msgspec
from msgspec.structs import replace

from chalicelib.access import view_queries
from chalicelib.access.background import scope_of
from chalicelib.access.scope import Scope
from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import VERSION, Definitions, StateType
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, NotFound, reason_of
from chalicelib.query.operators import Op
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.addresses import parse_address
from chalicelib.query.parsers.parameters import LocalizationQuery, StateQuery
from chalicelib.query.tree import Query, Related, Test, Tree, both
from chalicelib.queues import send
from chalicelib.resources.quality import shapes
from chalicelib.resources.quality.comparison import Comparison, Findings, Rules, compare
from chalicelib.resources.quality.matching import Shape
from chalicelib.resources.quality.messages import MakeQualityReport
from chalicelib.resources.quality.periods import compare_periods, periods_of
from chalicelib.resources.quality.schemas import QUALITY_REPORT, QualityReport, QualityReportSpec
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, limits, records
from chalicelib.storage.dynamodb.progress import outcomes
from chalicelib.storage.objects import objects

MOST_SHAPES = 20_000_000
"""Shapes of one report, compared in rounds."""
SHAPES_A_ROUND = 400_000
"""Shapes after which a round ends with its media: some 10 s of boxes, minutes of polygons."""


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
    """Refuse a comparison of unknown layers, media or classes, or of too many shapes.

    Raises:
        BadInput: an unknown class attribute, a query that is not valid, or too many shapes.
        NotFound: a layer or a media is not in the project, or not visible to the caller.
    """
    for number in layers_of(spec):
        if records.get(VERSION, number).project != project:
            raise NotFound.of("Version", number)
    view = view_queries.current(project)
    _check_attribute(view.definitions, spec.class_attribute)
    named = tuple(dict.fromkeys(spec.media_ids or ()))
    known = set(view_queries.ids(view, Query(kind=Kind.MEDIA, where=Test("id", Op.IN, named)), scope)) if named else ()
    for number in named:
        if number not in known:
            raise NotFound.of("Media", number)
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


def make(uid: str, number: int, has_time: Callable[[], bool] = lambda: True) -> None:
    """Compute a round of a report, and send the next round; a repeated round only sends the next.

    What was found of the media before is an object for each round, which names its last media itself: a repetition
    after a crash begins from the same, so that nothing counts twice.

    Args:
        uid: the report.
        number: of the round, from 0.
        has_time: whether another media may be compared; asked after each.

    Raises:
        NotFound: there is no such report: it is not stored yet, or deleted.
        Forbidden: its user may no longer see the project.
    """
    report = records.get(QUALITY_REPORT, uid)
    if report.is_finished:
        return
    if report.round == number:
        report = records.edit(QUALITY_REPORT, uid, lambda now: msgspec.structs.replace(now, status="running"))
        found = _read_findings(report)
        if _compare_media(report, found, has_time):
            _finish(report, found)
            return
        objects.write(_place_of(report, number + 1), msgspec.msgpack.encode(found))
        report = records.edit(QUALITY_REPORT, uid, lambda now: _advance(now, number, found.shapes))
    send(settings().dataset_queue_url, MakeQualityReport(uid=uid, round=report.round))


def _place_of(report: QualityReport, number: int) -> ObjectKey:
    """The object of what was found before a round; it expires with the objects of exports."""
    return object_keys.exports_prefix(report.project, report.uid) + f"rounds/{number:06d}"


def _read_findings(report: QualityReport) -> Findings:
    if not report.round:
        return Findings.begin(_pairs_of(report.spec), _rules_of(report.spec))
    return msgspec.msgpack.decode(objects.read(_place_of(report, report.round)), type=Findings)


def _advance(report: QualityReport, number: int, shapes_so_far: int) -> QualityReport | None:
    if report.round != number or report.is_finished:
        return None
    return msgspec.structs.replace(report, round=number + 1, compared=shapes_so_far)


def _pairs_of(spec: QualityReportSpec) -> list[tuple[int, int]]:
    if spec.reference is not None:
        return [(spec.reference, each) for each in spec.versions]
    return list(combinations(spec.versions, 2))


def _rules_of(spec: QualityReportSpec) -> Rules:
    return Rules(threshold=spec.iou, reach=spec.distance, class_aware=spec.class_aware)


def _compare_media(report: QualityReport, found: Findings, has_time: Callable[[], bool]) -> bool:
    """Compare the media after the last ones, up to `SHAPES_A_ROUND` or while there is time; whether none is left."""
    scope, spec, first = scope_of(report.user, report.project, "report"), report.spec, found.after
    last = _last_of_round(report, scope, first)
    span = [Test("media", Op.GT, first), *([] if last is None else [Test("media", Op.LTE, last)])]
    states = list(_states(report, scope, first, last))
    track_of = {number: state.id for state in states for number in state.localizations}
    rows = _rows(report, scope, span, track_of)
    is_whole = compare(found, rows, layers_of(spec), _rules_of(spec), is_enough=lambda: not has_time())
    if is_whole and last is not None:
        found.after = last
    end = None if is_whole and last is None else found.after
    there = [state for state in states if first < state.media[0] and (end is None or state.media[0] <= end)]
    for comparison in found.pairs:
        _compare_states(report, there, comparison)
    return end is None


def _last_of_round(report: QualityReport, scope: Scope, first: int) -> int | None:
    """The last media of a round that begins after a media; None for all that are left."""
    query, count = query_of(report.spec), 0
    query = replace(query, where=both(query.where, Test("media", Op.GT, first)), merge=False)
    media = view_queries.tally(view_queries.current(report.project), query, scope, "media")
    for number, shapes_on_it in media[:-1]:
        count += shapes_on_it
        if count >= SHAPES_A_ROUND:
            return int(number)
    return None


def _finish(report: QualityReport, found: Findings) -> None:
    interval = found.alpha_interval()
    outcomes.end(
        QUALITY_REPORT,
        report.uid,
        status="succeeded",
        results=[comparison.result() for comparison in found.pairs],
        compared=found.shapes,
        alpha=found.alpha(),
        alpha_interval=interval and list(interval),
    )
    objects.remove(_place_of(report, number) for number in range(1, report.round + 1))


def fail(uid: str, reason: Exception) -> None:
    """Mark a report as failed, with the reason."""
    outcomes.end(QUALITY_REPORT, uid, status="failed", message=reason_of(reason, has_details=True))


def reopen(uid: str) -> None:
    """Compute a failed report again; others are unchanged."""
    outcomes.reopen(QUALITY_REPORT, uid, message="")


def without_results(report: QualityReport) -> QualityReport:
    """A report without its results, as lists show it."""
    return msgspec.structs.replace(report, results=None)


def _states(report: QualityReport, scope: Scope, first: int, last: int | None) -> Iterator[_StateRow]:
    """The tracks of the layers, and their states of frames, on media after one, up to another."""
    spec = report.spec
    span = both(Test("id", Op.GT, first), *([] if last is None else [Test("id", Op.LTE, last)]))
    narrowed: list[Tree] = [Test("version", Op.IN, tuple(layers_of(spec))), Related(Kind.MEDIA, span)]
    if spec.media_ids is not None:
        narrowed.append(Test("media", Op.OVERLAPS, tuple(dict.fromkeys(spec.media_ids))))
    found = filters.parse(Kind.STATE, StateQuery())
    query = replace(found, where=both(found.where, *narrowed), merge=False)
    for document in view_queries.documents(view_queries.current(report.project), query, scope):
        yield _decode_state(document)


def _compare_states(report: QualityReport, states: list[_StateRow], comparison: Comparison) -> None:
    """Count how far the states of frames of two layers agree, by frames; each type is compared with itself."""
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
    for (media, kind), of in starts.items():
        holds = kinds[kind].interpolation == "latest"
        ours, theirs = (
            periods_of(of[version], lengths.get(media, 0), holds=holds)
            for version in (comparison.reference, comparison.version)
        )
        compare_periods(comparison.states, ours, theirs)


def _rows(
    report: QualityReport, scope: Scope, span: Sequence[Tree], track_of: dict[int, int]
) -> Iterator[tuple[int, int, int, Shape]]:
    query = query_of(report.spec)
    query = replace(query, where=both(query.where, *span))
    for row, shape in shapes.rows(report.project, query, scope, report.spec.class_attribute):
        shape.track = track_of.get(row.id)
        yield row.media, row.frame, row.version, shape
