"""Exports: a million boxes written as COCO, YOLO and JSON lines in parts, and joined.

    .venv/bin/python -m tests.bench.exports [boxes]

Seconds of the processor and peak memory, each in a process of its own. What it leaves out are the queries of the view
and the store: `tests/resources/exports` measures nothing, but goes through them.
"""

from __future__ import annotations

import multiprocessing
import random
import resource
import sys
import tempfile
import time

from chalicelib.formats.model import Dataset, Group, Label, Media
from chalicelib.formats.registry import WRITERS, layout_of, shared_files
from chalicelib.formats.writers.archive import PartArchive, length_of, plan

LABELS_A_PART = 20_000
"""As `chalicelib/resources/exports/planning.py` has it."""
BOXES_A_FRAME = 5
FRAMES_A_MEDIA = 400


def parts(boxes):
    """Groups of one part after another, each of `LABELS_A_PART` labels."""
    rng, number = random.Random(1), 0
    for part in range(boxes // LABELS_A_PART):
        groups = []
        for media in range(LABELS_A_PART // (BOXES_A_FRAME * FRAMES_A_MEDIA)):
            key = f"clip_{part}_{media}"
            labels = []
            for frame in range(FRAMES_A_MEDIA):
                for _ in range(BOXES_A_FRAME):
                    number += 1
                    shape = (rng.random() / 2, rng.random() / 2, rng.random() / 2, rng.random() / 2)
                    labels.append(
                        Label(
                            media=key, kind="box", shape=shape, frame=frame, class_name="cod", type="Fish", id=number,
                            attributes={"Depth": 10.5}, elemental_id=f"20000000-0000-4000-8000-{number:012d}",
                        )
                    )  # fmt: skip
            media_ = Media(key=key, name=f"{key}.mp4", is_video=True, width=1920, height=1080, frames=400, fps=25.0)
            groups.append(Group(media=media_, labels=labels))
        yield groups


def write(form, boxes):
    """The CPU seconds of writing and joining, the bytes of the archive, and the peak memory of the process."""
    module, header = WRITERS[form], Dataset(name="bench", classes=("cod", "eel"))
    spent, contents, size = 0.0, [], 0
    for number, groups in enumerate(parts(boxes)):
        began = time.process_time()
        with tempfile.TemporaryFile() as out:
            archive = PartArchive(out, lambda path: layout_of(form, header, path))
            module.write(header, groups, archive, number * 10_000_000 + 1)
            contents.append(archive.finish())
        spent += time.process_time() - began
    began = time.process_time()
    paths = [*shared_files(form, header), *(each.path for content in contents for each in content.fragments)]
    size = sum(map(length_of, plan(contents, {path: layout_of(form, header, path) for path in paths})))
    spent += time.process_time() - began
    return spent, size, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def main():
    """Print the figures."""
    boxes = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    for form in ("coco", "yolo", "jsonl"):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, size, memory = pool.apply(write, (form, boxes))
        print(
            f"{form}: {boxes:,} boxes in {seconds:.1f} s of a processor, {size / 1e6:.1f} MB, "
            f"peak {memory / 1e6:.0f} MB"
        )


if __name__ == "__main__":
    main()
