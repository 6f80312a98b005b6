"""Fetch files that callers name by URL: only from allowed origins, never from internal addresses (docs/security.md).

A URL into our object store must be signed. An object of the caller's own project is then read as an object, after a
check that the caller may read it, so that a URL that expired while its job waited still works. The same holds for the
address of a finished resumable upload. All other URLs are read by HTTP: the origin is our object store's, which checks
the signature, one of the operator's `allowed_origins`, or one of https that the project's organization lists. A host
name is resolved once, all its addresses are checked, and the connection uses a checked address, so that a second DNS
answer cannot redirect it. Each redirect is checked as the first URL was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol
from urllib.parse import parse_qs, urljoin

import urllib3
from msgspec import Struct

from chalicelib.access.scope import UNRESTRICTED, Scope
from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.accounts import ORGANIZATION
from chalicelib.core.time import deadline
from chalicelib.core.web import origins
from chalicelib.core.web.origins import Address
from chalicelib.errors import BadInput, Forbidden, LimnError, TooLarge
from chalicelib.resources.uploads import service as uploads_service
from chalicelib.resources.uploads import tus
from chalicelib.settings import settings
from chalicelib.storage import outbound
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects, owners, placement
from chalicelib.storage.outbound import LARGEST_BLOCK, Response

REDIRECTS = 5
SLOWEST = 600.0
"""Maximum time of an answer with its body, outside of a request; a request has no more than its own."""
_LEAST = 0.05
_TIMEOUT = urllib3.Timeout(connect=3, read=10)
_AMAZON = re.compile(r"(?:(?P<bucket>[a-z0-9.-]{3,63})\.)?s3(?:[.-](?:dualstack\.)?[a-z0-9-]+)?\.amazonaws\.com")
_UPLOAD = re.compile(r"[0-9a-f]{32}")
_RANGE = re.compile(r"bytes \d+-\d+/(?P<size>\d+)")
_SIGNATURES = ("x-amz-signature", "x-goog-signature", "signature")
_OK, _PARTIAL = 200, 206
_MOVED = range(301, 309)


class Fetched(Protocol):
    """A source of bytes as `video` reads them, and a tag that changes with its content."""

    size: int
    etag: str

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""


class ObjectPlace(Struct, frozen=True):
    """An object in one of our buckets, or in a registered bucket; its name does not matter."""

    bucket: str
    key: str


def check_origin(url: str, organization: int | None) -> None:
    """Raise Forbidden unless a URL is from an allowed origin; one into our object store must be signed.

    `organization` is the one whose list counts beside the operator's; None for none.
    """
    address = origins.take_apart(url)
    if _upload_of(address) is None:
        _check_allowed(address, organization)


def check_address(url: str, organization: int | None) -> None:
    """Raise Forbidden unless `fetch_url` may request a URL: an allowed origin, or signed, into our object store."""
    _check_allowed(origins.take_apart(url), organization)


def check_source(url: str | None, project: int, scope: Scope) -> ObjectKey | None:
    """Check a URL that a caller names, in a project if there is one; as `object_key`.

    Raises:
        Forbidden: it is not from an allowed origin, or names an object of the project that the caller may not read.
        BadInput: it names a resumable upload that is not finished.
    """
    if url is None:
        return None
    check_origin(url, owners.organization_of(project))
    return object_key(url, project, scope)


def object_key(url: str, project: int, scope: Scope) -> ObjectKey | None:
    """The key of the project's own object that a URL names; None for any other URL, or an unsigned one.

    Raises:
        Forbidden: it names an object that the caller may not read.
        BadInput: it names a resumable upload that is not finished.
    """
    address = origins.take_apart(url)
    if (upload := _upload_of(address)) is not None:
        found = tus.key_of(upload)
        if found is None or found[0] != project:
            return None
        uploads_service.check_open(scope, project, [found[1]])
        return found[1]
    place = _place_of(address)
    organization = owners.organization_of(project)
    if place is None or organization is None or not _is_signed(address):
        return None
    try:
        key = object_keys.authorize_project_key(place.key, organization, project)
    except (BadInput, Forbidden):
        return None
    uploads_service.check_open(scope, project, [key])
    return key


def is_ours(url: str) -> bool:
    """Whether a URL names an object in a bucket of ours or in a registered one."""
    return _place_of(origins.take_apart(url)) is not None


def open_source(url: str, project: int, scope: Scope) -> Fetched:
    """The source at a URL, readable at any offset.

    Raises:
        Forbidden: it is not from an allowed origin.
        BadInput: there is no file, or its server does not answer as a file server.
    """
    key = object_key(url, project, scope)
    return ObjectSource(key) if key else HttpSource(url, owners.organization_of(project))


def open_accepted(key: str, url: str, project: int) -> Fetched:
    """The file of an accepted request: the object in our store, if `key` names one; else the file at the URL.

    Raises as `open_source`.
    """
    accepted = _find_accepted(key, project)
    return ObjectSource(accepted) if accepted else open_source(url, project, UNRESTRICTED)


def _find_accepted(key: str, project: int) -> ObjectKey | None:
    organization = owners.organization_of(project)
    return object_keys.authorize_project_key(key, organization, project) if key and organization is not None else None


def fetch(url: str, project: int, most: int, scope: Scope, accepted: str = "") -> bytes:
    """The content of a URL, or of the object in our store that has the key `accepted`, if that is given.

    Raises:
        Forbidden: it is not from an allowed origin.
        TooLarge: it has more than `most` bytes.
        BadInput: there is no file, or its server does not answer as a file server.
    """
    key = _find_accepted(accepted, project) or object_key(url, project, scope)
    if key is not None:
        source = ObjectSource(key)
        _check_size(source.size, most)
        return source.read(0, source.size)
    return fetch_url(url, most, owners.organization_of(project))


def fetch_url(url: str, most: int, organization: int | None, headers: Mapping[str, str] | None = None) -> bytes:
    """The content of a URL, by HTTP. Raises as `fetch`."""
    body = bytearray()
    with open_url(url, most + LARGEST_BLOCK, organization, headers) as response:
        if response.status != _OK:
            raise _unfetchable(url, f"status {response.status}")
        _check_size(int(response.headers.get("Content-Length") or 0), most)
        for block in blocks(response):
            body += block
            _check_size(len(body), most)
    return bytes(body)


class ObjectSource:
    """An object of ours; reading fails after it was replaced."""

    def __init__(self, key: ObjectKey) -> None:
        found = objects.head(key)
        if found is None:
            raise BadInput(f"url: there is no object {key.path}.")
        self.key = key
        self.size, self.etag = found

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        length = min(length, self.size - offset)
        return objects.read_range(self.key, offset, length, etag=self.etag) if length > 0 else b""


class HttpSource:
    """A file on a server that supports range requests."""

    def __init__(self, url: str, organization: int | None) -> None:
        self._url, self._organization = url, organization
        with open_url(url, LARGEST_BLOCK, organization, {"Range": "bytes=0-0"}) as response:
            told = _RANGE.fullmatch(response.headers.get("Content-Range") or "")
            if response.status != _PARTIAL or not told:
                raise _unfetchable(url, f"status {response.status}; a server that answers to ranges is needed")
            self.size = int(told["size"])
            self.etag = (response.headers.get("ETag") or response.headers.get("Last-Modified") or "").strip('"')

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        last = min(offset + length, self.size) - 1
        if last < offset:
            return b""
        most, asked = last + 1 - offset, {"Range": f"bytes={offset}-{last}"}
        with open_url(self._url, most + LARGEST_BLOCK, self._organization, asked) as response:
            if response.status != _PARTIAL:
                raise _unfetchable(self._url, f"status {response.status} for a range")
            data = b"".join(blocks(response, most))
        if len(data) != most:
            raise _unfetchable(self._url, "it ended too early")
        return data


@contextmanager
def open_url(
    url: str, most: int, organization: int | None, headers: Mapping[str, str] | None = None
) -> Iterator[Response]:
    """The answer to a GET after at most `REDIRECTS` redirects, each checked as the first URL was.

    `most` bytes of its body can be read. The headers may be secret, so only the origin of the first URL gets them.
    """
    with _in_time(url):
        yield from _follow(url, most, organization, headers)


@contextmanager
def _in_time(url: str) -> Iterator[None]:
    """Cut off the connection at the end of the request, however slowly bytes arrive."""
    left = deadline.remaining()
    try:
        with outbound.at_most(SLOWEST if left is None else max(_LEAST, min(left, SLOWEST))) as watched:
            try:
                yield
            except BadInput:
                # What a connection that was cut off leads to.
                if not watched.is_over:
                    raise
    except TimeoutError:
        raise _unfetchable(url, "its server sends too slowly") from None


def _follow(url: str, most: int, organization: int | None, headers: Mapping[str, str] | None) -> Iterator[Response]:
    current, first = url, origins.take_apart(url)
    for _ in range(REDIRECTS + 1):
        address = origins.take_apart(current)
        _check_allowed(address, organization)
        at_home = (address.scheme, address.host, address.port) == (first.scheme, first.host, first.port)
        response = _get(address, most, (headers or {}) if at_home else {})
        moved = response.headers.get("Location") if response.status in _MOVED else None
        if moved is None:
            try:
                yield response
            except (urllib3.exceptions.HTTPError, OSError) as failure:
                raise _unfetchable(url, type(failure).__name__) from failure
            finally:
                response.close()
            return
        response.close()
        current = urljoin(current, moved)
    raise _unfetchable(url, "it redirects too often")


def _get(address: Address, most: int, headers: Mapping[str, str]) -> Response:
    """GET from the checked address of the host name."""
    try:
        return outbound.send(
            address,
            "GET",
            most=most,
            headers={"Accept-Encoding": "identity", "User-Agent": "limn", **headers},
            attempts=3,
            timeout=_TIMEOUT,
            is_inside=_is_inside(address),
        )
    except outbound.NoAddressError as failure:
        raise _unfetchable(address.url, "its host has no address") from failure
    except (urllib3.exceptions.HTTPError, OSError) as failure:
        raise _unfetchable(address.url, type(failure).__name__) from failure


def _is_inside(address: Address) -> bool:
    """Whether the URL is our own object store's, or that of a registered bucket that the operator allowed."""
    if address.origin == _store_origin():
        return True
    return outbound.is_inside(address) and placement.key_named(address) is not None


def blocks(response: Response, most: int | None = None) -> Iterator[bytes]:
    """The body in blocks; stops if the server sends more than requested."""
    left = most
    for block in response.stream(LARGEST_BLOCK):
        if left is not None:
            left -= len(block)
            if left < 0:
                raise BadInput("url: its server sent more than it was asked for.")
        yield block


def _place_of(address: Address) -> ObjectPlace | None:
    """The object of ours that a URL names, by the store's own address or Amazon's; None for other URLs."""
    if (registered := placement.key_named(address)) is not None:
        return ObjectPlace("", registered)
    ours = (settings().media_bucket, settings().upload_bucket)
    path = address.path.lstrip("/")
    named = _AMAZON.fullmatch(address.host) if address.scheme == "https" and not _store_origin() else None
    if named and named["bucket"]:
        bucket, key = named["bucket"], path
    elif named or address.origin == _store_origin():
        bucket, _, key = path.partition("/")
    else:
        return None
    return ObjectPlace(bucket, key) if bucket in ours and key else None


def _upload_of(address: Address) -> str | None:
    """The id of the resumable upload that a URL names; None for other URLs."""
    home = origins.take_apart(f"{settings().public_url}/files/")
    name = address.target.removeprefix(home.target)
    return name if address.origin == home.origin and name != address.target and _UPLOAD.fullmatch(name) else None


def _store_origin() -> str:
    """The origin of the object store if it is not Amazon's."""
    return origins.origin_of(settings().s3_endpoint)


def _check_allowed(address: Address, organization: int | None) -> None:
    """Raise Forbidden unless a URL is from an allowed origin; one into our object store must be signed."""
    is_ours = _place_of(address) is not None
    if not (_is_signed(address) if is_ours else _is_allowed(address) or _is_listed(address, organization)):
        raise origins.refusal(address.url)


def _is_signed(address: Address) -> bool:
    """Whether a URL carries a signature of an object store; the store checks the signature."""
    query = parse_qs(address.target.partition("?")[2])
    return any(name.lower() in _SIGNATURES for name in query)


def _is_allowed(address: Address) -> bool:
    return address.origin in {origins.origin_of(text) for text in settings().allowed_origins}


def _is_listed(address: Address, organization: int | None) -> bool:
    """Whether an organization lists the origin of a URL; it may list https only."""
    if organization is None or address.scheme != "https":
        return False
    found = records.maybe(ORGANIZATION, organization)
    return found is not None and address.origin in {origins.origin_of(text) for text in found.allowed_origins}


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise TooLarge(f"url: the file has more than {most} bytes.")


def _unfetchable(url: str, why: str) -> LimnError:
    return BadInput(f"url: {url[:200].partition('?')[0]!r} cannot be fetched.", why)


__all__ = [
    "Fetched",
    "Forbidden",
    "HttpSource",
    "ObjectSource",
    "check_origin",
    "check_source",
    "fetch",
    "object_key",
    "open_source",
]
