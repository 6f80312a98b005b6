"""Connections to servers that users name: only to checked addresses, with a deadline and a bound on what is read.

All of them are made here. A host name is resolved once, every address is checked, and the connection uses a checked
address. So a name that resolves differently the second time (DNS rebinding) gains nothing. Connections are kept alive
for the next request to the same address.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from chalicelib.core.time import deadline
from chalicelib.core.web import origins
from chalicelib.core.web.origins import Address
from chalicelib.errors import BadInput, Forbidden
from chalicelib.settings import settings

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

CONNECT_SECONDS = 3.0
LEAST_SECONDS = 0.05
"""What a request that has no time left may still take."""
RESOLVE_SECONDS = 5.0
LARGEST_BLOCK = 1024 * 1024
LARGEST_ERROR = 64 * 1024
"""Bytes that are read of the body of an error: enough for its message."""
_MOST_LOOKUPS = 32
_ERRORS = 300
_PORTS = {"http": 80, "https": 443}


def check_registered(url: str, member: str = "url") -> Address:
    """The address of a server that a user registers, to be checked again at each connection.

    Raises:
        BadInput: the URL is malformed, or not https at a public address, and the operator does not allow its origin.
    """
    try:
        address = origins.take_apart(url)
    except Forbidden:
        raise BadInput(f"{member}: {url[:200]!r} is not an http or https URL without credentials.") from None
    if not is_service_allowed(address) and (address.scheme != "https" or resolves_inside(address)):
        raise BadInput(
            f"{member}: it must be https at a public address, or an origin that the operator allows (ServiceOrigins).",
            HOW_TO_ALLOW,
        )
    return address


HOW_TO_ALLOW = (
    "The operator allows an origin by the parameter ServiceOrigins of a deployment, or on one machine by "
    "LIMN_SERVICE_ORIGINS=http://host:port make run."
)


def is_service_allowed(address: Address) -> bool:
    """Whether the operator allows a job cluster, annotator or webhook at this origin, whatever its addresses are."""
    return address.origin in {origins.origin_of(text) for text in settings().service_origins}


def resolves_inside(address: Address) -> bool:
    """Whether a host has an address that is not public; False where its name does not resolve."""
    try:
        resolve(address, is_inside=False)
    except Forbidden:
        return True
    except NoAddressError:
        return False
    return False


class NoAddressError(OSError):
    """The host's name does not resolve."""


def is_inside(address: Address) -> bool:
    """Whether the operator allows buckets at this origin, whatever its addresses are."""
    return address.origin in {origins.origin_of(text) for text in settings().store_origins}


class TooMuchError(OSError):
    """The body of an answer is larger than the caller's limit."""


class Answer(NamedTuple):
    """An answer that was read whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def ask(
    address: Address,
    method: str,
    *,
    seconds: float,
    most: int,
    headers: Mapping[str, str],
    body: Any = None,
    connect: float = CONNECT_SECONDS,
    is_cut: bool = False,
    is_inside: bool = False,
    context: ssl.SSLContext | None = None,
) -> Answer:
    """The whole answer to one request. Redirects are not followed.

    Args:
        address: the URL.
        method: such as `GET`.
        seconds: until the end of the answer; within a request, no more than that has left.
        most: bytes of its body; of that of an error, at most `LARGEST_ERROR`, and the rest is not read.
        headers: `Host` is added.
        body: bytes, or a file to be read.
        connect: seconds until there is a connection.
        is_cut: whether a longer body is cut at `most`, as that of an error is, and is no error.
        is_inside: whether the operator allowed this origin, even at addresses that are not public.
        context: the certificates to trust; by default those of the system.

    Raises:
        Forbidden: an address of the host is not public.
        OSError, urllib3.exceptions.HTTPError: the name does not resolve, or the server does not answer in time or sends
            too much.
    """
    left = deadline.remaining()
    with at_most(seconds if left is None else max(LEAST_SECONDS, min(seconds, left))):
        response = send(
            address,
            method,
            most=most,
            headers=headers,
            body=body,
            timeout=urllib3.Timeout(connect=min(connect, seconds), read=seconds),
            is_inside=is_inside,
            context=context,
        )
        try:
            return Answer(response.status, response.headers, response.read(is_cut=is_cut))
        finally:
            response.close()


def send(
    address: Address,
    method: str,
    *,
    most: int,
    headers: Mapping[str, str],
    body: Any = None,
    timeout: urllib3.Timeout,
    attempts: int = 1,
    is_inside: bool = False,
    context: ssl.SSLContext | None = None,
) -> Response:
    """As `ask`, within `at_most`; the body of the answer is not read yet.

    `attempts` counts those at a connection; an answer is never repeated, nor does its `Retry-After` hold this thread.
    """
    if getattr(_watch, "current", None) is None:
        raise AssertionError("outgoing requests are sent within at_most")
    named = address.host if address.port == _PORTS[address.scheme] else f"{address.host}:{address.port}"
    pool = _pool(address.scheme, resolve(address, is_inside=is_inside), address.port, address.host, context)
    answer = pool.urlopen(
        method,
        address.target,
        body=body,
        headers={**headers, "Host": named},
        redirect=False,
        retries=urllib3.Retry(
            attempts - 1, redirect=False, status=0, other=0, respect_retry_after_header=False, backoff_factor=0.2
        ),
        timeout=timeout,
        preload_content=False,
        decode_content=False,
        assert_same_host=False,
    )
    return Response(answer, most)


class Response:
    """An answer whose body is read in blocks, and no further than its bound."""

    def __init__(self, answer: BaseHTTPResponse, most: int) -> None:
        self.status = answer.status
        self.headers: Mapping[str, str] = answer.headers
        self._answer = answer
        self._left = most
        self._is_read = False

    def stream(self, size: int = LARGEST_BLOCK) -> Iterator[bytes]:
        """The body in blocks of at most `size` bytes. Raises TooMuchError beyond the bound."""
        for block in self._answer.stream(size):
            self._left -= len(block)
            if self._left < 0:
                raise TooMuchError("the answer is larger than allowed")
            yield block
        self._is_read = True

    def read(self, *, is_cut: bool = False) -> bytes:
        """The whole body; of that of an error at most `LARGEST_ERROR`. Raises TooMuchError beyond the bound."""
        if self.status < _ERRORS and not is_cut:
            return b"".join(self.stream())
        most = self._left if is_cut else LARGEST_ERROR
        data = self._answer.read(most)
        self._is_read = len(data) < most
        return data

    def close(self) -> None:
        """Give the connection back where the body was read whole, else end it."""
        if self._is_read:
            self._answer.release_conn()
        else:
            self._answer.close()


@contextmanager
def at_most(seconds: float) -> Iterator[_Watch]:
    """Cut off the requests that this thread sends within after some seconds, however slowly bytes arrive.

    A time-out of a socket counts from byte to byte, so that a server may hold a request for hours.

    Raises:
        TimeoutError: at the end, where the time was over before; what was read of an answer may be cut.
    """
    watched, before = _Watch(), getattr(_watch, "current", None)
    _watch.current = watched
    timer = threading.Timer(seconds, watched.end)
    timer.daemon = True
    timer.start()
    try:
        yield watched
    finally:
        timer.cancel()
        _watch.current = before
    if watched.is_over:
        raise TimeoutError("the time of this request is over")


class _Watch:
    """The socket that a thread uses, for a timer to shut down."""

    def __init__(self) -> None:
        self.connection: HTTPConnection | None = None
        self.socket: socket.socket | None = None
        self.is_over = False

    def end(self) -> None:
        self.is_over = True
        sock = (self.connection.sock if self.connection else None) or self.socket
        if sock is not None:
            with contextlib.suppress(OSError):
                # the file descriptor of a TLS socket is that of its connection
                socket.socket.shutdown(sock, socket.SHUT_RDWR)

    def use(self, connection: HTTPConnection) -> None:
        if self.is_over:
            raise TimeoutError("the time of this request is over")
        # a connection forgets its socket at the head of an answer that ends with the connection
        self.connection, self.socket = connection, connection.sock or self.socket


_watch = threading.local()


def _use(connection: HTTPConnection) -> None:
    current: _Watch | None = getattr(_watch, "current", None)
    if current is not None:
        current.use(connection)


class _Bounded(io.BufferedReader):
    """What is read of a connection: never all that comes, as the standard library reads a chunk of -1 bytes."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            raise TooMuchError("the answer has no bound")
        return super().read(size)


class _HeldAnswer(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **more: Any) -> None:
        super().__init__(sock, *args, **more)
        self.fp = _Bounded(self.fp.detach())


class _Plain(HTTPConnection):
    response_class = _HeldAnswer

    def connect(self) -> None:
        _use(self)
        super().connect()
        _use(self)

    def request(self, *args: Any, **more: Any) -> None:
        _use(self)
        super().request(*args, **more)


class _Tls(_Plain, HTTPSConnection):
    pass


class _PlainPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Plain


class _TlsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _Tls


def resolve(address: Address, *, is_inside: bool) -> str:
    """One checked IP address of the host.

    Raises:
        Forbidden: an address of the host is not public, and the operator did not allow the origin (`is_inside`).
        NoAddressError: the name does not resolve.
    """
    numbers = _numbers_of(address)
    if not is_inside and not all(origins.is_public(number) for number in numbers):
        raise origins.refusal(address.url.partition("?")[0])
    return numbers[0]


_lookups = threading.BoundedSemaphore(_MOST_LOOKUPS)


def _numbers_of(address: Address) -> list[str]:
    """The IP addresses of a host. A lookup cannot be interrupted: one whose name server is silent is left to itself."""
    found: Future[list[str]] = Future()

    def look_up() -> None:
        try:
            entries = socket.getaddrinfo(address.host.strip("[]"), address.port, type=socket.SOCK_STREAM)
            found.set_result([str(entry[4][0]) for entry in entries])
        except BaseException as failure:  # noqa: BLE001 raised where it is waited for
            found.set_exception(failure)
        finally:
            _lookups.release()

    if not _lookups.acquire(timeout=RESOLVE_SECONDS):
        raise NoAddressError(f"{address.host} cannot be looked up at the moment")
    threading.Thread(target=look_up, name="lookup", daemon=True).start()
    try:
        return found.result(RESOLVE_SECONDS)
    except (OSError, UnicodeError, TimeoutError) as failure:
        raise NoAddressError(f"{address.host} has no address") from failure


@lru_cache(maxsize=64)
def _pool(scheme: str, number: str, port: int, host: str, context: ssl.SSLContext | None) -> urllib3.HTTPConnectionPool:
    if scheme == "https":
        name = host.strip("[]")
        return _TlsPool(number, port, maxsize=16, assert_hostname=name, server_hostname=name, ssl_context=context)
    return _PlainPool(number, port, maxsize=16)
