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
