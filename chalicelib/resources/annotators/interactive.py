"""What interactors, trackers and embedders are asked and answer, by convention. Pure.

Interactors get clicks with the picture or its key, trackers the boxes and states of the frame before, embedders several
pictures.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

from chalicelib.core.values import rle
from chalicelib.formats.model import Label
from chalicelib.resources.annotators.conventions import (
    UNREADABLE,
    Answer,
    Asked,
    answer_of,
    flat_points,
    foreground,
    limn_box,
    model_in,
    points_of,
    question,
    read,
    unreadable,
)
from chalicelib.resources.annotators.found import Detection, Size, box, mask, number, polygon
from chalicelib.resources.annotators.schemas import MOST_NUMBERS, Convention, Prompt, Sides

# --- interactors -----------------------------------------------------------------------------------------------------


def ask_object(convention: Convention, asked: Asked, points: Sequence[Prompt], sides: Sides | None) -> dict[str, Any]:
    """The request body of clicks, with the picture or without."""
    made = question(convention, asked)
    width, height = asked.size
    if convention == "limn":
        clicks = [{"x": each.x, "y": each.y, "positive": each.positive} for each in points]
        wanted = None if sides is None else dict(zip(("x", "y", "width", "height"), sides.as_list(), strict=True))
        return made | {"points": clicks, "box": wanted}
    corners = None if sides is None else (sides.x, sides.y, sides.x + sides.width, sides.y + sides.height)
    if convention == "nuclio":
        by_sign = {
            sign: [[each.x * width, each.y * height] for each in points if each.positive is sign]
            for sign in (True, False)
        }
        around = [] if corners is None else [[corners[0] * width, corners[1] * height],
                                             [corners[2] * width, corners[3] * height]]  # fmt: skip
        return made | {"pos_points": by_sign[True], "neg_points": by_sign[False], "obj_bbox": around}
    common = {"original_width": width, "original_height": height}
    result = [
        {
            **common,
            "type": "keypointlabels",
            "is_positive": int(each.positive),
            "value": {"x": each.x * 100, "y": each.y * 100, "width": 0.5, "keypointlabels": ["object"]},
        }
        for each in points
    ]
    if sides is not None:
        names = ("x", "y", "width", "height")
        value = {name: 100 * side for name, side in zip(names, sides.as_list(), strict=True)}
        result.append({**common, "type": "rectanglelabels", "value": {**value, "rectanglelabels": ["object"]}})
    return made | {"params": {"context": {"result": result}}}


def read_object(convention: Convention, answer: Any, size: Size) -> Answer:
    """The shape that clicks gave: of several the one with the highest confidence. Raises as `read`."""
    if convention == "nuclio":
        try:
            shape = _cvat_object(answer, size)
        except UNREADABLE as failure:
            raise unreadable(convention, failure) from None
        return Answer(found=[] if shape is None else [Detection(shape=shape)])
    made = read(convention, answer, size)
    shapes = [each for each in made.found if each.shape is not None and each.shape.kind != "dot"]
    best = sorted(shapes, key=lambda each: -(each.confidence or 0))[:1]
    return Answer(found=best, left_out=made.left_out, model=made.model)


def _cvat_object(answer: Any, size: Size) -> Label | None:
    rows = answer.get("mask") if isinstance(answer, dict) else None
    if rows:
        width, height = size
        if len(rows) != height or any(len(row) != width for row in rows):
            raise ValueError(f"the mask does not have the {width} x {height} pixels of the picture")
        lying = b"".join(foreground(row) for row in rows)
        return mask(rle.runs_of(b"".join(lying[column::width] for column in range(width))), size)
    points = answer["points"] if isinstance(answer, dict) else answer
    return polygon(points_of(points, *size)) if points else None


# --- trackers --------------------------------------------------------------------------------------------------------


def ask_boxes(
    convention: Convention, asked: Asked, boxes: Sequence[Sides], states: Sequence[Any] | None
) -> dict[str, Any]:
    """The request body of a frame with the boxes of the one before; without states they are those of this frame."""
    made = question(convention, asked)
    if convention == "nuclio":
        width, height = asked.size
        shapes = [
            [each.x * width, each.y * height, (each.x + each.width) * width, (each.y + each.height) * height]
            for each in boxes
        ]
        return made | {"shapes": shapes, "states": list(states or ())}
    sides = [dict(zip(("x", "y", "width", "height"), each.as_list(), strict=True)) for each in boxes]
    return made | {"boxes": sides, "states": None if states is None else list(states)}


def read_boxes(
    convention: Convention, answer: Any, size: Size, wanted: int
) -> tuple[list[Detection | None], list[Any]]:
    """The boxes of a frame, None for what was lost, and the states for the next one, as many as were asked for.

    Raises:
        BadInput: it does not follow the convention, or has other numbers of them.
    """
    try:
        given = answer["shapes" if convention == "nuclio" else "boxes"]
        states = list(answer["states"])
        found = [_box_of(each, convention, size) for each in given]
        if len(found) != wanted or len(states) != wanted:
            raise ValueError(f"{len(found)} boxes and {len(states)} states for {wanted}")
    except UNREADABLE as failure:
        raise unreadable(convention, failure) from None
    return found, states


def _box_of(item: Any, convention: Convention, size: Size) -> Detection | None:
    if item is None:
        return None
    if convention == "nuclio":
        if not item:
            return None
        flat = flat_points(item, size)
        xs, ys = zip(*flat, strict=True)
        shape = box((min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)))
        return None if shape is None else Detection(shape=shape)
    return answer_of(limn_box(item), item)


# --- embedders -------------------------------------------------------------------------------------------------------


def pictures(images: Sequence[bytes]) -> dict[str, Any]:
    """The request body of several pictures, JPEGs."""
    return {"images": [base64.b64encode(each).decode() for each in images]}


def read_vectors(answer: Any, wanted: int) -> tuple[list[list[float]], tuple[str | None, str | None]]:
    """The vectors of pictures, in their order, all of one length; and the model.

    Raises:
        BadInput: they are not as many, or not of one length, or have something else than finite numbers.
    """
    try:
        vectors = list(_vectors(answer["vectors"], wanted))
        model = model_in(answer)
    except UNREADABLE as failure:
        raise unreadable("limn", failure) from None
    return vectors, model


def _vectors(given: Sequence[Sequence[Any]], wanted: int) -> Iterator[list[float]]:
    if len(given) != wanted:
        raise ValueError(f"{len(given)} vectors for {wanted} pictures")
    for each in given:
        if len(each) != len(given[0]) or not 1 <= len(each) <= MOST_NUMBERS:
            raise ValueError(f"a vector has {len(each)} numbers; all have one length of 1 to {MOST_NUMBERS}")
        yield [number(value, "a number of a vector") for value in each]
