"""What all readers share: the place of each row, streams of JSON and CSV, the media of `media.csv`.

Archives are untrusted. A reader holds one value or line in memory, and one entry for each media and picture; what is
larger than the limits here ends the import with BadInput.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.text import csv_cells
from chalicelib.errors import BadInput
from chalicelib.formats.json_stream import json_value
from chalicelib.formats.model import MANIFEST, Archive, Dropped, Media, Refusal, Row

LONGEST_LINE = 4 * 1024 * 1024
"""Characters of one row of CSV with all its lines, or of one line of text."""
MOST_MEDIA = 200_000
"""Media of one archive."""
BLOCK = 1024 * 1024
_PICTURE = re.compile(r"(?P<key>.+)_(?P<frame>\d{6,9})", re.DOTALL)
_number = (int, float)


class Placed(Struct, frozen=True):
    """A row with its place in the archive: `labels/a.txt:3`, `instances.json annotations[17]`."""

    place: str
    row: Row
    note: str = ""
    """What of the row could not be taken, if anything."""


Rows = Iterator[Placed]
Reader = Callable[[Archive], Rows]


def refusal(place: str, reason: str) -> Placed:
    """A row that cannot be taken."""
    return Placed(place, Refusal(place=place, reason=reason))


def dropped(
    place: str,
    owner: str,
    given: Mapping[str, Any],
    known: Collection[str] = (),
    blank: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Rows:
    """A row that names the members of another one, `owner`, that have no place here, if any.

    `known` are read or follow from others. Empty values say nothing, nor do those that `blank` has for a name.
    """
    names = (name for name, value in given.items() if name not in known and value not in (None, ""))
    if found := tuple(f"{owner}.{name}" for name in names if given[name] not in blank.get(name, ())):
        yield Placed(place, Dropped(names=found))


def matching(archive: Archive, pattern: str) -> list[str]:
    """The files whose whole path matches a regular expression without regard to case, sorted."""
    found = re.compile(pattern, re.IGNORECASE)
    return sorted(name for name in archive.names() if found.fullmatch(name))


def base(path: str) -> str:
    """The last part of a path."""
    return path.replace("\\", "/").rpartition("/")[2]


def stem(path: str) -> str:
    """The last part of a path without its extension."""
    name = base(path)
    return name.rpartition(".")[0] or name


# --- media ---------------------------------------------------------------------------------------------------------


class MediaTable:
    """The media of an archive: those of `media.csv`, and those that a reader finds."""

    def __init__(self, archive: Archive, *, is_listed: bool = True) -> None:
        self._dropped: list[Placed] = []
        self.listed = _manifest(archive, self._dropped) if is_listed else {}
        """The media of `media.csv` by key; empty in archives that another program wrote."""
        self._yielded: set[str] = set()

    @property
    def is_ours(self) -> bool:
        """Whether the archive has a `media.csv`."""
        return bool(self.listed)

    def locate(self, picture: str) -> tuple[str, int]:
        """The key of the media and the frame that a picture's name stands for, without extension."""
        if picture in self.listed:
            return picture, 0
        found = _PICTURE.fullmatch(picture)
        if found and (media := self.listed.get(found["key"])) and media.is_video:
            return found["key"], int(found["frame"])
        return picture, 0

    def new(self, place: str, key: str, **members: Any) -> Rows:
        """The row of a media, the first time that it is named. Raises BadInput beyond `MOST_MEDIA`."""
        if key in self._yielded:
            return
        self._yielded.add(key)
        if len(self._yielded) > MOST_MEDIA:
            raise BadInput(f"The archive names more than {MOST_MEDIA} media. Import it in parts.")
        listed = self.listed.get(key)
        if listed is None:
            yield Placed(place, Media(key=key, **{"name": key, **members}))
        else:  # the picture in the archive is found by the format; what media.csv says of the media counts
            yield Placed(place, msgspec.structs.replace(listed, path=members.get("path") or listed.path))

    def rest(self) -> Rows:
        """The media of `media.csv` that no row named: those without annotations; and what of all is dropped."""
        yield from self._dropped
        for number, key in enumerate(self.listed, 2):
            yield from self.new(f"{MANIFEST}:{number}", key)


def _manifest(archive: Archive, unread: list[Placed]) -> dict[str, Media]:
    if MANIFEST not in archive.names():
        return {}
    found: dict[str, Media] = {}
    for place, line in csv_lines(archive, MANIFEST):
        key = line.get("key") or ""
        try:
            media = msgspec.convert(
                {
                    **{name: line.get(name) or "" for name in ("key", "name", "elemental_id", "type", "md5")},
                    **{name: line.get(name) or "" for name in ("section", "path")},
                    "is_video": line.get("is_video") == "true",
                    **{name: int(line.get(name) or 0) for name in ("width", "height")},
                    "frames": int(line.get("frames") or 1),
                    "fps": float(line["fps"]) if line.get("fps") else None,
                    "id": int(line["id"]) if line.get("id") else None,
                    "split": line.get("split") or None,
                    "attributes": json_value(line["attributes"]) if line.get("attributes") else {},
                },
                Media,
            )
        except (ValueError, msgspec.ValidationError) as error:
            raise BadInput(f"{place}: {error}") from None
        if not key or key in found:
            raise BadInput(f"{place}: the key {key!r} is empty or stands twice.")
        unread.extend(dropped(place, "media", line, Media.__struct_fields__))
        found[key] = media
        if len(found) > MOST_MEDIA:
            raise BadInput(f"{MANIFEST} has more than {MOST_MEDIA} media. Import it in parts.")
    return found


# --- numbers -------------------------------------------------------------------------------------------------------


def numbers(values: Any, count: int | None = None) -> tuple[float, ...]:
    """A list of finite numbers, of a length if it is given. Raises ValueError."""
    if not isinstance(values, list | tuple) or (count is not None and len(values) != count):
        raise ValueError(f"{_short(values)} is not a list of {count or 'some'} numbers")
    if not all(isinstance(value, _number) and not isinstance(value, bool) and math.isfinite(value) for value in values):
        raise ValueError(f"{_short(values)} has a value that is not a finite number")
    return tuple(map(float, values))


def number(text: str) -> float:
    """A finite number in text. Raises ValueError."""
    found = float(text)
    if not math.isfinite(found) or "_" in text:
        raise ValueError(f"{_short(text)} is not a finite number")
    return found


def whole(text: str) -> int:
    """A whole number in text, which may have a fraction of zeros. Raises ValueError."""
    found = number(text)
    if found != int(found):
        raise ValueError(f"{_short(text)} is not a whole number")
    return int(found)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 of a message


# --- text ----------------------------------------------------------------------------------------------------------


def text_lines(archive: Archive, path: str, strip: str | None = None) -> Iterator[tuple[str, str]]:
    """The lines of a text file in UTF-8 that are not blank, with their places, without `strip` or space at their ends.

    Raises BadInput.
    """
    with archive.open(path) as raw:
        buffered = io.BufferedReader(raw, BLOCK)  # type: ignore[type-var]
        line_number = 0
        while line := buffered.readline(LONGEST_LINE + 1):
            line_number += 1
            if len(line) > LONGEST_LINE:
                raise BadInput(f"{path}:{line_number}: the line has more than {LONGEST_LINE} bytes.")
            try:
                text = line.decode("utf-8-sig" if line_number == 1 else "utf-8").strip(strip)
            except UnicodeDecodeError:
                raise BadInput(f"{path}:{line_number}: the line is not UTF-8.") from None
            if text.strip():
                yield f"{path}:{line_number}", text


def csv_rows(archive: Archive, path: str) -> Iterator[tuple[str, list[str]]]:
    """The rows of a CSV file that are not empty, with their places. Raises BadInput."""
    csv.field_size_limit(LONGEST_LINE)
    with archive.open(path) as raw:
        text = io.TextIOWrapper(io.BufferedReader(raw, BLOCK), "utf-8-sig", newline="")  # type: ignore[type-var]
        lines = _Lines(text, path)
        rows = csv.reader(lines)
        try:
            for values in rows:
                lines.held = 0
                if values:
                    yield f"{path}:{rows.line_num}", [csv_cells.restore(each) for each in values]
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{path}:{rows.line_num}: {error}") from None


def csv_lines(archive: Archive, path: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The lines of a CSV file by the names in its first line, with their places. Raises BadInput."""
    rows = csv_rows(archive, path)
    _, header = next(rows, (path, []))
    if len(set(header)) != len(header):
        raise BadInput(f"{path}: a column stands twice in the header.")
    for place, values in rows:
        if len(values) != len(header):
            raise BadInput(f"{place}: {len(values)} fields, and the header has {len(header)}.")
        yield place, dict(zip(header, values, strict=True))


class _Lines:
    """The lines of a text, which csv joins to rows: quoted fields may have line ends."""

    def __init__(self, text: io.TextIOWrapper, path: str) -> None:
        self._text, self._path = text, path
        self.held = 0
        """Characters since the last whole row."""

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """The next line. Raises BadInput where the row becomes too long."""
        line = self._text.readline(LONGEST_LINE + 1)
        self.held += len(line)
        if self.held > LONGEST_LINE:
            raise BadInput(f"{self._path}: a row has more than {LONGEST_LINE} characters.")
        if not line:
            raise StopIteration
        return line


# --- YAML -------------------------------------------------------------------------------------------------------------


def yaml_document(archive: Archive, path: str, largest: int) -> dict[Any, Any]:
    """A document of YAML of so many bytes at most; nothing where it is no object. Raises BadInput."""
    import yaml  # noqa: PLC0415 kept off the API's cold start

    from chalicelib.core.text import bounded_yaml  # noqa: PLC0415 imports it

    if archive.size(path) > largest:
        raise BadInput(f"{path} has more than {largest} bytes.")
    with archive.open(path) as file:
        text = file.read()
    try:
        document = bounded_yaml.load(text, has_aliases=False)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BadInput(f"{path} is not YAML: {str(error)[:200]}") from None
    return document if isinstance(document, dict) else {}
