"""Connections to servers that users name: only to checked addresses.

A host name is resolved once, every address is checked, and the connection uses a checked address. So a name that
resolves differently the second time (DNS rebinding) gains nothing. Connections are kept alive for the next request to
the same address.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from chalicelib.core.web import origins
from chalicelib.core.web.origins import Address
from chalicelib.errors import BadInput, Forbidden
from chalicelib.settings import settings

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

_TIMEOUT = urllib3.Timeout(connect=3, read=30)
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
            f"{member}: it must be https at a public address, or an origin that the operator allows (ServiceOrigins)."
        )
    return address


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


def send(
    address: Address,
    method: str,
    *,
    headers: Mapping[str, str],
    body: Any = None,
    timeout: urllib3.Timeout = _TIMEOUT,
    retries: urllib3.Retry | None = None,
    is_inside: bool = False,
    context: ssl.SSLContext | None = None,
) -> BaseHTTPResponse:
    """Send one request; the body of its response is not read yet. Redirects are not followed.

    Args:
        address: the URL.
        method: such as `GET`.
        headers: `Host` is added.
        body: bytes, or a file to be read.
        timeout: seconds to wait for a connection and between bytes.
        retries: number of retries; 0 by default.
        is_inside: whether the operator allowed this origin, even at addresses that are not public.
        context: the certificates to trust; by default those of the system.

    Raises:
        Forbidden: an address of the host is not public.
        OSError, urllib3.exceptions.HTTPError: the name does not resolve, or the server does not answer.
    """
    named = address.host if address.port == _PORTS[address.scheme] else f"{address.host}:{address.port}"
    pool = _pool(address.scheme, resolve(address, is_inside=is_inside), address.port, address.host, context)
    return pool.urlopen(
        method,
        address.target,
        body=body,
        headers={**headers, "Host": named},
        redirect=False,
        retries=retries or urllib3.Retry(0, redirect=False),
        timeout=timeout,
        preload_content=False,
        decode_content=False,
        assert_same_host=False,
    )


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


class _Plain(HTTPConnection):
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
    try:
        found = socket.getaddrinfo(address.host.strip("[]"), address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failure:
        raise NoAddressError(f"{address.host} has no address") from failure
    numbers = [str(entry[4][0]) for entry in found]
    if not is_inside and not all(origins.is_public(number) for number in numbers):
        raise origins.refusal(address.url.partition("?")[0])
    return numbers[0]


@lru_cache(maxsize=64)
def _pool(scheme: str, number: str, port: int, host: str, context: ssl.SSLContext | None) -> urllib3.HTTPConnectionPool:
    if scheme == "https":
        name = host.strip("[]")
        return _TlsPool(number, port, maxsize=16, assert_hostname=name, server_hostname=name, ssl_context=context)
    return _PlainPool(number, port, maxsize=16)
