"""The bounds of what a body may hold where its Struct gives none."""

from __future__ import annotations

import pytest

from chalicelib.errors import BadInput
from chalicelib.http import bounds


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b'{"a": [' + b"0," * bounds.MAX_ITEMS + b"0]}", f"{bounds.MAX_ITEMS} items"),
        (b"{" + b",".join(b'"%d":0' % number for number in range(bounds.MAX_MEMBERS + 1)) + b"}", "members"),
        (b'{"a": "' + b"x" * (bounds.MAX_TEXT + 1) + b'"}', f"{bounds.MAX_TEXT} characters"),
    ],
    ids=["array", "object", "text"],
)
def test_free_members_have_bounds_of_size(body, what):
    """Members whose Struct gives no length of their own, such as attributes."""
    with pytest.raises(BadInput) as refusal:
        bounds.check_sizes(body, frozenset())
    assert what in f"{refusal.value.message} {refusal.value.details}"


@pytest.mark.parametrize("number", [b"1" * 19, b"-9223372036854775809", b"9" * 400])
def test_integers_have_at_most_64_bits(number):
    body = b'{"at": "2026-01-01T10:00:00Z", "share": 0.1234567890123456789, "n": ' + number + b"}"
    if number == b"1" * 19:
        return bounds.check_sizes(body, frozenset())
    with pytest.raises(BadInput) as refusal:
        bounds.check_sizes(body, frozenset())
    assert "64 bits" in f"{refusal.value.message} {refusal.value.details}"
    return None


@pytest.mark.parametrize("before", [0, 1, bounds.MAX_TEXT - 1, bounds.MAX_TEXT, 2 * bounds.MAX_TEXT])
def test_a_text_may_be_as_long_as_the_bound_wherever_it_stands(before):
    short = b", ".join([b'"y"'] * (before // 5))
    for more in (0, 1):
        body = b"[[" + short + b'], "' + b"x" * (bounds.MAX_TEXT + more) + b'", "z"]'
        if more:
            with pytest.raises(BadInput):
                bounds.check_sizes(body, frozenset())
        else:
            bounds.check_sizes(body, frozenset())
