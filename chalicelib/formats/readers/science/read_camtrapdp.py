"""Read Camtrap DP: `datapackage.json` names the tables of deployments, media files and observations.

An observation with a place is a box, or a dot where it has no width; one without is an annotation of its media, or of
each media of its deployment within its time where it names none. `individualID` of a place in a video is its track. The
class is the scientific name, else the type of the observation. Columns of the standard that say more become attributes,
those of deployments attributes of their media; the position is `Position`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from chalicelib.errors import BadInput
from chalicelib.formats.json_stream import json_members
from chalicelib.formats.model import MANIFEST, Archive, Attributes, Label, State
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    base,
    csv_lines,
    dropped,
    matching,
    number,
    refusal,
    whole,
)
from chalicelib.formats.writers.science.camtrapdp import (
    COLUMNS,
    FRAME,
    KEYED,
    OF_DEPLOYMENT,
    OF_MEDIA,
    OF_OBSERVATION,
    OF_TRACK,
)
from chalicelib.formats.writers.science.terms import moment

_NAMES = ("deployments", "media", "observations")
_PLACE = ("bboxX", "bboxY", "bboxWidth", "bboxHeight")
_UUID = 36
"""Characters of a UUID."""
Tags = dict[str, str]


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    yield from _Package(archive).rows()


class _Package:
    """One package."""

    def __init__(self, archive: Archive) -> None:
        found = matching(archive, r"(.*/)?datapackage\.json")
        if len(found) != 1:
            raise BadInput(f"Camtrap DP: the archive has {len(found)} files datapackage.json; it must have one.")
        self._archive = archive
        self._folder = found[0].removesuffix("datapackage.json")
        self._paths = self._resources(found[0])
        self._table = MediaTable(archive, is_listed=MANIFEST not in self._paths.values())
        self._deployments: dict[str, Attributes] = {}
        self._of_deployment: defaultdict[str, list[tuple[datetime, str]]] = defaultdict(list)
        self._media: dict[str, bool] = {}
        self._tracks: set[tuple[str, str]] = set()

    def _resources(self, package: str) -> dict[str, str]:
        """The paths of the three tables by name."""
        found: dict[str, str] = {}
        for member, index, value in json_members(self._archive, package):
            if member != "resources" or index is None or not isinstance(value, dict) or value.get("name") not in _NAMES:
                continue
            path = f"{self._folder}{value.get('path')}"
            if path not in self._archive.names():
                raise BadInput(f"{package}: the table {path!r} of {value['name']} is not in the archive.")
            found[value["name"]] = path
        if missing := [name for name in _NAMES if name not in found]:
            raise BadInput(f"{package} has no resource {', '.join(missing)}: it is not Camtrap DP.")
        return found

    def rows(self) -> Rows:
        """Its rows."""
        for place, line in csv_lines(self._archive, self._paths["deployments"]):
            yield from self._deployment(place, line)
        for place, line in csv_lines(self._archive, self._paths["media"]):
            try:
                yield from self._file(place, line)
            except (ValueError, KeyError) as error:
                yield refusal(place, _reason(error))
        for each in self._of_deployment.values():
            each.sort()
        for place, line in csv_lines(self._archive, self._paths["observations"]):
            try:
                yield from self._observation(place, line)
            except (ValueError, KeyError, OverflowError) as error:
                yield refusal(place, _reason(error))
        yield from self._table.rest()

    def _deployment(self, place: str, line: Mapping[str, str]) -> Rows:
        more: Attributes = _known(OF_DEPLOYMENT, line)
        try:
            if line.get("longitude") and line.get("latitude"):
                more["Position"] = [number(line["longitude"]), number(line["latitude"])]
            self._deployments[line["deploymentID"]] = more
        except (ValueError, KeyError) as error:
            yield refusal(place, _reason(error))
        yield from dropped(place, "deployments", line, COLUMNS["deployments.csv"])

    def _file(self, place: str, line: Mapping[str, str]) -> Rows:
        key, kind = line["mediaID"], line.get("fileMediatype", "").partition("/")[0]
        if not key:
            raise ValueError("mediaID is empty")
        if kind == "audio":
            raise ValueError("fileMediatype: sound is no media here")
        self._media[key] = kind == "video"
        if recorded := moment(line.get("timestamp") or None):
            self._of_deployment[line.get("deploymentID", "")].append((recorded, key))
        if not self._table.is_ours:
            yield from dropped(place, "media", line, COLUMNS["mediafiles.csv"])
        given, path = line.get("filePath", ""), f"{self._folder}{line.get('filePath', '')}"
        more = {**self._deployments.get(line.get("deploymentID", ""), {}), **_known(OF_MEDIA, line)}
        if line.get("timestamp"):
            more["timestamp"] = line["timestamp"]
        yield from self._table.new(
            place,
            key,
            name=line.get("fileName") or base(given) or key,
            is_video=kind == "video",
            path=path if path in self._archive.names() else "",
            attributes=more,
        )

    def _observation(self, place: str, line: Mapping[str, str]) -> Rows:
        tags = _tags(line.get("observationTags", "")) if self._table.is_ours else {}
        name = line.get("scientificName") or line.get("observationType", "")
        if self._table.is_ours:
            attributes: Attributes = {unquote(at): held for at, held in tags.items() if "/" not in at}
            name = "" if name == "unclassified" else name
        else:
            attributes = _known({**OF_OBSERVATION, "observationTags": None}, line)
            yield from dropped(place, "observations", line, COLUMNS["observations.csv"])
        own = line["observationID"].partition("#")[0].partition("@")[0]
        more: dict[str, Any] = {
            "class_name": name,
            "elemental_id": own if self._table.is_ours and len(own) == _UUID else "",
        }
        if not line.get("bboxX"):
            yield from self._state(place, line, {**more, "attributes": attributes}, tags)
            return
        media = line["mediaID"]
        if media not in self._media:
            raise ValueError(f"mediaID: {media!r} is not among the media files")
        numbers = [number(line[each]) for each in _PLACE if line.get(each)]
        if len(numbers) not in (2, len(_PLACE)):
            raise ValueError(f"{', '.join(_PLACE)}: {len(numbers)} numbers are neither a point nor a box")
        is_video, track = self._media[media], None
        if (individual := line.get("individualID")) and (is_video or self._table.is_ours):
            attributes = {at: held for at, held in attributes.items() if self._table.is_ours or at != "individualID"}
            track = yield from self._track(place, media, individual, name, tags)
        is_unplaced = is_video and FRAME not in tags
        label = Label(
            media=media, kind="dot" if len(numbers) == 2 else "box", shape=tuple(numbers),  # noqa: PLR2004 x and y
            frame=whole(tags.get(FRAME, "0")), track=track, keyed=tags.get(KEYED) != "false", attributes=attributes,
            **more,
        )  # fmt: skip
        yield Placed(place, label, "its frame is not known: the first one was taken" if is_unplaced else "")

    def _track(self, place: str, media: str, individual: str, name: str, tags: Tags) -> Any:
        """The state of a track, the first time that it is named on a media; returns its key."""
        if (media, individual) not in self._tracks:
            self._tracks.add((media, individual))
            of_track = {unquote(at[len(OF_TRACK) :]): held for at, held in tags.items() if at.startswith(OF_TRACK)}
            own = individual if self._table.is_ours and len(individual) == _UUID else ""
            state = State(media=media, key=individual, class_name=name, attributes=of_track, elemental_id=own)
            yield Placed(place, state)
        return individual

    def _state(self, place: str, line: Mapping[str, str], more: dict[str, Any], tags: Tags) -> Rows:
        """An observation of a media or frame; one of an event is of all its media."""
        frame = whole(tags[FRAME]) if FRAME in tags else None
        association = "media" if frame is None else "frame"
        media = [line["mediaID"]] if line.get("mediaID") else self._of_event(line)
        if unknown := [key for key in media if key not in self._media]:
            raise ValueError(f"mediaID: {unknown[0]!r} is not among the media files")
        if not media:
            raise ValueError("no media file of its deployment lies within eventStart and eventEnd")
        key = f"observation {line['observationID'].partition('@')[0]}"
        for each in media:
            yield Placed(place, State(media=each, key=key, association=association, frame=frame, **more))  # type: ignore[arg-type]

    def _of_event(self, line: Mapping[str, str]) -> list[str]:
        start, end = moment(line.get("eventStart")), moment(line.get("eventEnd"))
        if start is None or end is None:
            raise ValueError("an observation without mediaID needs eventStart and eventEnd")
        return [key for at, key in self._of_deployment.get(line.get("deploymentID", ""), []) if start <= at <= end]


def _known(columns: Mapping[str, Any], line: Mapping[str, str]) -> dict[str, Any]:
    return {name: line[name] for name in columns if line.get(name)}


def _tags(text: str) -> Tags:
    """Tags by their names, which are still quoted: a `/` parts what is not an attribute."""
    pairs = (tag.partition(":") for tag in text.split(" | ") if tag)
    return {name: unquote(value) for name, _, value in pairs}


def _reason(error: Exception) -> str:
    return f"the column {error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
