"""Segment files that a caller wrote: numbers and packed times that cost more than their bytes."""

from __future__ import annotations

import base64
import time
import zlib

import pytest

from chalicelib.errors import BadInput
from chalicelib.video.mp4.segments import parse_segment_info
from chalicelib.video.timing import unpack


def packed(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


def test_a_number_that_never_ends_is_refused_at_once():
    began = time.process_time()
    with pytest.raises(BadInput, match="damaged"):
        unpack(packed(b"\xff" * 2_000_000), 200_000)
    assert time.process_time() - began < 1


def test_more_times_than_frames_are_refused():
    with pytest.raises(BadInput, match="damaged"):
        unpack(packed(b"\0" * 1_000_000), 10)
    assert list(unpack(packed(b"\0" * 10), 10)) == [0] * 10


@pytest.mark.parametrize("number", [10**400, 2**53 + 1, -1, 0.5, "x", None, [1], float("nan")])
@pytest.mark.parametrize("member", ["rate", "base", "size", "frame_samples"])
def test_numbers_that_no_video_has_are_refused(member, number):
    file = {"rate": [25, 1], "base": [1, 25]}
    moof = {"name": "moof", "offset": 2, "size": 1, "frame_start": 0, "frame_samples": 1}
    document = {
        "file": file,
        "segments": [
            {"name": "ftyp", "offset": 0, "size": 1},
            {"name": "moov", "offset": 1, "size": 1},
            moof,
            {"name": "mdat", "offset": 3, "size": 1},
        ],
    }
    assert parse_segment_info(document).frames == 1
    if member in file:
        file[member] = [number, 1]
    else:
        moof[member] = number
    with pytest.raises(BadInput, match="damaged"):
        parse_segment_info(document)
