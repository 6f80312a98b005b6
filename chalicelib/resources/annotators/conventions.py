"""How annotators are asked and what they answer, by convention. Pure.

limn           POST url            {"image": base64 of a JPEG, "width", "height", "media", "frame"}
{"boxes": […], "polygons": […], "points": […], "masks": […], "classes": […]}, fractions
label-studio   POST url/predict    tasks with a data URL, as the ML backends of Label Studio take them
regions with values in per cent
nuclio         POST url            {"image": base64}, as the serverless functions of CVAT take it
a list of shapes with points in pixels

What interactors, trackers and embedders are asked is in `interactive.py`.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from chalicelib.core.values import rle
from chalicelib.errors import BadInput
from chalicelib.formats.model import Label
from chalicelib.resources.annotators import brush
from chalicelib.resources.annotators.found import Detection, Size, box, dot, mask, number, polygon, text
from chalicelib.resources.annotators.schemas import MOST_BOXES, Convention

UNREADABLE = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)
_MOST_POINTS = 10_000
_LONGEST_NAME = 128
Shapes = Iterable[Detection | None]
"""None stands for a shape that has no form here, or nothing of which lies within the picture."""


class Answer(Struct, frozen=True, kw_only=True):
    """What an annotator answered for one frame.

    Attributes:
        found: shapes and classes.
        left_out: how many shapes have no form here, or lie outside of the picture.
        model: the model's name and version, as far as the answer has them.
    """

    found: list[Detection]
    left_out: int = 0
    model: tuple[str | None, str | None] = (None, None)


class Asked(Struct, frozen=True, kw_only=True):
    """The frame that an annotator is asked about."""

    media: int
    frame: int
    size: Size
    picture: bytes | None = None
    """A JPEG; None where the annotator is asked by key first."""
    key: str = ""


def target_of(url: str, convention: Convention) -> str:
    """The URL of the request."""
    if convention == "label-studio" and not url.rstrip("/").endswith("/predict"):
        return f"{url.rstrip('/')}/predict"
    return url


def question(convention: Convention, asked: Asked) -> dict[str, Any]:
    """The request body for a frame."""
    image = base64.b64encode(asked.picture or b"").decode()
    if convention == "nuclio":
        return {"image": image}
    if convention == "label-studio":
        task = {"id": asked.media, "data": {"image": f"data:image/jpeg;base64,{image}", "frame": asked.frame}}
        return {"tasks": [task], "params": {}}
    size = {"width": asked.size[0], "height": asked.size[1]}
    shown = {} if asked.picture is None else {"image": image}
    keyed = {"key": asked.key} if asked.key else {}
    return {**shown, **keyed, **size, "media": asked.media, "frame": asked.frame}


def read(convention: Convention, answer: Any, size: Size) -> Answer:
    """What an answer about a frame says.

    Raises:
        BadInput: it does not follow the convention, or has too many shapes.
    """
    readers = {"limn": _limn, "label-studio": _label_studio, "nuclio": _nuclio}
    try:
        given = list(_at_most(readers[convention](answer, size)))
        model = model_in(answer)
    except UNREADABLE as failure:
        raise unreadable(convention, failure) from None
    found = [each for each in given if each is not None]
    return Answer(found=found, left_out=len(given) - len(found), model=model)


def _at_most(shapes: Shapes) -> Shapes:
    """The shapes of an answer; too many are refused before the rest is read."""
    for count, each in enumerate(shapes):
        if count >= MOST_BOXES:
            raise BadInput(f"The annotator answered more shapes for one frame than the {MOST_BOXES} that are accepted.")
        yield each


def unreadable(convention: Convention, failure: Exception) -> BadInput:
    """The error for an answer that does not follow its convention."""
    return BadInput(
        f"The annotator's answer does not follow the convention {convention}.", f"{type(failure).__name__}: {failure}"
    )


def model_in(answer: Any) -> tuple[str | None, str | None]:
    """The model's name and version, as far as an answer has them."""
    if not isinstance(answer, dict):
        return None, None
    of_result = next((each for each in answer.get("results") or () if isinstance(each, dict)), {})
    version = answer.get("model_version") or answer.get("version") or of_result.get("model_version")
    return text(answer.get("model"), _LONGEST_NAME), text(version, _LONGEST_NAME)


def answer_of(
    shape: Label | None, item: Mapping[str, Any], label: Any = None, confidence: Any = None
) -> Detection | None:
    """A shape with its class and confidence."""
    label = item.get("label") if label is None else label
    confidence = item.get("confidence") if confidence is None else confidence
    chance = None if confidence is None else number(confidence, "confidence")
    return None if shape is None else Detection(shape=shape, label=text(label), confidence=chance, track=_track(item))


def _track(item: Mapping[str, Any]) -> str | None:
    return text(item.get("track"), _LONGEST_NAME)


def _class(item: Mapping[str, Any], label: Any, confidence: Any) -> Detection:
    chance = None if confidence is None else number(confidence, "confidence")
    return Detection(label=text(label), confidence=chance, track=_track(item))


def points_of(pairs: Any, across: float = 1.0, down: float = 1.0) -> list[tuple[float, float]]:
    """Points in fractions. Raises ValueError and TypeError for anything else."""
    if len(pairs) > _MOST_POINTS:
        raise ValueError(f"an outline has {len(pairs)} points; {_MOST_POINTS} are accepted")
    return [(number(x, "x") / across, number(y, "y") / down) for x, y in pairs]


# --- limn ------------------------------------------------------------------------------------------------------------

_LISTS = ("boxes", "polygons", "points", "masks", "classes")


def _limn(answer: Any, size: Size) -> Shapes:
    if not any(name in answer for name in _LISTS):
        raise KeyError("boxes")
    for item in answer.get("boxes") or ():
        yield answer_of(limn_box(item), item)
    for item in answer.get("polygons") or ():
        holes = [points_of(hole) for hole in item.get("holes") or ()]
        yield answer_of(polygon(points_of(item["points"]), holes, is_open=item.get("closed") is False), item)
    for item in answer.get("points") or ():
        yield answer_of(dot(number(item["x"], "x"), number(item["y"], "y")), item)
    for item in answer.get("masks") or ():
        yield answer_of(_coco_mask(item, size), item)
    for item in answer.get("classes") or ():
        yield _class(item, item["label"], item.get("confidence"))


def limn_box(item: Mapping[str, Any]) -> Label | None:
    """The shape of a box in fractions."""
    sides = [number(item[name], name) for name in ("x", "y", "width", "height")]
    return box(sides, number(item.get("angle") or 0, "angle"), is_ellipse=item.get("form") == "ellipse")


def _coco_mask(item: Mapping[str, Any], size: Size) -> Label | None:
    height, width = item["size"]
    if (width, height) != size:
        raise ValueError(f"a mask has the size {[height, width]}; the picture has {[size[1], size[0]]}")
    counts = item["counts"]
    if isinstance(counts, str):
        if len(counts) > rle.MOST_CHARACTERS:
            raise ValueError(f"a mask has {len(counts)} characters; {rle.MOST_CHARACTERS} are accepted")
        return mask(rle.decode(counts), size)
    return mask([int(run) for run in counts], size)


# --- Label Studio ----------------------------------------------------------------------------------------------------


def _label_studio(answer: Any, size: Size) -> Shapes:
    for result in answer["results"]:
        for item in result["result"]:
            yield _region(item, result, size)


def _region(item: Mapping[str, Any], result: Mapping[str, Any], size: Size) -> Detection | None:
    value, kind = item["value"], item["type"]
    labels = value.get(kind) or value.get("labels") or []
    label = next(iter(labels), None)
    chance = item.get("score", result.get("score"))
    if kind == "choices":
        return _class(item, value["choices"][0], chance)
    shape = _SHAPES_OF_REGIONS.get(kind.removesuffix("labels"))
    return None if shape is None else answer_of(shape(item, value, size), item, label, chance)


def _per_cent(value: Mapping[str, Any], *names: str) -> list[float]:
    return [number(value[name], name) / 100 for name in names]


def _rectangle(_: Any, value: Mapping[str, Any], size: Size) -> Label | None:
    x, y, width, height = _per_cent(value, "x", "y", "width", "height")
    angle = number(value.get("rotation") or 0, "rotation")
    if angle:  # about the top left corner: the centre goes along
        turn = math.radians(angle)
        across, down = width / 2 * size[0], height / 2 * size[1]
        x += (across * math.cos(turn) - down * math.sin(turn)) / size[0] - width / 2
        y += (across * math.sin(turn) + down * math.cos(turn)) / size[1] - height / 2
    return box((x, y, width, height), math.remainder(angle, 360))


def _ellipse(_: Any, value: Mapping[str, Any], size: Size) -> Label | None:
    x, y, across, down = _per_cent(value, "x", "y", "radiusX", "radiusY")
    angle = math.remainder(number(value.get("rotation") or 0, "rotation"), 360)
    del size
    return box((x - across, y - down, 2 * across, 2 * down), angle, is_ellipse=True)


def _region_polygon(_: Any, value: Mapping[str, Any], __: Size) -> Label | None:
    return polygon(points_of(value["points"], 100, 100), is_open=value.get("closed") is False)


def _keypoint(_: Any, value: Mapping[str, Any], __: Size) -> Label | None:
    x, y = _per_cent(value, "x", "y")
    return dot(x, y)


def _brush(item: Mapping[str, Any], value: Mapping[str, Any], size: Size) -> Label | None:
    own = item.get("original_width", size[0]), item.get("original_height", size[1])
    if own != size:
        raise ValueError(f"a mask is of a picture of {own[0]} x {own[1]} pixels; it has {size[0]} x {size[1]}")
    return mask(rle.runs_of(brush.columns(value["rle"], *size)), size)


_SHAPES_OF_REGIONS = {
    "rectangle": _rectangle, "ellipse": _ellipse, "polygon": _region_polygon, "keypoint": _keypoint, "brush": _brush
}  # fmt: skip

# --- CVAT ------------------------------------------------------------------------------------------------------------

_CORNERS = 4


def _nuclio(answer: Any, size: Size) -> Shapes:
    items = answer if isinstance(answer, list) else answer["annotations"]
    for item in items:
        kind = item.get("type", "rectangle")
        if kind == "tag":
            yield _class(item, item["label"], item.get("confidence"))
        elif kind == "points":
            for x, y in flat_points(item["points"], size):
                yield answer_of(dot(x, y), item)
        else:
            shape = _SHAPES_OF_CVAT.get(kind)
            yield None if shape is None else answer_of(shape(item, size), item)


def flat_points(numbers: Sequence[Any], size: Size) -> list[tuple[float, float]]:
    """Points in fractions from pixels one after the other: x, y, x, y."""
    if len(numbers) % 2:
        raise ValueError("points")
    return points_of(list(zip(numbers[::2], numbers[1::2], strict=True)), *size)


def _cvat_rectangle(item: Mapping[str, Any], size: Size) -> Label | None:
    (left, top), (right, bottom) = flat_points(item["points"], size)
    return box((left, top, right - left, bottom - top), number(item.get("rotation") or 0, "rotation"))


def _cvat_ellipse(item: Mapping[str, Any], size: Size) -> Label | None:
    (x, y), (right, top) = flat_points(item["points"], size)
    across, down = right - x, y - top
    angle = number(item.get("rotation") or 0, "rotation")
    return box((x - across, y - down, 2 * across, 2 * down), angle, is_ellipse=True)


def _cvat_mask(item: Mapping[str, Any], size: Size) -> Label | None:
    """The pixels of a box, row by row, and behind them its left, top, right and bottom pixels."""
    flat = item["mask"]
    left, top, right, bottom = (int(number(each, "mask")) for each in flat[-_CORNERS:])
    width, height = right - left + 1, bottom - top + 1
    if not (0 <= left <= right < size[0] and 0 <= top <= bottom < size[1]) or len(flat) - _CORNERS != width * height:
        raise ValueError(f"a mask of {len(flat) - _CORNERS} pixels does not fill its box")
    inside = foreground(flat[:-_CORNERS])
    part = b"".join(inside[column::width] for column in range(width))
    return mask(rle.whole(rle.runs_of(part), (height, width), (top, left), (size[1], size[0])), size)


def foreground(pixels: Iterable[Any]) -> bytes:
    """A byte for each pixel: 0 where the pixel is 0, else 1."""
    return bytes(1 if pixel else 0 for pixel in pixels)


_SHAPES_OF_CVAT = {
    "rectangle": _cvat_rectangle,
    "ellipse": _cvat_ellipse,
    "polygon": lambda item, size: polygon(flat_points(item["points"], size)),
    "polyline": lambda item, size: polygon(flat_points(item["points"], size), is_open=True),
    "mask": _cvat_mask,
}
