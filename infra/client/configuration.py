"""Profiles: where the service is, and the token for it, in one file that only its owner may read.

    default = "work"

    [profiles.work]
    url = "https://limn.example.org"
    token = "…"
    project = 3

`LIMN_CONFIG` names another file, `LIMN_PROFILE` another profile; `LIMN_URL` and `LIMN_TOKEN` count before the file.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .failures import NOT_PERMITTED, Failure

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Profile:
    """One service and how to sign in there."""

    url: str
    token: str = ""
    project: int | None = None
    """The project of commands that name none."""


@dataclass
class Configuration:
    """The contents of the file."""

    default: str = "default"
    profiles: dict[str, Profile] = field(default_factory=dict)


def path() -> Path:
    """The configuration file."""
    if given := os.environ.get("LIMN_CONFIG"):
        return Path(given)
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "limn" / "config.toml"


def read() -> Configuration:
    """The configuration; empty where there is no file.

    Raises:
        Failure: other users may read the file, or it is malformed.
    """
    place = path()
    try:
        text = place.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Configuration()
    if os.name == "posix" and stat.S_IMODE(place.stat().st_mode) & 0o077:
        raise Failure(f"{place} holds tokens, and other users may read it. Run: chmod 600 {place}", NOT_PERMITTED)
    try:
        found = tomllib.loads(text)
        profiles = {str(name): Profile(**members) for name, members in found.get("profiles", {}).items()}
        return Configuration(str(found.get("default", "default")), profiles)
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise Failure(f"{place} is malformed: {error}") from None


def write(configuration: Configuration) -> None:
    """Replace the file in one step, with permission 0600 from the start."""
    lines = [f"default = {_toml(configuration.default)}"]
    for name, profile in sorted(configuration.profiles.items()):
        lines += ["", f"[profiles.{_toml(name)}]", f"url = {_toml(profile.url)}", f"token = {_toml(profile.token)}"]
        if profile.project is not None:
            lines.append(f"project = {profile.project}")
    place = path()
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".config")  # mkstemp creates with 0600
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    Path(temporary).replace(place)


def current(name: str | None) -> Profile:
    """The profile to use: of the option, the environment, or the default of the file.

    Raises:
        Failure: there is no such profile, or none at all.
    """
    configuration = read()
    chosen = name or os.environ.get("LIMN_PROFILE") or configuration.default
    profile = configuration.profiles.get(chosen)
    url, token = os.environ.get("LIMN_URL"), os.environ.get("LIMN_TOKEN")
    if url:
        # A token of the file is for the address of the file: it is not sent to another one.
        kept = profile.token if profile and profile.url == address(url) else ""
        return Profile(address(url), token or kept, profile.project if profile else None)
    if profile is None:
        known = ", ".join(sorted(configuration.profiles)) or "none"
        raise Failure(f"There is no profile {chosen!r} in {path()}; there is: {known}. Run: limn login URL")
    return Profile(profile.url, token or profile.token, profile.project)


def signed_in(profile: Profile) -> Profile:
    """A profile with its token stripped of blanks.

    Raises:
        Failure: it has no token, or one that is not a word of ASCII characters.
    """
    if not profile.token:
        raise Failure("There is no token for this service. Run: limn login URL", NOT_PERMITTED)
    return replace(profile, token=token_of(profile.token))


def token_of(text: str) -> str:
    """A token without the blanks around it.

    Raises:
        Failure: it cannot be one.
    """
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise Failure("That is not a token: a token is one word of ASCII characters.")
    return token


def address(url: str) -> str:
    """The base address of a service without a slash at its end.

    Raises:
        Failure: it is no HTTP address, or would carry a token unencrypted over a network.
    """
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # of a port or an IPv6 address
        is_address = False
    if not is_address or parts.query or parts.fragment:
        raise Failure(f"{url!r} is not the address of a service, such as https://limn.example.org.")
    if parts.username or parts.password:
        raise Failure("The address must not contain a user or password.")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise Failure(f"{url!r} would send the token unencrypted. Use https, or a tunnel to localhost.")
    return url.rstrip("/")


def _toml(value: Any) -> str:
    """A TOML basic string; JSON's escapes are a subset of TOML's where nothing but control characters is escaped."""
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
