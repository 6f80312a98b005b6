"""Methods of OpenCV that need no weights: GrabCut, tracking and motion."""

from __future__ import annotations

import base64
import secrets
import threading
from typing import Any

import cv2
import numpy as np

from .models import Model, Recent

_MAX_SIDE = 320
"""Pixels of the longer side of a picture in which GrabCut works."""
_ROUNDS = 3
_LEAST_SCORE = 0.4
"""The score of a template match below which the object is lost."""
_TEMPLATE = 64
"""Pixels of the longer side of a template."""
_SEARCHED = 2.0
"""Part of the object's size that is searched around it, on each side the half of it."""
_SCALES = (0.95, 1.0, 1.05)
_LEARNED = 0.1
"""Part of a new look that a template takes up from a good match."""
_GOOD = 0.7
_LEAST_MOVING = 0.0005
"""Part of the picture that something moving covers at least."""


class GrabCut(Model):
    """The object in a box or around clicks, by colours and edges."""

    kind = "interactor"
    name = "grabcut"
    version = cv2.__version__
    prompts = ("points", "box")

    def embed_picture(self, image: Any) -> Any:
        """The picture itself, as small as it is worked on."""
        height, width = image.shape[:2]
        scale = min(1.0, _MAX_SIDE / max(height, width))
        small = cv2.resize(image, (max(1, round(width * scale)), max(1, round(height * scale))))
        return cv2.cvtColor(small, cv2.COLOR_RGB2BGR), (width, height)

    def segment(self, picture: Any, points: list[dict[str, Any]], box: dict[str, float] | None) -> tuple[Any, float]:
        """The mask of the object; without a box, it is looked for within half the picture around the clicks."""
        small, size = picture
        height, width = small.shape[:2]
        mask = np.full((height, width), cv2.GC_BGD, np.uint8)
        around = box or _around([each for each in points if each.get("positive", True)])
        left, top = int(around["x"] * width), int(around["y"] * height)
        right = int(np.ceil((around["x"] + around["width"]) * width))
        bottom = int(np.ceil((around["y"] + around["height"]) * height))
        mask[top:bottom, left:right] = cv2.GC_PR_FGD
        radius = max(2, min(height, width) // 100)
        for each in points:
            value = cv2.GC_FGD if each.get("positive", True) else cv2.GC_BGD
            cv2.circle(mask, (int(each["x"] * (width - 1)), int(each["y"] * (height - 1))), radius, value, -1)
        inside = (mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)
        if not inside.any() or inside.all():
            return np.zeros((size[1], size[0]), bool), 0.0
        background, foreground = np.zeros((1, 65)), np.zeros((1, 65))
        cv2.grabCut(small, mask, None, background, foreground, _ROUNDS, cv2.GC_INIT_WITH_MASK)
        found = ((mask == cv2.GC_FGD) | (mask == cv2.GC_PR_FGD)).astype(np.uint8)
        whole = cv2.resize(found, size, interpolation=cv2.INTER_NEAREST).astype(bool)
        return whole, float(found.any())


def _around(points: list[dict[str, Any]]) -> dict[str, float]:
    """The box half as large as the picture around the middle of clicks."""
    x = float(np.mean([each["x"] for each in points])) if points else 0.5
    y = float(np.mean([each["y"] for each in points])) if points else 0.5
    left, top = max(0.0, x - 0.25), max(0.0, y - 0.25)
    return {"x": left, "y": top, "width": min(1.0, x + 0.25) - left, "height": min(1.0, y + 0.25) - top}


class TemplateTracker(Model):
    """Follows boxes by their look; a state holds that look, so any process can go on."""

    kind = "tracker"
    name = "template"
    version = cv2.__version__

    def track(self, image: Any, boxes: list[dict[str, float]], states: list[Any] | None) -> tuple[list[Any], list[Any]]:
        """The boxes on the next picture, by the best match of each template around its last place."""
        gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        if states is None:
            return list(boxes), [_state(_crop(gray, _pixels(box, gray.shape))) for box in boxes]
        found: list[Any] = []
        after: list[Any] = []
        for box, state in zip(boxes, states, strict=False):
            moved, template = self._follow(gray, box, _template(state))
            found.append(moved)
            after.append(_state(template))
        return found, after

    def _follow(self, gray: Any, box: dict[str, float], template: Any) -> tuple[Any, Any]:
        left, top, width, height = _pixels(box, gray.shape)
        best: tuple[float, float, float, float] = (-1.0, 0.0, 0.0, 1.0)
        shrink = template.shape[1] / width, template.shape[0] / height
        for scale in _SCALES:
            wide, high = width * scale, height * scale
            part, (x, y) = _part(
                gray, left + width / 2, top + height / 2, wide * (1 + _SEARCHED), high * (1 + _SEARCHED)
            )
            if part.size == 0:
                continue
            searched = cv2.resize(
                part,
                (
                    max(template.shape[1], round(part.shape[1] * shrink[0] / scale)),
                    max(template.shape[0], round(part.shape[0] * shrink[1] / scale)),
                ),
            )
            scores = cv2.matchTemplate(searched, template, cv2.TM_CCOEFF_NORMED)
            _, score, _, at = cv2.minMaxLoc(scores)
            if score > best[0] + (0.0 if scale == 1.0 else 0.01):
                across, down = part.shape[1] / searched.shape[1], part.shape[0] / searched.shape[0]
                best = score, x + at[0] * across, y + at[1] * down, scale
        score, at_x, at_y, scale = best
        if score < _LEAST_SCORE:
            return None, template
        moved = at_x, at_y, width * scale, height * scale
        if score > _GOOD:
            look = cv2.resize(_crop(gray, moved), (template.shape[1], template.shape[0]))
            template = cv2.addWeighted(template, 1 - _LEARNED, look, _LEARNED, 0)
        return _fractions(moved, gray.shape, score), template


class CsrtTracker(Model):
    """Follows boxes by OpenCV's CSRT, of its contributed modules; it remembers them in this process."""

    kind = "tracker"
    name = "csrt"
    version = cv2.__version__

    def __init__(self) -> None:
        self._trackers: Recent[Any] = Recent(256)

    def track(self, image: Any, boxes: list[dict[str, float]], states: list[Any] | None) -> tuple[list[Any], list[Any]]:
        """The boxes on the next picture; one whose tracker is not there any more is lost."""
        if states is None:
            return list(boxes), [self._begin(image, box) for box in boxes]
        found: list[Any] = []
        for state in states:
            tracker = self._trackers.get(str(state))
            is_found, place = tracker.update(image) if tracker is not None else (False, None)
            found.append(_fractions(place, image.shape, None) if is_found else None)
        return found, list(states)

    def _begin(self, image: Any, box: dict[str, float]) -> str:
        tracker = getattr(cv2, "TrackerCSRT_create")()  # noqa: B009 not in the types of the main modules
        tracker.init(image, tuple(int(each) for each in _pixels(box, image.shape)))
        key = secrets.token_urlsafe(16)
        self._trackers.put(key, tracker)
        return key


def make_tracker() -> Model:
    """CSRT, or the template tracker where OpenCV has no contributed modules."""
    return CsrtTracker() if hasattr(cv2, "TrackerCSRT_create") else TemplateTracker()


def _pixels(box: dict[str, float], shape: Any) -> tuple[float, float, float, float]:
    height, width = shape[:2]
    return box["x"] * width, box["y"] * height, max(2.0, box["width"] * width), max(2.0, box["height"] * height)


def _fractions(place: Any, shape: Any, score: float | None) -> dict[str, float] | None:
    """A box in fractions, clipped to the picture; None where it lies outside."""
    height, width = shape[:2]
    left, top = max(0.0, place[0] / width), max(0.0, place[1] / height)
    right, bottom = min(1.0, (place[0] + place[2]) / width), min(1.0, (place[1] + place[3]) / height)
    if right <= left or bottom <= top:
        return None
    found = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    return found if score is None else {**found, "confidence": min(1.0, max(0.0, float(score)))}


def _part(gray: Any, x: float, y: float, width: float, height: float) -> tuple[Any, tuple[int, int]]:
    """The part of a picture around a place, and its corner."""
    left, top = max(0, round(x - width / 2)), max(0, round(y - height / 2))
    return gray[top : max(top, round(y + height / 2)), left : max(left, round(x + width / 2))], (left, top)


def _crop(gray: Any, place: tuple[float, float, float, float]) -> Any:
    """What is within a box, at most as large as a template."""
    part, _ = _part(gray, place[0] + place[2] / 2, place[1] + place[3] / 2, place[2], place[3])
    if part.size == 0:
        part = gray[:2, :2]
    scale = min(1.0, _TEMPLATE / max(part.shape[:2]))
    return cv2.resize(part, (max(2, round(part.shape[1] * scale)), max(2, round(part.shape[0] * scale))))


def _state(template: Any) -> str:
    return base64.b64encode(cv2.imencode(".png", template)[1].tobytes()).decode()


def _template(state: Any) -> Any:
    from .pictures import decode

    return cv2.cvtColor(decode(state), cv2.COLOR_RGB2GRAY)


class Motion(Model):
    """Boxes around what moves between the pictures of one stream, which are asked for in their order."""

    kind = "detector"
    name = "motion"
    version = cv2.__version__

    def __init__(self) -> None:
        self._seen: Recent[Any] = Recent(16)
        self._lock = threading.Lock()

    def detect(self, image: Any, stream: str) -> dict[str, list[dict[str, Any]]]:
        """Boxes of what differs from the background that the earlier pictures had; none on the first one."""
        height, width = image.shape[:2]
        key = f"{stream}|{width}x{height}"
        is_first = self._seen.get(key) is None
        with self._lock:
            background = self._seen.find(key, lambda: cv2.createBackgroundSubtractorMOG2(200, 25, False))
            mask = background.apply(cv2.GaussianBlur(image, (5, 5), 0))
        if is_first:
            return {"boxes": []}
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        boxes = []
        for contour in sorted(contours, key=cv2.contourArea, reverse=True)[:100]:
            left, top, wide, high = cv2.boundingRect(contour)
            share = cv2.contourArea(contour) / (width * height)
            if share < _LEAST_MOVING:
                break
            place = {"x": left / width, "y": top / height, "width": wide / width, "height": high / height}
            boxes.append({**place, "label": "moving", "confidence": min(1.0, cv2.contourArea(contour) / (wide * high))})
        return {"boxes": boxes}


def models() -> dict[str, Model]:
    """All of them, by the paths under which they are served."""
    return {"grabcut": GrabCut(), "track": make_tracker(), "motion": Motion()}
