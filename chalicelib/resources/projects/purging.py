"""Purge a deleted project: its records, entities, log and objects.

A deletion first queues the purge, delayed until the request must have ended, and then marks the project as deleted. A
crash between the two deletes nothing, and the purge finds no mark. Once the project is marked, no request can reach it,
and the purge will run.

A purge removes in small idempotent steps and records no progress, because removed rows are not found again. At its
deadline it queues its own continuation. Queue functions may still be writing into the project while it runs, so a
second round removes late rows after a while. The project's own record is removed last: until then its mark refuses all
requests.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import msgspec

from chalicelib.access.row_protections import ROW_PROTECTION, project_scope
from chalicelib.core.batches import batched
from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectPrefix
from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Commit
from chalicelib.core.models.accounts import MEMBERSHIP, PROJECT, Project
from chalicelib.core.models.algorithms import ALGORITHM, ANALYSIS, APPLET
from chalicelib.core.models.datasets import DATASET, EXPORT
from chalicelib.core.models.definitions import (
    FILE_TYPE,
    LEAF_TYPE,
    LOCALIZATION_TYPE,
    MEDIA_TYPE,
    SECTION,
    STATE_TYPE,
    VERSION,
)
from chalicelib.core.models.integrations import BUCKET
from chalicelib.core.models.jobs import JOB
from chalicelib.core.models.personal import BOOKMARK, FAVORITE, HIDDEN_LAYERS
from chalicelib.core.models.share_links import SHARE_LINK
from chalicelib.core.records import RecordKind
from chalicelib.errors import LimnError, NotFound
from chalicelib.queues import SETTLED, send
from chalicelib.resources.annotators.schemas import ANNOTATOR
from chalicelib.resources.bucket_sources.schemas import BUCKET_SOURCE
from chalicelib.resources.comments.schemas import COMMENT
from chalicelib.resources.consensus.schemas import CONSENSUS_LAYER
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.imports.schemas import IMPORT
from chalicelib.resources.jobs import cleanup
from chalicelib.resources.jobs.runs import RUN
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.resources.quality.schemas import QUALITY_REPORT
from chalicelib.resources.tasks.honeypot_schemas import HONEYPOT_SCORE, HONEYPOT_SET
from chalicelib.resources.tasks.schemas import TASK, TASK_WORKFLOW
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE
from chalicelib.resources.webhooks import service as webhooks_service
from chalicelib.resources.webhooks.schemas import RULE
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records, retired
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import archive, log, scheduled_tasks, tickets
from chalicelib.storage.objects import objects, owners, placement, references
from chalicelib.storage.view.snapshot import snapshot_records

logger = logging.getLogger("limn.purging")

PROJECT_KINDS: tuple[RecordKind[Any], ...] = (
    MEMBERSHIP,
    BOOKMARK,
    FAVORITE,
    TEMPORARY_FILE,
    EXPORT,
    DATASET,
    ALGORITHM,
    APPLET,
    ANALYSIS,
    ANNOTATOR,
    BUCKET_SOURCE,
    RULE,
    COMMENT,
    CONSENSUS_LAYER,
    QUALITY_REPORT,
    TASK,
    TASK_WORKFLOW,
    HONEYPOT_SET,
    HONEYPOT_SCORE,
    HIDDEN_LAYERS,
    RUN,
    JOB,
    IMPORT,
    SECTION,
    VERSION,
    MEDIA_TYPE,
    LOCALIZATION_TYPE,
    STATE_TYPE,
    LEAF_TYPE,
    FILE_TYPE,
)
"""All records under a project; a test checks that none is missing."""
REMOVED_WITHIN_REQUEST: tuple[RecordKind[Any], ...] = (MEMBERSHIP, ALGORITHM)
"""Removed within the request: access to the project, and names that are unique in the deployment."""
NEXT_ROUND = 900
"""Seconds between rounds, the maximum delay of SQS."""
ROUNDS = 2
COMMITS_PER_BATCH = 20
OBJECTS_PER_BATCH = 1000
JOBS_PER_BATCH = 50


def order(project: Project) -> None:
    """Queue the purge of a project before it is marked as deleted. Raises Unavailable if the queue is unavailable."""
    message = PurgeProject(id=str(uuid.uuid4()), project=project.id, organization=project.organization)
    send(settings().purge_queue_url, message, delay=SETTLED)


def let_go(project: int) -> None:
    """Remove the records that a deleted project must not keep until its purge."""
    for kind in REMOVED_WITHIN_REQUEST:
        for record in records.list_children(kind, project):
            _drop(kind, record)
    webhooks_service.remove_of_project(project)
    _drop_share_links(project)


def purge(message: PurgeProject, seconds: float) -> None:
    """Remove the contents of a project that is marked as deleted, for at most some seconds."""
    project = records.maybe(PROJECT, message.project)
    if project is not None and project.deleted is None:
        return
    end = time.monotonic() + seconds
    for _ in _steps(message.project, message.organization):
        if time.monotonic() > end:
            _send_next_round(message, message.round, 0)
            return
    if message.round < ROUNDS:
        _send_next_round(message, message.round + 1, NEXT_ROUND)
    elif project is not None:
        _drop(PROJECT, project)


def _send_next_round(message: PurgeProject, number: int, delay: int) -> None:
    following = msgspec.structs.replace(message, id=str(uuid.uuid4()), round=number)
    send(settings().purge_queue_url, following, delay=delay)


def _steps(project: int, organization: int) -> Iterator[None]:
    """Remove all contents, with a pause after each step that removed something."""
    yield from _end_jobs(project)
    yield from _purge_records(project)
    own = object_keys.project_prefix(organization, project)
    yield from _purge_archive(project, own)
    yield from _purge_log(project, own)
    for prefix in _prefixes(project, organization):
        yield from _purge_objects(project, prefix)
    for number in placement.recorded_buckets(project):
        yield from _purge_registered(project, number, own)
    placement.forget(project)
    if not owners.has_clones(project):
        for registered in records.list_children(BUCKET, organization):
            references.forget(project, registered.id)


def _end_jobs(project: int) -> Iterator[None]:
    """Stop the running workflows, and remove them. If a cluster is unavailable, the records of its jobs are kept.

    The schedule ends those jobs when the cluster is available again, or was deleted.
    """
    for part in batched(records.list_children(RUN, project), JOBS_PER_BATCH):
        cleanup.remove(part)
        yield


def _purge_records(project: int) -> Iterator[None]:
    for kind in PROJECT_KINDS:
        if kind is RUN:
            continue
        for record in records.list_children(kind, project):
            _drop(kind, record)
            yield
    webhooks_service.remove_of_project(project)
    _drop_share_links(project)
    for row in records.list_children(ROW_PROTECTION, project_scope(project)):
        _drop(ROW_PROTECTION, row)
        yield


def _purge_archive(project: int, own: ObjectPrefix) -> Iterator[None]:
    """Remove the entities of archived commits that the log no longer has, and then all records of snapshots."""
    for segment in archive.segments(project):
        for commit in archive.read(project, segment):
            _purge_entities(project, commit, own)
        archive.forget(project, segment)
        yield
    snapshot_records.forget(project)
    scheduled_tasks.forget(project)
    retired.forget(project)


def _purge_log(project: int, own: ObjectPrefix) -> Iterator[None]:
    """Remove the log with its entities, and the objects that its clones named besides the project's `own`.

    An entity is removed with the first commit that names it, before the commit itself: the remaining log is the work
    left.
    """
    while commits := log.oldest(project, COMMITS_PER_BATCH):
        for commit in commits:
            _purge_entities(project, commit, own)
        log.forget(project, [commit.seq for commit in commits])
        yield
    tickets.forget(project)
    object_cleanup.sweep(project)


def _purge_entities(project: int, commit: Commit, own: ObjectPrefix) -> None:
    found: defaultdict[str, set[int]] = defaultdict(set)
    for change in commit.changes:
        if not change.is_definition:
            found[change.kind].add(change.id)
    for edit in commit.edits:
        found[edit.kind].update(edit.ids)
    for word, numbers in found.items():
        object_cleanup.purge(project, Kind(word), sorted(numbers), but=own)


def _purge_objects(project: int, prefix: ObjectPrefix, bucket: int | None = None) -> Iterator[None]:
    """Remove the objects below a prefix, of a registered bucket if given, except those that clones elsewhere need."""
    for part in batched(objects.under(prefix, bucket=bucket), OBJECTS_PER_BATCH):
        doomed = object_cleanup.find_unneeded(project, part)
        if doomed:
            objects.remove(doomed, bucket=bucket)
            yield


def _purge_registered(project: int, bucket: int, prefix: ObjectPrefix) -> Iterator[None]:
    """The same in a registered bucket of the organization; a bucket that its owner has closed is skipped."""
    try:
        yield from _purge_objects(project, prefix, bucket)
    except LimnError as failure:
        logger.warning("objects of project %s in bucket %s are left: %s", project, bucket, failure.details)


def _prefixes(project: int, organization: int) -> list[ObjectPrefix]:
    """The prefixes of a project's objects. Uploads are stored by day, and expire by themselves."""
    return [
        object_keys.project_prefix(organization, project),
        object_keys.temporary_prefix(project),
        object_keys.pieces_prefix(project),
        object_keys.exports_prefix(project),
        object_keys.datasets_prefix(project),
        object_keys.view_prefix(project),
    ]


def _drop_share_links(project: int) -> None:
    for link in records.list_linked(SHARE_LINK, "project", project):
        _drop(SHARE_LINK, link)


def _drop(kind: RecordKind[Any], record: object) -> None:
    """Remove a record without a log entry; a missing record is no error."""
    change = Transaction()
    records.drop(change, kind, record, log=False)
    try:
        change.run()
    except NotFound:
        return
