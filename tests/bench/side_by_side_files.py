"""Rows of `side_by_side` with files: frames and clips of a video, `limn query`, an export, and its import.

The video has 5,500 frames of 720p, the same on both services; it is made here and uploaded as a streaming file.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import requests

import tests.bench.offline  # noqa: F401 before anything reads the settings
from tests.bench.media import long_video
from tests.bench.side_by_side import Row, Service

FRAGMENTS = 220
"""Of a second each."""
FRAMES = 5_000
PAUSE = 0.05
"""Seconds between two looks at an order."""


class Files:
    """What the rows need of each service, made by the first request, which is not counted."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="limn-bench-"))
        self._video: tuple[bytes, bytes, int] | None = None
        self._media: dict[str, int] = {}
        self._archives: dict[str, bytes] = {}

    def frame(self, to: Service, turn: int, *, number: int = 1) -> Any:
        """A picture of so many frames."""
        first = turn * 977 % FRAMES
        frames = ",".join(str(first + step * 100) for step in range(number))
        return to.call("GET", f"GetFrame/{self.media(to)}", params={"frames": frames, "format": "jpg"})

    def clip(self, to: Service, turn: int, length: int) -> Any:
        """A clip of so many frames."""
        first = turn * 977 % (FRAMES - length)
        return to.call("GET", f"GetClip/{self.media(to)}", params={"frame_ranges": f"{first}:{first + length - 1}"})

    def query(self, to: Service, _: int, suffix: str) -> Any:
        """All localizations by the command line, into a file."""
        command = ["query", "localizations", "--project", str(to.project), "-o", str(self._folder / f"boxes.{suffix}")]
        place = {"LIMN_URL": to.base.removesuffix("/rest"), "LIMN_TOKEN": to.token}
        subprocess.run(
            [sys.executable, "-m", "infra.client", *command],
            env={**os.environ, **place},
            check=True,
            capture_output=True,
        )

    def export(self, to: Service, _: int) -> Any:
        """All localizations as COCO; the archive is kept for the import."""
        uid = to.call("POST", f"Exports/{to.project}", json={"format": "coco"}).json()["id"]
        self._archives[to.base] = requests.get(finished(to, f"Export/{uid}")["url"], timeout=300).content

    def load(self, to: Service, _: int) -> Any:
        """The archive into a new project with media of the same names."""
        copy = Service.__new__(Service)
        copy.__dict__.update(to.__dict__)
        copy.begin(len(to.media))
        info = to.call("GET", f"UploadInfo/{copy.project}", params={"filename": "coco.zip"}).json()
        put(info["urls"][0], self._archives[to.base])
        spec = {"format": "coco", "key": info["key"], "create_types": True}
        uid = to.call("POST", f"Imports/{copy.project}", json=spec).json()["id"]
        made = finished(to, f"Import/{uid}")
        assert made["report"]["localizations"]["accepted"] >= len(to.ids) // 2, made

    def media(self, to: Service) -> int:
        """The media with the video."""
        if to.base not in self._media:
            if self._video is None:
                data, info = long_video(self._folder)
                info["segments"] = info["segments"][: 2 + 2 * FRAGMENTS]
                size = sum(segment["size"] for segment in info["segments"])
                self._video = data[:size], msgspec.json.encode(info), size
            media, (data, info_body, size) = to.media[0], self._video
            entry = {"codec": "h264", "resolution": [720, 1280], "size": size}
            for member, name, body in (("path", "film.mp4", data), ("segment_info", "film.json", info_body)):
                place = to.call("GET", f"UploadInfo/{to.project}", params={"media_id": media, "filename": name}).json()
                put(place["urls"][0], body)
                entry[member] = place["key"]
            to.call("POST", f"VideoFiles/{media}", params={"role": "streaming"}, json=entry)
            self._media[to.base] = media
        return self._media[to.base]


def put(url: str, body: bytes) -> None:
    """Upload to a presigned URL."""
    requests.put(url, data=io.BytesIO(body), timeout=300).raise_for_status()


def finished(to: Service, path: str) -> Any:
    """An order that has ended well."""
    while (found := to.call("GET", path).json())["status"] not in ("succeeded", "failed"):
        time.sleep(PAUSE)
    assert found["status"] == "succeeded", found
    return found


_files = Files()
FILE_ROWS = [
    Row("frame of 720p", _files.frame, 0.5),
    Row("tile of four", lambda to, turn: _files.frame(to, turn, number=4), 0.3),
    *(
        Row(f"clip of {length:,} frames", lambda to, turn, length=length: _files.clip(to, turn, length), 0.3)
        for length in (10, 100, 500, 4_400)
    ),
    Row("limn query, all to CSV", lambda to, turn: _files.query(to, turn, "csv"), 0.1),
    Row("limn query, all to Parquet", lambda to, turn: _files.query(to, turn, "parquet"), 0.1),
    Row("export of all as COCO", _files.export, 0.1),
    Row("import of it", _files.load, 0.1),
]
