"""Read iFDO: `ifdo.json`, or any `.json`, `.yaml` or `.yml` of an archive.

An item is the media with the name of its file. The first label of an annotation is its class, by the name that the
header gives to its id; a confidence below 1 is the attribute `Confidence`. Several shapes of a video are a track, whose
times become frames by the rate of the media. Time and place of an item are the attributes `image-datetime` and
`Position`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from chalicelib.errors import BadInput
from chalicelib.formats.json_stream import json_members, members_of
from chalicelib.formats.model import MANIFEST, Archive, Attributes
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
    yaml_document,
)
from chalicelib.formats.readers.science.read_outlines import Annotation, rows_of

LARGEST_YAML = 16 * 1024 * 1024
HEADER, ITEMS = "image-set-header", "image-set-items"
_VIDEOS = ("mp4", "m4v", "mov", "mkv", "webm", "avi", "wmv", "mxf", "ts", "mts", "m2ts", "mpg", "mpeg")
_READ = frozenset({
    "image-acquisition", "image-uuid", "image-datetime", "image-longitude", "image-latitude", "image-annotations",
    "image-annotation-labels", "image-annotation-creators", "image-filename",
})  # fmt: skip
_OF_ANNOTATION = frozenset({"shape", "coordinates", "labels", "frames", "limn"})
_OF_LABEL = frozenset({"label", "confidence"})


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    table = MediaTable(archive)
    found = [path for path in matching(archive, r".+\.(json|ya?ml)") if base(path) != MANIFEST]
    if not found:
        raise BadInput("iFDO: the archive has no .json, .yaml or .yml file.")
    for path in found:
        yield from _File(archive, path, table).rows()
    yield from table.rest()


class _File:
    """One file."""

    def __init__(self, archive: Archive, path: str, table: MediaTable) -> None:
        self._archive, self._path, self._table = archive, path, table
        self._is_yaml = not path.lower().endswith(".json")
        self._pictures = {base(name): name for name in archive.names()}
        self._known: set[str] = set()
        header = next((value for name, key, value in self._members() if name == HEADER and key is None), None)
        if not isinstance(header, dict):
            raise BadInput(f"{path} has no {HEADER}: it is not an iFDO.")
        self._header = header
        self._names = _names_of(header)

    def _members(self) -> Iterator[tuple[str, Any, Any]]:
        """The members of the document, the items one by one."""
        if not self._is_yaml:
            yield from json_members(self._archive, self._path, opened=(ITEMS,))
            return
        for name, value in yaml_document(self._archive, self._path, LARGEST_YAML).items():
            if name == ITEMS and isinstance(value, dict):
                yield from ((ITEMS, str(key), each) for key, each in value.items())
            else:
                yield str(name), None, value

    def rows(self) -> Rows:
        """Its rows."""
        yield from dropped(self._path, "header", {key: "x" for key in self._header if _is_lost(str(key))})
        for name, key, value in self._members():
            if name != ITEMS or key is None:
                continue
            place = f"{self._path} {ITEMS}[{str(key)!r}]"
            try:
                items = [members_of(each) for each in (value if isinstance(value, list) else [value])]
                yield from self._item(place, str(key), items)
            except (ValueError, KeyError, TypeError, OverflowError) as error:
                yield refusal(place, _reason(error))

    def _item(self, place: str, file_name: str, items: list[Mapping[str, Any]]) -> Rows:
        first = items[0] if items else {}
        kind = first.get("image-acquisition") or self._header.get("image-acquisition")
        is_video = file_name.lower().rpartition(".")[2] in _VIDEOS or kind == "video"
        key = stem(file_name) if self._table.is_ours else file_name
        yield from self._table.new(
            place, key, name=base(file_name), is_video=is_video, attributes=_attributes({**self._header, **first}),
            path=self._pictures.get(base(file_name), ""),
        )  # fmt: skip
        names = {**self._names, **_names_of(first)}
        for number, item in enumerate(items):
            if not self._table.is_ours:
                yield from dropped(place, "items", {name: "x" for name in item if _is_lost(str(name))})
            for index, value in enumerate(item.get("image-annotations") or ()):
                at = f"{place}{f'[{number}]' if number else ''} annotations[{index}]"
                try:
                    yield from self._annotation(at, members_of(value), key, names, is_video=is_video)
                except (ValueError, KeyError, TypeError, OverflowError) as error:
                    yield refusal(at, _reason(error))

    def _annotation(
        self, place: str, value: Mapping[str, Any], media: str, names: Mapping[str, str], *, is_video: bool
    ) -> Rows:
        labels = [members_of(each) for each in value["labels"]]
        if not labels:
            raise ValueError("labels: it has none")
        given = str(labels[0]["label"])
        shapes = value.get("coordinates") or []
        if not isinstance(shapes, list):
            raise ValueError("coordinates is not a list")  # noqa: TRY004 one error for all that is wrong with a row
        if shapes and not isinstance(shapes[0], list):
            shapes = [shapes]  # files for photos before 2.1
        more: Attributes = {}
        if (sure := labels[0].get("confidence")) is not None and numbers([sure], 1)[0] < 1:
            more["Confidence"] = float(sure)
        limn = members_of(value.get("limn") or {}) if self._table.is_ours else {}
        annotation = Annotation(
            place=place, media=media, key=place, word=str(value.get("shape") or ""), shapes=shapes,
            seconds=value.get("frames") or [] if is_video else None, class_name=names.get(given, given),
            attributes=more, limn=limn,
        )  # fmt: skip
        others = f"{len(labels) - 1} further labels were left out" if len(labels) > 1 else ""
        for placed in rows_of(annotation, self._known):
            yield Placed(placed.place, placed.row, "; ".join(filter(None, (placed.note, others))))
        if not self._table.is_ours:
            yield from dropped(place, "annotations", value, _OF_ANNOTATION)
            yield from dropped(place, "labels", labels[0], _OF_LABEL)


def _is_lost(name: str) -> bool:
    return name not in _READ and not name.startswith("image-set-") and name != "image-coordinate-reference-system"


def _names_of(item: Mapping[str, Any]) -> dict[str, str]:
    labels = item.get("image-annotation-labels")
    named = (each for each in (labels if isinstance(labels, list) else ()) if isinstance(each, dict))
    return {str(each["id"]): str(each["name"]) for each in named if "id" in each and "name" in each}


def _attributes(item: Mapping[str, Any]) -> Attributes:
    found: Attributes = {}
    if item.get("image-datetime"):
        found["image-datetime"] = str(item["image-datetime"])
    if item.get("image-longitude") is not None and item.get("image-latitude") is not None:
        found["Position"] = list(numbers([item["image-longitude"], item["image-latitude"]], 2))
    return found


def _reason(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
