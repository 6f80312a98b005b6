"""Scores on honeypots: a task is compared with the reference, a person below the threshold is suspended.

A result is kept under its task, and what follows a suspension is done with each message until it is noted as done, so
that a message which comes again changes nothing.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable

import msgspec

from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.models.accounts import MEMBERSHIP
from chalicelib.core.models.definitions import VERSION
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.resource import now
from chalicelib.errors import Conflict, NotFound, Unavailable
from chalicelib.resources.honeypots.schemas import HoneypotScoreQuery
from chalicelib.resources.notifications import service as notifications_service
from chalicelib.resources.quality import service as quality_service
from chalicelib.resources.quality import shapes
from chalicelib.resources.quality.comparison import Findings, Rules, compare
from chalicelib.resources.quality.metrics import Tally
from chalicelib.resources.quality.schemas import QualityReportSpec
from chalicelib.resources.tasks import honeypots, leases
from chalicelib.resources.tasks.honeypot_schemas import (
    HONEYPOT_SCORE,
    HONEYPOT_SET,
    HoneypotResult,
    HoneypotScore,
    HoneypotSet,
    HoneypotSpec,
)
from chalicelib.resources.tasks.messages import ScoreTask
from chalicelib.resources.tasks.schemas import HOLDER, TASK, Task
from chalicelib.resources.tasks.workflow import workflow_of
from chalicelib.storage.dynamodb import records


def score(message: ScoreTask) -> None:
    """Score a task that was handed in, if it is a honeypot. A repetition has the same effect."""
    task = records.maybe(TASK, message.task)
    if task is None or not task.is_honeypot or task.handed_in_by != message.user or task.version is None:
        return
    found = records.maybe(HONEYPOT_SET, honeypots.uid_of(task.project, task.name))
    if found is None or len(records.many(VERSION, [found.spec.reference, task.version])) < 2:  # noqa: PLR2004 both
        return
    tally = compare_with_reference(found.spec, task)
    f1 = tally.f1
    result = HoneypotResult(
        task=task.id,
        media_id=task.media_id,
        start_frame=task.start_frame,
        end_frame=task.end_frame,
        version=task.version,
        matched=tally.matched,
        missing=tally.missing,
        extra=tally.extra,
        f1=1.0 if f1 is None else f1,
        handed_in=message.at,
    )
    after = _edit(found, message.user, lambda score: _add(score, result, found.spec))
    if after.suspended_datetime is not None and not after.is_told:
        _follow_suspension(after)


def compare_with_reference(spec: HoneypotSpec, task: Task) -> Tally:
    """The counts of a task's layer against the reference, on the frames of the task; a task has a layer."""
    comparison = QualityReportSpec(
        reference=spec.reference, versions=[task.version or 0], media_ids=[task.media_id], iou=spec.iou
    )
    query = quality_service.query_of(comparison)
    first, last = task.start_frame or 0, task.end_frame
    rows = (
        (row.media, row.frame, row.version, shape)
        for row, shape in shapes.rows(task.project, query, UNRESTRICTED, spec.class_attribute)
        if first <= row.frame and (last is None or row.frame <= last)
    )
    rules = Rules(threshold=spec.iou, reach=spec.distance, class_aware=spec.class_aware)
    layers = (spec.reference, task.version or 0)
    found = Findings.begin([layers], rules)
    compare(found, rows, layers, rules)
    return found.pairs[0].overall


def _add(score: HoneypotScore, result: HoneypotResult, spec: HoneypotSpec) -> HoneypotScore:
    """The score with the result of a task in the place of an earlier one of the same task."""
    if result.handed_in <= (score.reinstated_datetime or ""):
        return score
    others = [each for each in score.results if each.task != result.task]
    results = sorted([*others, result], key=lambda each: (each.handed_in, each.task))[-spec.last :]
    mean = sum(each.f1 for each in results) / len(results)
    after = msgspec.structs.replace(score, results=results, score=mean)
    if after.suspended_datetime is None and len(results) >= spec.least and mean < spec.minimum:
        after.suspended_datetime, after.is_told = now(), False
    return after


def _edit(found: HoneypotSet, user: int, edit: Callable[[HoneypotScore], HoneypotScore]) -> HoneypotScore:
    uid = str(uuid.uuid5(uuid.UUID(found.uid), str(user)))
    if records.maybe(HONEYPOT_SCORE, uid) is None:
        made = HoneypotScore(uid=uid, id=uid, project=found.project, set=found.uid, name=found.name, user=user)
        try:
            return records.create(HONEYPOT_SCORE, edit(made))
        except Conflict:
            pass  # another result came first
    return records.edit(HONEYPOT_SCORE, uid, edit)


def _follow_suspension(score: HoneypotScore) -> None:
    """Return what a suspended person holds of the set, tell the managers, and note it."""
    _return_tasks(score)
    members = records.list_children(MEMBERSHIP, score.project)
    managers = [each.user for each in members if LEVEL_OF[each.permission] >= Level.FULL and each.user != score.user]
    if not notifications_service.notify(managers, "quality", score.project, score.uid):
        raise Unavailable("Not all managers could be told of a suspension.")
    with contextlib.suppress(NotFound):  # the honeypots were ended meanwhile
        records.edit(HONEYPOT_SCORE, score.uid, lambda found: msgspec.structs.replace(found, is_told=True))


def _return_tasks(score: HoneypotScore) -> None:
    workflow = workflow_of(score.project)
    for task in records.list_linked(TASK, HOLDER, score.user):
        if task.project == score.project and task.name == score.name:
            leases.give_back(task, score.user, workflow)


def suspend(score: HoneypotScore) -> HoneypotScore:
    """Give a person no more tasks of a set, and return those that the person holds."""

    def edit(found: HoneypotScore) -> HoneypotScore:
        return msgspec.structs.replace(found, suspended_datetime=found.suspended_datetime or now(), is_told=True)

    after = records.edit(HONEYPOT_SCORE, score.uid, edit)
    _return_tasks(after)
    return after


def reinstate(score: HoneypotScore) -> HoneypotScore:
    """End a suspension: the person gets tasks of the set again, and the score is reset."""

    def edit(found: HoneypotScore) -> HoneypotScore | None:
        if found.suspended_datetime is None:
            return None
        return msgspec.structs.replace(
            found, suspended_datetime=None, reinstated_datetime=now(), results=[], score=None, is_told=False
        )

    return records.edit(HONEYPOT_SCORE, score.uid, edit)


def list_scores(project: int, query: HoneypotScoreQuery) -> list[HoneypotScore]:
    """The scores that match, by set and user."""
    return [
        each
        for each in records.list_children(HONEYPOT_SCORE, project)
        if query.name in (None, each.name)
        and query.user in (None, each.user)
        and query.suspended in (None, each.suspended_datetime is not None)
    ]


def delete_set(found: HoneypotSet) -> None:
    """Delete the honeypots of a set; the record is deleted last, so that a retry completes after a crash."""
    for each in records.list_children(HONEYPOT_SCORE, found.project, found.uid):
        records.remove(HONEYPOT_SCORE, each.uid)
    honeypots.show_reference(found)
    records.remove(HONEYPOT_SET, found.uid)
