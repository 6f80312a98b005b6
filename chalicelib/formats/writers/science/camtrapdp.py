"""Camtrap DP 1.0 (TDWG): `datapackage.json` and the tables of deployments, media files and observations.

A media is a deployment of its own: parts are written side by side, and what a camera saw together is in
`deploymentGroups`, as its section. An observation is a label, or an annotation of a media or frame; `individualID` is
the track. Boxes are `bboxX`, `bboxY`, `bboxWidth`, `bboxHeight` in fractions, dots without the last two; lines and
polygons are their boxes. An attribute with the name of a column fills it where its value fits. All attributes, frames,
and attributes of tracks (`track/`) are `observationTags`: `name:value`, with `%`, `|` and `:` of names as in URLs.

The table of media is `mediafiles.csv`: `media.csv` is that of all archives (`formats/manifest.py`).
"""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import msgspec

from chalicelib.formats import manifest
from chalicelib.formats.manifest import as_text
from chalicelib.formats.model import (
    Attributes,
    Dataset,
    Group,
    Label,
    Layout,
    Media,
    Section,
    Sink,
    State,
    box_of,
    fixed_files,
)
from chalicelib.formats.model import split_picture_path as picture_path
from chalicelib.formats.writers.geojson import position
from chalicelib.formats.writers.science import terms

__all__ = ["BY_FRAMES", "always", "layout", "picture_path", "write"]
BY_FRAMES = True
PACKAGE = "datapackage.json"
FRAME, KEYED, OF_TRACK = "limn/frame", "limn/keyed", "track/"
"""Tags that are not attributes of the label; names of attributes have no `/`."""
TYPES = ("animal", "human", "vehicle", "blank", "unknown", "unclassified")
"""What an observation is of; classes of these names are no scientific names."""
OF_DEPLOYMENT: dict[str, terms.Rule] = {
    **dict.fromkeys(("locationID", "locationName", "setupBy", "cameraID", "cameraModel", "habitat"), terms.text),
    **dict.fromkeys(("deploymentGroups", "deploymentTags", "deploymentComments"), terms.text),
    "coordinateUncertainty": terms.number(1, is_whole=True),
    "cameraDelay": terms.number(0, is_whole=True),
    **dict.fromkeys(("cameraHeight", "cameraDepth", "detectionDistance"), terms.number(0)),
    "cameraTilt": terms.number(-90, 90, is_whole=True),
    "cameraHeading": terms.number(0, 360, is_whole=True),
    **dict.fromkeys(("timestampIssues", "baitUse"), terms.flag),
    "featureType": terms.one_of(
        "roadPaved", "roadDirt", "trailHiking", "trailGame", "roadUnderpass", "roadOverpass", "roadBridge", "culvert",
        "burrow", "nestSite", "carcass", "waterSource", "fruitingTree",
    ),
}  # fmt: skip
"""The columns that attributes of a media may fill; so for the next two."""
OF_MEDIA: dict[str, terms.Rule] = {
    "captureMethod": terms.one_of("activityDetection", "timeLapse"),
    **dict.fromkeys(("filePublic", "favorite"), terms.flag),
    **dict.fromkeys(("exifData", "mediaComments"), terms.text),
}
OF_OBSERVATION: dict[str, terms.Rule] = {
    "cameraSetupType": terms.one_of("setup", "calibration"),
    "count": terms.number(1, is_whole=True),
    "lifeStage": terms.one_of("adult", "subadult", "juvenile"),
    "sex": terms.one_of("female", "male"),
    **dict.fromkeys(("eventID", "behavior", "individualID", "classifiedBy", "observationComments"), terms.text),
    **dict.fromkeys(("individualPositionRadius", "individualSpeed"), terms.number(0)),
    "individualPositionAngle": terms.number(-90, 90),
    "classificationMethod": terms.one_of("human", "machine"),
    "classificationTimestamp": terms.time,
    "classificationProbability": terms.number(0, 1),
}
COLUMNS = {
    "deployments.csv": (
        "deploymentID", "locationID", "locationName", "latitude", "longitude", "coordinateUncertainty",
        "deploymentStart", "deploymentEnd", "setupBy", "cameraID", "cameraModel", "cameraDelay", "cameraHeight",
        "cameraDepth", "cameraTilt", "cameraHeading", "detectionDistance", "timestampIssues", "baitUse", "featureType",
        "habitat", "deploymentGroups", "deploymentTags", "deploymentComments",
    ),
    "mediafiles.csv": (
        "mediaID", "deploymentID", "captureMethod", "timestamp", "filePath", "filePublic", "fileName", "fileMediatype",
        "exifData", "favorite", "mediaComments",
    ),
    "observations.csv": (
        "observationID", "deploymentID", "mediaID", "eventID", "eventStart", "eventEnd", "observationLevel",
        "observationType", "cameraSetupType", "scientificName", "count", "lifeStage", "sex", "behavior", "individualID",
        "individualPositionRadius", "individualPositionAngle", "individualSpeed", "bboxX", "bboxY", "bboxWidth",
        "bboxHeight", "classificationMethod", "classifiedBy", "classificationTimestamp", "classificationProbability",
        "observationTags", "observationComments",
    ),
}  # fmt: skip
"""The columns of each table, in the order of the standard."""
_TABLES = {"deployments": "deployments.csv", "media": "mediafiles.csv", "observations": "observations.csv"}
_AT = "https://raw.githubusercontent.com/tdwg/camtrap-dp/1.0"
_RANKS = ("kingdom", "phylum", "class", "order", "family", "genus", "species", "subspecies")
_LEAST = 1e-15
"""The least width of a box."""
_encode = msgspec.json.Encoder().encode


def write(dataset: Dataset, groups: Iterable[Group], sink: Sink, first: int) -> int:  # noqa: ARG001 ids are elemental
    """Write one part; see `model.Format`."""
    classes, left_out = set(dataset.classes), 0
    for group in groups:
        media, start = group.media, terms.recorded(dataset, group.media)
        manifest.write(group, sink)
        if group.is_first:
            _write_media(dataset, group, start, sink)
        of_tracks = {state.key: state for state in group.states if state.association == "track"}
        waiting, taken = dict(of_tracks), set[str]()
        for label in group.labels:
            if label.class_name not in classes:
                left_out += 1
                continue
            track = of_tracks.get(label.track or "")
            first_of = waiting.pop(label.track or "", None)
            tags = _tags_of_label(label, media, first_of.attributes if first_of else {})
            row = _observation(media, start, label, tags)
            row |= {"observationID": _own_id(label, media, taken), **_box(label)}
            row["count"] = row.get("count", "1")
            row["individualID"] = _individual(label, track) or row.get("individualID", "")
            sink.append("observations.csv", "rows", _line("observations.csv", row))
        for state in group.states if group.is_first else ():
            if state.association != "track":
                tags = [*_tags(state.attributes), *([f"{FRAME}:{state.frame}"] if state.frame is not None else [])]
                row = _observation(media, start, state, tags)
                row["observationID"] = f"{state.elemental_id or state.key}@{media.key}"
                sink.append("observations.csv", "rows", _line("observations.csv", row))
    return left_out


def layout(dataset: Dataset, path: str) -> Layout:
    """Tables have a header; the package names the places of all deployments."""
    if path != PACKAGE:
        return manifest.line(COLUMNS[path]), Section("rows")
    head, _, tail = _encode(_package(dataset)).partition(b'"PLACES"')
    return head, Section("places", b","), tail


always = fixed_files(PACKAGE, *COLUMNS)


def escape(text: str, signs: str) -> str:
    """Text within tags: `%`, `signs`, and blanks that would be lost, as in URLs."""
    return re.sub(rf"[%{signs}]|\A +| +\Z|[^\S ]", lambda found: quote(found[0], safe=""), text)


def _package(dataset: Dataset) -> dict[str, Any]:
    """The description, which its publisher completes: contributors, the design and the dates are not known here."""
    day = dataset.created[:10] or "1970-01-01"
    resources = [
        {
            "name": name, "path": path, "profile": "tabular-data-resource", "format": "csv", "mediatype": "text/csv",
            "encoding": "utf-8", "schema": f"{_AT}/{name}-table-schema.json",
        }
        for name, path in _TABLES.items()
    ]  # fmt: skip
    return {
        "resources": resources,
        "profile": f"{_AT}/camtrap-dp-profile.json",
        "name": re.sub(r"[^a-z0-9._-]+", "-", dataset.name.lower()).strip("-") or "dataset",
        "id": str(dataset.source.get("export") or dataset.name),
        "created": dataset.created or f"{day}T00:00:00Z",
        "title": dataset.name,
        "contributors": [{"title": f"Contributors of {dataset.name}", "role": "contributor"}],
        "project": {
            "title": dataset.name,
            "samplingDesign": "opportunistic",
            "captureMethod": ["activityDetection"],
            "individualAnimals": True,
            "observationLevel": ["media"],
        },
        "spatial": {"type": "MultiPoint", "coordinates": ["PLACES"]},
        "temporal": {"start": day, "end": day},
        "taxonomic": [_taxon(dataset, name) for name in dataset.classes if name and name not in TYPES],
    }


def _taxon(dataset: Dataset, name: str) -> dict[str, Any]:
    """A class with what its leaf says of it."""
    leaf = dataset.taxa.get(name, {})
    more = {"taxonID": str(leaf["taxonID"])} if "taxonID" in leaf else {}
    return {"scientificName": name, **more, **({"taxonRank": leaf["rank"]} if leaf.get("rank") in _RANKS else {})}


def _write_media(dataset: Dataset, group: Group, start: datetime | None, sink: Sink) -> None:
    media = group.media
    place = position(dataset.media_attributes, media.attributes)
    if place is not None:
        sink.append(PACKAGE, "places", _encode(place))
    group_of = {"deploymentGroups": f"section:{media.section}"} if media.section else {}
    deployment = {
        "locationName": media.section,
        **group_of,
        **terms.filled(OF_DEPLOYMENT, media.attributes),
        "deploymentID": media.key,
        **({"longitude": repr(place[0]), "latitude": repr(place[1])} if place else {}),
        "deploymentStart": _time(start, 0.0),
        "deploymentEnd": _time(start, media.frames / media.fps if media.fps else 0.0),
    }
    sink.append("deployments.csv", "rows", _line("deployments.csv", deployment))
    kind = "video" if media.is_video else "image"
    guessed = mimetypes.guess_type(media.name)[0] or ""
    extension = "mp4" if media.is_video else dataset.picture
    pictured = group.pictures is not None and not media.is_video
    row = {
        "filePublic": "false",
        **terms.filled(OF_MEDIA, media.attributes),
        "mediaID": media.key,
        "deploymentID": media.key,
        "timestamp": _time(start, 0.0),
        "filePath": picture_path(media, 0, extension) if pictured else f"media/{media.key}.{extension}",
        "fileName": media.name,
        "fileMediatype": guessed if guessed.startswith(f"{kind}/") else f"{kind}/{'mp4' if media.is_video else 'jpeg'}",
    }
    sink.append("mediafiles.csv", "rows", _line("mediafiles.csv", row))


def _observation(media: Media, start: datetime | None, row: Label | State, tags: list[str]) -> dict[str, str]:
    seconds = (row.frame or 0) / media.fps if media.fps else 0.0
    is_whole = isinstance(row, State) and row.association == "media"
    name = row.class_name
    return {
        **terms.filled(OF_OBSERVATION, row.attributes),
        "deploymentID": media.key,
        "mediaID": media.key,
        "eventStart": _time(start, seconds),
        "eventEnd": _time(start, media.frames / media.fps if is_whole and media.fps else seconds),
        "observationLevel": "media",
        "observationType": name if name in TYPES else "animal" if name else "unclassified",
        "scientificName": "" if name in TYPES else name,
        "observationTags": " | ".join(tags),
    }


def _box(label: Label) -> dict[str, str]:
    """The columns of the place, which the standard bounds by the picture."""
    x, y, width, height = box_of(label)
    found = {"bboxX": repr(_unit(x)), "bboxY": repr(_unit(y))}
    if label.kind != "dot":
        found |= {"bboxWidth": repr(max(_unit(width), _LEAST)), "bboxHeight": repr(max(_unit(height), _LEAST))}
    return found


def _unit(number: float) -> float:
    return min(max(number, 0.0), 1.0)


def _own_id(label: Label, media: Media, taken: set[str]) -> str:
    """The id of an observation: of the label, with the frame of an interpolated one, or the number of a version."""
    own = label.elemental_id or f"{media.key}:{label.id}"
    own = own if label.keyed else f"{own}#{label.frame}"
    own = f"{own}#{label.id}" if own in taken else own
    taken.add(own)
    return own


def _individual(label: Label, track: State | None) -> str:
    return (track.elemental_id or track.key) if track else label.track or ""


def _tags_of_label(label: Label, media: Media, of_track: Attributes) -> list[str]:
    found = [f"{FRAME}:{label.frame}"] if media.is_video else []
    found += [] if label.keyed else [f"{KEYED}:false"]
    return [*found, *_tags(label.attributes), *_tags(of_track, OF_TRACK)]


def _tags(attributes: Attributes, prefix: str = "") -> Iterator[str]:
    for name, value in attributes.items():
        if value is not None and value != "":
            yield f"{prefix}{escape(name, '|:/')}:{escape(as_text(value), '|')}"


def _time(start: datetime | None, seconds: float) -> str:
    if start is None:
        return ""
    try:
        return (start + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except OverflowError:
        return ""


def _line(path: str, row: dict[str, Any]) -> bytes:
    return manifest.line(row.get(name, "") for name in COLUMNS[path])
