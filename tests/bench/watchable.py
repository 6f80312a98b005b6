"""From the end of an upload to a video that can be watched, on a local stack: `python -m tests.bench.watchable`.

    python -m tests.bench.watchable [--seconds 180] [--height 720] [--times 3] [--all]

Printed are, for each of some uploads of the same film, the seconds until the media has its thumbnail, its first
rendition and, with `--all`, every rendition; and the processor time of the service and its child processes until then.
On two idle cores the wall time is at least half of the processor time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.calibration import line
from tests.bench.media import film
from tests.bench.side_by_side import Service
from tests.bench.side_by_side_files import put
from tests.journeys.stack import Stack

PAUSE = 0.2
"""Seconds between two looks at the media."""
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print a line for each upload."""
    read = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    read.add_argument("--seconds", type=float, default=180.0)
    read.add_argument("--height", type=int, default=720)
    read.add_argument("--times", type=int, default=3)
    read.add_argument("--all", action="store_true", help="wait until every rendition is there")
    asked = read.parse_args()
    print(line(), flush=True)
    with tempfile.TemporaryDirectory(prefix="limn-bench-") as folder:
        size = asked.height * 16 // 9, asked.height
        data = film(Path(folder) / "film.mp4", size, asked.seconds).read_bytes()
        stack = Stack(Path(folder))
        try:
            stack.start()
            service = Service(stack.home, 0, 0)
            for _ in range(asked.times):
                print(watched(stack, service, data, whole=asked.all), flush=True)
        finally:
            stack.kill()


def watched(stack: Stack, service: Service, data: bytes, *, whole: bool) -> str:
    """Upload a film, and tell when what of it was there."""
    info = service.call("GET", f"UploadInfo/{service.project}", params={"filename": "film.mp4"}).json()
    put(info["urls"][0], data)
    found = service.call("POST", f"DownloadInfo/{service.project}", json={"keys": [info["key"]]}).json()
    spec = {"type": service.video, "url": found[0]["url"], "name": "film.mp4", "section": "new"}
    began, used = time.perf_counter(), processor(stack.pid)
    job = service.call("POST", f"Transcode/{service.project}", json=spec).json()["id"]
    told: dict[str, str] = {}
    while True:
        transcode = service.call("GET", f"Transcode/{job}").json()
        media = service.call("GET", f"Media/{transcode['spec']['media_id']}").json()
        files = media["media_files"] or {}
        status = transcode["job"]["status"].lower()
        there = {
            "thumbnail": bool(files.get("thumbnail")),
            "first rendition": bool(files.get("streaming")),
            "all": status == "succeeded",
        }
        for name in [name for name, is_there in there.items() if is_there and name not in told]:
            told[name] = f"{name} {time.perf_counter() - began:.1f} s, CPU {processor(stack.pid) - used:.1f} s"
        if status == "failed":
            sys.exit(str(transcode["job"]))
        if there["all"]:
            return "; ".join(told.values())
        if there["first rendition"] and not whole:
            service.call("DELETE", f"Transcode/{job}")
            return "; ".join(told.values())
        time.sleep(PAUSE)


def processor(pid: int) -> float:
    """Seconds of the processor that a process and its children took, those that have ended included."""
    stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{pid}/task").glob("*/children")
    below = [int(child) for each in children for child in each.read_text().split()]
    return sum(map(int, stat[11:15])) / _TICKS + sum(processor(child) for child in below)


if __name__ == "__main__":
    main()
