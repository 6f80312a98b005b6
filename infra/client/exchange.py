"""One request and its answer, with retries, as a generator that does no input or output of its own.

It yields what is to be done, a `Request` to send or seconds to wait, and gets the answer, or the error that came
instead. `run` does it here, `run_async` awaits it, so both clients behave alike.

What is repeated: a request whose answer did not come, or that the service could not serve (429, 502, 503, 504). That is
safe: reads change nothing, and every other request of a user who is signed in has an `Idempotency-Key`, with which it
is carried out once. A part of an upload that is sent again is the same part.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
import uuid
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal

import httpx
import msgspec

from . import connections, failures
from .connections import PIECE, host_of, whole_number
from .failures import Failure

ATTEMPTS = 6
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 8.0
"""Seconds between attempts where the service names none: of the first, and at most."""
PATIENCE = 120.0
"""Seconds that one request pauses for in all; more, and more that the service asks for (Retry-After), is an error.

An answer takes at most 29 s, and the key of a request that died is free after a minute."""
BUSY = frozenset({429, 502, 503, 504})


@dataclass(frozen=True)
class Request:
    """What is sent."""

    method: str
    url: str
    query: tuple[tuple[str, str], ...] = ()
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | FilePart | None = None
    most: int | None = None
    """Bytes of its answer at most, where that is less than of all (`connections.MOST_BYTES`)."""


class FilePart:
    """Some of the bytes of a file as a body: read in pieces while they are sent, each time that they are sent."""

    def __init__(self, path: Path, start: int, size: int) -> None:
        self._path, self._start, self._size = path, start, size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[bytes]:
        left = self._size
        with self._path.open("rb", buffering=0) as file:
            file.seek(self._start)
            while left > 0:
                if not (piece := file.read(min(PIECE, left))):
                    raise Failure(f"{self._path} became shorter while it was sent; upload it again.")
                left -= len(piece)
                yield piece


Step = Request | float
Exchange = Generator[Step, Any, httpx.Response]


def query_of(query: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Query parameters as text. None is left out; lists are joined by commas, or repeated for filters."""
    found: list[tuple[str, str]] = []
    for name, value in query.items():
        if value is None:
            continue
        if isinstance(value, list | tuple) and ("attribute" in name or name == "frame_ranges"):
            found += [(name, _word(each)) for each in value]
        else:
            found.append((name, _word(value)))
    return tuple(found)


def body_of(operation: str, body: Any) -> bytes:
    """A body as JSON; numbers of NumPy are numbers.

    Raises:
        Failure: it has what JSON has not, such as NaN, which would be sent as null.
    """
    try:
        content = msgspec.json.encode(body, enc_hook=_plain)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Failure(f"{operation}: the body is not JSON: {error}") from None
    if b"null" in content and (place := _not_a_number(body)):
        raise Failure(f"{operation}: {place} is NaN or infinite. Leave it out, or give a number.")
    return content


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} cannot be sent.")


def _not_a_number(value: Any, place: str = "") -> str:
    """Where the first number is that JSON has not; empty without one."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return "" if math.isfinite(value) else place or "the body"
    inner: Iterable[tuple[str, Any]] = ()
    if isinstance(value, dict):
        inner = ((f"{place}.{name}" if place else str(name), each) for name, each in value.items())
    elif isinstance(value, list | tuple):
        inner = ((f"{place}[{number}]", each) for number, each in enumerate(value))
    return next(filter(None, (_not_a_number(each, name) for name, each in inner)), "")


def _word(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_word, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def exchange(request: Request, repeat: Literal["safe", "keyed", "once"] = "safe") -> Exchange:
    """Send a request until there is an answer.

    An attempt after which the service names a pause, such as while the first request with the same key is still
    running, does not count: it is made again until `PATIENCE` is over.

    Args:
        request: the request.
        repeat: `safe` to repeat; `keyed`, with a key with which the service carries it out once; `once` not to repeat.

    Raises:
        Failure: the answer is an error, or there is none.
    """
    if repeat == "keyed":
        request = replace(request, headers={**request.headers, "Idempotency-Key": str(uuid.uuid4())})
    attempts = 1 if repeat == "once" else ATTEMPTS
    pause, left = FIRST_PAUSE, 0.0 if repeat == "once" else PATIENCE
    while True:
        answer = yield request
        wait, asked = pause * random.uniform(0.5, 1), 0.0  # noqa: S311 spreads clients that failed together
        pause = min(2 * pause, LONGEST_PAUSE)
        if isinstance(answer, httpx.Response):
            if answer.status_code < HTTPStatus.BAD_REQUEST:
                return answer
            if answer.status_code not in BUSY:
                raise refusal(answer, request.url)
            asked = _asked(answer)
            wait = max(wait, asked)
        elif not isinstance(answer, httpx.TransportError):
            attempts = 0
        attempts -= not asked
        if attempts <= 0 or wait > left:
            if isinstance(answer, httpx.Response):
                raise refusal(answer, request.url)
            raise Failure(
                f"No answer from {host_of(request.url)}: {_reason(answer)}", failures.NO_CONNECTION
            ) from answer
        left -= wait
        yield wait


def run(web: httpx.Client, steps: Exchange) -> httpx.Response:
    """Do what a generator says."""
    given: Any = None
    try:
        while True:
            step = steps.send(given)
            if isinstance(step, float):
                time.sleep(step)
                given = None
                continue
            try:
                headers, content = step.headers, step.content
                pieces = _Pieces(content) if isinstance(content, bytes) and len(content) > PIECE else content
                if content:  # the length of pieces is not known otherwise
                    headers = {**headers, "Content-Length": str(len(content))}
                given = web.request(
                    step.method,
                    step.url,
                    params=step.query or None,
                    headers=headers,
                    content=pieces,
                    extensions=connections.bounded(step.most),
                )
                _release(given)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                given = error
    except StopIteration as end:
        answer: httpx.Response = end.value
        return answer


class _Pieces:
    """A body in pieces: httpx copies the rest of what it was given whenever the socket takes a part of it."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self._content), PIECE):
            yield self._content[start : start + PIECE]


async def run_async(web: httpx.AsyncClient, steps: Exchange) -> httpx.Response:
    """Do what a generator says, without blocking."""
    given: Any = None
    try:
        while True:
            step = steps.send(given)
            if isinstance(step, float):
                await asyncio.sleep(step)
                given = None
                continue
            try:
                content: Any = step.content
                given = await web.request(
                    step.method,
                    step.url,
                    params=step.query or None,
                    headers=step.headers,
                    content=content,
                    extensions=connections.bounded(step.most),
                )
                _release(given)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                given = error
    except StopIteration as end:
        answer: httpx.Response = end.value
        return answer


def _release(answer: httpx.Response) -> None:
    """Let an answer be freed when it is not used any more: it and its stream, which was read, refer to each other."""
    answer.stream = httpx.ByteStream(b"")


def _asked(answer: httpx.Response) -> float:
    """The seconds of Retry-After; 0 without."""
    return float(whole_number(answer.headers.get("Retry-After", "")))


def refusal(answer: httpx.Response, url: str) -> Failure:
    """The failure of an error: its message with details, and its code (RFC 8628) if it has one."""
    try:
        document = msgspec.json.decode(answer.content)
        message, details, code = str(document["message"]), document.get("details"), document.get("error")
    except (msgspec.DecodeError, RecursionError, KeyError, TypeError, AttributeError):  # not an answer of the service
        said = f"{host_of(url)} answered {answer.status_code} {answer.reason_phrase}".rstrip()
        return failures.of_answer(answer.status_code, f"{said}. Is it the address of the service?")
    if details and details != message:
        message = f"{message} {details}"
    return failures.of_answer(answer.status_code, message, **({"code": code} if code else {}))


def _reason(error: Exception) -> str:
    """What an exception says, without addresses."""
    return str(error).partition("http")[0].strip() or type(error).__name__
