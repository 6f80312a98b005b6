"""Random worlds, and what other libraries measure of them: `tests/data/agreement.json`, which this writes.

    python -m venv /tmp/oracles
    /tmp/oracles/bin/pip install numpy==2.4.6 scikit-learn==1.9.1 krippendorff==0.9.0 trackeval==1.3.0
    /tmp/oracles/bin/pip install -r requirements.txt
    /tmp/oracles/bin/python -m tests.resources.quality.oracles

The libraries are not among the tools of development. Where they are installed, tests ask them, too.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chalicelib.resources.quality.matching import Shape

TABLE = Path(__file__).parents[2] / "data" / "agreement.json"
CLASSES = ("cod", "eel", "ray")
FRAMES = 12
GRID = 6
SIZE = 0.1
SEEDS = range(20)


@dataclass
class World:
    """Frames of a reference (1) and a layer (2) with errors, and what was planted."""

    rows: list[tuple[int, int, int, Shape]] = field(default_factory=list)
    planted: Counter[tuple[str | None, str | None]] = field(default_factory=Counter)
    pairs: list[tuple[str, str]] = field(default_factory=list)

    def frames(self) -> list[tuple[list[Shape], list[Shape]]]:
        """The shapes of both on each frame."""
        found: list[tuple[list[Shape], list[Shape]]] = [([], []) for _ in range(FRAMES)]
        for _, frame, version, shape in self.rows:
            found[frame][version - 1].append(shape)
        return found


def build(seed: int) -> World:
    """Boxes in the cells of a grid, so that each overlaps with its own partner only.

    Objects of a cell are a track of the reference; in the layer each changes its number in the middle.
    """
    chance, world, number = random.Random(seed), World(), 0
    for frame in range(FRAMES):
        for cell in chance.sample(range(GRID * GRID), 8):
            number += 2
            left, top = (0.02 + 0.16 * (cell % GRID), 0.02 + 0.16 * (cell // GRID))
            label = chance.choice(CLASSES)
            fault = chance.choices(["none", "missing", "extra", "renamed"], [8, 1, 1, 1])[0]
            found = chance.choice([each for each in CLASSES if each != label]) if fault == "renamed" else label
            shift = chance.uniform(0, 0.02)
            if fault != "extra":
                world.rows.append((1, frame, 1, box(number, left, top, label, cell)))
            if fault != "missing":
                world.rows.append((1, frame, 2, box(number + 1, left + shift, top, found, cell + frame // 6 * 100)))
            world.planted[label if fault != "extra" else None, found if fault != "missing" else None] += 1
            if fault in ("none", "renamed"):
                world.pairs.append((label, found))
    return world


def crowd(seed: int) -> World:
    """Tracks that cross and overlap each other, with gaps, swaps and boxes that are nobody's."""
    chance, world, number = random.Random(1000 + seed), World(), 0
    starts = [(chance.uniform(0, 0.3), chance.uniform(0, 0.3)) for _ in range(6)]
    moves = [(chance.uniform(-0.01, 0.02), chance.uniform(-0.01, 0.02)) for _ in range(6)]
    for frame in range(FRAMES):
        names = list(range(6))
        if frame > chance.randrange(4, FRAMES):
            names[0], names[1] = names[1], names[0]
        for track, ((left, top), (right, down)) in enumerate(zip(starts, moves, strict=True)):
            number += 2
            x, y = left + frame * right, top + frame * down
            if chance.random() < 0.9:
                world.rows.append((1, frame, 1, box(number, x, y, "cod", track)))
            if chance.random() < 0.85:
                shift = chance.gauss(0, 0.02), chance.gauss(0, 0.02)
                world.rows.append((1, frame, 2, box(number + 1, x + shift[0], y + shift[1], "cod", 50 + names[track])))
        if chance.random() < 0.3:
            number += 1
            place = chance.uniform(0, 0.5), chance.uniform(0, 0.5)
            world.rows.append((1, frame, 2, box(number, *place, "cod", 90 + chance.randrange(3))))
    return world


def box(number: int, left: float, top: float, label: str, track: int | None = None) -> Shape:
    """A box of a class and track."""
    return Shape(number, "box", label, (left, top, left + SIZE, top + SIZE), track=track)


def by_scikit_learn(world: World) -> dict[str, Any]:
    """Cohen's kappa and the confusion of the planted pairs."""
    from sklearn import metrics

    ours, theirs = zip(*world.pairs, strict=True)
    matrix = metrics.confusion_matrix(ours, theirs, labels=CLASSES).tolist()
    return {"kappa": float(metrics.cohen_kappa_score(ours, theirs)), "confusion": matrix}


def by_krippendorff(world: World) -> dict[str, Any]:
    """Krippendorff's alpha of the planted pairs."""
    import krippendorff

    table = [[CLASSES.index(pair[side]) for pair in world.pairs] for side in (0, 1)]
    return {"alpha": float(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))}


def by_trackeval(world: World) -> dict[str, Any]:
    """HOTA with its parts, and IDF1, of the tracks."""
    import numpy as np
    import trackeval

    frames = world.frames()
    numbers: tuple[dict[int | None, int], ...] = ({}, {})
    ids = [
        [
            np.array([numbers[side].setdefault(shape.track, len(numbers[side])) for shape in each[side]], dtype=int)
            for each in frames
        ]
        for side in (0, 1)
    ]
    data = {
        "gt_ids": ids[0],
        "tracker_ids": ids[1],
        "similarity_scores": [
            np.array([[_iou(one.box, two.box) for two in theirs] for one in ours]).reshape(len(ours), len(theirs))
            for ours, theirs in frames
        ],
        "num_timesteps": len(frames),
    }
    for side, name in enumerate(("gt", "tracker")):
        data |= {f"num_{name}_ids": len(numbers[side]), f"num_{name}_dets": sum(map(len, ids[side]))}
    hota = trackeval.metrics.HOTA().eval_sequence(data)
    identity = trackeval.metrics.Identity({"PRINT_CONFIG": False}).eval_sequence(data)
    names = {"hota": "HOTA", "detection": "DetA", "association": "AssA", "localization": "LocA"}
    found = {ours: float(np.mean(hota[theirs])) for ours, theirs in names.items()}
    return {**found, "idf1": float(identity["IDF1"])}


def _iou(one: tuple[float, ...], two: tuple[float, ...]) -> float:
    width = min(one[2], two[2]) - max(one[0], two[0])
    height = min(one[3], two[3]) - max(one[1], two[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / (sum((each[2] - each[0]) * (each[3] - each[1]) for each in (one, two)) - both)


def main() -> None:
    """Ask the libraries, and write the table."""
    table = {
        "grid": [
            {**by_scikit_learn(world), **by_krippendorff(world), **by_trackeval(world)} for world in map(build, SEEDS)
        ],
        "crowd": [by_trackeval(crowd(seed)) for seed in SEEDS],
    }
    TABLE.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
