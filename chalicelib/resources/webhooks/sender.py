"""One attempt to send one event to one server: signed, through the outgoing guard, within 15 seconds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec
import urllib3

from chalicelib import __version__
from chalicelib.core.resource import now
from chalicelib.core.text.numbers import natural
from chalicelib.core.time import clock
from chalicelib.core.web import origins
from chalicelib.errors import Forbidden
from chalicelib.resources.webhooks import signing
from chalicelib.storage import outbound

SECONDS = 15.0
"""The time for one attempt, from the look-up of the name to the end of the answer."""
CONNECT_SECONDS = 5.0
LARGEST_BODY = 20_000
"""Bytes of a message; larger ones are cut down to the ids."""
LARGEST_EXCERPT = 500
"""Characters of an answer that are kept."""
_READ = 2_000
_OK = range(200, 300)
_REDIRECTS = range(300, 400)
GONE = 410


@dataclass(frozen=True, kw_only=True)
class DeliveryOutcome:
    """The result of an attempt. `status` is None where there was no answer."""

    status: int | None
    excerpt: str
    milliseconds: int
    retry_after: float = 0.0

    @property
    def is_ok(self) -> bool:
        """Whether the server accepted the message."""
        return self.status is not None and self.status in _OK

    @property
    def is_gone(self) -> bool:
        """Whether the server wants no more messages."""
        return self.status == GONE


def body_of(event: dict[str, Any]) -> bytes:
    """The body of a message: the event as JSON, at most `LARGEST_BODY` bytes."""
    body = msgspec.json.encode(event)
    if len(body) <= LARGEST_BODY:
        return body
    data = event.get("data") or {}
    return msgspec.json.encode({**event, "data": {"ids": list(data.get("ids", ()))[:100], "is_cut": True}})


def post(url: str, keys: Sequence[str], message: str, body: bytes) -> DeliveryOutcome:
    """Send a message once. Never raises for what the server or the network does."""
    began = time.monotonic()
    headers = {
        "Content-Type": "application/json",
        "Accept": "*/*",
        "User-Agent": f"Limn/{__version__}",
        **signing.headers(keys, message, int(clock.seconds()), body),
    }
    try:
        address = origins.take_apart(url)
        allowed = outbound.is_service_allowed(address)
        if address.scheme != "https" and not allowed:
            return DeliveryOutcome(status=None, excerpt="The address is not allowed.", milliseconds=0)
        response = outbound.ask(
            address,
            "POST",
            seconds=SECONDS,
            most=_READ,
            is_cut=True,
            headers=headers,
            body=body,
            connect=CONNECT_SECONDS,
            is_inside=allowed,
        )
    except Forbidden:
        return DeliveryOutcome(status=None, excerpt="The address is not allowed.", milliseconds=_since(began))
    except (OSError, ValueError, urllib3.exceptions.HTTPError) as failure:
        took = _since(began)
        why = "time-out" if took >= SECONDS * 1000 * 0.99 else _reason(failure)
        return DeliveryOutcome(status=None, excerpt=f"No answer: {why}.", milliseconds=took)
    excerpt = response.body.decode("utf-8", "replace")[:LARGEST_EXCERPT]
    if response.status in _REDIRECTS:
        excerpt = f"Redirects are not followed. {excerpt}"[:LARGEST_EXCERPT]
    return DeliveryOutcome(
        status=response.status,
        excerpt="".join(letter if letter.isprintable() else " " for letter in excerpt).strip(),
        milliseconds=_since(began),
        retry_after=_retry_after(response.headers.get("Retry-After", "")),
    )


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)


def _reason(failure: Exception) -> str:
    """Why there was no answer, without addresses of the operator's network."""
    if isinstance(failure, outbound.NoAddressError):
        return "the name of the host does not resolve"
    if isinstance(failure, urllib3.exceptions.ConnectTimeoutError | urllib3.exceptions.NewConnectionError):
        return "no connection"
    if isinstance(failure, urllib3.exceptions.SSLError):
        return "the certificate is not valid for the host"
    return "time-out" if isinstance(failure, urllib3.exceptions.TimeoutError) else "the connection was closed"


def _retry_after(text: str) -> float:
    """Seconds of a Retry-After header, 0 where there is none."""
    try:
        seconds = natural(text.strip())
        return parsedate_to_datetime(text).timestamp() - clock.seconds() if seconds is None else float(seconds)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def entry(project: int, event: str, type_: str, attempt: int, outcome: DeliveryOutcome) -> dict[str, Any]:
    """The entry of an attempt in the journal of deliveries."""
    return {
        "time": now(),
        "project": project,
        "event": event,
        "type": type_,
        "attempt": attempt,
        "status": outcome.status,
        "milliseconds": outcome.milliseconds,
        "excerpt": outcome.excerpt,
    }
