"""HTTP connections to a service and its object store.

Neither is trusted: the size and the time of an answer are bounded, and none leads to an address of this machine.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

import httpx

from . import failures
from .failures import Failure

PIECE = 1024 * 1024
"""Bytes of a large body that are handed to the connection, or unpacked from an answer, at once."""
MOST_BYTES = 1024**3
"""Bytes of an answer, unpacked, that is held in memory; exports and files are streamed, and have no bound."""
SLOWEST, GRACE = 1_000, 120.0
"""Bytes of an answer a second, and the seconds that are waited for it in all before this counts."""
_STREAMED, _MOST = "limn_streamed", "limn_most"
_GZIP = 16 + zlib.MAX_WBITS
_DIGITS = 18
"""The most digits of a number in a header."""
TIMEOUT = httpx.Timeout(10, read=120, write=120, pool=None)
"""Seconds. Answers take at most 29 s; large ones are read from the object store."""


def bounded(most: int | None) -> dict[str, Any]:
    """The httpx extensions that limit the answer of a request to `most` bytes; none for None."""
    return {} if most is None else {_MOST: most}


def opened(connections: int, home: str, transport: httpx.BaseTransport | None = None) -> httpx.Client:
    """An HTTP client that holds at most `MOST_BYTES` of an answer, unpacked, in memory; streamed answers have no limit.

    A service that is not on this machine leads to no address of this machine, by a URL or a redirect.

    Args:
        connections: how many at once.
        home: the address of the service.
        transport: another one than the network.
    """

    def check(request: httpx.Request) -> None:
        _check_place(home, request.url)

    hooks: dict[str, list[Any]] = {"request": [check], "response": [_bound]}
    return httpx.Client(**_options(connections), event_hooks=hooks, transport=transport)


def opened_async(connections: int, home: str) -> httpx.AsyncClient:
    """As `opened`, for programs with an event loop."""

    async def check(request: httpx.Request) -> None:
        await asyncio.to_thread(_check_place, home, request.url)

    async def bound(answer: httpx.Response) -> None:
        _bound(answer)

    return httpx.AsyncClient(**_options(connections), event_hooks={"request": [check], "response": [bound]})


def _check_place(home: str, url: httpx.URL) -> None:
    """Raise Failure if the URL leads to this machine, where the service is not on it."""
    host = httpx.URL(home).host
    if url.host != host and _is_here(url.host) and not _is_here(host):
        raise Failure(f"{host_of(home)} leads to an address of this machine, {url.host}.", failures.SERVICE_ERROR)


@cache
def _is_here(host: str) -> bool:
    """Whether a name leads to an address of this machine or its link; not if it is unknown."""
    try:
        found = {ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return False
    plain = {getattr(each, "ipv4_mapped", None) or each for each in found}
    return any(each.is_loopback or each.is_link_local or each.is_unspecified for each in plain)


def _options(connections: int) -> dict[str, Any]:
    """What both kinds of client have in common."""
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections)
    headers = {"Accept-Encoding": "gzip"}
    return {"timeout": TIMEOUT, "limits": limits, "follow_redirects": True, "headers": headers}


STREAMED = {_STREAMED: True}
"""The httpx extensions of a request whose answer is streamed, and not held in memory."""


def _bound(answer: httpx.Response) -> None:
    """Have an answer unpacked here: httpx unpacks what arrives at once, which 64 kB may make gigabytes.

    The body of a redirect is bounded too, for httpx reads it.
    """
    answer.stream = _Bounded(answer, answer.headers.pop("Content-Encoding", "identity").strip().lower())


class _Bounded(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The body of an answer, unpacked in pieces of at most `PIECE`.

    Raises:
        Failure: it is longer than `MOST_BYTES`, or packed in another way than was asked for.
    """

    def __init__(self, answer: httpx.Response, encoding: str) -> None:
        self._packed: Any = answer.stream
        self._url, self._encoding = str(answer.url), encoding
        self._unpack = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        given = answer.request.extensions
        self._most = given.get(_MOST, MOST_BYTES)
        self._left = None if given.get(_STREAMED) else self._most
        self._waited, self._received = 0.0, 0

    def _pieces(self, packed: bytes) -> Iterator[bytes]:
        if self._encoding not in ("identity", "gzip", ""):
            message = f"{host_of(self._url)} answered in the encoding {self._encoding[:40]!r}, which was not asked for."
            raise Failure(message, failures.SERVICE_ERROR)
        while packed:
            piece = packed
            if self._unpack is None:
                packed = b""
            else:
                try:
                    piece = self._unpack.decompress(packed, PIECE)
                except zlib.error as error:
                    raise httpx.DecodingError(str(error)) from error
                packed = self._unpack.unconsumed_tail
            if self._left is not None:
                self._left -= len(piece)
                if self._left < 0:
                    message = f"{host_of(self._url)} answered more than {self._most} bytes. Ask for less at once."
                    raise Failure(message, failures.SERVICE_ERROR)
            yield piece

    def __iter__(self) -> Iterator[bytes]:
        begun = time.monotonic()
        for packed in self._packed:
            self._count(len(packed), time.monotonic() - begun)
            yield from self._pieces(packed)
            begun = time.monotonic()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun = time.monotonic()
        async for packed in self._packed:
            self._count(len(packed), time.monotonic() - begun)
            for piece in self._pieces(packed):
                yield piece
            begun = time.monotonic()

    def _count(self, size: int, seconds: float) -> None:
        """Count what came, after some seconds. Raises Failure where an answer would never end."""
        self._waited, self._received = self._waited + seconds, self._received + size
        if self._waited > GRACE and self._received < SLOWEST * self._waited:
            message = f"{host_of(self._url)} sends fewer than {SLOWEST} bytes a second. Try again later."
            raise Failure(message, failures.NO_CONNECTION)

    def close(self) -> None:
        self._packed.close()

    async def aclose(self) -> None:
        await self._packed.aclose()


def host_of(url: str) -> str:
    """The address without path and query: those of presigned URLs are secrets."""
    found = httpx.URL(url)
    return f"{found.scheme}://{found.netloc.decode()}"


def whole_number(text: str) -> int:
    """The number of a header; 0 if it is none."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else 0
