"""Read DIVE's own JSON: any `.json` of an archive, one for each video.

The video has the name of the file, or of its folder where that is `annotations.json`. A track of one frame is a label,
one of several a track whose keyframes are labels. Where `interpolate` is not set, a gap follows until the next
keyframe. A polygon becomes a polygon, head and tail a line, all else the `bounds`; the surest class counts, and a
confidence below 1 is the attribute `Confidence`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from chalicelib.errors import BadInput
from chalicelib.formats.json_stream import json_members, members_of
from chalicelib.formats.model import Archive, Attributes, Label, LabelKind, State
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    base,
    dropped,
    matching,
    numbers,
    refusal,
    stem,
)
from chalicelib.formats.writers.science.dive import FILE
from chalicelib.formats.writers.science.viame import CONFIDENCES, ENDS

_TRACK = frozenset({"features", "confidencePairs", "attributes", "begin", "end", "id", "trackId"})
_FEATURE = frozenset({"frame", "bounds", "keyframe", "interpolate", "attributes", "geometry", *ENDS})
_LEAST = 3
"""Points of a polygon."""


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    table, found = MediaTable(archive), matching(archive, r".*\.json")
    if not found and not table.is_ours:
        raise BadInput("DIVE: the archive has no .json file.")
    for path in found:
        folder = base(path.rpartition("/")[0])
        yield from _tracks(archive, path, table, folder if base(path) == FILE and folder else stem(path))
    yield from table.rest()


def _tracks(archive: Archive, path: str, table: MediaTable, media: str) -> Rows:
    is_dive = False
    for name, _, value in json_members(archive, path):
        if name != "tracks":
            continue
        is_dive = isinstance(value, dict)
        for number, track in value.items() if is_dive else ():
            place = f"{path} tracks[{number!r}]"
            try:
                yield from _track(place, members_of(track), media, f"{path}/{number}", table)
            except (ValueError, KeyError, TypeError) as error:
                yield refusal(place, f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error))
    if not is_dive:
        raise BadInput(f"{path} has no object `tracks`: it is not DIVE's JSON, version 2.")


def _track(place: str, track: Mapping[str, Any], media: str, key: str, table: MediaTable) -> Rows:
    features = [members_of(each) for each in track["features"] if members_of(each).get("keyframe", True)]
    frames = [_frame(each) for each in features]
    if frames != sorted(set(frames)):
        raise ValueError("features: their frames are not in order")
    yield from dropped(place, "tracks", track, _TRACK)
    yield from table.new(place, media, **({} if media in table.listed else {"is_video": True}))
    name, sure = _class(track)
    is_track = len(features) > 1 or int(track.get("end", 0)) > int(track.get("begin", 0))
    if is_track:
        yield Placed(place, State(media=media, key=key, class_name=name, attributes=_attributes(track)))
    gaps = {
        frame + 1
        for (frame, feature), (following, _) in pairwise(zip(frames, features, strict=True))
        if not feature.get("interpolate") and following > frame + 1
    }
    for frame, feature in zip(frames, features, strict=True):
        kind, shape, note = _shape(feature)
        attributes = _attributes(feature)
        if sure < 1 and not any(each.casefold() in CONFIDENCES for each in attributes):
            attributes = {**attributes, "Confidence": sure}
        label = Label(
            media=media, kind=kind, shape=shape, frame=frame, unit="pixel", class_name=name,
            track=key if is_track else None, attributes=attributes,
        )  # fmt: skip
        yield Placed(place, label, note)
        yield from dropped(place, "features", feature, _FEATURE)
        if frame + 1 in gaps:
            gap = Label(media=media, kind=kind, shape=(), frame=frame + 1, unit="pixel", class_name=name, track=key)
            yield Placed(place, gap)


def _frame(feature: Mapping[str, Any]) -> int:
    frame = feature["frame"]
    if isinstance(frame, bool) or not isinstance(frame, int) or frame < 0:
        raise ValueError(f"frame {frame!r}: frames count from 0")
    return frame


def _class(track: Mapping[str, Any]) -> tuple[str, float]:
    """The surest class of a track, and how sure it is."""
    pairs = [(str(name), numbers([sure], 1)[0]) for name, sure in track.get("confidencePairs") or []]
    return max(pairs, key=lambda pair: pair[1], default=("", 1.0))


def _attributes(value: Mapping[str, Any]) -> Attributes:
    return {str(name): held for name, held in members_of(value.get("attributes") or {}).items() if held is not None}


def _shape(feature: Mapping[str, Any]) -> tuple[LabelKind, tuple[float, ...], str]:
    """Kind and numbers in pixels, and what was left out."""
    polygons, points, note = [], {}, ""
    for each in members_of(feature.get("geometry") or {}).get("features") or []:
        geometry = members_of(members_of(each)["geometry"])
        if geometry["type"] == "Polygon":
            polygons.append(geometry["coordinates"])
        elif geometry["type"] == "Point":
            points[members_of(each["properties"]).get("key")] = numbers(geometry["coordinates"], 2)
    for name in ENDS:
        if name in feature and name not in points:
            points[name] = numbers(feature[name], 2)
    if len(polygons) == 1:
        ring = [numbers(point, 2) for point in polygons[0][0]]
        ring = ring[:-1] if ring[0] == ring[-1] else ring
        if len(ring) < _LEAST:
            raise ValueError(f"geometry: {len(ring)} points are not a polygon")
        if len(polygons[0]) > 1:
            note = "holes were left out"
        return "poly", tuple(number for point in ring for number in point), note
    if set(points) >= set(ENDS):
        (x, y), (u, v) = (points[name] for name in ENDS)
        return "line", (x, y, u - x, v - y), ""
    left, top, right, bottom = numbers(feature["bounds"], 4)
    note = "several polygons became their box" if polygons else "points were left out" if points else ""
    return "box", (left, top, right - left, bottom - top), note
