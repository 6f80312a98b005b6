"""Sound made in pieces is the sound of the whole: every sample in its place, and no break where pieces meet."""

import dataclasses
import io
import math
from fractions import Fraction

import av
import numpy as np
import pytest

from chalicelib.video.files.source import BytesSource
from chalicelib.video.plan import chosen_track
from chalicelib.video.probe import probe
from chalicelib.video.sound import audio
from tests.video.clips import KINDS, X264, make
from tests.video.made import FileSource, transcode

LADDER = [{"resolution": 32, "preset": "ultrafast"}]
NAMED = {kind.name: kind for kind in KINDS}
UNTOLD = ("mp3 avi", "opus webm")
"""Files that do not say, or not exactly, how much their encoder put before the start."""
BY_NIGHT = {"aac mp4", "flac mkv", "mono mkv"}
"""Tracks that another is much like."""


def tone(times):
    """What is heard at times: a tone that never repeats within the clips, so that a shift shows."""
    return 0.3 * np.sin(2 * math.pi * (300 + 40 * times) * times)


@dataclasses.dataclass(frozen=True)
class Track:
    name: str
    suffix: str
    codec: str
    rate: int = 48_000
    layout: str = "stereo"
    form: str = "fltp"
    seconds: int = 4
    start: float = 0.0
    video_start: float = 0.0
    gaps: tuple = ()


TRACKS = (
    Track("aac mp4", "mp4", "aac"),
    Track("aac mp4 44.1", "mp4", "aac", 44_100),
    Track("aac mkv", "mkv", "aac", 44_100),
    Track("mono mkv", "mkv", "aac", layout="mono"),
    Track("flac mkv", "mkv", "flac", form="s16"),
    Track("opus webm", "mkv", "libopus", form="flt"),
    Track("aac ts", "ts", "aac", 44_100),
    Track("mp3 avi", "avi", "libmp3lame", 44_100),
    Track("pcm mov", "mov", "pcm_s16le", form="s16"),
    Track("an unusual rate", "mkv", "flac", 37_800, form="s16"),
    Track("late sound", "mkv", "aac", start=1.3),
    Track("late pictures", "mp4", "aac", video_start=2.2),
    Track("gaps", "mkv", "aac", seconds=7, gaps=((0.5, 1.3), (1.9, 1.96), (2.4, 3.6))),
)


def film(track, folder, fps=25, container=None, codec="libx264", frames="0"):
    """A clip whose sound is `tone` of the time since its first picture; `frames` is how many B-frames are in a row."""
    path = folder / f"film.{track.suffix}"
    with av.open(str(path), "w", options=container or {}) as out:
        options = X264 if codec == "libx264" else {}
        video = out.add_stream(codec, rate=fps, options=options | {"g": "25", "bf": frames})
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        sound = out.add_stream(track.codec, rate=track.rate, layout=track.layout)
        # At the encoder's own choice, 64 kbit/s, the clip itself would differ from its tone.
        sound.bit_rate = 128_000
        size = 1024
        origin = round(track.video_start * track.rate)
        pictures = range(round(track.video_start * fps), round(track.video_start * fps) + track.seconds * fps)
        events = [(number / fps, 0, number) for number in pictures]
        first = round(track.start * track.rate)
        ends = origin + track.seconds * track.rate
        events += [(at / track.rate, 1, at) for at in range(first, ends - size, size)]
        for time, kind, number in sorted(events):
            if not kind:
                picture = av.VideoFrame.from_ndarray(np.full((72, 64), number % 256, "u1"), format="yuv420p")
                picture.pts, picture.time_base = number, Fraction(1, fps)
                out.mux(video.encode(picture))
            elif not any(begin <= time < end for begin, end in track.gaps):
                out.mux(sound.encode(heard(track, number, size, origin)))
        out.mux(video.encode(None))
        out.mux(sound.encode(None))
    return path


def heard(track, at, size, origin):
    frame = av.AudioFrame(track.form, track.layout, size)
    channels = 1 if track.layout == "mono" else 2
    samples = tone(np.arange(at - origin, at - origin + size) / track.rate)
    if track.form == "fltp":
        data = samples.astype("f4")
    else:
        values = np.rint(samples * 32_767).astype("i2") if track.form == "s16" else samples.astype("f4")
        data = np.repeat(values, channels)
    for plane in frame.planes:
        plane.update(data.tobytes())
    frame.sample_rate, frame.pts, frame.time_base = track.rate, at, Fraction(1, track.rate)
    return frame


def played(data):
    """The samples of an AAC file's left channel, of which none is twice and none is missing by their times."""
    found, count = [], 0
    with av.open(io.BytesIO(data)) as container:
        assert container.streams.audio[0].codec_context.channels == 2
        for frame in container.decode(audio=0):
            assert frame.time_base == Fraction(1, frame.sample_rate)
            assert frame.pts == count
            found.append(np.frombuffer(bytes(frame.planes[0])[: 4 * frame.samples], "f4"))
            count += frame.samples
    return np.concatenate(found)


def difference(one, other):
    """How far samples are from others, on average."""
    return math.sqrt(np.mean((one - other) ** 2))


def noise_of(samples, begin, end, rate, level=1.0):
    """How far samples are from what was recorded, on average."""
    return difference(samples[begin:end], level * tone(np.arange(begin, end) / rate))


def uneven(folder):
    """A clip of 3.5 seconds at 30 frames a second, then 3.5 at 10: 20 on average."""
    track = Track("", "mov", "pcm_s16le", form="s16")
    path = folder / "uneven.mov"
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=30, options=X264 | {"g": "25", "bf": "0"})
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        video.codec_context.time_base = Fraction(1, 30)
        sound = out.add_stream(track.codec, rate=track.rate, layout="stereo")
        pictures = [*range(105), *range(105, 210, 3)]
        events = [(number / 30, 0, number) for number in pictures]
        events += [(at / track.rate, 1, at) for at in range(0, 7 * track.rate - 1024, 1024)]
        for _, kind, number in sorted(events):
            if kind:
                out.mux(sound.encode(heard(track, number, 1024, 0)))
            else:
                picture = av.VideoFrame(64, 48, "yuv420p")
                picture.pts, picture.time_base = number, Fraction(1, 30)
                out.mux(video.encode(picture))
        out.mux(video.encode(None))
        out.mux(sound.encode(None))
    return path


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [600, 1])
def test_sound_follows_the_pictures_where_their_rate_varies(tmp_path, seconds):
    made = transcode(FileSource(uneven(tmp_path)), tmp_path, seconds, LADDER)
    fps, frames = made.plan.probe.fps, made.plan.frames
    assert (fps, frames) == (Fraction(1390, 69), 140)
    samples = played(made.sound)
    assert abs(len(samples) - frames / fps * 48_000) < 3 * audio.FRAME

    def off(begin, end, source_of):
        """How far the sound between two times of the renditions is from the source's at those pictures."""
        numbers = np.arange(int(begin * 48_000), int(end * 48_000))
        return difference(samples[numbers], tone(source_of(numbers / 48_000)))

    rate = float(fps)
    # Also beside the change of the rate, at 5.2 seconds.
    assert off(0.5, 5.1, lambda time: time * rate / 30) < 0.03
    assert off(5.3, 6.6, lambda time: 3.5 + (time * rate - 105) / 10) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize(
    "track",
    [
        pytest.param(track, id=track.name, marks=[pytest.mark.nightly] if track.name in BY_NIGHT else [])
        for track in TRACKS
    ],
)
def test_pieces_join_without_a_break(track, tmp_path):
    source = FileSource(film(track, tmp_path))
    for name in ("whole", "split"):
        (tmp_path / name).mkdir()
    whole = transcode(source, tmp_path / "whole", 600, LADDER)
    split = transcode(source, tmp_path / "split", 1, LADDER)
    assert (len(whole.plan.pieces), len(split.plan.pieces)) == (1, track.seconds)
    rate = audio.rate_of(chosen_track(split.plan.probe))
    assert rate == (track.rate if track.rate != 37_800 else 48_000)
    at_once, joined = played(whole.sound), played(split.sound)
    # every sample over the length of the pictures
    assert len(at_once) == len(joined)
    assert 0 <= len(joined) - track.seconds * rate < 3 * audio.FRAME
    # where pieces meet, and everywhere else, it sounds as if made at once; a shift by one sample would be 0.014 or more
    for begin in range(0, len(joined) - 3000, rate // 2):
        part = slice(begin, begin + 3000)
        assert difference(joined[part], at_once[part]) < 0.012, begin / rate
    if track.name not in UNTOLD:
        level = math.sqrt(0.5) if track.layout == "mono" else 1.0
        begin = int((track.seconds - 1.8) * rate)
        assert noise_of(joined, begin, begin + int(0.6 * rate), rate, level) < 0.008


@pytest.mark.slow
@pytest.mark.parametrize("rate", [44_100, 48_000])
@pytest.mark.parametrize("before", [1, 60, 300])
def test_sound_after_a_gap_begins_where_its_timestamps_say_together(rate, before):
    """Timestamps are rounded to milliseconds, which are 44 samples; a row of frames says more than its first."""
    for gap in (1, 2, 5, 30, 90):
        size = 1024
        numbers = [*range(before), *range(before + gap, before + gap + 150)]
        frames = [heard(Track("", "mkv", "aac", rate), number * size, size, 0) for number in numbers]
        for frame, number in zip(frames, numbers, strict=True):
            frame.pts, frame.time_base = round(Fraction(number * size * 1000, rate)), Fraction(1, 1000)
        placed = {at for at, _, _ in audio._stereo(iter(frames), Fraction(0), rate)}
        assert min(abs(at - (before + gap) * size) for at in placed) <= 3, gap


def low_only(samples, begin, end):
    return np.abs(samples[begin:end]).max() < 0.02


@pytest.mark.slow
def test_sound_before_the_first_picture_is_cut_and_a_late_start_is_silent(tmp_path):
    late = transcode(FileSource(film(TRACKS[10], tmp_path)), tmp_path, 1, LADDER)
    samples = played(late.sound)
    assert low_only(samples, 0, int(1.2 * 48_000))
    assert noise_of(samples, int(1.5 * 48_000), int(1.9 * 48_000), 48_000) < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("name", ["with sound", "two sound tracks", "mts"])
def test_the_first_or_default_track_is_taken(name, tmp_path):
    made = transcode(FileSource(make(NAMED[name], tmp_path)), tmp_path, 1, LADDER)
    assert len(made.plan.probe.audio) == NAMED[name].audio
    assert made.plan.sound == made.plan.probe.audio[0]
    assert len(played(made.sound)) / 48_000 == pytest.approx(2.4, abs=0.1)


@pytest.mark.slow
def test_no_sound_gives_no_file(tmp_path):
    made = transcode(FileSource(make(NAMED["plain"], tmp_path)), tmp_path, 1, LADDER)
    assert made.plan.sound is None
    assert made.sound is None


@pytest.mark.slow
def test_a_track_of_which_nothing_can_be_decoded_gives_no_file(tmp_path):
    path = film(TRACKS[2], tmp_path)
    source = FileSource(path)
    found, _ = probe(source)
    data = bytearray(path.read_bytes())
    with av.open(str(path)) as container:
        places = [(p.pos, p.size, bytes(p)) for p in container.demux(audio=0) if p.size]
    for position, size, content in places:
        at = data.index(content, position)
        data[at : at + size] = b"\xff" * size
    made = transcode(BytesSource(bytes(data)), tmp_path, 1, LADDER)
    assert found.audio
    assert made.sound is None


@pytest.mark.slow
def test_a_piece_reads_and_makes_no_more_than_its_part(tmp_path, monkeypatch):
    """Whatever the video's length: of a long one no piece's sound is longer than of a short one."""
    monkeypatch.setattr("chalicelib.video.files.source.LARGEST_FETCH", 1)
    longest = []
    for seconds in (6, 12):
        track = dataclasses.replace(TRACKS[0], seconds=seconds)
        data = film(track, tmp_path).read_bytes()
        made = transcode(BytesSource(data), tmp_path, 3, LADDER)
        sizes = [len(part) for part in fragments_by_piece(made, tmp_path)]
        longest.append(max(sizes))
    assert longest[1] < longest[0] * 1.3


def fragments_by_piece(made, folder):
    return [(folder / f"{audio.NAME}_{piece.index:05d}.mp4").read_bytes() for piece in made.plan.pieces]


def test_hours_between_pictures_are_not_filled(tmp_path, monkeypatch):
    monkeypatch.setattr(audio, "MAX_AUDIO_SECONDS", 60)
    path = tmp_path / "hours.mkv"
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=25, options=X264)
        video.width, video.height, video.pix_fmt = 64, 48, "yuv420p"
        sound = out.add_stream("aac", rate=8000, layout="mono")
        for frame in (0, 1, 25 * 3 * 3600):
            picture = av.VideoFrame(64, 48, "yuv420p")
            picture.pts, picture.time_base = frame, Fraction(1, 25)
            out.mux(video.encode(picture))
        for number in range(16):
            out.mux(sound.encode(heard(Track("", "mkv", "aac", 8000, "mono"), number * 1024, 1024, 0)))
        out.mux(video.encode(None))
        out.mux(sound.encode(None))
    made = transcode(FileSource(path), tmp_path, 60, LADDER)
    with av.open(io.BytesIO(made.sound)) as container:
        frames = sum(1 for packet in container.demux(audio=0) if packet.size)
    assert audio.MAX_AUDIO_SECONDS <= frames * audio.FRAME / 8000 < 1.1 * audio.MAX_AUDIO_SECONDS
