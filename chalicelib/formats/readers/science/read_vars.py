"""Read the annotations of MBARI's VARS: any `.json` of an archive that is an array, as annosaurus gives them.

An association that is a shape is a label, in pixels; an annotation without one is an annotation of its frame. A video
has the name `video_name`, else that of its `video_reference_uuid`; an annotation without `elapsed_time_millis` is of
the image of its first reference. Other associations are attributes: their value, or the concept that they lead to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.errors import BadInput
from chalicelib.formats.json_stream import json_elements, json_value, members_of
from chalicelib.formats.model import Archive, Attributes, Label, LabelKind, State
from chalicelib.formats.readers.reading import MediaTable, Placed, Rows, base, dropped, matching, numbers, refusal
from chalicelib.formats.writers.science.vars_json import LINKS

_KINDS: dict[str, LabelKind] = {link: kind for kind, link in LINKS.items()}  # type: ignore[misc]
_READ = frozenset({
    "concept", "video_reference_uuid", "video_name", "elapsed_time_millis", "associations", "image_references", "limn",
    "observation_uuid", "imaged_moment_uuid",
})  # fmt: skip
_UUID = 36
_LEAST = {"line": 2, "poly": 3}
"""Points of a shape."""


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    table, found = MediaTable(archive), matching(archive, r".+\.json")
    if not found:
        raise BadInput("VARS: the archive has no .json file.")
    reader = _Reader(archive, table)
    for path in found:
        for index, value in json_elements(archive, path):
            place = f"{path} [{index}]"
            try:
                yield from reader.annotation(place, members_of(value))
            except (ValueError, KeyError, TypeError, OverflowError) as error:
                yield refusal(place, f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error))
    yield from table.rest()


class _Reader:
    """What the annotations of an archive share."""

    def __init__(self, archive: Archive, table: MediaTable) -> None:
        self._table = table
        self._pictures = {base(name): name for name in archive.names()}
        self._known: set[tuple[str, str]] = set()

    def annotation(self, place: str, value: Mapping[str, Any]) -> Rows:
        """The rows of an annotation. Raises ValueError, KeyError, TypeError."""
        limn = members_of(value.get("limn") or {}) if self._table.is_ours else {}
        links = [members_of(each) for each in value.get("associations") or ()]
        shapes = [each for each in links if each.get("link_name") in _KINDS]
        common: dict[str, Any] = {"class_name": str(value["concept"])}
        if limn:
            common |= own_members(limn)
            yield from self._table.new(place, common["media"], path=self._picture(value))
        else:
            common |= yield from self._media(place, value)
            common["attributes"] = _attributes(links)
            yield from dropped(place, "annotation", value, _READ)
        if not shapes:
            yield from self._of_frame(place, value, common)
            return
        track = yield from track_of(place, common, limn, self._known)
        for each in shapes:
            kind, shape = _shape(each)
            own = {} if limn else {"elemental_id": _uuid(each.get("uuid"))}
            keyed = limn.get("keyed") is not False
            label = Label(kind=kind, shape=shape, unit="pixel", track=track, keyed=keyed, **{**common, **own})
            yield Placed(place, label)

    def _media(self, place: str, value: Mapping[str, Any]) -> Any:
        """The media of an annotation and the time in it."""
        if value.get("elapsed_time_millis") is None:
            picture = self._picture(value) or _picture_name(value)
            if not picture:
                raise ValueError("it has neither elapsed_time_millis nor an image reference with a url")
            name = _picture_name(value)
            yield from self._table.new(place, name, name=name, path=self._picture(value))
            return {"media": name, "frame": 0}
        millis = numbers([value["elapsed_time_millis"]], 1)[0]
        key = str(value.get("video_reference_uuid") or "")
        name = str(value.get("video_name") or key)
        if not name:
            raise ValueError("video_reference_uuid is missing")
        yield from self._table.new(place, key or name, name=name, is_video=True)
        return {"media": key or name, "frame": 0, "seconds": millis / 1000}

    def _of_frame(self, place: str, value: Mapping[str, Any], common: Mapping[str, Any]) -> Rows:
        own = _uuid(value.get("observation_uuid"))
        given: dict[str, Any] = {**common, "elemental_id": own, "key": own or place, "association": "frame"}
        yield Placed(place, State(**given))

    def _picture(self, value: Mapping[str, Any]) -> str:
        return self._pictures.get(_picture_name(value), "")


def own_members(limn: Mapping[str, Any]) -> dict[str, Any]:
    """What the member `limn` of our own writer says of a label. Raises ValueError, KeyError, TypeError."""
    own: dict[str, Any] = {name: str(limn.get(name) or "") for name in ("type", "version", "elemental_id")}
    attributes = dict(members_of(limn.get("attributes") or {}))
    return {**own, "media": str(limn["media"]), "frame": _frame(limn["frame"]), "attributes": attributes}


def track_of(place: str, label: Mapping[str, Any], limn: Mapping[str, Any], known: set[tuple[str, str]]) -> Any:
    """Yield the track of a label the first time that `known` lacks its media and key; return its key, if any."""
    if limn.get("track") is None:
        return None
    media, key = label["media"], str(limn["track"])
    if (media, key) not in known:
        known.add((media, key))
        more = members_of(limn.get("state") or {})
        kept: dict[str, Any] = {name: str(more.get(name) or "") for name in ("elemental_id", "type", "version")}
        attributes = dict(members_of(more.get("attributes") or {}))
        name = str(more.get("class") or label["class_name"])
        yield Placed(place, State(media=media, key=key, class_name=name, attributes=attributes, **kept))
    return key


def _picture_name(value: Mapping[str, Any]) -> str:
    references = value.get("image_references") or ()
    return base(str(members_of(references[0]).get("url") or "")) if isinstance(references, list) and references else ""


def _shape(link: Mapping[str, Any]) -> tuple[LabelKind, tuple[float, ...]]:
    kind = _KINDS[link["link_name"]]
    held = link.get("link_value")
    value = members_of(json_value(held) if isinstance(held, str) else held)
    if kind == "box":
        return kind, numbers([value[name] for name in ("x", "y", "width", "height")], 4)
    xs, ys = (numbers(each if isinstance(each, list) else [each]) for each in (value["x"], value["y"]))
    if len(xs) != len(ys) or len(xs) < _LEAST.get(kind, 1):
        raise ValueError(f"{link['link_name']}: {len(xs)} x and {len(ys)} y are not its points")
    if kind == "dot":
        return kind, (xs[0], ys[0])
    if kind == "line":
        return kind, (xs[0], ys[0], xs[1] - xs[0], ys[1] - ys[0])
    return kind, tuple(number for point in zip(xs, ys, strict=True) for number in point)


def _attributes(links: list[Mapping[str, Any]]) -> Attributes:
    found: Attributes = {}
    for each in links:
        name = str(each.get("link_name") or "")
        parts = [str(each.get(part) or "") for part in ("to_concept", "link_value")]
        text = " | ".join(part for part in parts if part not in ("self", "nil", ""))
        if name and name not in _KINDS and text:
            found[name] = f"{found[name]}; {text}" if name in found else text
    return found


def _frame(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"limn.frame: {value!r} is not a frame")
    return value


def _uuid(value: Any) -> str:
    return value if isinstance(value, str) and len(value) == _UUID else ""
