"""Small plots as SVG: bars, lines, heat maps. Texts are escaped; there are no scripts, styles, links or fonts.

draw(Table(names, keys, series, points), "bars")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from chalicelib.errors import BadInput
from chalicelib.query.statistics.aggregates import Aggregate, Group

HEADERS = {
    "Content-Disposition": 'inline; filename="statistics.svg"',
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "no-store",
}
MOST_BARS, MOST_LINES, MOST_CELLS = 60, 12, 200
"""Maximum number of bars, of lines, and of columns and of rows of a heat map."""
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 360, 64, 16, 28, 44
_ROW, _BAR, _LABELS = 22, 14, 180
_COLOURS = (
    "#3366a8", "#d9822b", "#3d9a5b", "#b8414b", "#7d62b5", "#8a6248",
    "#cc6fae", "#6f7680", "#a8a432", "#37a2b5", "#1f3d66", "#7a4a12",
)  # fmt: skip
_LABEL_CHARACTERS = 28
"""Characters of a label; longer ones are cut."""


@dataclass(frozen=True)
class Axis:
    """A group of the table: its name, whether it has an order, and its values in the plot's order."""

    name: str
    is_ordered: bool
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """What is plotted: one measure over one or two axes. `points` maps the values of the axes to the measure."""

    title: str
    axes: tuple[Axis, ...]
    points: dict[tuple[Any, ...], float]


def table_of(aggregate: Aggregate, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> Table:
    """The first measure over the groups of some rows.

    Raises:
        BadInput: there are no groups, or more than two, or the first measure is not a number.
    """
    if aggregate.facets:
        if len(aggregate.groups) > 1:
            raise BadInput("format: a plot shows one facet. Give one name in facets.")
        points = {(_key(row["value"]),): float(row["count"]) for row in rows}
        return Table("count", (Axis(aggregate.groups[0].label, False, tuple(key for (key,) in points)),), points)
    count = len(aggregate.groups)
    if not 1 <= count <= 2:  # noqa: PLR2004 the axes of a plane
        raise BadInput("format: a plot has one or two axes. Give one or two names in group_by.")
    title = names[count]
    if any(isinstance(row[title], str) for row in rows):
        raise BadInput(f"format: a plot shows numbers, and {title!r} has texts.")
    points = {tuple(_key(row[name]) for name in names[:count]): float(row[title] or 0) for row in rows}
    axes = tuple(
        Axis(group.label, _is_ordered(group), tuple(dict.fromkeys(key[place] for key in points)))
        for place, group in enumerate(aggregate.groups)
    )
    return Table(title, tuple(_in_order(axis) for axis in axes), points)


def _key(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


_IDS = frozenset({"id", "type", "version", "section", "media", "created_by", "modified_by", "parent"})


def _is_ordered(group: Group) -> bool:
    """Whether the values of a group lie on a line: times and numbers, but not ids."""
    return group.value.dtype in ("int", "float", "datetime") and group.value.column not in _IDS


def _in_order(axis: Axis) -> Axis:
    """The axis with its values in order, null last."""
    if not axis.is_ordered:
        return axis
    values = sorted(value for value in axis.values if value is not None)
    return Axis(axis.name, True, (*values, *([None] if None in axis.values else [])))


def draw(table: Table, plot: str | None = None) -> str:
    """The plot of a table: by default lines over an ordered axis, a heat map of two such, and bars of all else.

    Raises:
        BadInput: the table does not fit into the plot.
    """
    ordered = [axis.is_ordered for axis in table.axes]
    fitting = "heat" if ordered == [True, True] else "lines" if any(ordered) else "bars"
    if len(table.axes) == 2 and fitting == "bars":  # noqa: PLR2004
        fitting = "heat"
    return _PLOTS[plot or fitting](table)


# --- plots -----------------------------------------------------------------------------------------------------------


def _bars(table: Table) -> str:
    if len(table.axes) != 1:
        raise BadInput("plot: bars show one group. Give one name in group_by, or choose lines or heat.")
    [axis] = table.axes
    _check("bars", axis, MOST_BARS)
    height = _TOP + _ROW * len(axis.values) + 12
    most = max((abs(number) for number in table.points.values()), default=0) or 1
    room = _WIDTH - _LABELS - 90
    parts = [_text(_WIDTH / 2, 16, f"{table.title} by {axis.name}", "middle")]
    for place, value in enumerate(axis.values):
        number = table.points[(value,)]
        top = _TOP + place * _ROW
        parts += [
            _text(_LABELS - 6, top + _BAR - 2, _label(value), "end"),
            _rectangle(_LABELS, top, max(1.0, room * abs(number) / most), _BAR, _COLOURS[0]),
            _text(_LABELS + room * abs(number) / most + 6, top + _BAR - 2, _number(number)),
        ]
    return _svg(height, parts)


def _lines(table: Table) -> str:
    axes = table.axes if table.axes[0].is_ordered else table.axes[::-1]
    along, series = axes[0], (axes[1].values if len(axes) > 1 else (None,))
    if not along.is_ordered:
        raise BadInput("plot: lines need a group with an order, such as a bin of numbers or of time.")
    if len(axes) > 1:
        _check("lines", axes[1], MOST_LINES)
    xs = [value for value in along.values if value is not None]
    numbers = list(table.points.values())
    low, high = min(0.0, *numbers, 0.0), max([*numbers, 0.0]) or 1.0
    places = _places(xs)
    parts = [_text(_WIDTH / 2, 16, f"{table.title} by {along.name}", "middle"), *_frame(along, xs, places, low, high)]
    for number, each in enumerate(series):
        colour = _COLOURS[number % len(_COLOURS)]
        found = []
        for x in xs:
            key = (x,) if len(axes) == 1 else (x, each) if axes is table.axes else (each, x)
            if key in table.points:
                found.append((places[x], _across(table.points[key], low, high)))
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in found)
        parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{points}"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>' for x, y in found]
        if len(axes) > 1:
            parts += [
                _rectangle(_WIDTH - 150, _TOP + 4 + number * 15, 10, 10, colour),
                _text(_WIDTH - 136, _TOP + 13 + number * 15, _label(each)),
            ]
    return _svg(_HEIGHT, parts)


def _heat(table: Table) -> str:
    if len(table.axes) != 2:  # noqa: PLR2004
        [axis] = table.axes
        if not all(isinstance(value, tuple) for value in axis.values if value is not None):
            raise BadInput("plot: a heat map needs two groups, or one of cells of places.")
        points = {(x[0], x[1]): number for (x,), number in table.points.items() if x is not None}
        across = _in_order(Axis("longitude", True, tuple({x for x, _ in points})))
        up = _in_order(Axis("latitude", True, tuple({y for _, y in points})))
    else:
        (across, up), points = table.axes, table.points
    for axis in (across, up):
        _check("heat", axis, MOST_CELLS)
    width = (_WIDTH - _LABELS - _RIGHT) / max(1, len(across.values))
    height = max(8.0, min(_ROW, 400 / max(1, len(up.values))))
    bottom = _TOP + height * len(up.values)
    most = max(points.values(), default=0) or 1
    parts = [_text(_WIDTH / 2, 16, f"{table.title} by {across.name} and {up.name}, to {_number(most)}", "middle")]
    for row, y in enumerate(up.values):
        top = bottom - (row + 1) * height if up.is_ordered else _TOP + row * height
        if row % max(1, int(len(up.values) * 12 / 400) or 1) == 0:
            parts.append(_text(_LABELS - 6, top + height / 2 + 4, _label(y), "end"))
        for column, x in enumerate(across.values):
            if number := points.get((x, y), 0):
                box = _rectangle(_LABELS + column * width, top, width, height, _COLOURS[0], max(0.06, number / most))
                parts.append(box)
    step = max(1, -(-len(across.values) * 60 // (_WIDTH - _LABELS)))
    parts += [
        _text(_LABELS + (column + 0.5) * width, bottom + 14, _label(across.values[column], 10), "middle")
        for column in range(0, len(across.values), step)
    ]
    return _svg(bottom + 26, parts)


_PLOTS: dict[str, Callable[[Table], str]] = {"bars": _bars, "lines": _lines, "heat": _heat}


# --- parts -----------------------------------------------------------------------------------------------------------


def _check(plot: str, axis: Axis, most: int) -> None:
    if len(axis.values) > most:
        raise BadInput(
            f"plot: {plot} show at most {most} values of {axis.name!r}, and there are {len(axis.values)}. Give a limit "
            "or wider bins."
        )


def _places(xs: Sequence[Any]) -> dict[Any, float]:
    """The horizontal places of values: numbers by size, dates one after another."""
    room = _WIDTH - _LEFT - _RIGHT
    if xs and all(isinstance(x, int | float) for x in xs) and xs[-1] > xs[0]:
        return {x: _LEFT + room * (x - xs[0]) / (xs[-1] - xs[0]) for x in xs}
    return {x: _LEFT + room * place / max(1, len(xs) - 1) for place, x in enumerate(xs)}


def _across(number: float, low: float, high: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _BOTTOM - _TOP) * (number - low) / ((high - low) or 1)


def _frame(axis: Axis, xs: Sequence[Any], places: dict[Any, float], low: float, high: float) -> list[str]:
    parts = []
    for number in (low, (low + high) / 2, high):
        y = _across(number, low, high)
        parts += [
            f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#ccc" stroke-width="0.5"/>',
            _text(_LEFT - 6, y + 4, _number(number), "end"),
        ]
    step = max(1, -(-len(xs) // 7))
    parts += [_text(places[x], _HEIGHT - _BOTTOM + 16, _label(x, 12), "middle") for x in xs[::step]]
    return [*parts, _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 8, axis.name, "middle")]


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{_xml_text(text)}</text>'


def _rectangle(x: float, y: float, width: float, height: float, colour: str, opacity: float = 1) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"'
        f' fill-opacity="{opacity:.2f}"/>'
    )


def _svg(height: float, parts: Sequence[str]) -> str:
    size = f'width="{_WIDTH}" height="{height:.0f}" viewBox="0 0 {_WIDTH} {height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11" fill="#222">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>'
    )


def _xml_text(text: str) -> str:
    """A text that is valid in XML: control characters and surrogates have no place in it."""
    return escape("".join(c if c.isprintable() and not "\ud800" <= c <= "\udfff" else "\ufffd" for c in text))


def _label(value: Any, longest: int = _LABEL_CHARACTERS) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, float):
        return _number(value)
    text = ", ".join(map(_number, value)) if isinstance(value, tuple) else str(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _number(number: float) -> str:
    return f"{number:,.6g}" if abs(number) < 1e6 or not float(number).is_integer() else f"{number:,.0f}"  # noqa: PLR2004
