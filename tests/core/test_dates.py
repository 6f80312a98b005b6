"""Dates are ISO 8601, without a guess, and a date means all its instants."""

from __future__ import annotations

import pytest

from chalicelib.core.text.dates import last_instant, parse_date, read_date
from chalicelib.errors import BadInput

READ = [
    ("2026", "2026-01-01T00:00:00", "2026-12-31T23:59:59.999999"),
    ("2026-12", "2026-12-01T00:00:00", "2026-12-31T23:59:59.999999"),
    ("2026-W10", "2026-03-02T00:00:00", "2026-03-08T23:59:59.999999"),
    ("2026W101", "2026-03-02T00:00:00", "2026-03-02T23:59:59.999999"),
    ("2026-W10-1", "2026-03-02T00:00:00", "2026-03-02T23:59:59.999999"),
    ("20260304", "2026-03-04T00:00:00", "2026-03-04T23:59:59.999999"),
    ("2026-03-04", "2026-03-04T00:00:00", "2026-03-04T23:59:59.999999"),
    ("9999-12", "9999-12-01T00:00:00", "9999-12-31T23:59:59.999999"),
    ("2026-03-04T15", "2026-03-04T15:00:00", "2026-03-04T15:00:00"),
    ("20260304T153000Z", "2026-03-04T15:30:00+00:00", "2026-03-04T15:30:00+00:00"),
    ("2026-03-04t15:30:00,5z", "2026-03-04T15:30:00.500000+00:00", "2026-03-04T15:30:00.500000+00:00"),
    ("2026-03-04 15:30+0530", "2026-03-04T15:30:00+05:30", "2026-03-04T15:30:00+05:30"),
]
REFUSED = [
    "", "26", "202603", "2026-3-4", "2026-02-29", "03/04/2026", "13/04/2026", "26-03-04", "01.03.2026", "2026-064",
    "2026-03-04T15.5", "2026-03-04T15:30,5", "2026-03-04T15:30:60", "2026-03-04T24:00", "2026-03-04x15:30",
    "2026-03-04T", "2026-03-04T15:3", "2026-03-04T15:30Z+01:00", "2026T10:00", "2026-03T10:00", "2026-W10T10:00",
    "2026-W54", "0000-01-01", "0001-01-01T00:00:00+14:00", "-2026-03-04", "２０２６-03-04", "1772640000", "now",
    "2026-03-04\n", " 2026-03-04",
]  # fmt: skip


@pytest.mark.parametrize(("text", "first", "last"), READ)
def test_a_date_has_a_first_and_a_last_instant(text, first, last):
    moment = parse_date(text)
    assert moment is not None
    assert (moment.isoformat(), last_instant(text, moment).isoformat()) == (first, last)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_no_date_is_refused_by_name(text):
    assert parse_date(text) is None
    with pytest.raises(BadInput, match=r"since: .* is not a date in ISO 8601"):
        read_date("since", text)
