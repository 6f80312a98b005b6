"""Media that show others side by side: frames, clips and graphics by time."""

import io
import random
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import pytest
from PIL import Image

from chalicelib.access.masks import EXIST, READ, mask_of
from chalicelib.core.models.definitions import ResolutionConfig
from chalicelib.core.permissions import Level
from chalicelib.settings import settings
from tests import objects
from tests.queue_runner import draining
from tests.resources.media.samples import box_type, media_type, transcode
from tests.service import join, new_project, new_sibling, new_user
from tests.video.clips import X264, Kind, make, read, read_all

NTSC = Fraction(30000, 1001)
UNEVEN = tuple(n * 40 + (n * 7919 % 23) + (400 if n > 30 else 0) for n in range(100))
SIZE = (160, 120)
KINDS = (
    Kind("25", options=X264, size=SIZE, count=100),
    Kind("29.97", options=X264, size=SIZE, fps=NTSC, count=130),
    Kind("59.94", options=X264, size=SIZE, fps=2 * NTSC, count=250),
    Kind("uneven", suffix="mkv", options=X264, size=SIZE, times=UNEVEN, time_base=Fraction(1, 1000), count=100),
)
OFFSETS = [0, 3, -20, 5]
NEAR = Fraction(1, 100_000)


@pytest.fixture(scope="module")
def api():
    return new_user(is_staff=True)


@pytest.fixture(scope="module")
def project(api):
    return new_project(api)


@pytest.fixture(scope="module")
def type_(project):
    return media_type(project, streaming_config=[ResolutionConfig(resolution=120, preset="ultrafast")])


@pytest.fixture(scope="module")
def parts(api, project, type_):
    """The media of all clips, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        made = [transcode(api, project, type_, make(kind, Path(folder)).read_bytes()).json for kind in KINDS]
    api.drain()
    return [said["media_id"] for said in made]


@pytest.fixture(scope="module")
def multi_type(project):
    return media_type(project, "multi")


def together(api, project, type_, numbers, offsets=(), layout=()):
    media = api.made(f"Medias/{project}", {"type": type_, "name": "rig", "md5": ""})
    body = {"ids": numbers, "frameOffset": list(offsets), "layout": list(layout)}
    assert api.patch(f"Media/{media}", {"multi": body}).status == 200
    return media


@pytest.fixture(scope="module")
def rig(api, project, multi_type, parts):
    """All four, 2 x 2."""
    return together(api, project, multi_type, parts, OFFSETS, (2, 2))


@pytest.fixture(scope="module")
def pair(api, project, multi_type, parts):
    """The first two, of which the second begins 12 frames late."""
    return together(api, project, multi_type, parts[:2], (0, -12))


@pytest.fixture
def cutting():
    """The clip function at work beside the request that waits for it."""
    with draining():
        yield


def begin(kind, frame):
    """When a frame is shown, from what the clip was made of."""
    if not kind.times:
        return frame / kind.fps
    return Fraction(kind.times[frame] - kind.times[0], 1000)


def expected(part, lead_frame):
    """The frame that a part of `rig` shows, found by looking at all of them."""
    kind, offset = KINDS[part], OFFSETS[part]
    moment = lead_frame / KINDS[0].fps
    start = begin(kind, offset) if offset >= 0 or not kind.times else 0
    begun = [frame for frame in range(kind.count) if begin(kind, frame) - start <= moment + NEAR]
    # the last frame lasts as long as the others on average
    mean = begin(kind, kind.count - 1) / (kind.count - 1)
    return None if not begun or moment + NEAR - (begin(kind, begun[-1]) - start) >= mean + 1 else begun[-1]


def cells(picture):
    """The numbers that the four quarters of a picture show."""
    image = Image.open(io.BytesIO(picture))
    assert image.size == (2 * SIZE[0], 2 * SIZE[1])
    wide, high = SIZE
    return [
        read(image.crop((column * wide, row * high, (column + 1) * wide, (row + 1) * high)))
        for row in range(2)
        for column in range(2)
    ]


def picture(api, path, **query):
    said = replace(api, headers={"Accept": "image/png"}).get(path, **query)
    assert said.status == 200, said.body[:200]
    return said.body


@pytest.mark.slow
@pytest.mark.parametrize("seeks", [50, pytest.param(1000, marks=pytest.mark.nightly)])
def test_no_random_seek_shows_a_wrong_frame(api, rig, seeks):
    rng = random.Random(seeks)
    wrong = []
    for _ in range(seeks // 5):
        frames = [rng.randrange(95) for _ in range(5)]
        image = Image.open(io.BytesIO(picture(api, f"GetFrame/{rig}", frames=",".join(map(str, frames)), tile="1x5")))
        for row, frame in enumerate(frames):
            out = io.BytesIO()
            image.crop((0, row * 2 * SIZE[1], 2 * SIZE[0], (row + 1) * 2 * SIZE[1])).save(out, "PNG")
            wanted = [expected(part, frame) for part in range(4)]
            if cells(out.getvalue()) != wanted:
                wrong.append((frame, cells(out.getvalue()), wanted))
    assert not wrong


@pytest.mark.slow
def test_one_part_is_what_the_grid_shows_and_its_times_say_so(api, rig, parts):
    times = api.get(f"FrameTimes/{rig}").json
    assert (times["rate"], times["is_constant"], times["times"][:2]) == ([25, 1], True, [0, 0.04])
    for frame in (0, 25, 60):
        shown = cells(picture(api, f"GetFrame/{rig}", frames=frame))
        assert [each[frame] for each in times["parts"]] == shown
        for part in range(4):
            query = {"frames": frame, "part": part}
            if shown[part] is None:
                assert f"part {part} (media {parts[part]}) shows nothing" in api.get(f"GetFrame/{rig}", **query).message
            else:
                assert read(Image.open(io.BytesIO(picture(api, f"GetFrame/{rig}", **query)))) == shown[part]


@pytest.mark.slow
def test_a_part_that_has_not_begun_is_black(api, pair):
    image = Image.open(io.BytesIO(picture(api, f"GetFrame/{pair}", frames=3))).convert("L")
    assert image.size == (2 * SIZE[0], SIZE[1])
    assert read(image.crop((0, 0, *SIZE))) == 3
    assert image.crop((SIZE[0], 0, 2 * SIZE[0], SIZE[1])).getextrema() == (0, 0)


@pytest.mark.slow
def test_what_a_part_does_not_have_is_refused(api, rig, pair, parts):
    last = api.get(f"FrameTimes/{pair}").json["num_frames"] - 1
    assert api.get(f"GetFrame/{pair}", frames=last).status == 200
    for query, words in (
        ({"frames": last + 1}, f"frames 0 to {last}"),
        ({"part": 2}, "parts 0 to 1"),
        ({"part": 1, "frames": 0}, "shows nothing"),
        ({"part": -1}, "part"),
    ):
        said = api.get(f"GetFrame/{pair}", **query)
        assert said.status == 400
        assert words in said.message + said.json.get("details", "")
    assert "shows no other media" in api.get(f"GetFrame/{parts[0]}", part=0).message


@pytest.mark.slow
def test_who_may_not_see_a_part_may_not_see_the_grid(api, project, pair, parts, cutting, fine_grained):
    guest = new_user()
    join(guest, new_sibling(api, project), "View Only")
    api.made("RowProtections", {"project": project, "user": guest.user.id, "permission": EXIST | READ})
    for number in (pair, parts[0]):
        api.made("RowProtections", {"media": number, "user": guest.user.id, "permission": mask_of(Level.VIEW)})
    for path, more in (("GetFrame", {}), ("FrameTimes", {}), ("GetClip", {"frame_ranges": "0:3"})):
        said = guest.get(f"{path}/{pair}", **more)
        assert (said.status, f"No Media matches {parts[1]}." in said.message) == (404, True), said.body
        assert api.get(f"{path}/{pair}", **more).status == 200
    assert guest.get(f"GetFrame/{parts[0]}").status == 200


def content(api, said):
    """The clip of an answer."""
    assert said.status == 200, said.body
    sent = api.get(said.json["file"]["path"].removeprefix(settings().public_url))
    key = sent.headers["Location"].partition("?")[0].partition(settings().media_bucket + "/")[2]
    return io.BytesIO(objects.read(key))


@pytest.mark.slow
def test_a_clip_shows_all_parts_by_time(api, rig, cutting):
    said = api.get(f"GetClip/{rig}", frame_ranges="10:19,40:44")
    with av.open(content(api, said)) as container:
        shown = []
        for frame in container.decode(video=0):
            out = io.BytesIO()
            frame.to_image().save(out, "PNG")
            shown.append(cells(out.getvalue()))
    assert shown == [[expected(part, frame) for part in range(4)] for frame in (*range(10, 20), *range(40, 45))]


@pytest.mark.slow
def test_a_clip_of_one_part_is_cut_by_time(api, rig):
    said = api.get(f"GetClip/{rig}", frame_ranges="30:39", part=1, reencode=1)
    assert read_all(content(api, said)) == list(range(expected(1, 30), expected(1, 39) + 1))
    assert "shows nothing" in api.get(f"GetClip/{rig}", frame_ranges="0:9", part=2).message


@pytest.mark.slow
def test_a_clip_is_as_open_as_every_part(api, project, rig, parts, cutting, fine_grained):
    file = api.get(f"GetClip/{rig}", frame_ranges="0:1").json["file"]
    guest = new_user()
    join(guest, new_sibling(api, project), "View Only")
    api.made("RowProtections", {"project": project, "user": guest.user.id, "permission": EXIST | READ})
    for number in (rig, *parts):
        assert guest.get(f"TemporaryFile/{file['id']}").status == 404
        api.made("RowProtections", {"media": number, "user": guest.user.id, "permission": mask_of(Level.VIEW)})
    assert guest.get(f"TemporaryFile/{file['id']}").status == 200


@pytest.mark.slow
def test_the_graphic_of_a_box_is_cut_from_the_grid_or_from_one_part(api, project, multi_type, rig):
    box = {"type": box_type(project, multi_type), "media_id": rig, "frame": 30, "version": None, "attributes": {}}
    box["version"] = api.get(f"Versions/{project}").json[0]["id"]
    corner = api.post(f"Localizations/{project}", box | {"x": 0.5, "y": 0, "width": 0.5, "height": 0.5})
    assert corner.status == 201, corner.body
    found = Image.open(io.BytesIO(picture(api, f"LocalizationGraphic/{corner.json['id'][0]}")))
    assert (found.size, read(found)) == (SIZE, expected(1, 30))
    one = Image.open(io.BytesIO(picture(api, f"LocalizationGraphic/{corner.json['id'][0]}", part=2)))
    assert one.size == (SIZE[0] // 2, SIZE[1] // 2)


@pytest.mark.parametrize(
    ("multi", "message"),
    [
        ({"layout": [0, -1]}, "multi.layout: give the numbers of rows and of columns"),
        ({"layout": [2]}, "multi.layout"),
        ({"frameOffset": [0, 0, 0]}, "multi.frameOffset: 3 offsets are given; media"),
        ({"ids": "itself"}, "cannot show itself"),
        ({"ids": "nested"}, "shows other media itself"),
    ],
)
def test_a_media_shows_others_that_are_no_such_media(api, project, multi, message):
    type_ = media_type(project, "multi")
    part = api.made(f"Medias/{project}", {"type": media_type(project, "video"), "name": "a", "md5": ""})
    rig, other = (api.made(f"Medias/{project}", {"type": type_, "name": name, "md5": ""}) for name in "bc")
    stored = {"ids": [part], "frameOffset": [3], "layout": [1, 1]}
    assert api.patch(f"Media/{other}", {"multi": stored}).status == 200
    if "ids" in multi:
        multi = {"ids": [rig if multi["ids"] == "itself" else other]}
    said = api.patch(f"Media/{rig}", {"multi": {"ids": [part], **multi}})
    assert said.status == 400
    assert message in said.json["message"]
