"""Read VIAME CSV: any `.csv` of an archive, as VIAME and DIVE write it.

The second cell of a line says what the numbers of frames are of: the name of a picture is an image with that name,
anything else the video that has the name of the file, or of its folder where that is `annotations.csv`. A number that
stands on several lines of a file is a track. `(kp) head` and `(kp) tail` are a line, `(poly)` a polygon,
all else a box. A confidence below 1 is the attribute `Confidence`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from chalicelib.errors import BadInput
from chalicelib.formats.model import MANIFEST, Archive, Attributes, Label, LabelKind, State
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    base,
    csv_rows,
    dropped,
    matching,
    number,
    refusal,
    stem,
    whole,
)
from chalicelib.formats.writers.science.viame import CONFIDENCES, ENDS, FILE, TRACKS

_LEAST, _CLASS = 9, 9
"""Cells of a line without a class, and the position of the class."""
_BLANK = {"target length": ("0", "-1", "0.0", "-1.0")}
_CORNERS = 6
"""Numbers of a polygon of three points."""
_PICTURE = re.compile(r".+\.(jpe?g|png|tiff?|bmp|webp|gif|avif|heic)", re.IGNORECASE | re.DOTALL)
_MORE = re.compile(r"\((?P<word>[a-z+-]+)\)\s*(?P<text>.*)", re.DOTALL)
_VALUE = re.compile(r"(?P<name>\S+)[ \t](?P<value>.*)", re.DOTALL)
_TRACKS = re.compile(re.escape(TRACKS) + r"(\d{1,9})")


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    table = MediaTable(archive)
    found = [path for path in matching(archive, r".*\.csv") if path != MANIFEST]
    if not found and not table.is_ours:
        raise BadInput("VIAME: the archive has no .csv file.")
    pictures = {base(name): name for name in archive.names()}
    for path in found:
        yield from _File(archive, path, table, pictures).rows()
    yield from table.rest()


class _File:
    """One file."""

    def __init__(self, archive: Archive, path: str, table: MediaTable, pictures: dict[str, str]) -> None:
        self._archive, self._path, self._table, self._pictures = archive, path, table, pictures
        folder = base(path.rpartition("/")[0])
        self._video = folder if base(path) == FILE and folder else stem(path)
        self._rate: float | None = None
        self._is_track = self._tracks()
        self._known: set[tuple[str, str]] = set()

    def _lines(self) -> Iterator[tuple[str, list[str]]]:
        """The lines that are not comments."""
        return ((place, cells) for place, cells in csv_rows(self._archive, self._path) if not cells[0].startswith("#"))

    def _tracks(self) -> frozenset[str]:
        """The numbers that are tracks: those that a comment of ours counts, else those on several lines."""
        for _, cells in csv_rows(self._archive, self._path):
            if not cells[0].startswith("#"):
                break
            for cell in cells:
                rate = re.search(r"\bfps:\s*([0-9.]+)", cell)
                self._rate = number(rate[1]) if rate and rate[1].count(".") <= 1 and rate[1] != "." else self._rate
                if self._table.is_ours and (ours := _TRACKS.search(cell)):
                    return frozenset(map(str, range(int(ours[1]))))
        found = Counter(cells[0].strip() for _, cells in self._lines())
        return frozenset(name for name, count in found.items() if count > 1)

    def rows(self) -> Rows:
        """Its rows."""
        for place, cells in self._lines():
            try:
                yield from self._row(place, cells)
            except (ValueError, OverflowError) as error:
                yield refusal(place, str(error))

    def _row(self, place: str, cells: list[str]) -> Rows:
        if len(cells) < _LEAST:
            raise ValueError(f"{len(cells)} cells are fewer than {_LEAST}")
        media, frame = yield from self._media(place, cells[1].strip(), whole(cells[2]))
        left, top, right, bottom = map(number, cells[3:7])
        name, sure, at = _class(cells)
        more = _More(cells[at:], is_ours=self._table.is_ours)
        if sure < 1 and not any(each.casefold() in CONFIDENCES for each in more.attributes):
            more.attributes["Confidence"] = sure
        track = None
        if cells[0].strip() in self._is_track:
            track = f"{self._path}/{cells[0].strip()}"
            if (media, track) not in self._known:
                self._known.add((media, track))
                yield Placed(place, State(media=media, key=track, class_name=name, attributes=more.of_track))
        kind, shape = more.shape or ("box", (left, top, right - left, bottom - top))
        label = Label(
            media=media, kind=kind, shape=shape, frame=frame, unit="pixel", class_name=name, track=track,
            attributes=more.attributes,
        )  # fmt: skip
        yield Placed(place, label, "; ".join(more.notes))
        more.unread["target length"] = cells[8].strip()
        yield from dropped(place, "line", more.unread, blank=_BLANK)

    def _media(self, place: str, seen: str, frame: int) -> Generator[Placed, None, tuple[str, int]]:
        """The media of a line; returns its key and the frame."""
        if frame < 0:
            raise ValueError(f"frame {frame}: frames count from 0")
        if self._table.is_ours:
            if self._video in self._table.listed:
                yield from self._table.new(place, self._video)
                return self._video, frame
            key, frame = self._table.locate(stem(seen))
            yield from self._table.new(place, key, path=self._pictures.get(base(seen), ""))
            return key, frame
        if _PICTURE.fullmatch(seen):
            name = base(seen)
            yield from self._table.new(place, name, name=name, path=self._pictures.get(name, ""))
            return name, 0
        yield from self._table.new(place, self._video, is_video=True, fps=self._rate)
        return self._video, frame


def _class(cells: Sequence[str]) -> tuple[str, float, int]:
    """The surest class of a line, how sure it is, and the position of the cells after the classes."""
    at, best = _CLASS, ("", -1.0)
    while at + 1 < len(cells) and not _MORE.fullmatch(cells[at]):
        name, sure = cells[at], number(cells[at + 1] or "1")
        best = max(best, (name, sure), key=lambda each: each[1])
        at += 2
    return (best[0], best[1], at) if at > _CLASS else ("", number(cells[7] or "1"), at)


class _More:
    """The optional cells of a line."""

    def __init__(self, cells: Sequence[str], *, is_ours: bool) -> None:
        self.attributes: Attributes = {}
        self.of_track: Attributes = {}
        self.shape: tuple[LabelKind, tuple[float, ...]] | None = None
        self.notes: list[str] = []
        self.unread: dict[str, str] = {}
        points: dict[str, tuple[float, float]] = {}
        polygons: list[tuple[float, ...]] = []
        for cell in cells:
            if not cell.strip():
                continue
            if (found := _MORE.fullmatch(cell)) is None:
                raise ValueError(
                    f"{cell[:40]!r} is neither a class with a confidence nor `(atr) name value` or the like"
                )
            word, text = found["word"], found["text"]
            if word in ("atr", "trk-atr"):
                target = self.attributes if word == "atr" else self.of_track
                name, value = _value(text)
                target[unquote(name) if is_ours else name] = value
            elif word == "poly":
                polygons.append(_polygon(text))
            elif word == "kp":
                name, *place = text.split()
                x, y = map(number, place)
                points[name] = (x, y)
            elif word == "note":
                self.attributes["note"] = text
            else:
                self.unread[f"({word})"] = text
        self._choose(points, polygons)

    def _choose(self, points: dict[str, tuple[float, float]], polygons: list[tuple[float, ...]]) -> None:
        if len(polygons) == 1:
            self.shape = "poly", polygons[0]
        elif polygons:
            self.notes.append("several polygons became their box")
        elif set(points) == set(ENDS):
            (x, y), (u, v) = (points[name] for name in ENDS)
            self.shape, points = ("line", (x, y, u - x, v - y)), {}
        if points:
            self.notes.append("keypoints were left out")


def _value(text: str) -> tuple[str, Any]:
    if (found := _VALUE.fullmatch(text)) is None:
        raise ValueError(f"{text[:40]!r} is not the name and the value of an attribute")
    return found["name"], found["value"]


def _polygon(text: str) -> tuple[float, ...]:
    found = tuple(map(number, text.split()))
    if len(found) < _CORNERS or len(found) % 2:
        raise ValueError(f"(poly): {len(found)} numbers are not a polygon")
    return found
