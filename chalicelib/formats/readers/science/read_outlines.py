"""What the readers of iFDO and BIIGLE share: the rows of an annotation with its times and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from chalicelib.formats.json_stream import members_of
from chalicelib.formats.model import Attributes, Label, State
from chalicelib.formats.readers.reading import Placed, Rows, numbers
from chalicelib.formats.writers.science.outlines import shape_of

WHOLE = ("wholeimage", "wholeframe")


class Annotation(Struct, frozen=True, kw_only=True):
    """An annotation of a media."""

    place: str
    media: str
    key: str
    """Unique in the archive."""
    word: str
    """The format's word for its shape."""
    shapes: Sequence[Any]
    """A list of numbers for each time; empty where its track has a gap."""
    seconds: Sequence[Any] | None
    """The times from the begin of the video; None for an image."""
    class_name: str
    attributes: Attributes = {}
    limn: Mapping[str, Any] = {}
    """Members that only archives of Limn have."""


def rows_of(given: Annotation, known: set[str]) -> Rows:
    """The rows of an annotation: a label, or a track and its labels; of a whole picture an annotation of it.

    Args:
        given: the annotation.
        known: the tracks that have a row, to which its own is added.

    Raises:
        ValueError, KeyError, TypeError: it cannot be taken.
    """
    word = given.word.casefold().replace("-", "").replace(" ", "")
    if given.seconds is not None and len(given.shapes) != len(given.seconds) and word not in WHOLE:
        raise ValueError(f"{len(given.shapes)} shapes have {len(given.seconds)} times")
    own = [members_of(each) for each in given.limn.get("labels", ())]
    if word in WHOLE:
        yield from _of_picture(given)
        return
    shapes = [(index, numbers(shape)) for index, shape in enumerate(given.shapes) if shape]
    if not shapes:
        raise ValueError("it has no shape")
    if own and len(own) != len(shapes):
        raise ValueError(f"limn.labels: {len(own)} are not those of {len(shapes)} shapes")
    track = given.limn.get("track") if own else given.key if len(shapes) > 1 else None
    if track is not None and f"{given.media}/{track}" not in known:
        known.add(f"{given.media}/{track}")
        yield Placed(given.place, _state(given, str(track)))
    for at, (index, shape) in enumerate(shapes):
        more = own[at] if own else {}
        kind, found, refined = shape_of(given.word, shape)
        common: dict[str, Any] = {
            "media": given.media, "kind": kind, "unit": "pixel", "class_name": given.class_name,
            "track": None if track is None else str(track), **_time(given, index, more),
        }  # fmt: skip
        kept: dict[str, Any] = {name: str(more.get(name) or "") for name in ("elemental_id", "type", "version")}
        attributes = dict(members_of(more.get("attributes") or {})) if own else given.attributes
        yield Placed(given.place, Label(shape=found, refined=refined, attributes=attributes, **common, **kept))
        is_gap = more.get("gap") is True if own else index + 1 < len(given.shapes) and not given.shapes[index + 1]
        if is_gap and track is not None:
            yield Placed(given.place, Label(shape=(), **{**common, "frame": common["frame"] + 1}))


def _state(given: Annotation, track: str) -> State:
    more = members_of(given.limn.get("state") or {})
    kept: dict[str, Any] = {name: str(more.get(name) or "") for name in ("elemental_id", "type", "version")}
    attributes = dict(members_of(more.get("attributes") or {}))
    name = str(more.get("class") or given.class_name)
    return State(media=given.media, key=track, class_name=name, attributes=attributes, **kept)


def _time(given: Annotation, index: int, more: Mapping[str, Any]) -> dict[str, Any]:
    """The frame of a label, or the seconds that it is to be found from."""
    if more:
        frame = more["frame"]
        if isinstance(frame, bool) or not isinstance(frame, int):
            raise ValueError(f"limn.labels: the frame {frame!r} is not a whole number")
        return {"frame": frame}
    if given.seconds is None:
        return {"frame": 0}
    return {"frame": 0, "seconds": numbers([given.seconds[index]], 1)[0]}


def _of_picture(given: Annotation) -> Rows:
    times = [numbers([each], 1)[0] for each in given.seconds or ()]
    is_frame = len(times) == 1
    state = State(
        media=given.media, key=given.key, association="frame" if is_frame else "media", frame=0 if is_frame else None,
        seconds=times[0] if is_frame else None, class_name=given.class_name, attributes=given.attributes,
    )  # fmt: skip
    yield Placed(given.place, state, "its times were left out" if len(times) > 1 else "")
