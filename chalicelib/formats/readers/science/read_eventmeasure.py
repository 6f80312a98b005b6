"""Read point measurements of SeaGIS EventMeasure: any `.txt` of an archive with a table whose lines have tabs.

The header is the first line with Filename, Frame, ImageRow and ImageCol, in any spelling; what is before it describes
the survey and is left out. A line is a dot in pixels of a frame, or a box where RectRow and RectCol name another
corner. The class is genus and species, else the family, else the code; all other columns become attributes. Files
without such a header, as those of lengths and 3D points, are named as dropped. Archives of our own writer have boxes as
RectWidth and RectHeight, and the column `limn`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from chalicelib.core.text import csv_cells
from chalicelib.errors import BadInput
from chalicelib.formats.json_stream import json_value, members_of
from chalicelib.formats.model import Archive, Dropped, Label, LabelKind
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    base,
    matching,
    number,
    refusal,
    text_lines,
    whole,
)
from chalicelib.formats.readers.science.read_vars import own_members, track_of
from chalicelib.formats.writers.science.eventmeasure import TERMS, class_of

_NEEDED = ("filename", "frame", "imagerow", "imagecol")
_USED = frozenset({*_NEEDED, "rectrow", "rectcol", "genus", "species"})
_MOST_BEFORE = 200
"""Lines before the header."""
_IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff")


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    table, found = MediaTable(archive), matching(archive, r".+\.txt")
    if not found:
        raise BadInput("EventMeasure: the archive has no .txt file.")
    pictures = {base(name): name for name in archive.names()}
    has_points, known = False, set[tuple[str, str]]()
    for path in found:
        is_read = False
        for place, header, line in _lines(archive, path):
            has_points = is_read = True
            if not line:
                continue
            try:
                if table.is_ours and line.get("limn"):
                    yield from _own(place, line, table, known)
                    continue
                name = base(line.get("filename", ""))
                is_video = not name.lower().endswith(_IMAGES)
                label = _label(header, line, name, is_video=is_video)
                yield from table.new(place, name, name=name, is_video=is_video, path=pictures.get(name, ""))
                yield Placed(place, label)
            except (ValueError, KeyError, TypeError, OverflowError) as error:
                yield refusal(place, f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error))
        if not is_read:
            yield Placed(path, Dropped(names=(base(path),)))
    if not has_points:
        raise BadInput("EventMeasure: no file has a line with the columns Filename, Frame, ImageRow and ImageCol.")
    yield from table.rest()


def _lines(archive: Archive, path: str) -> Iterator[tuple[str, Mapping[str, str], dict[str, str]]]:
    """The lines of a table by the plain names of its columns, with these names as they are spelt.

    The header is the first of them, without values. A file without one, such as those of lengths, has no lines.
    """
    names: list[str] = []
    spelt: dict[str, str] = {}
    for before, (place, text) in enumerate(text_lines(archive, path, strip="\r\n")):
        cells = [cell.strip() for cell in text.split("\t")]
        if not names:
            plain = [re.sub(r"[^a-z0-9]", "", cell.lower()) for cell in cells]
            if all(name in plain for name in _NEEDED):
                names, spelt = plain, dict(zip(plain, cells, strict=True))
                yield place, spelt, {}
            elif before >= _MOST_BEFORE:
                return
            continue
        yield place, spelt, dict(zip(names, cells, strict=False))


def _own(place: str, line: Mapping[str, str], table: MediaTable, known: set[tuple[str, str]]) -> Rows:
    """The rows of a line of our own writer. Raises ValueError, KeyError, TypeError."""
    limn = members_of(json_value(line["limn"]))
    derived, names = members_of(limn.get("derived") or {}), members_of(limn.get("names") or {})
    class_name = str(limn.get("class") or class_of(*(line.get(name, "") for name in ("genus", "species", "family"))))
    label = {"class_name": class_name, **own_members(limn)}
    for term in TERMS:
        cell = line.get(term.lower(), "")
        is_class = term == "Family" and term in derived
        if cell and cell != derived.get(term) and not is_class:
            label["attributes"][str(names.get(term) or term)] = csv_cells.restore(cell)
    x, y, width, height = (number(line[name]) for name in ("imagecol", "imagerow", "rectwidth", "rectheight"))
    is_box = width > 0 or height > 0
    yield from table.new(place, label["media"])
    track = yield from track_of(place, label, limn, known)
    shape = (x, y, width, height) if is_box else (x, y)
    keyed = limn.get("keyed") is not False
    kind: LabelKind = "box" if is_box else "dot"
    yield Placed(place, Label(kind=kind, shape=shape, unit="pixel", track=track, keyed=keyed, **label))


def _label(spelt: Mapping[str, str], line: Mapping[str, str], name: str, *, is_video: bool) -> Label:
    if not name:
        raise ValueError("Filename is empty")
    frame = whole(line.get("frame") or "0") if is_video else 0
    if frame < 0:
        raise ValueError(f"frame {frame}: frames count from 0")
    x, y = (number(line.get(each) or "") for each in ("imagecol", "imagerow"))
    u, v = (number(line.get(each) or "0") for each in ("rectcol", "rectrow"))
    is_box = (u > 0 or v > 0) and u != x and v != y
    genus, species = line.get("genus", ""), line.get("species", "")
    class_name = " ".join(filter(None, (genus, species))) or line.get("family", "") or line.get("code", "")
    return Label(
        media=name,
        kind="box" if is_box else "dot",
        shape=(min(x, u), min(y, v), abs(u - x), abs(v - y)) if is_box else (x, y),
        frame=frame,
        unit="pixel",
        class_name=class_name,
        attributes={spelt[each]: value for each, value in line.items() if each and each not in _USED and value},
    )
