"""Consensus layers: orders, and their rounds in the function of datasets.

A round decides the next media: it creates the localizations and the review tasks, both under identities that follow
from the order, then stores how far it came and sends the next round. So each step may be repeated after a crash.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

import msgspec
from msgspec.structs import replace

from chalicelib.access.background import scope_of
from chalicelib.access.scope import Scope
from chalicelib.core.batches import batched
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import VERSION
from chalicelib.core.models.entities import LocalizationSpec
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, NotFound, reason_of
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test, both
from chalicelib.queues import send
from chalicelib.resources.annotations import creation as annotations_creation
from chalicelib.resources.consensus.coverage import Copies, Everywhere, Span
from chalicelib.resources.consensus.messages import MakeConsensus
from chalicelib.resources.consensus.schemas import (
    CONSENSUS_LAYER,
    MOST_LISTED,
    ConsensusLayer,
    ConsensusLayerSpec,
    Undecided,
)
from chalicelib.resources.consensus.voting import Drawn, Object, decide, merge, objects_of
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.quality import service as quality_service
from chalicelib.resources.quality import shapes
from chalicelib.resources.quality.metrics import Tally
from chalicelib.resources.quality.schemas import QUALITY_REPORT
from chalicelib.resources.tasks import blindness, honeypots
from chalicelib.resources.tasks import service as tasks_service
from chalicelib.resources.tasks.honeypot_schemas import HONEYPOT_SCORE
from chalicelib.resources.tasks.schemas import TASK, Task
from chalicelib.resources.versions import service as versions_service
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import ids, limits, records
from chalicelib.storage.dynamodb.progress import outcomes

SHAPES_A_ROUND = 20_000
"""Shapes after which a round ends with its media."""
_PER_COMMIT = 500
_MOST_FRAMES = 100
"""Frames that a review task names."""


def order(scope: Scope, project: int, spec: ConsensusLayerSpec) -> ConsensusLayer:
    """Store the order of a layer, and send its first round.

    Raises:
        BadInput: neither or both of tasks and versions, fewer than two layers, or a report without their weights.
        NotFound: a layer or the report is not there.
    """
    if (spec.tasks is None) == (spec.versions is None):
        raise BadInput("tasks: give the name of a set of tasks, or versions.")
    tasks = records.list_children(TASK, project)
    if spec.review and any(task.name == spec.name for task in tasks):
        raise BadInput(f"name: there are tasks of a set {spec.name!r}; give another name, or no review.")
    copies = {task.version for task in tasks if task.name == spec.tasks and task.version is not None}
    versions = spec.versions or sorted(copies)
    if len(set(versions)) < 2:  # noqa: PLR2004 a vote
        raise BadInput("tasks: a consensus needs two layers; the copies of this set have none, or one for all.")
    quality_service.check(scope, project, spec.comparison(versions))
    _weights(spec, versions, scope.caller.id, project)
    people = _people(spec, project)
    uid = str(uuid.uuid4())
    made = ConsensusLayer(
        uid=uid,
        id=uid,
        project=project,
        user=scope.caller.id,
        created_datetime=now(),
        spec=spec,
        versions=list(dict.fromkeys(versions)),
        version=ids.reserve(VERSION.name)[0],
        people=people,
    )
    limits.check(CONSENSUS_LAYER, made)
    # sent first, so that no crash leaves a layer that never begins; the function waits for the record
    send(settings().dataset_queue_url, MakeConsensus(uid=uid, round=0))
    return records.create(CONSENSUS_LAYER, made)


def _weights(spec: ConsensusLayerSpec, versions: list[int], user: int, project: int) -> dict[int, float]:
    """What each layer weighs: the same, or its F1 in a report."""
    if spec.report is None:
        return dict.fromkeys(versions, 1.0)
    report = records.maybe(QUALITY_REPORT, spec.report)
    if report is None or report.user != user or report.project != project:
        raise NotFound.of("QualityReport", spec.report)
    if report.spec.reference is None or not report.results:
        raise BadInput("report: it needs a reference, and to be finished.")
    found = {result["version"]: result["overall"]["f1"] or 0.0 for result in report.results}
    if missing := set(versions) - found.keys():
        raise BadInput(f"report: it does not compare version {min(missing)} with its reference.")
    if not any(found[number] for number in versions):
        raise BadInput("report: no layer agrees with its reference.")
    return {number: found[number] for number in versions}


def _people(spec: ConsensusLayerSpec, project: int) -> dict[int, float]:
    """What the copies of each person weigh; empty where layers weigh. The caller may read the report."""
    if not spec.by_person:
        return {}
    if spec.tasks is None:
        raise BadInput("by_person: needs tasks, whose copies have each been done by a person.")
    if spec.report is None:
        scores = records.list_children(HONEYPOT_SCORE, project, f"{honeypots.uid_of(project, spec.tasks)}|")
        found = {each.user: each.score for each in scores if each.score is not None}
    else:
        tallies: defaultdict[int, Tally] = defaultdict(Tally)
        for result in records.get(QUALITY_REPORT, spec.report).results or []:
            for row in result["people"]:
                tallies[row["user"]].matched += row["matched"]
                tallies[row["user"]].extra += row["extra"]
        found = {user: tally.precision or 0.0 for user, tally in tallies.items()}
    if not any(found.values()):
        raise BadInput("by_person: nobody has a score above 0, in the report or on honeypots of these tasks.")
    return found


# --- rounds ----------------------------------------------------------------------------------------------------------


@dataclass
class _Round:
    """What a round found, media after media."""

    specs: list[LocalizationSpec] = field(default_factory=list)
    kept: int = 0
    dropped: int = 0
    skipped: int = 0
    undecided: list[Undecided] = field(default_factory=list)
    units: defaultdict[tuple[int, Span], list[int]] = field(default_factory=lambda: defaultdict(list))
    """The frames of undecided objects, by the unit of a review task."""


def run_round(uid: str, number: int) -> None:
    """Compute the next media of a layer, and send the next round; a repeated round only sends the next.

    Raises:
        NotFound: there is no such layer: it is not stored yet, or deleted.
        Forbidden: its user has no longer Full Control.
    """
    layer = records.get(CONSENSUS_LAYER, uid)
    if layer.is_finished:
        return
    if layer.round == number:
        writer = _writer(layer)
        layer = _begin(layer)
        blindness.hide_derived(layer.project, layer.version, layer.versions)
        found, last = _decide(layer, writer.scope)
        for part in batched(found.specs, _PER_COMMIT):
            if records.maybe(CONSENSUS_LAYER, uid) is None:
                return
            annotations_creation.create_missing(Kind.LOCALIZATION, writer, part)
        tasks = _create_review_tasks(layer, found) if layer.spec.review else 0
        layer = records.edit(CONSENSUS_LAYER, uid, lambda now: _advance(now, number, found, tasks, last))
    if not layer.is_finished:
        send(settings().dataset_queue_url, MakeConsensus(uid=uid, round=layer.round))


def _writer(layer: ConsensusLayer) -> Writer:
    scope = scope_of(layer.user, layer.project, "consensus layer", Level.FULL)
    return Writer(project=layer.project, user=layer.user, level=scope.within_project(layer.project), scope=scope)


def _begin(layer: ConsensusLayer) -> ConsensusLayer:
    """Make the version of a layer, unless a round before has. Where it was deleted since, rows are refused."""
    if layer.status == "running":
        return layer
    if records.maybe(VERSION, layer.version) is None:
        versions_service.make(
            layer.project,
            layer.spec.name,
            layer.user,
            description=f"Consensus of versions {', '.join(map(str, layer.versions))}.",
            made_of=layer.versions,
            elemental_id=layer.uid,
            reserved=layer.version,
        )
    return records.edit(CONSENSUS_LAYER, layer.uid, lambda found: msgspec.structs.replace(found, status="running"))


def _decide(layer: ConsensusLayer, scope: Scope) -> tuple[_Round, int | None]:
    """Decide the media after the last ones; the last that was decided, None at the end."""
    spec, found, count = layer.spec, _Round(), 0
    weights = _weights(spec, layer.versions, layer.user, layer.project)
    coverage: Everywhere | Copies = Everywhere(weights)
    if spec.tasks is not None:
        tasks = records.list_children(TASK, layer.project)
        coverage = Copies([task for task in tasks if task.name == spec.tasks], weights, layer.people)
    query = quality_service.query_of(spec.comparison(layer.versions))
    query = replace(query, where=both(query.where, Test("media", Op.GT, layer.after)))
    drawn = (Drawn(*each) for each in shapes.rows(layer.project, query, scope, spec.class_attribute))
    for media, of_media in groupby(drawn, key=lambda each: each.row.media):
        for frame, some in groupby(of_media, key=lambda each: each.row.frame):
            at = coverage.weights_at(media, frame)
            layers: defaultdict[int, list[Drawn]] = defaultdict(list)
            for each in some:
                count += 1
                if each.row.version in at:
                    layers[each.row.version].append(each)
                else:
                    found.skipped += 1
            for one in objects_of(layers, spec.iou, spec.distance):
                _judge(layer, found, one, at, coverage.span_at(media, frame))
        if count >= SHAPES_A_ROUND:
            return found, media
    return found, None


def _judge(layer: ConsensusLayer, found: _Round, one: Object, weights: Mapping[int, float], span: Span) -> None:
    outcome, label = decide(one, weights, layer.spec.agreement)
    sources = sorted(drawn.row.id for drawn in one.values())
    row = next(iter(one.values())).row
    if outcome == "dropped":
        found.dropped += 1
    elif outcome == "undecided":
        found.undecided.append(Undecided(media=row.media, frame=row.frame, ids=sources))
        found.units[row.media, span].append(row.frame)
    else:
        found.kept += 1
        middle, members = merge(one, label, weights, layer.spec.distance)
        name = uuid.uuid5(uuid.UUID(layer.uid), ",".join(map(str, sources)))
        found.specs.append(
            LocalizationSpec(
                media_id=row.media,
                type=middle.type,
                frame=row.frame,
                version=layer.version,
                elemental_id=str(name),
                made_of=sources,
                **members,
            )
        )


def _create_review_tasks(layer: ConsensusLayer, found: _Round) -> int:
    """Create a task for each unit with something undecided, unless a round before has; their number."""
    moment = now()
    made = [
        Task(
            id=0,
            project=layer.project,
            name=layer.spec.name,
            media_id=media,
            start_frame=first,
            end_frame=last,
            version=layer.version,
            state="",
            instructions=_instructions(frames),
            created_by=layer.user,
            created_datetime=moment,
            modified_datetime=moment,
        )
        for (media, (first, last)), frames in found.units.items()
    ]
    tasks_service.add_missing(layer.project, made)
    return len(made)


def _instructions(frames: list[int]) -> str:
    listed = list(dict.fromkeys(frames))
    more = f" and {len(listed) - _MOST_FRAMES} more frames" if len(listed) > _MOST_FRAMES else ""
    return f"The copies disagree on {len(frames)} objects, on frames {_join(listed[:_MOST_FRAMES])}{more}."


def _join(frames: list[int]) -> str:
    return ", ".join(map(str, frames))


def _advance(layer: ConsensusLayer, number: int, found: _Round, tasks: int, last: int | None) -> ConsensusLayer | None:
    if layer.round != number or layer.is_finished:
        return None
    return msgspec.structs.replace(
        layer,
        round=number + 1,
        after=layer.after if last is None else last,
        status="succeeded" if last is None else "running",
        kept=layer.kept + found.kept,
        dropped=layer.dropped + found.dropped,
        skipped=layer.skipped + found.skipped,
        undecided=layer.undecided + len(found.undecided),
        review_tasks=layer.review_tasks + tasks,
        conflicts=[*layer.conflicts, *found.undecided][:MOST_LISTED],
    )


def fail(uid: str, reason: Exception) -> None:
    """Mark a layer as failed, with the reason. What its rounds made stays."""
    outcomes.end(CONSENSUS_LAYER, uid, status="failed", message=reason_of(reason, has_details=True))


def reopen(uid: str) -> None:
    """Resume a failed layer; others are unchanged."""
    outcomes.reopen(CONSENSUS_LAYER, uid, message="")
