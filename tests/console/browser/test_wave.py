"""The waveform of a media's sound on the timeline."""

from __future__ import annotations

import uuid
from fractions import Fraction

import av
import numpy as np
import pytest

from tests.console.browser.projects import new_project
from tests.console.browser.views import show
from tests.console.browser.waits import until

SECONDS, FPS, RATE = 36, 10, 48_000
CLAP, TONE = 6, 12
"""Silence, in which there is one clap; from 12 s on a tone."""
ROW = """() => {
  const canvas = document.querySelector('.timeline canvas'), context = canvas.getContext('2d');
  const ratio = canvas.width / canvas.clientWidth;
  const column = (x) => {
    const found = context.getImageData(x, Math.round(32 * ratio), 1, Math.round(22 * ratio)).data;
    return found.filter((value, at) => at % 4 === 3 && value > 0).length / ratio;
  };
  return Array.from({length: canvas.width}, (_, x) => column(x));
}"""
"""How high the waveform is in each column of the timeline, of 22."""
PEAKS = """async ([media, most]) => {
  const files = performance.getEntriesByType('resource').map((each) => each.name);
  const {Wave} = await import(files.find((each) => each.endsWith('/player/wave.js')));
  const {get} = await import(files.find((each) => each.endsWith('/client.js')));
  const sound = (await get(`Media/${media}`, {presigned: 3600})).media_files.audio[0];
  const wave = new Wave(sound.path, sound.size);
  const read = new Promise((resolve) => wave.peaks.subscribe((peaks) => wave.isWhole && resolve([...peaks])));
  wave.start(36, most);
  return {size: sound.size, peaks: (await read).map((each) => Number.isNaN(each) ? null : each)};
}"""


def clap_and_tone(folder):
    """A clip of 36 s: silence with a clap at 6 s, then a tone from 12 s on."""
    times = np.arange(SECONDS * RATE) / RATE
    heard = 0.5 * np.sin(2 * np.pi * 440 * times) * (times >= TONE)
    heard[CLAP * RATE : CLAP * RATE + RATE // 50] = 0.9
    path = folder / "clap.mp4"
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=FPS, options={"preset": "ultrafast"})
        video.width, video.height, video.pix_fmt = 96, 64, "yuv420p"
        track = out.add_stream("aac", rate=RATE, layout="stereo")
        for number in range(SECONDS * FPS):
            picture = av.VideoFrame.from_ndarray(np.full((64, 96, 3), number % 200, np.uint8))
            picture.pts, picture.time_base = number, Fraction(1, FPS)
            out.mux(video.encode(picture))
        out.mux(video.encode(None))
        for start in range(0, len(heard) - 1023, 1024):
            part = np.tile(heard[start : start + 1024].astype(np.float32), (2, 1))
            frame = av.AudioFrame.from_ndarray(part, "fltp", "stereo")
            frame.sample_rate, frame.pts, frame.time_base = RATE, start, Fraction(1, RATE)
            out.mux(track.encode(frame))
        out.mux(track.encode(None))
    return path


@pytest.fixture(scope="module")
def heard(stack, tmp_path_factory):
    """The address of the clip's view, and the id of its media."""
    api, project = stack.api, new_project(stack.api, "Heard")
    kind = api.create(f"MediaTypes/{project}", {"name": "Video", "dtype": "video"})
    url = api.upload(project, clap_and_tone(tmp_path_factory.mktemp("heard")).read_bytes())
    spec = {"type": kind, "gid": str(uuid.uuid4()), "uid": str(uuid.uuid1()), "name": "clap.mp4", "md5": ""}
    said = api.ask("POST", f"Transcodes/{project}", {**spec, "url": url})
    until(lambda: api.ask("GET", f"Transcode/{said['id']}")["job"]["status"] == "succeeded", "the clip is transcoded")
    return f"/#/projects/{project}/media/{said['media_id']}", said["media_id"]


def test_claps_and_tones_are_seen_on_the_timeline_at_their_time(page, heard):
    show(page, heard[0])
    page.wait_for_function(f"() => Math.max(...({ROW})()) > 15")
    row = page.evaluate(ROW)
    at = [max(row[round(t * len(row) / SECONDS) : round((t + 0.2) * len(row) / SECONDS)]) for t in (1, CLAP, 9)]
    assert max(at[0], at[2]) < 3
    assert at[1] > 15
    tone = row[round((TONE + 0.5) * len(row) / SECONDS) : round((SECONDS - 0.5) * len(row) / SECONDS)]
    assert 8 < min(tone) <= max(tone) < 15


def test_of_a_long_sound_spots_are_read(page, heard):
    address, media = heard
    show(page, address)
    whole = page.evaluate(PEAKS, [media, 1 << 24])
    assert whole["size"] > 250_000
    assert sum(each is not None for each in whole["peaks"]) > 2000
    page.wait_for_function(f"() => ({ROW})().at(-20) > 5")  # the page has read its own
    sizes: list[int] = []
    page.on("request", lambda request: sizes.append(_bytes(request.headers.get("range", ""))))
    spots = page.evaluate(PEAKS, [media, 200_000])
    assert 0 < sum(sizes) <= 200_000 + 16 * 1024
    there = [(one, two) for one, two in zip(spots["peaks"], whole["peaks"], strict=True) if one is not None]
    assert 100 < len(there) < 1900
    assert np.mean([abs(one - (two or 0)) < 0.1 for one, two in there]) > 0.95


def test_without_sound_there_is_no_row(screen):
    page = screen.open().page
    assert page.locator(".timeline").get_attribute("data-wave") is None
    assert "84px" in page.locator(".timeline").get_attribute("style")


def _bytes(header: str) -> int:
    first, last = header.removeprefix("bytes=").split("-") if header else (0, -1)
    return int(last) - int(first) + 1
