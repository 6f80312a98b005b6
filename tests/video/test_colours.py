"""Colours: HDR and wide gamuts are mapped to what screens show; what has no tags is read by its height, and tagged."""

import array
import io
from fractions import Fraction

import av
import pytest
from PIL import Image

from chalicelib.video.decoding.colour import BT601, BT709, source_tags
from chalicelib.video.decoding.frame import decode_frames, decode_original
from chalicelib.video.files.source import BytesSource
from chalicelib.video.pictures import thumbnails
from chalicelib.video.probe import probe
from tests.video.made import transcode

LADDER = [{"resolution": 144, "preset": "ultrafast"}, {"resolution": 720, "preset": "ultrafast"}]


def clip(level, tags="", size=(320, 180), chroma=(512, 512), depth=10):
    """A video of one colour, given as the numbers that are stored in its pixels."""
    out, pixels = io.BytesIO(), "yuv420p10le" if depth == 10 else "yuv420p"
    with av.open(out, "w", format="mp4") as container:
        options = {"preset": "ultrafast", "crf": "4", "x264-params": tags}
        stream = container.add_stream("libx264", rate=25, options=options)
        stream.width, stream.height, stream.pix_fmt = *size, pixels
        for number in range(4):
            picture = av.VideoFrame(*size, pixels)
            for plane, value in zip(picture.planes, (level, *chroma), strict=True):
                plane.update(filled(plane, value, depth))
            picture.pts, picture.time_base = number, Fraction(1, 25)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return BytesSource(out.getvalue())


def filled(plane, value, depth):
    code = "H" if depth == 10 else "B"
    return array.array(code, [value] * (plane.buffer_size // array.array(code).itemsize)).tobytes()


def middle(image):
    return image.getpixel((image.width // 2, image.height // 2))


def tags_of(data):
    with av.open(io.BytesIO(data)) as container:
        picture = next(container.decode(video=0))
        return int(picture.color_primaries), int(picture.color_trc), int(picture.colorspace), int(picture.color_range)


HDR = {
    "HDR10": "colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc",
    "HLG": "colorprim=bt2020:transfer=arib-std-b67:colormatrix=bt2020nc",
}


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "white"), [("HDR10", 0.58), ("HLG", 0.75)])
def test_reference_white_of_hdr_is_shown_white(tmp_path, kind, white):
    source = clip(round(64 + 876 * white), HDR[kind])
    found, table = probe(source)
    assert min(middle(decode_original(source, table, found.video, [1])[0])) > 235
    made = transcode(source, tmp_path, 60, LADDER)
    for name in made.files:
        assert tags_of(made.files[name]) == (*BT709, 1)
        assert min(middle(decode_frames(made.source(name), made.info(name), [2])[0])) > 235
    still = Image.open(io.BytesIO(thumbnails.thumbnail(source, found, table).data))
    assert min(middle(still)) > 235


@pytest.mark.slow
def test_black_stays_black_and_the_tones_of_hdr_keep_their_order():
    levels = []
    for signal in (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0):
        source = clip(round(64 + 876 * signal), HDR["HDR10"])
        found, table = probe(source)
        levels.append(middle(decode_original(source, table, found.video, [0])[0])[1])
    assert levels[0] <= 2
    assert levels == sorted(levels)
    assert levels[-1] >= 253


def test_wide_gamut_without_hdr_becomes_bt709():
    tags = "colorprim=bt2020:transfer=bt2020-10:colormatrix=bt2020nc"
    # a red that BT.709 has too: in BT.2020 it is paler in its numbers
    source = clip(400, tags, chroma=(440, 640))
    found, table = probe(source)
    red, green, blue = middle(decode_original(source, table, found.video, [0])[0])
    assert red > green
    assert red - min(green, blue) > 90


@pytest.mark.slow
@pytest.mark.parametrize(("size", "tags"), [((1280, 720), BT709), ((320, 180), BT601)])
def test_an_untagged_source_is_read_by_its_height_and_all_renditions_agree(tmp_path, size, tags):
    source = clip(90, size=size, chroma=(90, 200), depth=8)
    found, table = probe(source)
    original = middle(decode_original(source, table, found.video, [0])[0])
    made = transcode(source, tmp_path, 60, LADDER)
    assert len(made.files) == 2
    for name in made.files:
        assert tags_of(made.files[name])[:3] == tags
        shown = middle(decode_frames(made.source(name), made.info(name), [0])[0])
        assert all(abs(a - b) <= 3 for a, b in zip(shown, original, strict=True)), (name, shown, original)


@pytest.mark.parametrize(
    ("color", "height", "expected"),
    [
        ((2, 2, 2), 719, BT601),
        ((2, 2, 2), 720, BT709),
        ((2, 2, 1), 144, BT709),
        ((6, 2, 2), 2160, BT601),
        ((5, 6, 5), 2160, (5, 6, 5)),
        ((1, 13, 1), 1080, (1, 13, 1)),
    ],
)
def test_missing_tags_follow_from_those_there_are(color, height, expected):
    assert source_tags(color, height) == expected
