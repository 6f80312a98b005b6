"""What projects use in a month, and the limits that organizations and projects set for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Literal

from msgspec import Meta

from chalicelib.core.resource import Resource
from chalicelib.core.time import clock
from chalicelib.errors import Forbidden

LimitName = Literal["bytes", "transcoded_minutes", "mails"]
"""What may be limited: the bytes that are stored at a time, the others by calendar month (UTC)."""
_Number = Annotated[int, Meta(ge=0, le=10**18)]


class UsageLimits(Resource, kw_only=True):
    """Limits of use; one that is null does not limit."""

    bytes: Annotated[_Number | None, Meta(description="Bytes stored: originals, renditions and derived files.")] = None
    transcoded_minutes: Annotated[_Number | None, Meta(description="Minutes of video transcoded in a month.")] = None
    mails: Annotated[_Number | None, Meta(description="Mails sent by members of projects in a month.")] = None


def present_month() -> str:
    """The present calendar month in UTC, `2026-11`."""
    return f"{clock.utc_now():%Y-%m}"


def is_in_force(month: str) -> bool:
    """Whether a limit that was reached in a month still is: that of a month ends with it, that of bytes has none."""
    return month in ("", present_month())


def check_exhausted(exhausted: Mapping[str, str], spends: Collection[str]) -> None:
    """Check that a project may use more of something.

    Args:
        exhausted: the limits that it reached, as its record has them.
        spends: what would be used.

    Raises:
        Forbidden: a limit of that is reached.
    """
    for reached, month in exhausted.items():
        owner, _, name = reached.partition(" ")
        if name in spends and is_in_force(month):
            end = f"It counts anew after {month}." if month else "Delete what is not needed."
            message = f"The limit of {name.replace('_', ' ')} of this {owner} is reached. {end}"
            raise Forbidden(f"{message} An administrator may raise `usage_limits.{name}`.")
