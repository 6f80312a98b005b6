"""GeoJSON (RFC 7946): `positions.geojson`, a point for each media, label and state that has a position.

A position is the first geopos attribute that has a value, as longitude and latitude in degrees (WGS 84). A label
without one has its media's. Whatever has no position is left out. Members other than the position are properties.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from chalicelib.formats import manifest
from chalicelib.formats.model import Attributes, Dataset, Group, Layout, Section, Sink, fixed_files, split_picture_path

picture_path = split_picture_path
BY_FRAMES = True
PATH = "positions.geojson"
_encode = msgspec.json.Encoder().encode
_PLACE = 2


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 no numbers
    """Write one part; see `model.Format`. What is left out is counted for labels only."""
    left_out = 0
    for group in groups:
        manifest.write(group, sink)
        media = group.media
        own = position(dataset.media_attributes, media.attributes)
        if own and group.is_first:
            sink.append(PATH, "features", _feature("media", own, media))
        for state in group.states if group.is_first else ():
            if place := position(dataset.state_attributes, state.attributes):
                sink.append(PATH, "features", _feature("state", place, state))
        for label in group.labels:
            place = position(dataset.label_attributes, label.attributes) or own
            if place is None:
                left_out += 1
                continue
            sink.append(PATH, "features", _feature("localization", place, label))
    return left_out


def layout(dataset: Dataset, path: str) -> Layout:  # noqa: ARG001 the same for all
    """The collection."""
    head = b'{"type":"FeatureCollection","name":' + _encode(dataset.name) + b',"features":[\n'
    return head, Section("features", b",\n"), b"\n]}\n"


always = fixed_files(PATH)


def position(dtypes: Mapping[str, str], attributes: Attributes) -> tuple[float, float] | None:
    """Longitude and latitude of the first geopos attribute with a value."""
    for name, dtype in dtypes.items():
        value = attributes.get(name) if dtype == "geopos" else None
        if isinstance(value, list | tuple) and len(value) == _PLACE:
            return float(value[0]), float(value[1])
    return None


def _feature(kind: str, place: tuple[float, float], row: Any) -> bytes:
    members = {name: value for name, value in msgspec.structs.asdict(row).items() if value not in (None, "", {})}
    geometry = {"type": "Point", "coordinates": place}
    return _encode({"type": "Feature", "geometry": geometry, "properties": {"table": kind, **members}})
