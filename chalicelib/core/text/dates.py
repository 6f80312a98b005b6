"""Dates in requests: ISO 8601 only, where the order of day and month is unambiguous."""

from __future__ import annotations

import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta

from chalicelib.core.resource import Timestamp, timestamp
from chalicelib.errors import BadInput

ACCEPTED = "a date in ISO 8601 of the years 1 to 9999 in UTC, such as 2026-03-04 or 2026-03-04T15:30:00Z"
"""The accepted formats, for messages."""

_MAX_CHARACTERS = 40
_DATE = re.compile(
    r"(?P<year>[0-9]{4})(?P<rest>-[0-9]{2}-[0-9]{2}|[0-9]{4}|-W[0-9]{2}(?:-[0-9])?|W[0-9]{2,3}|-[0-9]{2}|)"
    # A fraction follows seconds only: half an hour would be read as half a second.
    r"(?P<time>[Tt ][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2}(?:[.,][0-9]+)?)?)?(?:[Zz]|[+-][0-9:.]+)?)?"
)
_WEEK, _MONTH = re.compile(r"-?W[0-9]{2}"), re.compile(r"-[0-9]{2}")


def parse_date(text: str) -> datetime | None:
    """The date and time of a text in ISO 8601, with its offset if it has one; None for other texts.

    A year, a month or a week alone means its first day, a day alone its midnight. None also for times before year 1 or
    after 9999 in UTC, and for a fraction of an hour or a minute.
    """
    found = _DATE.fullmatch(text) if len(text) <= _MAX_CHARACTERS else None
    if found is None:
        return None
    unit = _unit(found["rest"])
    if unit != "day" and found["time"]:
        return None
    text = text.upper() + {"year": "-01-01", "month": "-01"}.get(unit, "")
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None and not MINYEAR < moment.year < MAXYEAR:
            moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment


def last_instant(text: str, first: datetime) -> datetime:
    """The last instant, to the microsecond, that a date means: of its year, month, week or day, or the time itself.

    Args:
        text: a date that `parse_date` reads.
        first: its first instant.
    """
    found = _DATE.fullmatch(text)
    if found is None or found["time"]:
        return first
    try:
        match _unit(found["rest"]):
            case "year":
                after = first.replace(year=first.year + 1)
            case "month":
                after = first.replace(year=first.year + first.month // 12, month=first.month % 12 + 1)
            case unit:
                after = first + timedelta(days=7 if unit == "week" else 1)
    except (OverflowError, ValueError):
        return datetime.max.replace(tzinfo=first.tzinfo)
    return after - timedelta(microseconds=1)


def read_date(name: str, text: str) -> Timestamp:
    """The instant of a member or parameter, in the stored format. Raises BadInput naming it and an accepted form."""
    moment = parse_date(text)
    if moment is None:
        raise BadInput(f"{name}: {text[:_MAX_CHARACTERS]!r} is not {ACCEPTED}.")
    return timestamp(moment)


def _unit(rest: str) -> str:
    if not rest:
        return "year"
    if len(rest) > len("-W01"):
        return "day"
    if _WEEK.fullmatch(rest):
        return "week"
    return "month" if _MONTH.fullmatch(rest) else "day"
