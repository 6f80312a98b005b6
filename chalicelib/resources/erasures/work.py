"""The queue function's part of an erasure: it counts what the request left, and erases it, place by place."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta

import msgspec

from chalicelib.core.models.personal import ERASURE, Erasure
from chalicelib.core.resource import now, timestamp
from chalicelib.core.time import clock
from chalicelib.errors import NotFound
from chalicelib.resources.erasures import service
from chalicelib.resources.erasures.messages import ErasePerson
from chalicelib.resources.erasures.places import places_of
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records


def erase(message: ErasePerson, seconds: float) -> None:
    """Count, and then erase, what the request left, for at most some seconds; then order the continuation."""
    erasure = records.maybe(ERASURE, message.erasure)
    if erasure is None or erasure.status != "Running":
        return
    end = time.monotonic() + seconds
    person = service.read_person(erasure)
    found = Counter(message.found)
    for place in places_of(erasure):
        if place.key <= message.after:
            continue
        if time.monotonic() > end:
            service.order(msgspec.structs.replace(message, id=str(uuid.uuid4()), found=dict(found)), 0)
            return
        for name, remove in place.find(person):
            if erasure.is_surveyed:
                remove()
            else:
                found[name] += 1
        message = msgspec.structs.replace(message, after=place.key)
    if erasure.is_surveyed:
        _edit(erasure.id, _complete)
        return
    _edit(erasure.id, lambda current: _note_survey(current, found))
    erase(msgspec.structs.replace(message, after="", found={}), end - time.monotonic())


def _note_survey(current: Erasure, found: Mapping[str, int]) -> Erasure:
    if current.is_surveyed:
        return current
    before = Counter({each.place: each.number for each in current.found})
    return msgspec.structs.replace(current, found=service.as_list(before + Counter(found)), is_surveyed=True)


def _complete(current: Erasure) -> Erasure:
    gone = timestamp(clock.utc_now() + timedelta(days=settings().copies_days))
    return msgspec.structs.replace(
        current, status="Completed", completed_datetime=now(), copies_end_datetime=gone, sealed=""
    )


def _edit(number: int, edited: Callable[[Erasure], Erasure]) -> None:
    with suppress(NotFound):  # it went with its organization
        records.edit(ERASURE, number, edited)
