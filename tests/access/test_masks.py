"""Masks: levels and bits mean the same, nothing is ever given that nobody gave."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from chalicelib.access.masks import BITS_OF, DEPTHS, FULL, WIDTH, Grants, below, level_of, mask_of
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level

MASKS = st.integers(0, 2 ** (WIDTH * DEPTHS) - 1)


def test_a_level_is_its_own_mask_at_every_depth():
    for level in Level:
        for depth in range(DEPTHS):
            assert level_of(below(mask_of(level), depth)) is level


def test_levels_are_cumulative():
    levels = sorted(Level)
    for lower, higher in pairwise(levels):
        assert BITS_OF[lower] & BITS_OF[higher] == BITS_OF[lower]
        assert BITS_OF[lower] != BITS_OF[higher]


@given(MASKS)
def test_no_level_is_given_without_all_its_bits(mask):
    assert BITS_OF[level_of(mask)] & ~mask == 0


@given(MASKS, MASKS)
def test_more_bits_never_mean_less(mask, more):
    assert level_of(mask | more) >= level_of(mask)


@given(MASKS, MASKS, MASKS, MASKS, MASKS)
def test_what_reaches_an_annotation_is_what_was_given_above_it(whole, version, media, section, own):
    parts = {"version": {1: version}, "media": {2: media}, "section": {3: section}, "localization": {4: own}}
    grants = Grants(whole=whole, parts=parts)
    expected = whole >> 24 | version >> 16 | media >> 8 | section >> 16 | own
    assert grants.on_annotation(Kind.LOCALIZATION, 4, 1, [2], [3]) == expected
    assert grants.on_annotation(Kind.LOCALIZATION, 5, 6, [7], []) == whole >> 24
    assert grants.on_annotation(Kind.STATE, 4, 1, [2], [3]) == whole >> 24 | version >> 16 | media >> 8 | section >> 16


@given(MASKS)
def test_eight_bits_on_a_project_end_there(whole):
    grants = Grants(whole=whole & FULL)
    assert grants.on("section", 1) == grants.on_media(1, 2) == 0
    assert grants.on_annotation(Kind.STATE, 1, 1, [1], [1]) == 0
