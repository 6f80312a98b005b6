"""`python -m tests.bench.datasets [rows] [pictures]`: exports and imports as whole jobs, through the API and the queue.

AWS is in the same process. Printed are the processor time of the process with its children, which decode the pictures,
and the growth of its peak memory; both include those of the emulated AWS.
"""

from __future__ import annotations

import logging
import os
import resource
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from tests.environment import VARIABLES

os.environ.update(VARIABLES)

from chalicelib.maintenance import compaction
from tests import objects
from tests.resources.exports.samples import Dataset
from tests.resources.imports.archives import uploaded
from tests.resources.media.samples import video
from tests.service import new_user

AT_ONCE = 500
FRAMES = 500
COMPACTED = 100_000
"""Boxes after which a project that is filled is compacted."""


def main(rows: int = 100_000, pictures: int = 1_000) -> None:
    """Print the figures."""
    logging.disable(logging.INFO)
    api = new_user(is_staff=True)
    organization = api.made("Organizations", {"name": "bench"})
    project = api.made("Projects", {"name": "boxes", "organization": organization})
    data = Dataset(api, project, pictures=False)
    fill(data, [data.add_bare(f"{number}.mp4", num_frames=FRAMES) for number in range(20)], rows)
    for form in ("parquet", "csv", "coco", "yolo"):
        with measured(f"{rows} boxes to {form}"):
            export = run(api, project, {"format": form})
        assert export["labels"] == rows
        print(f"  {export['size'] / 1e6:.1f} MB, {export['progress']['total']} parts")
        if form not in ("coco", "yolo"):
            continue
        body = objects.read(f"_exports/{project}/{export['uid']}/archive.zip")
        copy = api.made("Projects", {"name": f"copy of {form}", "organization": organization})
        Dataset(api, copy, pictures=False)
        for number in range(20):
            api.made(
                f"Medias/{copy}", {"type": first(api, copy), "name": f"{number}.mp4", "md5": "", "num_frames": FRAMES}
            )
        key = uploaded(api, copy, body)
        with measured(f"import of {rows} rows of {form}"):
            uid = api.made(f"Imports/{copy}", {"format": form, "key": key, "create_types": True})
            api.drain()
        made = api.get(f"Import/{uid}").json
        assert (made["status"], made["report"]["localizations"]["accepted"]) == ("succeeded", rows), made
    project = api.made("Projects", {"name": "pictures", "organization": organization})
    shown = Dataset(api, project, video(pictures, keyframes=50))
    fill(shown, [shown.video], 2 * pictures, pictures)
    for frames, count in (("frames", pictures), ("crops", 2 * pictures)):
        with measured(f"{count} {frames} of a small video"):
            export = run(api, project, {"format": "coco", "frames": frames})
        print(f"  {export['size'] / 1e6:.1f} MB, {export['progress']['total']} parts")


def first(api, project):
    """The type of videos of a project."""
    return next(each["id"] for each in api.get(f"MediaTypes/{project}").json if each["dtype"] == "video")


def fill(data, media, rows, frames=FRAMES):
    """Create boxes, evenly over the media and their frames, and compact the project, as its schedule would by then."""
    for start in range(0, rows, AT_ONCE):
        specs = [
            {
                "type": data.box_type, "media_id": media[number % len(media)], "frame": number // len(media) % frames,
                "x": number % 50 / 100, "y": 0.25, "width": 0.25, "height": 0.5,
            }
            for number in range(start, min(start + AT_ONCE, rows))
        ]  # fmt: skip
        data.api.made(f"Localizations/{data.project}", specs)
        if start % COMPACTED == 0:
            compaction.compact(data.project, force=True)
    compaction.compact(data.project, force=True)


def run(api, project, spec):
    """An export, worked off."""
    uid = api.made(f"Exports/{project}", spec)
    api.drain()
    export = api.get(f"Export/{uid}").json
    assert export["status"] == "succeeded", export
    return export


@contextmanager
def measured(what):
    """Print the processor time of what is done within, and how much the peak memory grew."""
    began, peak = spent(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clock = time.perf_counter()
    yield
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
    cpu, wall = spent() - began, time.perf_counter() - clock
    print(f"{what}: {cpu:.1f} s of a processor ({wall:.0f} s), peak memory +{grown:.0f} MB", flush=True)


def spent():
    """The processor time of this process and of all that it began: the server that decodes pictures goes on."""
    parents, times = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(") ")[2].split()
        except OSError:  # it has ended
            continue
        number = int(stat.parent.name)
        # the parent; the time of the process and that of its children that ended
        parents[number], times[number] = int(fields[1]), sum(map(int, fields[11:15]))
    own = {os.getpid()}
    while more := {number for number, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(times[number] for number in own) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
