"""Read Pascal VOC: `Annotations/*.xml`, or any XML files with an `annotation` each.

Pixels count from 1, both ends included; with `firstPixel` 0 in an `imports` spec from 0 (`read_from_zero`).
"""

from __future__ import annotations

from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive, Label, State
from chalicelib.formats.readers.reading import (
    MediaTable,
    Placed,
    Rows,
    base,
    dropped,
    matching,
    number,
    refusal,
    stem,
    whole,
)
from chalicelib.formats.readers.xml import Element, elements

TRACK = "track_id"
"""The attribute with the key of a label's track."""

_ANNOTATION = frozenset({"filename", "folder", "path", "source", "size", "object"})
_OBJECT = frozenset({"name", "bndbox", "attributes", "polygon", "part"})
"""The elements that are read, that say where a file is from, or of which a note says that they are left out."""
_BLANK = {"segmented": ("0",), "pose": ("Unspecified",), "truncated": ("0",), "difficult": ("0",), "occluded": ("0",)}


def read(archive: Archive) -> Rows:
    """The rows of an archive whose pixels count from 1. Raises BadInput where it is not of the format at all."""
    return _rows(archive, 1)


def read_from_zero(archive: Archive) -> Rows:
    """The same where pixels count from 0."""
    return _rows(archive, 0)


def _rows(archive: Archive, first: int) -> Rows:
    found = matching(archive, r"(.*/)?Annotations/.+\.xml") or matching(archive, r".+\.xml")
    table = MediaTable(archive)
    if not found and not table.is_ours:
        raise BadInput("VOC: the archive has no .xml file.")
    pictures = {base(name): name for name in archive.names()}
    tracks: set[tuple[str, str]] = set()
    for path in found:
        *_, root = elements(archive, path, frozenset())
        if root.name != "annotation":
            raise BadInput(f"{path} is not Pascal VOC: its root is {root.name!r}, not 'annotation'.")
        file_name = root.text_of("filename") or f"{stem(path)}.jpg"
        key, frame = table.locate(stem(path) if table.is_ours else file_name)
        try:
            width, height = (whole(root.text_of("size", side) or "0") for side in ("width", "height"))
        except (ValueError, OverflowError) as error:
            yield refusal(path, f"size: {error}")
            continue
        yield from table.new(
            path, key, name=base(file_name), width=width, height=height, path=pictures.get(base(file_name), "")
        )
        yield from dropped(path, "annotation", _members(root), _ANNOTATION, _BLANK)
        for index, item in enumerate(child for child in root.children if child.name == "object"):
            place = f"{path} object[{index}]"
            try:
                label = _label(item, key, frame, first)
            except (ValueError, OverflowError) as error:
                yield refusal(place, str(error))
                continue
            if label.track is not None and (key, label.track) not in tracks:
                tracks.add((key, label.track))
                yield Placed(place, State(media=key, key=label.track, class_name=label.class_name))
            yield from dropped(place, "object", _members(item), _OBJECT, _BLANK)
            has_more = any(child.name in ("polygon", "part") for child in item.children)
            yield Placed(place, label, "polygons and parts were left out" if has_more else "")
    yield from table.rest()


def _members(element: Element) -> dict[str, str]:
    """The elements in an element by name, and their text."""
    return {child.name: child.text.strip() or "…" * bool(child.children) for child in element.children}


def _label(item: Element, key: str, frame: int, first: int) -> Label:
    edges = []
    for name in ("xmin", "ymin", "xmax", "ymax"):
        text = item.text_of("bndbox", name)
        if not text:
            raise ValueError(f"bndbox/{name} is missing")
        edges.append(number(text))
    left, top, right, bottom = edges
    attributes = {
        each.text_of("name"): getattr(each.find("value"), "text", "")
        for each in (item.find("attributes") or Element("", {}, 0)).children
        if each.name == "attribute"
    }
    track = attributes.pop(TRACK, None)
    return Label(
        media=key,
        kind="box",
        # the last pixel is part of the box
        shape=(left - first, top - first, right - left + 1, bottom - top + 1),
        frame=frame,
        unit="pixel",
        class_name=item.text_of("name"),
        track=track,
        attributes=dict(attributes),
    )
