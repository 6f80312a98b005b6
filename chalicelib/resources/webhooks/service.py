"""Register, change and delete webhooks; rotate their secrets; list, repeat and try deliveries."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from typing import Any

import msgspec

from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.resource import now, timestamp
from chalicelib.core.text.dates import read_date
from chalicelib.core.text.numbers import natural
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, NotFound, TooMany
from chalicelib.queues import send
from chalicelib.resources.events import service as events_service
from chalicelib.resources.webhooks import delivery, filters, sender, signing
from chalicelib.resources.webhooks.delivery import PURPOSE, WORD
from chalicelib.resources.webhooks.messages import DeliverEvents, RedeliverEvent
from chalicelib.resources.webhooks.schemas import WEBHOOK, Delivery, DeliveryQuery, RedeliverySpec, Webhook, WebhookSpec
from chalicelib.settings import settings
from chalicelib.storage import outbound, sealing
from chalicelib.storage.dynamodb import attempts, ids, records
from chalicelib.storage.dynamodb.progress import streams
from chalicelib.storage.dynamodb.progress.streams import Stream
from chalicelib.storage.log import log

PINGS_A_MINUTE = 10
_TRIED_PROJECTS = 20
"""Projects of an organization for which the cost of a query is estimated before it is stored."""
_OWNED = frozenset({"url", "types", "query", "active"})
"""Members whose change makes the caller the owner."""


def create(spec: WebhookSpec, caller: Caller, *, project: int | None, organization: int | None) -> tuple[Webhook, str]:
    """Register a webhook. It gets the events of all later commits.

    Returns:
        the webhook, and its secret.

    Raises:
        BadInput: the URL is not allowed, a type is unknown, the query breaks a rule, or there are too many webhooks.
    """
    _check(spec.url, spec.types, spec.query, project, organization)
    secret = signing.new_secret()
    webhook = Webhook(
        id=ids.reserve(WEBHOOK.name)[0],
        project=project,
        organization=organization,
        name=spec.name,
        url=spec.url,
        types=spec.types,
        query=spec.query,
        active=spec.active is not False,
        user=caller.id,
        created=now(),
        sealed=sealing.seal(secret.encode(), PURPOSE),
    )
    records.create(WEBHOOK, webhook)
    _begin(webhook)
    return webhook, secret


def _begin(webhook: Webhook) -> None:
    """Begin the streams. A crash before the end leaves what the sweep completes, or a webhook that can be deleted."""
    if webhook.project is None:
        streams.add(WORD, 0, webhook.id, "0")
        delivery.join_projects(webhook)
        return
    position = events_service.last(webhook.project)
    streams.add(WORD, webhook.project, webhook.id, position)
    log.watch(webhook.project)


def change(webhook: Webhook, members: dict[str, Any], caller: Caller) -> dict[str, Any]:
    """The members to replace for a PATCH; who changes what is sent where becomes the owner.

    Raises:
        BadInput: as `create`.
    """
    changed = msgspec.structs.replace(webhook, **members)
    if members.keys() & {"url", "types", "query"}:
        _check(changed.url, changed.types, changed.query, changed.project, changed.organization)
    if members.keys() & _OWNED:
        members["user"] = caller.id
    if members.get("active"):
        members |= {"disabled_reason": None, "disabled_details": None, "disabled_at": None}
    return members


def resume(webhook: Webhook) -> None:
    """Let the streams of a webhook go on, or stop them, as its record says; failures are forgotten."""

    def edit(stream: Stream) -> None:
        stream.is_off = not webhook.active
        stream.attempts, stream.failing_since, stream.next_at = 0, None, 0.0

    if webhook.active:
        _begin(webhook)
    for stream in _streams(webhook):
        if streams.change(WORD, stream.project, webhook.id, edit) and webhook.active and stream.project:
            _order(stream.project, webhook.id)


def remove(webhook: Webhook) -> None:
    """Delete a webhook with its streams."""
    records.remove(WEBHOOK, webhook.id)
    for stream in _streams(webhook):
        streams.remove(stream)


def remove_of_project(project: int) -> None:
    """Delete the webhooks of a project, and the streams of all readers in it."""
    for webhook in records.list_linked(WEBHOOK, "project", project):
        remove(webhook)
    for stream in streams.of_project(WORD, project):
        streams.remove(stream)


def _streams(webhook: Webhook) -> list[Stream]:
    if webhook.project is not None:
        found = streams.get(WORD, webhook.project, webhook.id)
        return [found] if found else []
    return [stream for stream in streams.every(WORD) if stream.reader == webhook.id]


def rotate(webhook: Webhook, keep_hours: int) -> tuple[str, str | None]:
    """Give a webhook a new secret; returns it, and the time until which the one before stays valid."""
    secret = signing.new_secret()
    sealed = sealing.seal(secret.encode(), PURPOSE)
    until = timestamp(clock.utc_now() + timedelta(hours=keep_hours)) if keep_hours else None

    def edit(current: Webhook) -> Webhook:
        before = current.sealed if keep_hours else ""
        return msgspec.structs.replace(current, sealed=sealed, sealed_before=before, previous_secret_until=until)

    records.edit(WEBHOOK, webhook.id, edit)
    return secret, until


# --- deliveries ------------------------------------------------------------------------------------------------------


def deliveries(webhook: Webhook, query: DeliveryQuery) -> list[Delivery]:
    """The deliveries of a webhook, newest first."""
    return list(islice(_list(webhook.id, query), query.stop))


def _list(number: int, query: DeliveryQuery) -> Iterator[Delivery]:
    before, _, text = (query.before or "").partition("~")
    place = natural(text) if query.before else 0
    if place is None:
        raise BadInput("before: it must be `page` of a delivery.")
    # the page of `before` is read again, as far as it was not listed
    for key, entries in streams.journal(WORD, number, f"{before}~" if query.before else None):
        for index in range(len(entries) - 1, -1, -1):
            if key == before and index >= place:
                continue
            entry = entries[index]
            if not query.failed or not (entry["status"] and 200 <= entry["status"] < 300):  # noqa: PLR2004 HTTP
                yield msgspec.convert({**entry, "page": f"{key}~{index}"}, Delivery)


def ping(webhook: Webhook) -> Delivery:
    """Send `limn.ping` now, once; returns what came of it. Raises TooMany: ten were sent in this minute."""
    key = f"ping|{webhook.id}"
    if attempts.count(key, PINGS_A_MINUTE, 60) is None:
        message = f"A webhook takes {PINGS_A_MINUTE} pings a minute."
        raise TooMany(message, retry_after=attempts.seconds_left(key))
    number = f"ping-{uuid.uuid4().hex}"
    place = f"Project/{webhook.project}" if webhook.project else f"Organization/{webhook.organization}"
    message_ = {"specversion": "1.0", "id": number, "source": f"/rest/{place}", "type": "limn.ping", "time": now()}
    body = sender.body_of({**message_, "subject": f"webhook/{webhook.id}", "data": {}})
    outcome = sender.post(webhook.url, delivery.keys_of(webhook), number, body)
    entry = sender.entry(webhook.project or 0, number, "limn.ping", 0, outcome)
    delivery.journal(webhook.id, [entry])
    return msgspec.convert(entry, Delivery)


def redeliver(webhook: Webhook, spec: RedeliverySpec) -> str:
    """Order that events are sent again; returns a sentence.

    Raises:
        BadInput: not one of the three is given, or it is malformed.
        NotFound: the webhook has no such project.
        Gone: the events are no longer kept.
    """
    if sum(each is not None for each in (spec.event, spec.after, spec.since)) != 1:
        raise BadInput("Give one of event, after and since.")
    if not webhook.active:
        raise BadInput("The webhook is disabled. Set active to true first.")
    if spec.project is not None:
        _stream(webhook, spec.project)
    if spec.event is not None:
        place = events_service.place_of(spec.event)
        if place is None:
            raise BadInput(f"event: {spec.event!r} is no id of an event, such as 4/17 or 4/17/2.")
        if spec.project not in (None, place[0]):
            raise BadInput(f"event: {spec.event!r} is no event of project {spec.project}.")
        _stream(webhook, place[0])
        message = RedeliverEvent(project=place[0], webhook=webhook.id, event=spec.event, id=uuid.uuid4().hex)
        send(settings().webhook_queue_url, message)
        return f"Event {spec.event} is sent again."
    project_ = webhook.project or spec.project
    if project_ is None:
        raise BadInput("project: a webhook of an organization needs it here.")
    stream = _stream(webhook, project_)
    position = spec.after if spec.after is not None else position_at(project_, read_date("since", spec.since or ""))
    events_service.read(project_, after=position, limit=1)

    def edit(current: Stream) -> None:
        current.rewind, current.next_at = position, 0.0

    streams.change(WORD, stream.project, webhook.id, edit)
    _order(stream.project, webhook.id)
    return f"The events after {position} are sent again, in order."


def position_at(project: int, moment: str) -> str:
    """The position before the first kept commit at or after a time."""
    low, high = 0, log.last(project, fresh=True)
    while low < high:
        middle = (low + high + 1) // 2
        if _is_before(project, middle, moment):
            low = middle
        else:
            high = middle - 1
    return str(low)


def _is_before(project: int, seq: int, moment: str) -> bool:
    try:
        commit = next(iter(log.follow(project, seq - 1, 1)), None)
    except log.Expired:
        return True
    return commit is None or commit.at < moment


def _stream(webhook: Webhook, project: int) -> Stream:
    found = streams.get(WORD, project, webhook.id) if project else None
    if found is None:
        raise NotFound(f"The webhook sends no events of project {project}.")
    return found


def _order(project: int, webhook: int) -> None:
    send(settings().webhook_queue_url, DeliverEvents(project=project, webhook=webhook, id=uuid.uuid4().hex))


def _check(url: str, types: list[str], query: str | None, project: int | None, organization: int | None) -> None:
    outbound.check_registered(url)
    filters.check_types(types)
    if project is not None:
        filters.check_query(query, types, [project])
    else:
        projects = records.list_linked(PROJECT, "organization", organization or 0) if query else []
        there = (each.id for each in projects if each.deleted is None)
        filters.check_query(query, types, [], islice(there, _TRIED_PROJECTS))
