"""Frames with their shapes, and counts as bars, as notebooks show them.

    limn.show(project.frame(media=7, frame=120))

A picture is HTML with an SVG over it, so nothing needs to be installed; `_repr_png_` draws with Pillow, where that is
there. Texts that people wrote are shown as texts, whatever is in them.
"""

from __future__ import annotations

import base64
import html
import importlib
import io
import struct
import sys
import tempfile
import webbrowser
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .failures import Failure

if TYPE_CHECKING:
    from .client import Client

COLORS = ("#e6194b", "#3cb44b", "#4363d8", "#f58231", "#911eb4", "#008080", "#9a6324", "#808000")
_BAR, _LABELS, _ROW = 320, 160, 20
"""Pixels: the longest bar, room for names, and height of a bar."""
Point = tuple[float, float]


@dataclass(frozen=True)
class Shape:
    """A localization as points in fractions of the picture: a box or polygon (closed), a line, or one dot."""

    points: tuple[Point, ...]
    text: str = ""
    color: str = COLORS[0]
    is_closed: bool = True


@dataclass(frozen=True)
class Frame:
    """One frame of a media and what is on it."""

    media: int
    frame: int
    picture: bytes
    """As PNG."""
    labels: tuple[Mapping[str, Any], ...] = ()
    label: str | None = None
    """The attribute that is written beside each shape."""

    @classmethod
    def read(
        cls, client: Client, project: int, media: int, frame: int = 0, *, label: str | None = None, **query: Any
    ) -> Frame:
        """A frame of a media and its localizations; `query` filters those, as in lists."""
        picture = client.get_frame(media, frames=[frame], format="png")  # type: ignore[call-arg]
        rows = client.get_localization_list(project, media_id=[media], frame=frame, **query)
        return cls(media, frame, picture, tuple(rows), label)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        width, height = struct.unpack(">II", self.picture[16:24])
        return width, height

    @property
    def shapes(self) -> list[Shape]:
        """The localizations as shapes, one colour for each value of the attribute, else for each type."""
        keys: dict[Any, str] = {}
        found = []
        for row in self.labels:
            value = (row.get("attributes") or {}).get(self.label) if self.label else None
            key = row.get("type") if value is None else value
            color = keys.setdefault(str(key), COLORS[len(keys) % len(COLORS)])
            points, is_closed = _points(row)
            found.append(Shape(points, "" if value is None else str(value), color, is_closed))
        return found

    def _repr_html_(self) -> str:
        width, height = self.size
        data = base64.b64encode(self.picture).decode()
        drawn = "".join(_svg(shape, width, height) for shape in self.shapes)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" style="max-width: {width}px">'
            f'<image href="data:image/png;base64,{data}" width="{width}" height="{height}"/>{drawn}</svg>'
        )

    def _repr_png_(self) -> bytes | None:
        try:
            from PIL import Image, ImageDraw
        except ImportError:
            return None
        width, height = self.size
        with Image.open(io.BytesIO(self.picture)) as opened:
            canvas = opened.convert("RGB")
        draw = ImageDraw.Draw(canvas)
        for shape in self.shapes:
            points = [(x * width, y * height) for x, y in shape.points]
            if len(points) == 1:
                [(x, y)] = points
                draw.ellipse((x - 3, y - 3, x + 3, y + 3), outline=shape.color, width=2)
            else:
                draw.line([*points, *(points[:1] if shape.is_closed else [])], fill=shape.color, width=2)
            draw.text(points[0], shape.text, fill=shape.color)
        out = io.BytesIO()
        canvas.save(out, "PNG")
        return out.getvalue()


@dataclass(frozen=True)
class Bars:
    """Counts by name, the longest first."""

    counts: Mapping[str, float]
    title: str = ""
    most: int = field(default=30)
    """Bars that are shown."""

    def _repr_html_(self) -> str:
        rows = sorted(self.counts.items(), key=lambda each: -each[1])[: self.most]
        longest = max((count for _, count in rows), default=1) or 1
        parts = []
        for place, (name, count) in enumerate(rows):
            y = (place + 1) * _ROW
            text = html.escape(str(name))
            parts.append(
                f'<text x="{_LABELS - 6}" y="{y + 14}" text-anchor="end" font-size="12">{text}</text>'
                f'<rect x="{_LABELS}" y="{y + 3}" width="{_BAR * count / longest:.1f}" height="14" fill="{COLORS[2]}"/>'
                f'<text x="{_LABELS + _BAR * count / longest + 6:.1f}" y="{y + 14}" font-size="12">{count:g}</text>'
            )
        width, height = _LABELS + _BAR + 80, (len(rows) + 1) * _ROW
        title = f'<text x="{_LABELS}" y="14" font-size="13" font-weight="bold">{html.escape(self.title)}</text>'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{title}{"".join(parts)}</svg>'
        )


def count_by(rows: Iterable[Mapping[str, Any]], attribute: str) -> Bars:
    """How many rows have each value of an attribute."""
    counts: dict[str, float] = {}
    for row in rows:
        value = str((row.get("attributes") or {}).get(attribute))
        counts[value] = counts.get(value, 0) + 1
    return Bars(counts, attribute)


def table(rows: Sequence[Mapping[str, Any]], total: int) -> str:
    """Some rows as an HTML table."""
    names = list(dict.fromkeys(name for row in rows for name in row))[:12]
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    cells = [[html.escape(str(row.get(name, ""))[:80]) for name in names] for row in rows]
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in cells)
    return f"<table><tr>{head}</tr>{body}</table><p>{len(rows)} of {total}</p>"


def show(thing: Any) -> None:
    """Show a frame, bars, or a selection: in the notebook, else as a page in the browser.

    Raises:
        Failure: it is nothing that can be shown.
    """
    if not hasattr(thing, "_repr_html_"):
        raise Failure(f"{type(thing).__name__} cannot be shown: give a frame, bars or a selection.")
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        importlib.import_module("IPython.display").display(thing)
        return
    page = f"<!doctype html><meta charset=utf-8>{thing._repr_html_()}"
    with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="limn-", delete=False, encoding="utf-8") as file:
        file.write(page)
    webbrowser.open(Path(file.name).as_uri())


def _points(row: Mapping[str, Any]) -> tuple[tuple[Point, ...], bool]:
    """The points of a localization in fractions, and whether the last leads to the first."""
    if row.get("points"):
        return tuple((float(x), float(y)) for x, y in row["points"]), row.get("closed") is not False
    x, y = float(row.get("x") or 0), float(row.get("y") or 0)
    if row.get("width") is not None and row.get("height") is not None:
        right, bottom = x + row["width"], y + row["height"]
        return ((x, y), (right, y), (right, bottom), (x, bottom)), True
    if row.get("u") is not None and row.get("v") is not None:
        return ((x, y), (x + row["u"], y + row["v"])), False
    return ((x, y),), False


def _svg(shape: Shape, width: int, height: int) -> str:
    points = [(x * width, y * height) for x, y in shape.points]
    style = f'fill="none" stroke="{shape.color}" stroke-width="2"'
    x, y = points[0]
    if len(points) == 1:
        drawn = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {style}/>'
    else:
        kind = "polygon" if shape.is_closed else "polyline"
        places = " ".join(f"{a:.1f},{b:.1f}" for a, b in points)
        drawn = f'<{kind} points="{places}" {style}/>'
    text = html.escape(shape.text)
    return drawn + (
        f'<text x="{x:.1f}" y="{y - 4:.1f}" fill="{shape.color}" font-size="14">{text}</text>' if text else ""
    )
