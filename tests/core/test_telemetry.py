"""The value of telemetry at a time equals a search through all rows."""

from __future__ import annotations

import math
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.core.values import telemetry
from chalicelib.errors import BadInput

TIMES = st.lists(st.integers(-5, 20), max_size=12)


@given(TIMES, st.integers(-8, 24), st.sampled_from(["preceding", "nearest"]), st.sampled_from([0, 1, 3, math.inf]))
def test_a_join_equals_a_search_through_all_rows(times, at, join, tolerance):
    body = "time,v\n" + "".join(f"{time},{row}\n" for row, time in enumerate(times))
    series = telemetry.read(body.encode(), "time").series(["v"])
    rows = [(time, row) for row, time in enumerate(times)]
    if join == "preceding":
        found = max(((time, row) for time, row in rows if time <= at), default=None)
    else:
        found = min(rows, key=lambda each: (abs(each[0] - at), each[0], -each[1]), default=None)
    if found is not None and abs(found[0] - at) > tolerance:
        found = None
    assert series.at(at, join, tolerance) == (None if found is None else (str(found[1]),))


def test_a_row_without_a_value_is_skipped_for_its_column_only():
    table = telemetry.read(b"time,depth,t\n0,5,\n1,,9\n", "time")
    assert table.series(["depth"]).at(2, "preceding") == ("5",)
    assert table.series(["t"]).at(2, "preceding") == ("9",)
    assert table.series(["depth", "t"]).at(2, "preceding") is None


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"depth\n1\n", "no column 'time'"),
        (b"time,d\n0,1\nx,2\n", "row 3"),
        (b"time,d\n2026-01-01T00:00:00Z,1\n5,2\n", "row 3"),
        (b"time,d\n0\n", "row 2"),
        (b"\xff\xfe", "UTF-8"),
        (b"time,d\n0,inf\n1e999,2\n", "row 3"),
    ],
)
def test_a_malformed_file_is_refused_by_its_row(body, part):
    with pytest.raises(BadInput) as refused:
        telemetry.read(body, "time")
    assert part in refused.value.message


def test_an_unknown_column_is_refused_with_the_nearest():
    with pytest.raises(BadInput, match="Did you mean 'depth'"):
        telemetry.read(b"time,depth\n", "time").series(["deptj"])


@pytest.mark.slow
def test_memory_grows_with_the_columns_that_are_kept():
    body = b"time," + b",".join(b"c%d" % place for place in range(900)) + b"\n"
    body += b"".join(b"%d%s\n" % (row, b",77" * 900) for row in range(1_500))
    tracemalloc.start()
    table = telemetry.read(body, "time", ["c3"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.series(["c3"]).at(2, "preceding") == ("77",)
    assert peak < 2 * len(body)


@pytest.mark.slow
@pytest.mark.parametrize("body", [b"time" + b",c" * 1_000, b"time,d\n" + b"\n" * 2_000_001])
def test_too_many_columns_or_lines_are_refused_as_they_are_read(body):
    with pytest.raises(BadInput, match="at most"):
        telemetry.read(body, "time")
