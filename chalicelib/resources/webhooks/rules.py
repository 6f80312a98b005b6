"""Trigger rules: an event of a media, and the query of the rule, launch an algorithm or annotator; once for each media.

The function of jobs advances the streams of rules every minute. The claim of rule and media is stored in the
transaction of the run, so that a repeated event launches nothing.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Conflict, Forbidden, Gone, NotFound, Unavailable
from chalicelib.resources.algorithms import service as algorithms_service
from chalicelib.resources.annotators import service as annotators_service
from chalicelib.resources.annotators.schemas import AnnotateSpec, Annotator
from chalicelib.resources.email import notifications
from chalicelib.resources.events import service as events_service
from chalicelib.resources.events.events import Event
from chalicelib.resources.jobs import service as jobs_service
from chalicelib.resources.jobs.runs import JobSpec
from chalicelib.resources.webhooks import filters
from chalicelib.resources.webhooks.advance import PATIENCE, Disable, NotAccepted, Receiver, Result, advance, delay
from chalicelib.resources.webhooks.delivery import owner_of
from chalicelib.resources.webhooks.schemas import RULE, Rule, RuleSpec
from chalicelib.storage.dynamodb import entities, ids, limits, records
from chalicelib.storage.dynamodb.progress import lineage, streams
from chalicelib.storage.dynamodb.progress.streams import Stream
from chalicelib.storage.log import log

WORD = "rule"
MOST_LAUNCHES = 8
"""Launches by rules that may follow one another, each on a media that a job of the one before made."""
_logger = logging.getLogger("limn.rules")


def create(project: int, spec: RuleSpec, caller: Caller) -> Rule:
    """Make a rule for later events. It launches what the algorithm runs now, which the caller approves.

    Raises:
        BadInput: a type is not one of media, the query breaks a rule, or there are too many rules.
        NotFound: the project has no such algorithm.
    """
    rule = Rule(
        id=0,
        project=project,
        name=spec.name,
        types=spec.types,
        query=spec.query,
        algorithm=spec.algorithm,
        annotator=spec.annotator,
        every=spec.every or 1,
        active=spec.active is not False,
        user=caller.id,
        created=now(),
    )
    _check(rule)
    rule.id, rule.digest = ids.reserve(RULE.name)[0], _digest(rule)
    streams.add(WORD, project, rule.id, events_service.last(project))
    return records.create(RULE, rule)


def change(rule: Rule, members: dict[str, Any], caller: Caller) -> dict[str, Any]:
    """The members to replace for a PATCH. Raises as `create`.

    Who changes more than the name becomes the owner, and approves what the algorithm runs now.
    """
    for one, other in (("algorithm", "annotator"), ("annotator", "algorithm")):
        if members.get(one) is not None and other not in members:
            members[other] = None
    changed = msgspec.structs.replace(rule, **members)
    _check(changed)
    if members.keys() - {"name"}:
        members |= {"user": caller.id, "digest": _digest(changed)}
    if members.get("active"):
        members |= {"disabled_reason": None, "disabled_details": None, "disabled_at": None}
    if "active" in members:
        members |= {"last_error": None, "failing_since": None}
        streams.add(WORD, rule.project, rule.id, events_service.last(rule.project))

        def edit(stream: Stream) -> None:
            stream.is_off = not members["active"]
            stream.attempts, stream.failing_since, stream.next_at = 0, None, 0.0

        streams.change(WORD, rule.project, rule.id, edit)
    return members


def remove(rule: Rule) -> None:
    """Delete a rule and its stream."""
    records.remove(RULE, rule.id)
    streams.remove(Stream(word=WORD, project=rule.project, reader=rule.id, position="0"))


def sweep(seconds: float) -> int:
    """Advance the rules that are behind, for some seconds; returns their number."""
    end, count = time.monotonic() + seconds, 0
    last: dict[int, str] = {}
    for stream in list(streams.every(WORD)):
        if stream.is_off or stream.is_leased or stream.next_at > clock.seconds() or time.monotonic() > end:
            continue
        try:
            if stream.project not in last:
                last[stream.project] = str(log.last(stream.project, fresh=True))
            if stream.next_at or stream.position != last[stream.project]:
                count += 1
                advance(WORD, stream.project, stream.reader, _open, end - time.monotonic())
        except Exception as error:  # of one rule: the others go on
            _logger.exception("rule %d of project %d failed", stream.reader, stream.project)
            _postpone(stream, error)
    return count


def _postpone(stream: Stream, error: Exception) -> None:
    """Let a rule that failed unexpectedly wait, as one whose event was not accepted, and say so in its record."""

    def edit(found: Stream) -> None:
        found.attempts += 1
        found.failing_since = found.failing_since or clock.seconds()
        found.next_at = clock.seconds() + delay(found.attempts)
        found.is_off = found.is_off or clock.seconds() - found.failing_since >= PATIENCE

    with contextlib.suppress(Exception):  # the same database may fail again; the next minute tries it
        changed = streams.change(WORD, stream.project, stream.reader, edit)
        _note_error(stream.reader, f"An unexpected error, {type(error).__name__}; the log of the service has it.")
        if changed and changed.is_off and (rule := records.maybe(RULE, stream.reader)) is not None:
            _disable(rule, Disable(reason="error"), stream)


def _note_error(number: int, error: str | None) -> None:
    def edit(rule: Rule) -> Rule:
        since = (rule.failing_since or now()) if error else None
        return msgspec.structs.replace(rule, last_error=error, failing_since=since)

    with contextlib.suppress(NotFound):  # it was deleted meanwhile
        records.edit(RULE, number, edit)


def _open(stream: Stream) -> Receiver | None:
    rule = records.maybe(RULE, stream.reader)
    if rule is None:
        streams.remove(stream)
        return None
    if not rule.active:
        stream.is_off = True
        return None
    return _RuleReceiver(rule)


class _RuleReceiver:
    """A rule as the receiver of a stream."""

    at_once = 1

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self._error: str | None = None
        """The error of the last attempt."""
        self.kinds = filters.kinds_of(rule.types)
        self.scope = Scope.from_caller(Caller(id=rule.user), Level.EXECUTE)

    def deliver(self, given: Sequence[Event], stream: Stream) -> Result:  # noqa: ARG002 the receiver's interface
        """Launch the algorithm on the media of an event."""
        [event] = given
        if not filters.is_match(event.type, self._rule.types):
            return None
        user = owner_of(self._rule.user)
        if user is None:
            return Disable(reason="owner_lost_access")
        caller = Caller(id=user.id, username=user.username)
        self.scope = Scope.from_caller(caller, Level.EXECUTE)
        if authentication.project_level(caller, self._rule.project) < Level.EXECUTE:
            return Disable(reason="owner_lost_access")
        there = list(entities.many(Kind.MEDIA, event.ids))
        wanted = there
        if self._rule.query is not None:
            try:
                wanted = filters.find_matching(Kind.MEDIA, self._rule.query, self._rule.project, there, self.scope)
            except BadInput as refusal:
                return Disable(reason="query_refused", details=refusal.message)
        results = (self._launch_on(number) for number in wanted)
        return next((result for result in results if result is not None), None)

    def _launch_on(self, media: int) -> Result:
        """Launch on a media, unless that was done, or jobs of rules would follow one another without end."""
        name, launches = f"rule|{self._rule.id}|{media}", lineage.launches_of(media) + 1
        if streams.is_claimed(name):
            return None
        if launches > MOST_LAUNCHES:
            told = f"{MOST_LAUNCHES} launches by rules, one after another, led to media {media}: more may not follow."
            return Disable(reason="launches_itself", details=told)
        return self._launch(media, name, launches)

    def _launch(self, media: int, name: str, launches: int) -> Result:
        try:
            self._start(media, name, launches)
        except (limits.Moved, Unavailable) as refusal:
            return NotAccepted(error=refusal.message)
        except Conflict:  # its claim: it was launched already
            return None
        except NotFound:
            return Disable(reason="algorithm_missing")
        except (BadInput, Forbidden) as refusal:
            _logger.warning("rule %d cannot launch: %s", self._rule.id, refusal)
            is_changed = isinstance(refusal, algorithms_service.NotApproved)
            return Disable(reason="algorithm_changed" if is_changed else "refused", details=refusal.message)
        return None

    def _start(self, media: int, name: str, launches: int) -> None:
        project = authentication.project_of(self._rule.project)
        approval = algorithms_service.Approval(user=self._rule.user, digest=self._rule.digest, launches=launches)
        if self._rule.algorithm is not None:
            spec = JobSpec(algorithm_name=self._rule.algorithm, media_ids=[media])
            jobs_service.launch(project, self.scope, spec, all_media=False, once=name, approval=approval)
        else:
            wanted = AnnotateSpec(annotator=_annotator_of(self._rule).id, media_ids=[media], every=self._rule.every)
            annotators_service.annotate(project, self.scope, wanted, once=name, approval=approval)

    def skip(self, expired: Gone, stream: Stream) -> Result:  # noqa: ARG002 the receiver's interface
        """Log that events were skipped."""
        _logger.error("events of project %d after %s expired before a rule saw them", stream.project, stream.position)
        return None

    def note_failure(self, failed: NotAccepted, stream: Stream) -> None:  # noqa: ARG002 the receiver's interface
        """Note the error of the attempt."""
        self._error = failed.error

    def flush(self) -> None:
        """Store the error of the last attempt; none after one that did not fail."""
        if self._error != self._rule.last_error:
            _note_error(self._rule.id, self._error)
            self._rule = msgspec.structs.replace(self._rule, last_error=self._error)

    def disable(self, ended: Disable, stream: Stream) -> None:
        """Disable the rule, and mail its owner; the error of the last attempt stays."""
        self._error = self._rule.last_error
        _disable(self._rule, ended, stream)


def _disable(rule: Rule, ended: Disable, stream: Stream) -> None:
    """Disable a rule, and mail its owner."""
    if user := owner_of(rule.user):
        number = f"rule-{rule.id}-{ended.reason}-{stream.position}".replace("/", "-")
        notifications.listener_disabled(
            user, "trigger rule", rule.name, rule.algorithm or "annotator", ended.reason, number
        )

    with contextlib.suppress(NotFound):  # it was deleted meanwhile
        records.edit(RULE, rule.id, ended.apply)


def _check(rule: Rule) -> None:
    filters.check_types(rule.types)
    if filters.kind_of(rule.types) is not Kind.MEDIA:
        raise BadInput("types: a trigger rule takes types of media, such as `limn.media.ready`.")
    filters.check_query(rule.query, rule.types, [rule.project])
    if (rule.algorithm is None) == (rule.annotator is None):
        raise BadInput("algorithm, annotator: give one of them.")
    if rule.algorithm is not None:
        algorithms_service.get_by_name(rule.project, rule.algorithm)
        if rule.every != 1:
            raise BadInput("every: it is for annotators; an algorithm chooses its frames itself.")
    else:
        _annotator_of(rule)


def _annotator_of(rule: Rule) -> Annotator:
    """The annotator of a rule. Raises BadInput where it is not there, or finds nothing on its own."""
    annotator = annotators_service.of_project(rule.project, rule.annotator or 0)
    if annotator.kind != "detector":
        raise BadInput(f"annotator: {annotator.name!r} is a {annotator.kind}; a rule takes a detector.")
    return annotator


def _digest(rule: Rule) -> str:
    """The digest of what a rule runs now; empty where a manifest cannot be had: nothing is approved then."""
    project = authentication.project_of(rule.project)
    if rule.algorithm is None:
        return annotators_service.digest_of(project, _annotator_of(rule))
    return algorithms_service.digest_now(project, algorithms_service.get_by_name(rule.project, rule.algorithm))
