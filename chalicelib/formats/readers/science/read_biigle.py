"""Read BIIGLE's annotation reports: any `.csv` of an archive with `filename` or `video_filename`, `points` and labels.

A line is a label of an annotation: several shapes of a video are a track, whose times become frames by the rate of the
media. `WholeFrame` is an annotation of a frame or video. The class is `label_name`; a hierarchy of several names is the
attribute `label_hierarchy`, as BIIGLE writes it: `Animalia > Annelida`.
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.errors import BadInput
from chalicelib.formats.json_stream import json_value, members_of
from chalicelib.formats.model import MANIFEST, Archive, Attributes
from chalicelib.formats.readers.reading import (
    MediaTable,
    Rows,
    base,
    csv_lines,
    dropped,
    matching,
    number,
    refusal,
    stem,
)
from chalicelib.formats.readers.science.read_outlines import Annotation, rows_of
from chalicelib.formats.writers.science.biigle import COLUMNS, IMAGES, VIDEOS

_NEEDED = ("label_name", "shape_name", "points")
_KNOWN = frozenset(COLUMNS[IMAGES]) | frozenset(COLUMNS[VIDEOS])
_LOST = ("user_id", "firstname", "lastname", "created_at")
"""Columns of the standard that have no place here."""


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    table, known = MediaTable(archive), set[str]()
    found = [path for path in matching(archive, r".+\.csv") if path != MANIFEST]
    if not found:
        raise BadInput("BIIGLE: the archive has no .csv file.")
    pictures = {base(name): name for name in archive.names()}
    by_id = {media.id: key for key, media in table.listed.items()}
    for path in found:
        for place, line in csv_lines(archive, path):
            is_video = "video_filename" in line
            name = line.get("video_filename" if is_video else "filename")
            if missing := [each for each in _NEEDED if each not in line]:
                raise BadInput(f"{path}: it has no column {', '.join(missing)}; it is not a report of BIIGLE.")
            if name is None or (is_video and "frames" not in line):
                raise BadInput(f"{path}: it has no column filename or video_filename and frames; it is not BIIGLE's.")
            try:
                key = _key(line, name, by_id, table, is_video=is_video)
                yield from table.new(
                    place, key, name=base(name), is_video=is_video, path=pictures.get(base(name), ""),
                    attributes=_of_media(line),
                )  # fmt: skip
                yield from rows_of(_annotation(place, line, key, table, is_video=is_video), known)
            except (ValueError, KeyError, TypeError, OverflowError) as error:
                yield refusal(place, f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error))
                continue
            if not table.is_ours:
                yield from dropped(place, "line", line, _KNOWN.difference(_LOST))
    yield from table.rest()


def _key(
    line: Mapping[str, str], name: str, by_id: Mapping[int | None, str], table: MediaTable, *, is_video: bool
) -> str:
    """The key of the media of a line: in archives of ours that of its id or picture."""
    if not table.is_ours:
        return name
    if is_video:
        return by_id.get(int(line["video_id"] or 0), name)
    return table.locate(stem(name))[0]


def _annotation(place: str, line: Mapping[str, str], key: str, table: MediaTable, *, is_video: bool) -> Annotation:
    points = json_value(line["points"] or "[]")
    if not isinstance(points, list):
        raise ValueError("points is not a list")  # noqa: TRY004 one error for all that is wrong with a row
    seconds = None
    if is_video:
        seconds = json_value(line["frames"] or "[]")
        if not isinstance(seconds, list):
            raise ValueError("frames is not a list")
    more: Attributes = {}
    if (hierarchy := line.get("label_hierarchy", "")) and hierarchy != line["label_name"]:
        more["label_hierarchy"] = hierarchy
    is_ours = table.is_ours and bool(line.get("limn"))
    return Annotation(
        place=place, media=key, key=f"{place} {line.get('annotation_id', '')}", word=line["shape_name"],
        shapes=points if is_video else [points], seconds=seconds, class_name=line["label_name"], attributes=more,
        limn=members_of(json_value(line["limn"])) if is_ours else {},
    )  # fmt: skip


def _of_media(line: Mapping[str, str]) -> Attributes:
    if line.get("image_longitude") and line.get("image_latitude"):
        return {"Position": [number(line["image_longitude"]), number(line["image_latitude"])]}
    return {}
