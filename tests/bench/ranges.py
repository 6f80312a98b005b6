"""Frames and clips over HTTP, of streaming files of three sizes in a bucket as the template makes it.

`python -m tests.bench.ranges` runs it. The frames are the same in each file: what lies between two fragments makes it
large, and is a hole of the file, so that 5 GB need no room. `tests.bench.media` measures the same from memory.
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import msgspec
import requests
from isal.isal_zlib import crc32

import tests.bench.offline  # noqa: F401 before anything reads the settings
from tests.service import GATEWAY, new_user  # first: it starts AWS

from chalicelib.settings import settings  # isort: skip
from infra.emulator.s3 import index as s3_index
from infra.emulator.s3.contents import BLOCK, FILES, SUFFIX, Content
from infra.emulator.s3.front import store
from infra.local.http.gateway import Server
from tests import objects
from tests.bench.media import long_video
from tests.resources.media.samples import media_type

SIZES = (50_000_000, 500_000_000, 5_000_000_000)
FRAGMENTS = 220
"""Of a second each: all of them fit into the smallest file."""
LENGTHS = (10, 100, 500, 4400)
"""Frames of the clips."""


def main() -> None:
    """Print a line for each size of the file."""
    with tempfile.TemporaryDirectory() as name:
        FILES.open(Path(name))
        server = Server(GATEWAY, "127.0.0.1", 0)
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        data, info = long_video(Path(name))
        info["segments"] = info["segments"][: 2 + 2 * FRAGMENTS]
        print(
            "median ms over HTTP of".ljust(24), "frame", "tile", *(f"clip of {length}" for length in LENGTHS), sep="   "
        )
        for size in SIZES:
            times = measured(f"http://127.0.0.1:{server.server_address[1]}", data, info, size)
            print(f"{size / 1e6:>18,.0f} MB".ljust(24), *(f"{1e3 * each:8.0f}" for each in times), flush=True)
        server.shutdown()
        FILES.directory = None


def measured(url: str, data: bytes, info: dict[str, Any], size: int) -> list[float]:
    """Median seconds of a frame, a tile of four, and the clips."""
    api = new_user(is_staff=True)
    organization = api.made("Organizations", {"name": f"ranges {uuid.uuid4()}"})
    project = api.made("Projects", {"name": f"ranges {uuid.uuid4()}", "organization": organization})
    media = api.made(f"Medias/{project}", {"type": media_type(project), "name": "long.mp4", "md5": ""})
    keys = {name: f"{organization}/{project}/{media}/{name}" for name in ("long.mp4", "long.json")}
    spread = put_sparse(keys["long.mp4"], data, info, size)
    objects.write(keys["long.json"], msgspec.json.encode(spread), "application/json")
    entry = {"path": keys["long.mp4"], "segment_info": keys["long.json"], "codec": "h264", "resolution": [720, 1280]}
    assert api.post(f"VideoFiles/{media}", {**entry, "size": size}, role="streaming").status == 201
    count = sum(segment.get("frame_samples", 0) for segment in spread["segments"])
    session = requests.Session()
    session.headers["Authorization"] = f"Token {api.token}"

    def timed(path: str, **query: Any) -> float:
        began = time.perf_counter()
        answer = session.get(f"{url}/rest/{path}/{media}", params=query, timeout=120)
        assert answer.ok, answer.text[:300]
        return time.perf_counter() - began

    def tile(at: int) -> str:
        return ",".join(str(at + step) for step in range(0, 400, 100))

    places = range(50, count - 4500, (count - 4550) // 7)
    timed("GetFrame", frames=1, format="jpg")
    return [
        statistics.median(timed("GetFrame", frames=at, format="jpg") for at in places),
        statistics.median(timed("GetFrame", frames=tile(at), format="jpg") for at in places),
        *(
            statistics.median(timed("GetClip", frame_ranges=f"{at + n}:{at + n + length - 1}") for at in places[:5])
            for n, length in enumerate(LENGTHS)
        ),
    ]


def put_sparse(key: str, data: bytes, info: dict[str, Any], size: int) -> dict[str, Any]:
    """Store the video as an object of a size, its fragments spread over it; the segment file that fits."""
    fragments = [segment for segment in info["segments"] if segment["name"] == "moof"]
    gap = (size - sum(segment["size"] for segment in info["segments"])) // len(fragments)
    directory = FILES.directory
    assert directory is not None
    path = directory / f"{uuid.uuid4().hex}{SUFFIX}"
    moved, shift = [], 0
    sums: dict[int, bytes] = {}
    with path.open("w+b") as file:
        file.truncate(size)
        for segment in info["segments"]:
            start, length = segment["offset"], segment["size"]
            shift += gap if segment["name"] == "moof" else 0
            file.seek(start + shift)
            file.write(data[start : start + length])
            moved.append({**segment, "offset": start + shift})
            sums.update(dict.fromkeys(range((start + shift) // BLOCK, (start + shift + length) // BLOCK + 1), b""))
        for number in sums:
            file.seek(number * BLOCK)
            sums[number] = crc32(file.read(BLOCK)).to_bytes(4, "big")
    hole, rest = (crc32(bytes(length)).to_bytes(4, "big") for length in (BLOCK, size % BLOCK))
    numbers = range(-(-size // BLOCK))
    whole = [sums.get(number) or (rest if (number + 1) * BLOCK > size else hole) for number in numbers]
    with s3_index.storing():
        made = store().put_object(settings().media_bucket, key, Content(path.name, size, b"".join(whole)))
        made._etag = uuid.uuid4().hex
        made.set_metadata({"Content-Type": "video/mp4"})
    return {**info, "segments": moved}


if __name__ == "__main__":
    main()
