"""Run lengths of masks against COCO's own library: the same text bit by bit, areas, parts and whole pictures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from pycocotools import mask as coco
from shapely import geometry

from chalicelib.core.values import rle
from chalicelib.errors import BadInput
from tests.sweeps import examples

MASKS = st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32 - 1), st.floats(0, 1))


def made(size: tuple[int, int, int, float]) -> np.ndarray:
    height, width, seed, share = size
    rng = np.random.default_rng(seed)
    found = (rng.random((height, width)) < share).astype(np.uint8)
    if seed % 2:  # blobs have long runs
        found = np.repeat(np.repeat(found, 7, 0), 9, 1)
    return np.asfortranarray(found)


@examples(60, 2_000, MASKS)
def test_texts_areas_and_pixels_are_those_of_coco(size):
    found = made(size)
    expected = coco.encode(found)
    runs = rle.runs_of(found.tobytes(order="F"))
    assert rle.encode(runs).encode() == expected["counts"]
    assert rle.decode(expected["counts"].decode()) == runs
    assert rle.area(runs) == coco.area(expected) == found.sum()
    assert rle.pixels(runs) == (found * 255).tobytes(order="F")


@examples(60, 2_000, MASKS)
def test_a_part_and_its_whole_picture_are_each_other(size):
    found = made(size)
    runs = rle.runs_of(found.tobytes(order="F"))
    top, left, height, width, inner = rle.part(runs, found.shape)
    if found.any():
        rows, columns = found.any(1).nonzero()[0], found.any(0).nonzero()[0]
        assert (top, left, height, width) == (
            rows[0], columns[0], rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1
        )  # fmt: skip
        inside = np.asfortranarray(found[top : top + height, left : left + width])
        assert rle.encode(inner).encode() == coco.encode(inside)["counts"]
    else:
        assert (height, width, inner) == (1, 1, [1])
    assert rle.whole(inner, (height, width), (top, left), found.shape) == runs


@pytest.mark.parametrize("text", ["\x00", "~~~~~~~~~~", "Z", "é", "L"])
def test_what_is_no_text_of_runs_is_refused(text):
    with pytest.raises(ValueError, match=r"it has|it ends|a run"):
        rle.decode(text)


OUTLINES = st.lists(st.tuples(st.floats(-5, 30), st.floats(-5, 30)), min_size=3, max_size=8)


@examples(40, 1_000, OUTLINES)
def test_filled_are_the_pixels_whose_centres_lie_within(points):
    polygon = geometry.Polygon(points)
    assume(polygon.is_valid)
    found = rle.pixels(rle.filled([points], (20, 25)))
    for column in range(25):
        for row in range(20):
            centre = geometry.Point(column + 0.5, row + 0.5)
            if polygon.boundary.distance(centre) > 1e-9:
                assert (found[column * 20 + row] == 255) is polygon.contains(centre), (column, row)


def test_holes_are_not_filled():
    ring, hole = [(0, 0), (6, 0), (6, 6), (0, 6)], [(2, 2), (4, 2), (4, 4), (2, 4)]
    assert rle.area(rle.filled([ring, hole], (8, 8))) == 32


@examples(50, 2000, st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_differences_and_unions_are_those_of_their_pixels(height, width, seed):
    rng = np.random.default_rng(seed)
    one, two = (np.asfortranarray(rng.random((height, width)) < rng.random(), dtype=np.uint8) for _ in range(2))
    runs, other = (rle.runs_of(each.tobytes(order="F")) for each in (one, two))
    for made, expected in ((rle.without(runs, other), one & ~two & 1), (rle.union(runs, other), one | two)):
        assert rle.encode(made) == coco.encode(np.asfortranarray(expected))["counts"].decode()


@pytest.mark.parametrize(("height", "width"), [(1, 60_000), (60_000, 1), (10**6, 10**6)])
def test_the_part_of_a_mask_takes_no_longer_for_more_pixels(height, width):
    assert rle.part([0, height * width], (height, 0)) == (0, 0, height, width, [0, height * width])


def test_a_mask_of_more_pixels_than_a_picture_is_not_drawn():
    with pytest.raises(BadInput, match="134,217,728 are drawn"):
        rle.pixels(rle.decode(rle.encode([0, 10**10])))


def test_outlines_that_cross_too_many_columns_are_not_filled():
    for outline, wide in (([(0, 0), (1e12, 0), (0, 9)], 10**12), ([(0, 0), (4000, 9)] * 1000, 4000)):
        with pytest.raises(BadInput, match="Make it simpler"):
            rle.filled([outline], (10, wide))
