"""Videos whose pictures change their size: every frame is there, at the size of the first."""

from __future__ import annotations

import io
from fractions import Fraction

import av
import pytest

from chalicelib.video.decoding.frame import decode_frames, decode_original
from chalicelib.video.probe import probe
from tests.video.clips import draw, read
from tests.video.made import FileSource, transcode

COUNT = 60
CHANGE = 30


def mjpeg(path, sizes):
    """A video of JPEG pictures, `CHANGE` of each size; the file says the first."""
    with av.open(str(path), "w") as out:
        stream = out.add_stream("mjpeg", rate=25)
        stream.width, stream.height, stream.pix_fmt = *sizes[0], "yuvj420p"
        for number in range(COUNT):
            data = io.BytesIO()
            image = draw(number).resize(sizes[number // CHANGE], resample=0)
            image.save(data, "JPEG", quality=95)
            packet = av.Packet(data.getvalue())
            packet.stream, packet.time_base = stream, Fraction(1, 25)
            packet.pts = packet.dts = number
            packet.is_keyframe = True
            out.mux(packet)
    return FileSource(path)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["avi", "mov"])
@pytest.mark.parametrize("second", [(160, 96), (80, 48), (320, 192)])
def test_no_frame_is_lost_where_pictures_change_their_size(tmp_path, suffix, second):
    source = mjpeg(tmp_path / f"film.{suffix}", [(160, 96), second])
    found, table = probe(source)
    assert (table.count, found.video.width, found.video.height) == (COUNT, 160, 96)
    numbers = list(range(COUNT))
    assert [read(image) for image in decode_original(source, table, found.video, numbers)] == numbers
    assert [read(*decode_original(source, table, found.video, [number])) for number in numbers[28::3]] == numbers[28::3]
    made = transcode(source, tmp_path, 0.5)
    (name,) = made.files
    assert [read(image) for image in decode_frames(made.source(name), made.info(name), numbers)] == numbers
