"""Media by reference from servers that misbehave: each request gets its answer, and an error says what is wrong."""

import copy
import json
import threading
from dataclasses import replace

import pytest

from chalicelib.core.time import deadline
from chalicelib.http import dispatch
from chalicelib.resources.media import streams
from chalicelib.resources.uploads import fetching
from chalicelib.settings import override
from tests.loopback import Handler, Server
from tests.resources.media.samples import frame_shown, media_type, video
from tests.video.made import FileSource, transcode

GIGABYTE = 2**30


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("film")
    path = folder / "film.mp4"
    path.write_bytes(video(75))
    (folder / "out").mkdir()
    found = transcode(FileSource(path), folder / "out", 60, [{"resolution": 64}])
    return found.files["64"], found.info("64")


class FilmServer(Server):
    """Serves a film and its segment file; `behave` has a function for the requests of a path."""

    def __init__(self, files):
        super().__init__(FilmHandler)
        self.files = files
        self.behave = {}
        self.asked = []
        self.over = threading.Event()

    def handle_error(self, *_):
        pass


class FilmHandler(Handler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, wanted = self.path, self.headers.get("Range")
        self.server.asked.append((path, wanted))
        behave = self.server.behave.get(path)
        if behave:
            behave(self, wanted)
        else:
            self.answer_range(self.server.files[path], wanted)

    def answer_range(self, data, wanted, *, status=None, total=None, body=None):
        first, last = 0, len(data) - 1
        if wanted:
            first, last = (int(part) for part in wanted.removeprefix("bytes=").split("-"))
        body = data[first : last + 1] if body is None else body
        span = f"bytes {first}-{last}/{len(data) if total is None else total}"
        headers = {"Content-Range": span} if wanted and status != 200 else {}
        self.answer(status or (206 if wanted else 200), body, headers)

    def drip(self, first):
        """Send a byte now and then until the test is over."""
        self.wfile.write(first)
        while not self.server.over.wait(0.02):
            self.wfile.write(b"x")


@pytest.fixture
def server(made, monkeypatch):
    data, info = made
    running = FilmServer({"/film.mp4": data, "/film.json": json.dumps(info).encode()})
    monkeypatch.setattr(fetching, "_is_inside", lambda address: address.port == running.server_port)
    with override(allowed_origins=[running.url]):
        yield running
    running.over.set()
    running.close()


@pytest.fixture
def media(api, project, server):
    number = api.made(f"Medias/{project}", {"type": media_type(project), "name": "film.mp4", "md5": ""})
    entry = {"codec": "h264", "resolution": [64, 96], "reference_only": 1}
    entry |= {"path": f"{server.url}/film.mp4", "segment_info": f"{server.url}/film.json"}
    said = api.post(f"VideoFiles/{number}", entry, role="streaming")
    assert said.status == 201, said.body
    return number


@pytest.fixture
def shape(api, project, media):
    number = api.get(f"Media/{media}").json["type"]
    box = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [number]})
    spec = {"type": box, "media_id": media, "frame": 33, "x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0}
    (made,) = api.made(f"Localizations/{project}", spec)
    return made


def answers(api, media, shape):
    """The answers to each way of reading the film: some frames as a tile, a clip, one encoded anew and a cut-out."""
    return {
        "frame": api.get(f"GetFrame/{media}", frames=40),
        "tile": api.get(f"GetFrame/{media}", frames="3,33,70", tile="3x1"),
        "clip": api.get(f"GetClip/{media}", frame_ranges=["30:40", "60:70"]),
        "graphic": api.get(f"LocalizationGraphic/{shape}"),
    }


def check_refused(api, media, shape, *others):
    for name, said in answers(api, media, shape).items():
        assert said.status in (400, 413, *others), (name, said.status, said.body[:300])
        assert said.json["message"], name


def test_what_the_server_serves_is_shown(api, media, shape, server):
    viewer = replace(api, headers={"Accept": "*/*"})
    assert frame_shown(viewer.get(f"GetFrame/{media}", frames=40).body) == 40
    assert {name: said.status for name, said in answers(api, media, shape).items()} == dict.fromkeys(
        ("frame", "tile", "clip", "graphic"), 200
    )


VIDEO = {
    "the whole file in place of a range": lambda at, wanted: at.answer_range(
        at.server.files["/film.mp4"], wanted, status=200
    ),
    "an error": lambda at, wanted: at.answer(404, b"no"),
    "nothing": lambda at, wanted: at.connection.close(),
    "no HTTP": lambda at, wanted: at.wfile.write(b"220 ready\r\n"),
    "another length": lambda at, wanted: at.answer_range(
        at.server.files["/film.mp4"], wanted, total=len(at.server.asked)
    ),
    "other bytes": lambda at, wanted: at.answer_range(bytes(len(at.server.files["/film.mp4"])), wanted),
    "less than a range": lambda at, wanted: at.answer_range(at.server.files["/film.mp4"], wanted, body=b"x"),
    "a redirect without end": lambda at, wanted: at.answer(302, headers={"Location": "/film.mp4"}),
    "a malformed range": lambda at, wanted: at.answer(206, headers={"Content-Range": "bytes 0-/-1"}),
    "a malformed length": lambda at, wanted: (
        at.send_response(206),
        at.send_header("Content-Range", "bytes 0-0/100"),
        at.send_header("Content-Length", "1e9"),
        at.end_headers(),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", VIDEO)
def test_a_server_that_does_not_answer_ranges_is_refused(api, media, shape, server, monkeypatch, name):
    server.behave["/film.mp4"] = VIDEO[name]
    # Some of them are waited for until the request ends.
    monkeypatch.setattr(dispatch, "REQUEST_SECONDS", 0.3)
    check_refused(api, media, shape, 503)


def test_a_redirect_to_the_inside_is_refused(api, media, shape, server):
    def redirect(at, _):
        at.answer(302, headers={"Location": "http://169.254.169.254/latest/meta-data"})

    for path in ("/film.mp4", "/film.json"):
        server.behave = {path: redirect}
        streams.kept_segments.clear()
        for name, said in answers(api, media, shape).items():
            assert said.status == 403, (name, said.body)


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/film.mp4", "/film.json"])
@pytest.mark.parametrize("part", ["head", "body"])
def test_a_server_that_sends_a_byte_at_a_time_is_cut_off_at_the_end_of_the_request(
    api, media, server, monkeypatch, path, part
):
    head = b"HTTP/1.1 206 x\r\nContent-Range: bytes 0-0/1000000000\r\nX-A: "
    body = head + b"b\r\nContent-Length: 1\r\n\r\n"

    def drip(at, wanted):
        if wanted == "bytes=0-0" and part == "body":
            at.wfile.write(body + b"x")
        elif part == "body":
            status = b"206 x" if wanted else b"200 x"
            at.drip(b"HTTP/1.1 " + status + b"\r\nContent-Length: 10000000\r\n\r\n")
        else:
            at.drip(head)

    monkeypatch.setattr(dispatch, "REQUEST_SECONDS", 0.3)
    server.behave = {path: drip}
    for said in (
        api.get(f"GetFrame/{media}", frames="3,33,70", tile="3x1"),
        api.get(f"GetClip/{media}", frame_ranges="30:40"),
    ):
        assert said.status in (400, 503), said.body
        assert said.status == 503 or "sends too slowly" in said.json["details"], said.body
    # Threads that read ahead for all requests are free again.
    server.behave = {}
    monkeypatch.setattr(dispatch, "REQUEST_SECONDS", deadline.REQUEST_SECONDS)
    streams.kept_segments.clear()
    assert api.get(f"GetFrame/{media}", frames="3,33,70", tile="3x1").status == 200


def changed(info, at, **more):
    info = copy.deepcopy(info)
    info["segments"][at].update(more)
    return info


SEGMENTS = {
    "no JSON": lambda info: "film",
    "a list": lambda info: [info],
    "null": lambda info: None,
    "no segments": lambda info: {**info, "segments": []},
    "words for numbers": lambda info: changed(info, 2, offset="x"),
    "a fraction": lambda info: changed(info, 2, frame_start=0.5),
    "a boolean": lambda info: changed(info, 2, frame_samples=True),
    "a negative offset": lambda info: changed(info, 4, offset=-10),
    "a negative size": lambda info: changed(info, 5, size=-10),
    "a huge fragment": lambda info: changed(info, 5, size=2**50),
    "huge fragments": lambda info: changed(changed(changed(info, 3, size=2**40), 5, size=2**40), 7, size=2**40),
    "a huge header": lambda info: changed(info, 1, size=2**40),
    "beyond the end": lambda info: {
        **info,
        "segments": [
            *info["segments"][:2],
            *({**each, "offset": each["offset"] + 10**6} for each in info["segments"][2:]),
        ],
    },
    "a payload before its header": lambda info: changed(info, 5, offset=0, size=1),
    "frames in falling order": lambda info: changed(changed(info, 2, frame_start=50), 6, frame_start=0),
    "frames twice": lambda info: changed(info, 4, frame_start=0),
    "more frames than there are numbers": lambda info: changed(info, 6, frame_samples=2**63),
    "a deep document": lambda info: "[" * 100_000,
    "a rate of nothing": lambda info: {**info, "file": {**info["file"], "rate": [0, 0]}},
}


@pytest.mark.parametrize("name", SEGMENTS)
def test_a_malformed_segment_file_is_refused(api, media, shape, server, made, name):
    document = SEGMENTS[name](made[1])
    server.files["/film.json"] = (document if isinstance(document, str) else json.dumps(document)).encode()
    if name == "a rate of nothing":
        assert all(said.status in (200, 400) for said in answers(api, media, shape).values())
        return
    if name == "a huge header":
        server.behave["/film.mp4"] = lambda at, wanted: at.answer_range(b"", wanted, total=2**41, body=b"x")
    check_refused(api, media, shape)
    longest = (
        max(int(wanted.partition("-")[2]) for path, wanted in server.asked if wanted and path == "/film.mp4")
        if any(path == "/film.mp4" for path, _ in server.asked)
        else 0
    )
    assert longest < GIGABYTE


@pytest.mark.slow
def test_a_segment_file_of_many_fragments_is_read_once_or_refused(api, media, shape, server, made):
    *_, moof, mdat = made[1]["segments"]
    info = {**made[1], "segments": [*made[1]["segments"], *([moof, mdat] * 100_000)]}
    server.files["/film.json"] = json.dumps(info).encode()
    check_refused(api, media, shape)


def test_an_endless_segment_file_is_refused(api, media, shape, server, monkeypatch):
    monkeypatch.setattr(streams, "LARGEST_SEGMENT_FILE", 100_000)

    def endless(at, _):
        at.send_response(200)
        at.end_headers()
        while not at.server.over.is_set():
            at.wfile.write(b" " * 10_000)

    server.behave["/film.json"] = endless
    check_refused(api, media, shape)


def test_an_image_that_changes_between_its_size_and_its_bytes_is_refused(api, project, server):
    number = api.made(f"Medias/{project}", {"type": media_type(project, dtype="image"), "name": "i.png", "md5": ""})
    entry = {"path": f"{server.url}/i.png", "resolution": [30, 40], "reference_only": 1}
    assert api.post(f"ImageFiles/{number}", entry, role="image").status == 201
    for size in (10, 2**20, 2**60, 0):
        server.behave["/i.png"] = lambda at, wanted, size=size: at.answer(b"", wanted, total=size, body=b"x")
        said = api.get(f"GetFrame/{number}")
        assert said.status in (400, 413), (size, said.body)
