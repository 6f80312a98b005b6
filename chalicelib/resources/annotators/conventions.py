"""How annotators are asked and what they answer, by convention. Pure.

limn           POST url            {"image": base64 of a JPEG, "width", "height", "media", "frame"}
{"boxes": [{"x", "y", "width", "height", "label", "confidence"}]}, fractions
label-studio   POST url/predict    tasks with a data URL, as the ML backends of Label Studio take them
rectanglelabels in per cent
nuclio         POST url            {"image": base64}, as the serverless functions of CVAT take it
a list of rectangles with points in pixels
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chalicelib.errors import BadInput
from chalicelib.resources.annotators.schemas import MOST_BOXES, Box, Convention

_LONGEST_LABEL = 1_000
_CORNERS = 4


def target_of(url: str, convention: Convention) -> str:
    """The URL of the request."""
    if convention == "label-studio" and not url.rstrip("/").endswith("/predict"):
        return f"{url.rstrip('/')}/predict"
    return url


def question(convention: Convention, picture: bytes, width: int, height: int, media: int, frame: int) -> dict[str, Any]:
    """The request body for a JPEG."""
    image = base64.b64encode(picture).decode()
    if convention == "nuclio":
        return {"image": image}
    if convention == "label-studio":
        task = {"id": media, "data": {"image": f"data:image/jpeg;base64,{image}", "frame": frame}}
        return {"tasks": [task], "params": {}}
    return {"image": image, "width": width, "height": height, "media": media, "frame": frame}


def boxes(convention: Convention, answer: Any, width: int, height: int) -> list[Box]:
    """The boxes of an answer, clipped to the picture.

    Raises:
        BadInput: it does not follow the convention, or has too many boxes.
    """
    read = {"limn": _limn, "label-studio": _label_studio, "nuclio": _nuclio}[convention]
    try:
        found = [_within(box) for box in read(answer, width, height)]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as failure:
        raise BadInput(
            f"The annotator's answer does not follow the convention {convention}.",
            f"{type(failure).__name__}: {failure}",
        ) from None
    if len(found) > MOST_BOXES:
        raise BadInput(f"The annotator answered {len(found)} boxes for one frame; {MOST_BOXES} are accepted.")
    return [box for box in found if box.width > 0 and box.height > 0]


def _limn(answer: Any, _: int, __: int) -> Iterable[Box]:
    for item in answer["boxes"]:
        sides = [float(item[name]) for name in ("x", "y", "width", "height")]
        yield _box(sides, item.get("label"), item.get("confidence"))


def _label_studio(answer: Any, _: int, __: int) -> Iterable[Box]:
    for result in answer["results"]:
        for item in result["result"]:
            if item["type"] != "rectanglelabels":
                continue
            value = item["value"]
            sides = [float(value[name]) / 100 for name in ("x", "y", "width", "height")]
            label = next(iter(value.get("rectanglelabels") or []), None)
            yield _box(sides, label, item.get("score", result.get("score")))


def _nuclio(answer: Any, width: int, height: int) -> Iterable[Box]:
    items = answer if isinstance(answer, list) else answer["annotations"]
    for item in items:
        if item.get("type", "rectangle") != "rectangle":
            continue
        if len(item["points"]) != _CORNERS:
            raise ValueError("points")
        left, top, right, bottom = (float(number) for number in item["points"])
        sides = (left / width, top / height, (right - left) / width, (bottom - top) / height)
        yield _box(sides, item.get("label"), item.get("confidence"))


def _box(sides: Sequence[float], label: Any, confidence: Any) -> Box:
    x, y, width, height = sides
    if not all(math.isfinite(number) for number in sides):
        raise ValueError("a side is not a finite number")
    chance = None if confidence is None else float(confidence)
    if chance is not None and not math.isfinite(chance):
        raise ValueError("confidence is not a finite number")
    text = None if label is None else str(label)[:_LONGEST_LABEL]
    return Box(x=x, y=y, width=width, height=height, label=text, confidence=chance)


def _within(box: Box) -> Box:
    """The part of a box inside the picture."""
    left, top = min(max(box.x, 0.0), 1.0), min(max(box.y, 0.0), 1.0)
    right, bottom = min(max(box.x + box.width, 0.0), 1.0), min(max(box.y + box.height, 0.0), 1.0)
    return Box(x=left, y=top, width=right - left, height=bottom - top, label=box.label, confidence=box.confidence)


def localization(
    box: Box, type_: int, frame: int, label_attribute: str | None, confidence_attribute: str | None
) -> Mapping[str, object]:
    """A box as the body of a localization, without its media and version."""
    attributes: dict[str, object] = {}
    if label_attribute and box.label is not None:
        attributes[label_attribute] = box.label
    if confidence_attribute and box.confidence is not None:
        attributes[confidence_attribute] = box.confidence
    place = {"x": box.x, "y": box.y, "width": box.width, "height": box.height}
    return {"type": type_, "frame": frame, **place, "attributes": attributes}
