"""Patterns that the schema shows say what the readers of a text take: neither may change without the other."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from chalicelib.core.resource import ADDRESS, DATE, MAILBOX, WEB_URL
from chalicelib.core.text import dates, email_addresses
from chalicelib.core.web import origins
from chalicelib.errors import LimnError

CASES = {
    "date": (DATE, dates.parse_date, ["2026-03-04T15:30:00.5+01:30", "2026W101", "2026-W10-1", "20260304", "2026-03"]),
    "address": (ADDRESS, email_addresses.parse, ["ada.b@sub.example.org", "o'neil+x@example.org"]),
    "mailbox": (MAILBOX, email_addresses.parse, ["Ada <ada@example.org>", '"Ada, B" <ada@example.org>']),
    "URL": (
        WEB_URL,
        origins.take_apart,
        ["https://a.example.org:8443/b?c=d%20#e", "HTTP://[2001:db8::1]/", "http://a", "http://[::ffff:1.2.3.4]:080/"],
    ),
}


BLANKS = ("address", "mailbox")
"""Texts around which blanks are taken, which no schema says."""


def is_read(reader, text):
    try:
        return reader(text) is not None
    except LimnError:
        return False


def edited(examples):
    """Texts like the examples: pieces of two of them, with a few signs between."""
    piece = st.sampled_from(examples).flatmap(lambda text: st.integers(0, len(text)).map(lambda at: (text, at)))
    between = st.text("0129-+:.,@<>/?#[]%TtZzWw ab\n\u00e9", max_size=3)
    return st.builds(lambda a, sign, b: a[0][: a[1]] + sign + b[0][b[1] :], piece, between, piece)


@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
def test_what_is_read_matches_the_pattern(name, data):
    pattern, reader, examples = CASES[name]
    text = data.draw(edited(examples)).strip(" " if name in BLANKS else "")
    assume(name != "address" or "<" not in text)
    if is_read(reader, text):
        assert re.search(pattern.extra_json_schema["x-taken"], text), text


@pytest.mark.parametrize("name", CASES)
@given(data=st.data())
def test_what_matches_the_pattern_is_read_but_for_days_ports_and_lengths(name, data):
    pattern, reader, examples = CASES[name]
    text = data.draw(edited(examples))
    shown = re.compile(pattern.extra_json_schema["x-taken"] + r"(?!\n)")
    assert all(shown.search(each) and is_read(reader, each) for each in examples)
    if shown.search(text) and not is_read(reader, text):
        assert EXCEPTIONS[name](text), text


EXCEPTIONS = {
    "date": lambda text: True,
    "address": lambda text: False,
    "mailbox": lambda text: "\n" in text,
    "URL": lambda text: bool(re.search(r"\[|:\d{5,}", text)),
}
