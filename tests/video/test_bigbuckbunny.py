"""A real video through everything, as the first hour with the service does it."""

import io
import itertools
from fractions import Fraction

import av
import pytest
from PIL import Image, ImageChops, ImageStat

from chalicelib.video.decoding.frame import decode_frames, decode_original
from chalicelib.video.encoding.archival import copied_entries, encoded_entries, finish_archival
from chalicelib.video.files.source import BytesSource, SourceFile
from chalicelib.video.pictures.thumbnails import animated_thumbnail, thumbnail
from chalicelib.video.probe import probe
from tests.video.made import DATA, FileSource, transcode

BUNNY = FileSource(DATA / "bigbuckbunny.mp4")
QUICK = [{"resolution": height, "preset": "ultrafast"} for height in (144, 360, 480, 720, 1080)]

BY_NIGHT = pytest.mark.nightly
"""For what needs all renditions of the video, which take 15 s; test_transcodes.py makes them with each commit."""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    archive = [
        {"encode": {"vcodec": "copy"}},
        {"encode": {"vcodec": "hevc", "preset": "ultrafast"}, "s3_storage": {"bucket_name": "elsewhere"}},
    ]
    return transcode(BUNNY, tmp_path_factory.mktemp("bunny"), 2, QUICK, archive)


@pytest.mark.slow
def test_the_probe_tells_what_a_player_would():
    found, table = probe(BUNNY)
    assert (found.video.width, found.video.height, found.fps, found.frames) == (1280, 720, 25, 132)
    assert (table.count, table.fps, table.time_of(77), table.duration) == (132, 25, Fraction(77, 25), Fraction(132, 25))
    assert [track.codec for track in found.audio] == ["aac"]


def test_probing_reads_the_index_and_no_more_payload_than_both_ends_need():
    padded = BytesSource((DATA / "bigbuckbunny.mp4").read_bytes())
    file = SourceFile(padded)
    file.hollow = [(0, padded.size)]
    assert file.read(1000) == bytes(1000)
    assert file.bytes_read == 0


@BY_NIGHT
def test_a_720p_source_gets_four_renditions_with_every_frame(made):
    assert [name for name in made.files if "archival" not in name] == ["144", "360", "480", "720"]
    for name, width in (("144", 256), ("360", 640), ("480", 854), ("720", 1280)):
        with av.open(io.BytesIO(made.files[name])) as container:
            stream = container.streams.video[0]
            times = [packet.pts for packet in container.demux(stream) if packet.size]
            keys = []
            container.seek(0)
            keys = [number for number, packet in enumerate(container.demux(stream)) if packet.is_keyframe]
            assert (stream.width, stream.height, stream.average_rate) == (width, int(name), 25)
            assert (stream.codec_context.sample_aspect_ratio or 1) == 1
            assert [time * stream.time_base * 25 for time in times] == list(range(132))
            assert max(b - a for a, b in itertools.pairwise(keys)) <= 25
            assert not container.streams.audio
            assert container.duration == 5_280_000


@BY_NIGHT
def test_the_picture_is_the_same_picture(made):
    found, table = probe(BUNNY)
    originals = decode_original(BUNNY, table, found.video, [0, 77, 131])
    for name in ("360", "720"):
        for original, copy in zip(
            originals, decode_frames(made.source(name), made.info(name), [0, 77, 131]), strict=True
        ):
            difference = ImageChops.difference(original.resize(copy.size), copy)
            assert max(ImageStat.Stat(difference).mean) < 6


@BY_NIGHT
def test_the_thumbnails_are_256_wide(made):
    found, table = probe(BUNNY)
    still = thumbnail(BUNNY, found, table)
    with Image.open(io.BytesIO(still.data)) as image:
        assert (image.format, image.size, still.mime) == ("JPEG", (256, 144), "image/jpeg")
    moving = animated_thumbnail(made.source("360"), made.info("360"), found.fps, found.frames)
    with Image.open(io.BytesIO(moving.data)) as image:
        assert (image.format, image.size, image.n_frames, image.info["duration"]) == ("GIF", (256, 144), 5, 250)


@BY_NIGHT
def test_the_sound_is_stereo_aac_as_long_as_the_video(made):
    assert len(made.plan.pieces) > 1
    with av.open(io.BytesIO(made.sound)) as container:
        context = container.streams.audio[0].codec_context
        assert (context.name, context.channels) == ("aac", 2)
        assert abs(container.duration / 1_000_000 - 5.28) < 0.1


@BY_NIGHT
def test_archival_entries_are_the_original_or_a_playable_whole(made, tmp_path):
    assert copied_entries(made.plan) == (0,)
    assert encoded_entries(made.plan) == {1: "archival_1"}
    size = finish_archival(made.source("archival_1"), BytesSource(made.sound), tmp_path / "archival.mp4")
    assert size == (tmp_path / "archival.mp4").stat().st_size
    again, frames = probe(FileSource(tmp_path / "archival.mp4"))
    assert (again.video.codec, again.frames, again.fps, again.video.height) == ("hevc", 132, 25, 720)
    assert [track.codec for track in again.audio] == ["aac"]
    with av.open(str(tmp_path / "archival.mp4")) as container:
        assert container.streams.video[0].codec_context.codec_tag == "hvc1"
    assert frames.count == 132


@BY_NIGHT
def test_a_frame_is_fetched_with_its_fragment_only(made):
    class Counting(BytesSource):
        fetched = 0

        def read(self, offset, length):
            self.fetched += length
            return super().read(offset, length)

    source = Counting(made.files["720"])
    decode_frames(source, made.info("720"), [77])
    sizes = [s["size"] for s in made.info("720")["segments"]]
    assert source.fetched < 2 * max(sizes) < source.size
