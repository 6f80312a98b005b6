"""Read MOT Challenge: `<sequence>/gt/gt.txt` or `det/det.txt`, with `seqinfo.ini`, `gt/labels.txt` and `img1/`.

Frames in the files count from 1. Track -1 is a detection without a track. A line whose confidence is 0 is one that the
benchmark ignores: it is left out, with a note.
"""

from __future__ import annotations

import configparser
import re
from collections.abc import Collection
from typing import Any

import msgspec

from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive, Label, State
from chalicelib.formats.readers.picture_video import numbered_pictures
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    dropped,
    matching,
    number,
    refusal,
    text_lines,
    whole,
)

LARGEST_INI = 64 * 1024
_LEAST, _CLASS = 6, 7
"""Fields of a line, and the position of the class."""
_LATER = ("confidence", "class", "visibility", "x", "y", "z")
"""The fields after those that a line must have. A confidence of 0 is a line that does not count."""
_BLANK = dict.fromkeys(_LATER, ("-1", "1", "1.0"))
_BASE = re.compile(r"(?P<base>(?:.*/)?(?P<key>[^/]+))/(?:gt/gt|det/det)\.txt", re.IGNORECASE)


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    paths = matching(archive, r".+/(gt/gt|det/det)\.txt")
    table = MediaTable(archive)
    if not paths and not table.is_ours:
        raise BadInput("MOT: the archive has no <sequence>/gt/gt.txt or <sequence>/det/det.txt.")
    tracks: set[tuple[str, str]] = set()
    folders = numbered_pictures(archive)
    for path in paths:
        found = _BASE.fullmatch(path)
        folder, key = (found["base"], found["key"]) if found else ("", path)
        classes = classes_of(archive, folder)
        # Other programs number the tracks of each sequence on its own.
        prefix = "" if table.is_ours else f"{key}/"
        yield from table.new(path, key, **sequence_of(archive, folder, key, folders))
        for place, line in text_lines(archive, path):
            try:
                label = _label(line, key, classes)
            except (ValueError, OverflowError) as error:
                yield refusal(place, str(error))
                continue
            if label is None:
                yield refusal(place, "its confidence is 0: the benchmark ignores it")
                continue
            if label.track is not None:
                label = msgspec.structs.replace(label, track=prefix + label.track)
                if (key, label.track) not in tracks:
                    tracks.add((key, label.track or ""))
                    yield Placed(place, State(media=key, key=label.track or "", class_name=label.class_name))
            yield Placed(place, label)
            later = zip(_LATER, map(str.strip, line.split(",")[_LEAST:]), strict=False)
            yield from dropped(place, "line", dict(later), ("class",), _BLANK)
    yield from table.rest()


def classes_of(archive: Archive, folder: str) -> list[str]:
    """The names of the classes of a sequence, the first of number 1; empty where the archive does not tell them."""
    labels = f"{folder}/gt/labels.txt"
    return [line for _, line in text_lines(archive, labels)] if labels in set(archive.names()) else []


def sequence_of(archive: Archive, folder: str, key: str, folders: Collection[str]) -> dict[str, Any]:
    """The members of the media of a sequence, by its `seqinfo.ini`; `folders` are those that have pictures."""
    info = _info(archive, f"{folder}/seqinfo.ini") if f"{folder}/seqinfo.ini" in set(archive.names()) else {}
    pictures = f"{folder}/{info.get('imdir') or 'img1'}/"
    sizes = (("width", "imwidth"), ("height", "imheight"), ("frames", "seqlength"))
    return {
        "name": info.get("name") or key,
        "is_video": True,
        "path": pictures if pictures in folders else "",
        "fps": _rate(info),
        **{member: size for member, name in sizes if (size := natural(info.get(name, ""))) is not None},
    }


def _label(line: str, media: str, classes: list[str]) -> Label | None:
    fields = [field.strip() for field in line.split(",")]
    if len(fields) < _LEAST:
        raise ValueError(f"{len(fields)} fields are fewer than {_LEAST}")
    frame, left, top, width, height = whole(fields[0]), *map(number, fields[2:6])
    if frame < 1:
        raise ValueError(f"frame {frame}: frames count from 1")
    if len(fields) > _LEAST and number(fields[_LEAST]) == 0:
        return None
    class_name = ""
    if len(fields) > _CLASS and (numbered := whole(fields[_CLASS])) > 0:
        if classes and numbered > len(classes):
            raise ValueError(f"class {numbered} is not one of the {len(classes)} in labels.txt")
        class_name = classes[numbered - 1] if classes else str(numbered)
    is_tracked = fields[1] and number(fields[1]) != -1 if _is_number(fields[1]) else bool(fields[1])
    return Label(
        media=media,
        kind="box",
        shape=(left, top, width, height),
        frame=frame - 1,
        unit="pixel",
        class_name=class_name,
        track=fields[1] if is_tracked else None,
    )


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(\.0*)?", text) is not None


def _rate(info: dict[str, str]) -> float | None:
    """Frames a second, if `seqinfo.ini` says so."""
    try:
        return number(info["framerate"])
    except (KeyError, ValueError):
        return None


def _info(archive: Archive, path: str) -> dict[str, str]:
    if archive.size(path) > LARGEST_INI:
        raise BadInput(f"{path} has more than {LARGEST_INI} bytes.")
    parser = configparser.ConfigParser(interpolation=None)
    with archive.open(path) as file:
        try:
            parser.read_string(file.read().decode("utf-8-sig"))
        except (configparser.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{path}: {str(error)[:200]}") from None
    return dict(parser["Sequence"]) if parser.has_section("Sequence") else {}
