"""Connections to servers that somebody else named: only to addresses that were judged first (design §5).

A name is resolved once, every address of it is judged, and the connection goes to the address judged, so that a name
that answers differently the second time gains nothing. Connections are kept for the next request to the same address.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import urllib3

from chalicelib.core import origins
from chalicelib.core.origins import Address
from chalicelib.errors import Forbidden
from chalicelib.settings import settings

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

_TIMEOUT = urllib3.Timeout(connect=3, read=30)
_PORTS = {"http": 80, "https": 443}


def is_service_allowed(address: Address) -> bool:
    """Whether the operator lets a job cluster or an annotator lie at this origin, whatever its addresses are."""
    return address.origin in {origins.origin_of(text) for text in settings().service_origins}


def resolves_inside(address: Address) -> bool:
    """Whether a host has an address that is not public; False where its name has none."""
    try:
        resolve(address, is_inside=False)
    except Forbidden:
        return True
    except NoAddressError:
        return False
    return False


class NoAddressError(OSError):
    """A host's name stands for no address."""


def is_inside(address: Address) -> bool:
    """Whether the operator lets buckets lie at this origin, whatever its addresses are."""
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
) -> BaseHTTPResponse:
    """The answer to one request, its body not read yet; redirects are the caller's business.

    Args:
        address: the URL.
        method: such as `GET`.
        headers: `Host` is added.
        body: bytes, or a file to be read.
        timeout: how long to wait for a connection and between bytes.
        retries: how often to try again; never where not given.
        is_inside: whether the operator allowed this origin, wherever it is.

    Raises:
        Forbidden: an address of the host is not public.
        OSError, urllib3.exceptions.HTTPError: there is no address, or no answer.
    """
    named = address.host if address.port == _PORTS[address.scheme] else f"{address.host}:{address.port}"
    pool = _pool(address.scheme, resolve(address, is_inside=is_inside), address.port, address.host)
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


def resolve(address: Address, *, is_inside: bool) -> str:
    """One numeric address of the host.

    Raises:
        Forbidden: an address of the host is not public, and the operator did not allow the origin (`is_inside`).
        NoAddressError: the name has no address.
    """
    try:
        found = socket.getaddrinfo(address.host.strip("[]"), address.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as failure:
        message = f"{address.host} has no address"
        raise NoAddressError(message) from failure
    numbers = [str(entry[4][0]) for entry in found]
    if not is_inside and not all(origins.is_public(number) for number in numbers):
        raise origins.refusal(address.url.partition("?")[0])
    return numbers[0]


@lru_cache(maxsize=64)
def _pool(scheme: str, number: str, port: int, host: str) -> urllib3.HTTPConnectionPool:
    if scheme == "https":
        name = host.strip("[]")
        return urllib3.HTTPSConnectionPool(number, port, maxsize=16, assert_hostname=name, server_hostname=name)
    return urllib3.HTTPConnectionPool(number, port, maxsize=16)
