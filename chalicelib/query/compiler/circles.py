"""The number of entities within a distance of a place, in large tables.

    circles.number(query, layout, rows, ask)      None where the plain count is as good

The plain count (`counts.py`) filters by bounds of each part of the unit vectors, and reads all columns of a place for
the formula. Here the rows are decided by the cosine alone, which three columns of 32 bits give; without the bounds,
where places are spread over the table and none of its parts could be left out: as filters they take longer than the
cosine. Few rows are too near to the border: these are decided here by the places that their unit vectors give, and of
the very few within some metres of the border, the places themselves are read.
"""

# ruff: noqa: S608 statements are made here, of our own words; every value is a parameter

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from chalicelib.query import geodesy
from chalicelib.query.compiler import sql
from chalicelib.query.compiler.counts import reads_all_rows, take_apart
from chalicelib.query.compiler.first_rows import LEAST_ROWS, RANGE
from chalicelib.query.layout import Layout, latitude, vector
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query

Ask = Callable[[sql.Statement], list[tuple[Any, ...]]]
"""Runs a statement."""
LEAST_KM, MOST_KM = 20, 5_000
"""The distances of the circles that are counted here. A cosine does not tell rows within 9 km of the center apart, and
larger circles have many rows near their border."""
MOST_UNDECIDED, MOST_UNREAD = 2_000, 200
"""Rows near the border that are decided here, and those of them whose places are read; with more, the plain count
decides all."""


class _Circle(NamedTuple):
    """A query for a count of places, taken apart."""

    column: str
    place: tuple[float, float]
    km: float
    rest: Query
    """The query without the distance."""


def number(query: Query, layout: Layout, rows: Callable[[], int], ask: Ask) -> int | None:
    """The number of entities that a checked query without `nearest` selects, before its slice; None if not found here.

    Args:
        query: the query.
        layout: the columns of the view.
        rows: says about how many rows the kind's table has.
        ask: runs a statement.
    """
    circle = _circle_of(query, layout)
    if circle is None or (total := rows()) < LEAST_ROWS:
        return None
    [(certain, undecided)] = ask(_decided(circle, layout, is_spread=_is_spread(circle, total, ask)))
    if len(undecided or ()) > MOST_UNDECIDED:
        return None
    unread = []
    for each in undecided or ():
        beyond = geodesy.distance_km(*geodesy.place_of(each["x"], each["y"], each["z"]), *circle.place) - circle.km
        if abs(beyond) <= geodesy.PLACED_KM:
            unread.append(each["row"])
        elif beyond < 0:
            certain += 1
    if len(unread) > MOST_UNREAD:
        return None
    if unread:
        places = ask(_places(circle, unread))
        certain += sum(geodesy.distance_km(lon, lat, *circle.place) <= circle.km for lon, lat in places)
    return int(certain)


def _circle_of(query: Query, layout: Layout) -> _Circle | None:
    """A query with a distance that this module counts, taken apart; else None."""
    counted = take_apart(query, layout, lambda case: case.op is Op.WITHIN and LEAST_KM <= case.value[0] <= MOST_KM)
    if counted is None or not reads_all_rows(counted.rest.where, query.kind):
        return None
    km, lat, lon = counted.case.value
    return _Circle(counted.column, (lon, lat), km, counted.rest)


def _is_spread(circle: _Circle, rows: int, ask: Ask) -> bool:
    """Whether the middle of the table has a place that the bounds fit."""
    compiler = sql.Compiler(Layout())
    box = " AND ".join(geodesy.box_sql(circle.column, circle.place, circle.km, compiler.value))
    start = rows // 2
    text = (
        f"SELECT 1 FROM {sql.table(circle.rest.kind)}"
        f" WHERE rowid >= {compiler.value(start)} AND rowid < {compiler.value(start + RANGE)} AND {box} LIMIT 1"
    )
    return bool(ask(sql.Statement(text, compiler.parameters)))


def _decided(circle: _Circle, layout: Layout, *, is_spread: bool) -> sql.Statement:
    """How many rows are certainly within the distance, and those that are perhaps."""
    compiler = sql.Compiler(layout)
    value, column = compiler.value, f"t0.{circle.column}"
    _, selected = compiler.selection(circle.rest, None)
    if not is_spread:
        selected += "".join(f" AND {each}" for each in geodesy.box_sql(column, circle.place, circle.km, value))
    near = geodesy.cosine_sql(column, circle.place, value)
    _, far, close = geodesy.cosines(circle.km)
    x, y, z = vector(column)
    undecided = f"min({{'row': t0.rowid, 'x': {x}, 'y': {y}, 'z': {z}}}, {MOST_UNDECIDED + 1})"
    border = value(close)
    return sql.Statement(
        f"SELECT coalesce(count_if({near} > {border}::FLOAT), 0), {undecided} FILTER ({near} <= {border}::FLOAT)"
        f" {selected} AND {near} >= {value(far)}::FLOAT",
        compiler.parameters,
    )


def _places(circle: _Circle, rows: Sequence[int]) -> sql.Statement:
    """The places of some rows."""
    compiler = sql.Compiler(Layout())
    listed = ", ".join(map(compiler.value, rows))
    text = f"SELECT {circle.column}, {latitude(circle.column)} FROM {sql.table(circle.rest.kind)}"
    return sql.Statement(f"{text} WHERE rowid IN ({listed})", compiler.parameters)
