"""Frame n is frame n, as users get it: every kind of clip, uploaded and transcoded, by every way frames are handed out.

The number of each frame is drawn in its pixels (`tests/video/clips.py`). `make exactness` runs all kinds and writes
what came out to docs/frame-exactness.md; every commit runs a few of them.
"""

from __future__ import annotations

import base64
import io
import itertools
import random
import threading
import time
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from PIL import Image, ImageSequence

from chalicelib.core.models.definitions import ResolutionConfig
from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.schemas import ProjectSpec
from chalicelib.settings import settings
from chalicelib.video.decoding.frame import decode_original
from chalicelib.video.probe import probe
from infra.emulator import aws
from infra.emulator.s3.front import S3Front
from infra.local.http.gateway import Server
from tests import objects
from tests.faults import figures
from tests.resources.media.samples import media_type, transcode
from tests.service import GATEWAY, Api, new_user
from tests.video.clips import COUNT, KINDS, make, read, read_all
from tests.video.made import FileSource

ALWAYS = ("variable rate mkv", "open groups mts")
"""Kinds of which every commit is tested; the others are the night's."""
LADDER = (
    ResolutionConfig(resolution=144, preset="ultrafast"),
    ResolutionConfig(resolution=176, vcodec="hevc", preset="ultrafast"),
    # SVT-AV1's fastest presets keep blocks of the picture before where all of it changes, which no camera films
    ResolutionConfig(resolution=208, vcodec="av1", preset="8"),
    ResolutionConfig(resolution=240, preset="ultrafast"),
)
CODECS = {"h264": 144, "hevc": 176, "av1": 208}
"""The height at which each codec is asked for."""
COLUMNS = 10
WAYS = {"codecs": "WebCodecs", "video": "video element"}
"""How the console's player comes to a frame."""
_names = itertools.count(1)


@dataclass
class Watched:
    """A clip that was uploaded and transcoded, and the numbers that a viewer of it sees, in order."""

    kind: Any
    api: Api
    project: int
    media: int
    box: int
    track: int
    shown: list[int]
    original: list[int]

    @property
    def frames(self) -> list[int]:
        return list(range(len(self.shown)))

    def check(self, path: str, found: list[int | None], expected: list[int] | None = None) -> None:
        """Note how many frames were those expected, by default all of the clip, and hold that all were."""
        expected = self.shown if expected is None else expected
        right = sum(a == b for a, b in zip(found, expected, strict=False))
        figures.note(f"frames of {self.kind.name}", f"{path}: right", right)
        figures.note(f"frames of {self.kind.name}", f"{path}: asked", max(len(found), len(expected)))
        assert found == expected


@pytest.fixture(scope="module", autouse=True)
def store():
    """The object store behind a socket, so that a player can fetch ranges by the URLs it is given."""
    server = S3Front(aws.signing_keys())
    server.start()
    caches = (settings, objects.s3._presigner, objects.s3.own)
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("LIMN_S3_ENDPOINT", server.url)
        # several pieces of each clip, so that what is handed out was joined
        changed.setenv("LIMN_PIECE_SECONDS", "1")
        for cache in caches:
            cache.cache_clear()
        yield
    for cache in caches:
        cache.cache_clear()
    server.stop()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            kind,
            id=kind.name,
            marks=pytest.mark.slow if kind.name in ALWAYS else pytest.mark.nightly,
        )
        for kind in KINDS
    ],
)
def watched(request, tmp_path_factory, store):
    kind = request.param
    path = make(kind, tmp_path_factory.mktemp("clip"))
    source = FileSource(path)
    found, table = probe(source)
    original = [read(image) for image in decode_original(source, table, found.video, range(table.count))]
    first = original[0]
    api = new_user(is_staff=True)
    organization = api.made("Organizations", {"name": f"watchers {next(_names)} {kind.name}"})
    project = projects_service.create_project(
        ProjectSpec(name=kind.name, organization=organization), api.user.id, "No Access"
    )
    type_ = media_type(project.id, streaming_config=list(LADDER))
    said = transcode(api, project.id, type_, path.read_bytes(), name=path.name)
    assert said.status == 201, said.body
    api.drain()
    job = api.get(f"Transcode/{said.json['id']}").json["job"]
    assert (job["status"], job["message"]) == ("succeeded", kind.damage)
    assert job["pieces"] > 1
    types = {"media_types": [type_]}
    box = api.made(f"LocalizationTypes/{project.id}", {"name": "box", "dtype": "box", **types})
    track = api.made(f"StateTypes/{project.id}", {"name": "track", "association": "Localization", **types})
    shown = list(range(first, first + table.count))
    return Watched(kind, api, project.id, said.json["media_id"], box, track, shown, original)


@pytest.fixture(params=CODECS)
def codec(request):
    return request.param


@pytest.fixture
def cutting(watched):
    """The clip function at work beside the request that waits for it."""
    ended = threading.Event()

    def work():
        while not ended.is_set():
            watched.api.drain()
            time.sleep(0.02)

    thread = threading.Thread(target=work)
    thread.start()
    yield
    ended.set()
    thread.join()


def opened(said):
    assert said.status == 200, said.body
    return Image.open(io.BytesIO(said.body))


def tiles(image, columns, count):
    """What the tiles of a picture show, row by row."""
    rows = -(-count // columns)
    width, height = image.width // columns, image.height // rows
    places = [(index % columns * width, index // columns * height) for index in range(count)]
    return [read(image.crop((left, top, left + width, top + height))) for left, top in places]


def test_all_that_a_viewer_sees_is_counted(watched):
    if watched.kind.whole:
        assert watched.shown == list(range(COUNT))
    elif watched.kind.trim:
        assert watched.shown == list(range(watched.kind.trim, COUNT))
    else:
        assert len(watched.shown) > COUNT // 3
        assert watched.shown[0] == 0 or watched.shown[-1] == COUNT - 1
    assert watched.api.get(f"Media/{watched.media}").json["num_frames"] == len(watched.shown)


def test_frames_of_the_original(watched):
    watched.check("original", watched.original)


def test_frames_of_renditions(watched, codec):
    count = len(watched.shown)
    tile = f"{COLUMNS}x{-(-count // COLUMNS)}"
    said = watched.api.get(f"GetFrame/{watched.media}", frames=watched.frames, tile=tile, quality=CODECS[codec])
    watched.check(f"GetFrame {codec}", tiles(opened(said), COLUMNS, count))


def test_frames_one_at_a_time(watched):
    asked = watched.frames[::-7]
    found = [read(opened(watched.api.get(f"GetFrame/{watched.media}", frames=frame))) for frame in asked]
    assert found == [watched.shown[frame] for frame in asked]


def test_streaming_files_as_a_player_reads_them(watched, codec):
    """By what the interface says of segment files alone, over HTTP ranges of the URLs that a media shows."""
    media = watched.api.get(f"Media/{watched.media}", presigned=3600).json
    entry = next(each for each in media["media_files"]["streaming"] if each["codec"] == codec)
    segments = requests.get(entry["segment_info"], timeout=5).json()["segments"]

    def fetch(first, last):
        answer = requests.get(entry["path"], headers={"Range": f"bytes={first}-{last}"}, timeout=5)
        assert answer.status_code == 206
        assert len(answer.content) == last - first + 1
        return answer.content

    header = fetch(0, segments[1]["offset"] + segments[1]["size"] - 1)
    found = []
    for moof, mdat in itertools.pairwise(segments):
        if moof["name"] != "moof":
            continue
        assert (mdat["name"], moof["frame_start"]) == ("mdat", len(found))
        assert moof["frame_samples"] <= 25
        found += read_all(io.BytesIO(header + fetch(moof["offset"], mdat["offset"] + mdat["size"] - 1)))
        assert moof["frame_start"] + moof["frame_samples"] == len(found)
    watched.check(f"segment files {codec}", found)
    # and the file as a whole, for players that know nothing of segment files
    assert read_all(io.BytesIO(requests.get(entry["path"], timeout=5).content)) == watched.shown


@pytest.mark.usefixtures("cutting")
@pytest.mark.parametrize("reencode", [False, True], ids=["copied", "encoded"])
def test_clips(watched, codec, reencode):
    """Ranges out of order; that all of the clip can be found in it by what the answer says of its parts."""
    last = len(watched.shown) - 1
    ranges = [(last - 1, last), (3, 26), (12, 12)]
    query = {"frame_ranges": [f"{start}:{end}" for start, end in ranges], "quality": CODECS[codec]}
    said = watched.api.get(f"GetClip/{watched.media}", **query, **({"reencode": 1} if reencode else {}))
    assert said.status == 200, said.body
    parts = list(zip(said.json["segment_start_frames"], said.json["segment_end_frames"], strict=True))
    if reencode:
        assert parts == ranges
    else:
        held = [set(range(start, end + 1)) for start, end in parts]
        assert all(any(frame in part for part in held) for start, end in ranges for frame in range(start, end + 1))
    expected = [watched.shown[frame] for start, end in parts for frame in range(start, end + 1)]
    answer = watched.api.get(said.json["file"]["path"].removeprefix(settings().public_url))
    clip = requests.get(answer.headers["Location"], timeout=5).content
    watched.check(f"clips {'encoded' if reencode else 'copied'}", read_all(io.BytesIO(clip)), expected)


def whole(watched, frame):
    return {"type": watched.box, "media_id": watched.media, "frame": frame, "x": 0, "y": 0, "width": 1, "height": 1}


def test_pictures_of_localizations(watched):
    boxes = watched.api.made(f"Localizations/{watched.project}", [whole(watched, frame) for frame in watched.frames])
    found = [read(opened(watched.api.get(f"LocalizationGraphic/{number}"))) for number in boxes]
    watched.check("localization graphics", found)


def test_pictures_of_tracks(watched):
    """Boxes made in another order than that of their frames: beside each other, and one after the other."""
    scattered = sorted(watched.frames, key=lambda frame: frame * 7919 % 61)
    boxes = watched.api.made(f"Localizations/{watched.project}", [whole(watched, frame) for frame in scattered])
    spec = {"type": watched.track, "media_ids": [watched.media], "localization_ids": boxes}
    (number,) = watched.api.made(f"States/{watched.project}", spec)
    strip = opened(watched.api.get(f"StateGraphic/{number}", mode="tile"))
    watched.check("track graphics, tiled", tiles(strip, len(boxes), len(boxes)))
    moving = opened(watched.api.get(f"StateGraphic/{number}", format="gif"))
    found = [read(picture.convert("RGB")) for picture in ImageSequence.Iterator(moving)]
    watched.check("track graphics, animated", found)


@pytest.fixture(scope="module")
def window(browser, store):
    """A page of the console in Chromium, served from this process."""
    server = Server(GATEWAY, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    page = browser.new_page()
    try:
        page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        yield page
    finally:
        page.close()
        server.shutdown()
        server.server_close()
        thread.join()


SEEK = """async ([media, way, frames, token]) => {
  const folder = document.querySelector('script[type=module]').src.replace(/app\\.js$/, '');
  const { Player } = await import(`${folder}player/player.js`);
  const headers = { Authorization: `Token ${token}` };
  const ask = (path) => fetch(`/rest/${path}`, { headers });
  const fetchFrame = async (frame) => (await ask(`GetFrame/${media.id}?frames=${frame}`)).blob();
  const canvas = document.createElement('canvas');
  const player = new Player(canvas, { reload: async () => media, fetchFrame }, [way]);
  player.addEventListener('error', (event) => { throw event.detail; });
  await player.open(media, frames[0]);
  const shown = [];
  for (const frame of frames) {
    await player.seek(frame);
    const isShown = player.frame === frame && player.source.name === way;
    if (!isShown) throw new Error(`${player.frame} by ${player.source?.name}`);
    shown.push(canvas.toDataURL());
  }
  player.close();
  return shown;
}"""


@pytest.mark.browser
@pytest.mark.parametrize(("way", "codec"), [(way, codec) for way in WAYS for codec in ("h264", "av1")])
def test_the_canvas_of_the_console(watched, window, way, codec):
    """Frames in random order, by WebCodecs and by a video element. Chromium of Debian decodes no HEVC."""
    media = watched.api.get(f"Media/{watched.media}", presigned=3600).json
    files = media["media_files"]
    files["streaming"] = [each for each in files["streaming"] if each["codec"] == codec][:1]
    frames = random.Random(watched.kind.name).sample(watched.frames, 20)
    shown = window.evaluate(SEEK, [media, way, frames, watched.api.token])
    found = [read(Image.open(io.BytesIO(base64.b64decode(url.split(",")[1])))) for url in shown]
    watched.check(f"console, {WAYS[way]} {codec}", found, [watched.shown[frame] for frame in frames])
