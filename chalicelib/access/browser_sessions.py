"""Sign-ins of browsers: a cookie that no script can read, and that counts for the console's own requests alone.

The cookie holds a token. It is HttpOnly, SameSite=Strict and, beyond loopback, Secure. A request is signed in by it
only with the header `Limn-Session`, which pages of other origins cannot send: the answer to their preflight does not
allow it. Where the browser says whose page asks (Fetch Metadata), that must be the same origin (docs/decisions/205).
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from chalicelib.errors import BadInput
from chalicelib.settings import settings

HEADER = "limn-session"
"""The header, in lower case, that requests of the console have; any value will do."""
DAY = 24 * 3600


def is_own(headers: Mapping[str, str]) -> bool:
    """Whether a request comes from a page of this service, by its headers with lower-case names."""
    return HEADER in headers and headers.get("sec-fetch-site", "same-origin") == "same-origin"


def authorization(headers: Mapping[str, str]) -> str | None:
    """The Authorization that the cookie of a request stands for; None without one, or from another origin."""
    if "cookie" not in headers or not is_own(headers):
        return None
    found = _read_cookie(headers, _name())
    return f"Token {found}" if found else None


def cookie(token: str, *, name: str = "", seconds: int | None = None, site: str = "Strict") -> str:
    """The Set-Cookie that signs a browser in with a token, or out with an empty one.

    Raises:
        BadInput: the service is reached without encryption over a network.
    """
    place = urlsplit(settings().public_url)
    if place.scheme != "https" and not is_loopback(place.hostname or ""):
        raise BadInput("Browsers sign in by HTTPS only, except on loopback (127.0.0.1, localhost).")
    secure = "; Secure" if place.scheme == "https" else ""
    age = (seconds or settings().session_days * DAY) if token else 0
    return f"{name or _name()}={token}; Path={place.path or '/'}; Max-Age={age}; HttpOnly; SameSite={site}{secure}"


def challenge_cookie(challenge: str, seconds: int) -> str:
    """The Set-Cookie that binds the challenge of a passkey to this browser. Raises BadInput as `cookie`."""
    return cookie(challenge, name=f"{_name()}-passkey", seconds=seconds)


def challenge(headers: Mapping[str, str]) -> str:
    """What `challenge_cookie` gave the browser; empty without one."""
    return _read_cookie(headers, f"{_name()}-passkey")


def flow_cookie(sealed: str, seconds: int) -> str:
    """The Set-Cookie that binds a sign-in at an identity provider to this browser.

    It is sent when the provider sends the browser back, hence SameSite=Lax. Raises BadInput as `cookie`.
    """
    return cookie(sealed, name=f"{_name()}-sign-in", seconds=seconds, site="Lax")


def flow(headers: Mapping[str, str]) -> str:
    """What `flow_cookie` gave the browser; empty without one."""
    return _read_cookie(headers, f"{_name()}-sign-in")


def _read_cookie(headers: Mapping[str, str], wanted: str) -> str:
    given = (part.strip().partition("=") for part in headers.get("cookie", "").split(";"))
    return next((value for name, _, value in given if name == wanted), "")


def _name() -> str:
    """The cookie's name: with a prefix that sibling hosts cannot set (RFC 6265bis), on loopback one for each port."""
    place = urlsplit(settings().public_url)
    if place.scheme == "https":
        return "__Secure-limn" if place.path else "__Host-limn"
    return f"limn-{place.port or 80}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")
