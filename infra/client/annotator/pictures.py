"""Pictures as arrays, masks as run lengths."""

from __future__ import annotations

import base64
import binascii
import os
from typing import Any

os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(100_000_000))  # read when OpenCV is imported

import cv2
import numpy as np

_CHANNELS = 4
_BYTES_PER_READ = 1 << 16


class BadRequest(ValueError):
    """The request breaks a rule of its convention; the message says which."""


def decode(text: Any) -> Any:
    """The picture of a base64 text or data URL: rows of pixels, red, green and blue, 0 to 255.

    Raises:
        BadRequest: it is no base64, or no picture.
    """
    if not isinstance(text, str):
        raise BadRequest("image: the base64 of a JPEG or PNG is needed.")
    try:
        data = base64.b64decode(text.partition(",")[2] if text.startswith("data:") else text, validate=True)
        found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except (binascii.Error, cv2.error, ValueError):
        found = None
    if found is None:
        raise BadRequest("image: it is not the base64 of a JPEG or PNG.")
    return cv2.cvtColor(found, cv2.COLOR_BGR2RGB)


def runs(mask: Any) -> list[int]:
    """The run lengths of a mask, column by column: pixels outside, inside, outside and so on."""
    flat = np.asarray(mask, bool).ravel(order="F")
    changes: Any = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    ends = np.concatenate(([0] if flat.size and flat[0] else [], changes, [flat.size]))
    return [int(each) for each in np.diff(ends, prepend=0)]


def brush(mask: Any) -> list[int]:
    """A mask in the run lengths of Label Studio: four values a pixel, row by row, in a stream of bits."""
    flat = np.asarray(mask, bool).ravel()
    bits = [f"{flat.size * _CHANNELS:032b}", f"{7:05b}", *(f"{length - 1:04b}" for length in (3, 4, 8, 16))]
    place = 0
    for end in [*(np.flatnonzero(flat[1:] != flat[:-1]) + 1), flat.size]:
        left, value = (int(end) - place) * _CHANNELS, 255 if flat[place] else 0
        while left:
            many = min(left, _BYTES_PER_READ)
            bits.append(f"111{many - 1:016b}{value:08b}")
            left -= many
        place = int(end)
    text = "".join(bits)
    text += "0" * (-len(text) % 8)
    return list(int(text, 2).to_bytes(len(text) // 8, "big"))


def outline(mask: Any) -> list[list[float]]:
    """The outline of the largest part of a mask, in pixels."""
    found, _ = cv2.findContours(np.asarray(mask, np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    largest = max(found, key=cv2.contourArea, default=None)
    return [] if largest is None else [[float(x), float(y)] for x, y in cv2.approxPolyDP(largest, 1.0, True)[:, 0]]
