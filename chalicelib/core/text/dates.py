"""Dates in requests: ISO 8601 only, where the order of day and month is unambiguous."""

from __future__ import annotations

import re
from datetime import UTC, datetime

ACCEPTED = "a date in ISO 8601 of the years 1 to 9999 in UTC, such as 2026-03-04 or 2026-03-04T15:30:00Z"
"""The accepted formats, for messages."""

_LONGEST = 40
_DATE = re.compile(r"[0-9]{4}[0-9W-]*(?:[Tt ][0-9:.,+-]+[Zz]?)?")
_YEAR, _MONTH = len("2026"), len("2026-03")


def parse_date(text: str) -> datetime | None:
    """The date and time of a text in ISO 8601, with its offset if it has one; None for other texts.

    A year or a month alone means its first day, a day alone its midnight. None also for times before year 1 or after
    9999 in UTC.
    """
    if len(text) > _LONGEST or not _DATE.fullmatch(text):
        return None
    if len(text) == _YEAR:
        text += "-01-01"
    elif len(text) == _MONTH and text[_YEAR] == "-" and "W" not in text:
        text += "-01"
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is not None:
            moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment
