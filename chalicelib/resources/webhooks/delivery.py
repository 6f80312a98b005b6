"""Deliver events: to a webhook, to the event bus; wake the streams of a project, and sweep those that were not woken.

a commit of a watched project → ProjectChanged → one DeliverEvents for each webhook → the stream advances
every minute: `sweep`         → DeliverEvents for each stream that is behind, or whose next attempt is due
"""

from __future__ import annotations

import logging
import math
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.access.scope import Scope
from chalicelib.core.models.accounts import PROJECT, USER, User
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now, timestamp
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Gone, NotFound
from chalicelib.queues import send, send_many
from chalicelib.resources.email import notifications
from chalicelib.resources.events import service as events_service
from chalicelib.resources.events.events import Event
from chalicelib.resources.webhooks import bus, filters, sender
from chalicelib.resources.webhooks.advance import Disable, NotAccepted, Result, advance
from chalicelib.resources.webhooks.messages import DeliverEvents, RedeliverEvent
from chalicelib.resources.webhooks.schemas import WEBHOOK, Webhook
from chalicelib.settings import settings
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import ids, records
from chalicelib.storage.dynamodb.progress import cursors, streams
from chalicelib.storage.dynamodb.progress.streams import Stream
from chalicelib.storage.log import log

WORD = "webhook"
PURPOSE = "webhook"
"""The encryption purpose of secrets."""
JOURNAL_SECONDS = 7 * 24 * 3600
LONGEST_DELAY = 900
"""Seconds that a message can be delayed. A later attempt is found by the sweep."""
JOIN_SECONDS = 300.0
"""How often a webhook of an organization looks for new projects."""
BUS_PROJECTS = 20
"""Projects that one sweep looks at that may have no stream of the event bus yet."""
_logger = logging.getLogger("limn.webhooks")


# --- one webhook -----------------------------------------------------------------------------------------------------


def owner_of(number: int) -> User | None:
    """The owner of a webhook or rule; None where the account is gone or inactive."""
    user = records.maybe(USER, number)
    return user if user is not None and user.is_active else None


def caller_of(user: User) -> Caller:
    """A user as a caller."""
    return Caller(id=user.id, username=user.username, is_staff=user.is_staff)


def may_own(user: User, webhook: Webhook) -> bool:
    """Whether a user may own the webhook: may register webhooks where it is."""
    scope = Scope.from_caller(caller_of(user), Level.FULL)
    if webhook.project is not None:
        return scope.project_level(webhook.project, WEBHOOK.name, lambda: webhook) >= Level.FULL
    return scope.organization_level(webhook.organization or 0, WEBHOOK.name, webhook) >= Level.FULL


@lru_cache(maxsize=500)
def _unseal(sealed: str) -> str:
    return sealing.unseal(sealed, PURPOSE).decode()


def keys_of(webhook: Webhook) -> list[str]:
    """The valid secrets of a webhook, the present one first."""
    keys = [_unseal(webhook.sealed)]
    if webhook.sealed_before and (webhook.previous_secret_until or "") > now():
        keys.append(_unseal(webhook.sealed_before))
    return keys


class WebhookReceiver:
    """A webhook as the receiver of a stream."""

    at_once = 1

    def __init__(self, webhook: Webhook, user: User) -> None:
        self.kinds = filters.kinds_of(webhook.types)
        self._webhook = webhook
        self._user = user
        self._keys = keys_of(webhook)
        self._kind = filters.kind_of(webhook.types) if webhook.query else None
        self._entries: list[dict[str, object]] = []
        self.scope = Scope.from_caller(caller_of(user), Level.VIEW)

    def sees(self, project: int) -> bool:
        """Whether the owner sees a project: an organization has projects that its administrators do not see."""
        return self.scope.project_level(project, "project", lambda: records.get(PROJECT, project)) >= Level.VIEW

    def deliver(self, given: Sequence[Event], stream: Stream) -> Result:
        """Send an event that the webhook wants."""
        [event] = given
        try:
            message = self._message(event)
        except BadInput as refusal:
            return Disable(reason="query_refused", details=refusal.message)
        return None if message is None else self._post(stream, event.id, event.type, message)

    def skip(self, expired: Gone, stream: Stream) -> Result:
        """Send `limn.feed.expired`, so that the receiver reads the project again."""
        event = f"{stream.project}/{stream.position}/expired"
        message = {"specversion": "1.0", "id": event, "source": f"/rest/Project/{stream.project}"}
        message |= {"type": "limn.feed.expired", "time": now(), "subject": "feed"}
        data = {"begin": getattr(expired, "begin", None)}
        return self._post(stream, event, "limn.feed.expired", {**message, "data": data})

    def note_failure(self, failed: NotAccepted, stream: Stream) -> None:  # noqa: ARG002 the receiver's interface
        """Note the time of the next attempt in the last entry."""
        if self._entries:
            self._entries[-1]["next_attempt"] = _moment(stream.next_at)

    def flush(self) -> None:
        """Store the entries of the deliveries."""
        entries, self._entries = self._entries, []
        journal(self._webhook.id, entries)

    def disable(self, ended: Disable, stream: Stream) -> None:
        """Disable the webhook, and mail its owner."""
        disable(self._webhook, ended, self._user, f"{stream.project}-{stream.position}".replace("/", "-"))

    def resend(self, event: Event, project: int) -> sender.DeliveryOutcome | None:
        """Send one event out of order; None where the webhook does not want it, or its query is refused."""
        try:
            message = self._message(event)
        except BadInput:
            message = None
        if message is None:
            return None
        outcome = sender.post(self._webhook.url, self._keys, event.id, sender.body_of(message))
        self._entries.append(sender.entry(project, event.id, event.type, 0, outcome))
        self.flush()
        return outcome

    def _message(self, event: Event) -> dict[str, object] | None:
        """The body for an event; None where types or query leave it out.

        Raises:
            BadInput: the query is refused by now. That of an organization need not fit each of its projects.
        """
        if not filters.is_match(event.type, self._webhook.types):
            return None
        message = event.thin()
        if self._webhook.query is None or self._kind is None or event.type.endswith(".deleted"):
            return message
        try:
            numbers = filters.find_matching(self._kind, self._webhook.query, event.project, event.ids, self.scope)
        except filters.Unfit:
            if self._webhook.project is not None:
                raise
            return None
        if not numbers:
            return None
        subject = f"{self._kind}/{numbers[0]}" if len(numbers) == 1 else str(self._kind)
        return {**message, "subject": subject, "data": {**message["data"], "ids": numbers}}

    def _post(self, stream: Stream, event: str, type_: str, message: dict[str, object]) -> Result:
        outcome = sender.post(self._webhook.url, self._keys, event, sender.body_of(message))
        self._entries.append(sender.entry(stream.project, event, type_, stream.attempts + 1, outcome))
        if outcome.is_ok:
            return None
        return Disable(reason="gone") if outcome.is_gone else NotAccepted(wait=outcome.retry_after)


def journal(webhook: int, entries: Sequence[dict[str, object]]) -> None:
    """Store entries of deliveries."""
    streams.append_journal(WORD, webhook, entries, int(clock.seconds()) + JOURNAL_SECONDS)


def _moment(seconds: float) -> str:
    return timestamp(datetime.fromtimestamp(seconds, UTC))


def _open(stream: Stream) -> WebhookReceiver | None:
    """The receiver of a stream; None, with the stream off or gone, where it must get nothing now."""
    webhook = records.maybe(WEBHOOK, stream.reader)
    if webhook is None or not _is_there(stream.project):
        streams.remove(stream)
        return None
    if not webhook.active:
        stream.is_off = True
        return None
    user = owner_of(webhook.user)
    if user is None or not may_own(user, webhook):
        disable(webhook, Disable(reason="owner_lost_access"), user, f"{stream.project}-{stream.n}")
        stream.is_off = True
        return None
    receiver = WebhookReceiver(webhook, user)
    if not receiver.sees(stream.project):
        stream.position = events_service.last(stream.project)
        return None
    return receiver


def _is_there(project: int) -> bool:
    try:
        authentication.project_of(project)
    except NotFound:
        return False
    return True


def disable(webhook: Webhook, ended: Disable, user: User | None, mail: str) -> None:
    """Disable a webhook and mail its owner, once for each `mail`."""
    if user is not None:
        number = f"webhook-{webhook.id}-{ended.reason}-{mail}"
        notifications.listener_disabled(user, "webhook", webhook.name, webhook.url, ended.reason, number)

    try:
        records.edit(WEBHOOK, webhook.id, ended.apply)
    except NotFound:
        return
    _logger.warning("webhook %d is disabled: %s %s", webhook.id, ended.reason, ended.details)


# --- messages --------------------------------------------------------------------------------------------------------


def deliver(project: int, reader: int, seconds: float) -> None:
    """Advance the stream of a webhook, or of the bus, and order what is left for later."""
    after = advance(WORD, project, reader, _open if reader else bus.open_receiver, seconds)
    if after is not None and after <= LONGEST_DELAY:
        send(settings().webhook_queue_url, _order(project, reader), delay=min(LONGEST_DELAY, math.ceil(after)))


def wake(project: int, seq: int, seconds: float) -> None:
    """Wake the streams of a project after commit `seq`; where none is left, take the mark from its log."""
    if settings().event_bus:
        bus.ensure(project, str(seq - 1))
    found = [stream for stream in streams.of_project(WORD, project) if not stream.is_off]
    if not found and not settings().event_bus:
        log.watch(project, on=False)
    elif len(found) == 1:
        deliver(project, found[0].reader, seconds)
    else:
        send_many(settings().webhook_queue_url, [_order(project, stream.reader) for stream in found])


def redeliver(message: RedeliverEvent) -> sender.DeliveryOutcome | None:
    """Send one event again. Returns None where it is no longer in the log, or the webhook may or will not get it."""
    webhook = records.maybe(WEBHOOK, message.webhook)
    if webhook is None or (user := owner_of(webhook.user)) is None or not may_own(user, webhook):
        return None
    receiver = WebhookReceiver(webhook, user)
    if not (_is_there(message.project) and receiver.sees(message.project)):
        return None
    event = find(message.project, message.event, receiver.scope)
    return None if event is None else receiver.resend(event, message.project)


def find(project: int, event: str, scope: Scope) -> Event | None:
    """An event by its id, as far as the scope sees it; None where it has expired or never was."""
    place = events_service.place_of(event)
    if place is None or place[0] != project:
        return None
    _, seq, number = place
    before = f"{seq}/{number - 1}" if number > 1 else str(seq - 1)
    try:
        page = events_service.read(project, after=before, limit=1, scope=scope)
    except Gone:
        return None
    return next((found for found in page.events if found.id == event), None)


def _order(project: int, reader: int) -> DeliverEvents:
    return DeliverEvents(project=project, webhook=reader, id=uuid.uuid4().hex)


# --- schedule --------------------------------------------------------------------------------------------------------


def sweep() -> int:
    """Wake the streams that are behind or due; returns their number. What a wake-up or a crash lost is found here."""
    if settings().event_bus:
        _ensure_bus()
    from chalicelib.core.time.parts import Parts  # noqa: PLC0415 only the schedule needs it

    last: dict[int, int] = {}
    moment = clock.seconds()
    due: list[DeliverEvents] = []
    parts = Parts()

    def look_at(stream: Stream) -> None:
        if not stream.project:
            _join_projects(stream)
            return
        if stream.project not in last:
            last[stream.project] = log.last(stream.project, fresh=True)
            if not log.is_watched(stream.project) and not settings().event_bus:
                log.watch(stream.project)
        if stream.next_at or stream.rewind is not None or stream.position != str(last[stream.project]):
            due.append(_order(stream.project, stream.reader))

    for stream in streams.every(WORD):
        if not stream.is_off and not stream.is_leased and (stream.next_at <= moment or stream.rewind is not None):
            parts.run(f"stream {stream.reader} of project {stream.project}", partial(look_at, stream))
    send_many(settings().webhook_queue_url, due)
    parts.finish()
    return len(due)


def _join_projects(root: Stream) -> None:
    """Begin the streams of an organization's webhook in projects that have none: new ones from their first commit."""
    webhook = records.maybe(WEBHOOK, root.reader)
    if webhook is None or webhook.organization is None:
        streams.remove(root)
        return
    join_projects(webhook)

    def later(stream: Stream) -> None:
        stream.next_at = clock.seconds() + JOIN_SECONDS

    streams.change(WORD, 0, root.reader, later)


def join_projects(webhook: Webhook) -> None:
    """Begin the streams of an organization's webhook in all its projects. Idempotent."""
    for project in records.list_linked(PROJECT, "organization", webhook.organization or 0):
        if project.deleted is None and streams.get(WORD, project.id, webhook.id) is None:
            position = "0" if project.created > webhook.created else events_service.last(project.id)
            if streams.add(WORD, project.id, webhook.id, position):
                log.watch(project.id)


def _ensure_bus() -> None:
    """Begin streams of the bus for projects whose first wake-up was lost, some projects each time."""
    last = ids.last(PROJECT.name)
    start = cursors.position("bus")
    for step in range(min(last, BUS_PROJECTS)):
        bus.ensure((start + step) % last + 1)
    if last:
        cursors.reach("bus", (start + min(last, BUS_PROJECTS)) % last)
