"""What Limn, Label Studio and CVAT ask of a served model, and what they are answered.

limn           POST /{model}
label-studio   POST /{model}/predict, /{model}/setup, GET /{model}/health
nuclio         POST /{model}/nuclio, as the serverless functions of CVAT are called
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

from . import pictures
from .models import Model, Recent
from .pictures import BadRequest

Pictures = Recent[Any]
"""What interactors remember of pictures, by key."""
MOST_PICTURES = 64
"""Pictures of one request to an embedder."""
MOST_BOXES = 256


class UnknownPicture(Exception):
    """The picture of a key is not there; it must be sent."""


def describe(model: Model) -> dict[str, Any]:
    """What `GET /health` says: for the registration, and for Label Studio, which wants the status."""
    found = {
        "status": "UP",
        "kind": model.kind,
        "name": model.name,
        "version": model.version,
        "model_class": model.name,
    }
    return found | ({"prompts": list(model.prompts)} if model.prompts else {})


def limn(model: Model, body: dict[str, Any], seen: Pictures) -> dict[str, Any]:
    """The answer to a request of Limn's own convention.

    Raises:
        BadRequest: the request breaks a rule.
        UnknownPicture: it has only the key of a picture.
    """
    said = {"model": model.name} | ({"version": model.version} if model.version else {})
    if model.kind == "embedder":
        images = body.get("images")
        if not isinstance(images, list) or not 1 <= len(images) <= MOST_PICTURES:
            raise BadRequest(f"images: 1 to {MOST_PICTURES} pictures are needed.")
        return {"vectors": model.embed([pictures.decode(each) for each in images]), **said}
    if model.kind == "interactor":
        points, box = [_click(each) for each in _list(body, "points")], body.get("box")
        mask, confidence = _segment(model, body, points, None if box is None else _box(box, "box"), seen)
        if not mask.any():
            return {"masks": [], **said}
        shape = {"size": list(mask.shape), "counts": pictures.runs(mask), "confidence": confidence}
        return {"masks": [shape], **said}
    image = pictures.decode(body.get("image"))
    if model.kind == "tracker":
        boxes, states = _track(model, image, [_box(each, "boxes") for each in _list(body, "boxes")], body.get("states"))
        return {"boxes": boxes, "states": states, **said}
    return model.detect(image, str(body.get("media", ""))) | said


def label_studio(model: Model, body: dict[str, Any], seen: Pictures) -> dict[str, Any]:
    """The answer to `POST /predict` of Label Studio: a result for each task."""
    results = []
    for task in _list(body, "tasks"):
        image = _member(_member(task, "data"), "image")
        if not isinstance(image, str) or not image.startswith("data:"):
            raise BadRequest("tasks: data.image is a data URL here; files of Label Studio's storage are not fetched.")
        if model.kind == "detector":
            picture = pictures.decode(image)
            found = model.detect(picture, str(task.get("id", "")))
            regions = [_region(name, each) for name, items in found.items() for each in items]
            height, width = picture.shape[:2]
        elif model.kind == "interactor":
            points, box = _context(body)
            mask, confidence = _segment(model, {"image": image}, points, box, seen)
            height, width = mask.shape
            value = {"format": "rle", "rle": pictures.brush(mask), "brushlabels": ["object"]}
            regions = [{"type": "brushlabels", "value": value, "score": confidence}] if mask.any() else []
        else:
            raise BadRequest(f"Label Studio has no {model.kind}.")
        size = {"original_width": width, "original_height": height, "from_name": "label", "to_name": "image"}
        scores = [each["score"] for each in regions if "score" in each]
        score = sum(scores) / len(scores) if scores else 0.0
        results.append(
            {"result": [{**size, **each} for each in regions], "score": score, "model_version": model.version}
        )
    return {"results": results, "model_version": model.version}


def nuclio(model: Model, body: dict[str, Any], seen: Pictures) -> Any:
    """The answer to a call of one of CVAT's functions."""
    if model.kind == "embedder":
        raise BadRequest("CVAT has no functions that answer vectors.")
    image = pictures.decode(body.get("image"))
    height, width = image.shape[:2]
    if model.kind == "interactor":
        signs = (("pos_points", True), ("neg_points", False))
        points = [
            {"x": _number(x) / width, "y": _number(y) / height, "positive": sign}
            for name, sign in signs
            for x, y in _pairs(body, name)
        ]
        corners = _pairs(body, "obj_bbox")
        box = None
        if corners:
            (left, top), (right, bottom) = corners[0], corners[-1]
            box = _box(_sides([left, top, right, bottom], width, height), "obj_bbox")
        mask, _ = _segment(model, {"image": body.get("image")}, [_click(each) for each in points], box, seen)
        return {"mask": mask.astype(int).tolist(), "points": pictures.outline(mask)}
    if model.kind == "tracker":
        boxes = [_box(_sides(each, width, height), "shapes") for each in _list(body, "shapes")]
        found, states = _track(model, image, boxes, body.get("states") or None)
        return {"shapes": [None if each is None else _corners(each, width, height) for each in found], "states": states}
    answer = model.detect(image, "cvat")
    shapes = [
        {
            "type": "rectangle",
            "label": each["label"],
            "confidence": str(each["confidence"]),
            "points": _corners(each, width, height),
        }
        for each in answer.get("boxes", [])
    ]
    tags = [
        {"type": "tag", "label": each["label"], "confidence": str(each["confidence"])}
        for each in answer.get("classes", [])
    ]
    return shapes + tags


def _segment(
    model: Model, body: dict[str, Any], points: list[dict[str, Any]], box: dict[str, float] | None, seen: Pictures
) -> tuple[Any, float]:
    """The mask of clicks; the picture is embedded once for its key, or its content."""
    if not points and box is None:
        raise BadRequest("points, box: give clicks, a box, or both.")
    image = body.get("image")
    key = body.get("key") or hashlib.sha256(str(image).encode()).hexdigest()
    picture = seen.get(f"{model.name}|{key}")
    if picture is None:
        if image is None:
            raise UnknownPicture
        picture = seen.put(f"{model.name}|{key}", model.embed_picture(pictures.decode(image)))
    return model.segment(picture, points, box)


def _track(model: Model, image: Any, boxes: list[dict[str, float]], states: Any) -> tuple[list[Any], list[Any]]:
    if len(boxes) > MOST_BOXES:
        raise BadRequest(f"boxes: at most {MOST_BOXES} are followed at once.")
    if states is not None and (not isinstance(states, list) or len(states) != len(boxes)):
        raise BadRequest("states: as many as boxes are needed, or none.")
    return model.track(image, boxes, states)


def _region(name: str, item: dict[str, Any]) -> dict[str, Any]:
    """A box or class as a region of Label Studio."""
    label = {"score": item["confidence"]}
    if name == "classes":
        return {"type": "choices", "value": {"choices": [item["label"]]}, **label}
    value = {side: 100 * item[side] for side in ("x", "y", "width", "height")}
    return {"type": "rectanglelabels", "value": {**value, "rectanglelabels": [item["label"]]}, **label}


def _context(body: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, float] | None]:
    """The clicks and the box that Label Studio sends with a task."""
    points: list[dict[str, Any]] = []
    box = None
    for each in _list(_member(_member(body, "params"), "context"), "result"):
        value = _member(each, "value")
        if str(each.get("type")).startswith("keypoint"):
            place = {"x": _number(value.get("x")) / 100, "y": _number(value.get("y")) / 100}
            points.append(_click({**place, "positive": bool(each.get("is_positive", 1))}))
        elif str(each.get("type")).startswith("rectangle"):
            box = _box({side: _number(value.get(side)) / 100 for side in ("x", "y", "width", "height")}, "context")
    return points, box


def _member(thing: Any, name: str) -> Any:
    found = thing.get(name) if isinstance(thing, dict) else None
    if found is None:
        raise BadRequest(f"{name}: it is missing.")
    return found


def _list(body: dict[str, Any], name: str) -> list[Any]:
    found = body.get(name)
    if found is not None and not isinstance(found, list):
        raise BadRequest(f"{name}: a list is needed.")
    return found or []


def _pairs(body: dict[str, Any], name: str) -> list[list[Any]]:
    found = _list(body, name)
    if any(not isinstance(each, list) or len(each) != 2 for each in found):  # noqa: PLR2004 x and y
        raise BadRequest(f"{name}: points are pairs of numbers.")
    return found


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise BadRequest(f"{str(value)[:50]!r} is not a finite number.")
    return float(value)


def _click(item: Any) -> dict[str, Any]:
    place = {name: min(1.0, max(0.0, _number(_member(item, name)))) for name in ("x", "y")}
    return {**place, "positive": item.get("positive", True) is not False}


def _box(item: Any, member: str) -> dict[str, float]:
    """A box as far as it lies within the picture."""
    x, y, width, height = (_number(_member(item, name)) for name in ("x", "y", "width", "height"))
    left, top = min(1.0, max(0.0, x)), min(1.0, max(0.0, y))
    right, bottom = min(1.0, max(0.0, x + width)), min(1.0, max(0.0, y + height))
    if right <= left or bottom <= top:
        raise BadRequest(f"{member}: a box within the picture is needed, in fractions of its width and height.")
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def _sides(flat: Any, width: int, height: int) -> dict[str, float]:
    if not isinstance(flat, list) or len(flat) != 4:  # noqa: PLR2004 two corners
        raise BadRequest("shapes: left, top, right and bottom are needed, in pixels.")
    left, top, right, bottom = map(_number, flat)
    return {
        "x": left / width, "y": top / height, "width": (right - left) / width, "height": (bottom - top) / height
    }  # fmt: skip


def _corners(box: dict[str, float], width: int, height: int) -> list[float]:
    right, bottom = box["x"] + box["width"], box["y"] + box["height"]
    return [box["x"] * width, box["y"] * height, right * width, bottom * height]
