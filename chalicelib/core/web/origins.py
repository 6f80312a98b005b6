"""Which URLs the service may fetch for a caller, and which addresses it may connect to.

All functions are pure: they parse URLs, and check addresses that a name was resolved to.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from chalicelib.errors import BadInput, Forbidden

_HOST = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\]")
_PORTS = {"http": 80, "https": 443}
_USUAL_PORT = re.compile(r"^(http(?=://[^/]*:80(?:/|$(?!\n)))|https(?=://[^/]*:443(?:/|$(?!\n))))(://[^/:]+):\d+")
_LARGEST_PORT = 65_535
_MAX_CHARACTERS = 4096
# The only IPv6 addresses of the Internet. Below lie those that embed an IPv4 address, such as ::ffff:0:0:0/96; above
# lie site-local ones (fec0::/10) and those of segment routing (5f00::/16).
_UNICAST = IPv6Network("2000::/3")
# Of these, two embed an IPv4 address: a caller who can name one can name any IPv4 address. One is for documents.
_CARRIERS = tuple(IPv6Network(text) for text in ("2001::/32", "2002::/16", "3fff::/20"))


# For protocols of the network itself: the ipaddress of Python 3.11 takes parts of them for public.
_PROTOCOLS = tuple(IPv4Network(text) for text in ("192.0.0.0/24", "192.88.99.0/24"))


class Address(Struct, frozen=True):
    """A parsed URL without parts that two parsers could read differently."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query as they are sent, at least `/`."""

    @property
    def origin(self) -> str:
        """`scheme://host:port`, always with the port."""
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL again, without a fragment."""
        return f"{self.origin}{self.target}"

    @property
    def path(self) -> str:
        """The path, unquoted."""
        return unquote(self.target.partition("?")[0])


def refusal(url: str) -> Forbidden:
    """The error for a URL that may not be fetched."""
    shown = _USUAL_PORT.sub(r"\1\2", url[:200])
    return Forbidden(
        f"The URL {shown!r} is not from an allowed origin. Upload the file first (GET /rest/UploadInfo/{{project}}, "
        "docs/guides/uploads.md), or let an administrator of the organization or the operator allow the origin."
    )


def normalize(url: str, member: str) -> str:
    """A URL as it is stored and sent in headers: in ASCII, other characters percent-encoded.

    Args:
        url: the URL in a request.
        member: the member that holds it, for the message.

    Raises:
        BadInput: it is not http or https, or holds credentials, spaces or control characters.
    """
    try:
        plain = "".join(character if character.isascii() else quote(character) for character in url)
        take_apart(plain)
    except (Forbidden, UnicodeEncodeError):
        message = (
            f"{member}: {url[:200]!r} is not an http or https URL without credentials, spaces or control characters."
        )
        raise BadInput(message) from None
    return plain


def take_apart(url: str) -> Address:
    """Parse a URL.

    Raises:
        Forbidden: it is not http or https, carries credentials, or holds characters that are not allowed in URLs.
    """
    plain = len(url) <= _MAX_CHARACTERS and url.isascii() and url.isprintable() and not set(url) & set(' \\<>"{}|^`')
    if not plain:
        raise refusal(url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise refusal(url) from None
    host = parts.netloc
    if port is not None or host.endswith(":"):
        host = host.rpartition(":")[0]
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or "@" in parts.netloc or not _HOST.fullmatch(host):
        raise refusal(url)
    port = _PORTS[scheme] if port is None else port
    if not 0 < port <= _LARGEST_PORT:
        raise refusal(url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Address(scheme, host.lower().rstrip("."), port, target)


def origin_of(text: str) -> str:
    """A configured origin in the form of `Address.origin`; empty for an empty one."""
    return take_apart(text).origin if text else ""


def is_public(address: str) -> bool:
    """Whether an address is one of the public Internet: not private, loopback, link-local, shared or reserved."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address) and (found not in _UNICAST or any(found in carrier for carrier in _CARRIERS)):
        return False
    return _is_global(found)


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    reserved = isinstance(address, IPv4Address) and (
        address.is_reserved or any(address in network for network in _PROTOCOLS)
    )
    return address.is_global and not address.is_multicast and not reserved
