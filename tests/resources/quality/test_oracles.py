"""The measures of quality reports equal those of other libraries, and find what was planted, on random worlds.

pycocotools is among the tools of development. The others are not: their tests run where they are installed
(`pip install scikit-learn krippendorff trackeval`).
"""

import random
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

import pytest

from chalicelib.resources.quality.comparison import Findings, Rules, compare
from chalicelib.resources.quality.matching import Shape, similarity
from chalicelib.resources.quality.tracks import TrackAgreement

CLASSES = ("cod", "eel", "ray")
GRID = 6
SIZE = 0.1
SEEDS = range(20)
RULES = Rules(threshold=0.5, reach=0.02, class_aware=False)


@dataclass
class World:
    """Frames of a reference (1) and a layer (2) with errors, and what was planted."""

    rows: list = field(default_factory=list)
    planted: Counter = field(default_factory=Counter)
    pairs: list = field(default_factory=list)


def build(seed):
    """Boxes in the cells of a grid, so that each overlaps with its own partner only."""
    chance, world, number = random.Random(seed), World(), 0
    for frame in range(12):
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


def box(number, left, top, label, track=None):
    return Shape(number, "box", label, (left, top, left + SIZE, top + SIZE), track=track)


def compared(world, **rules):
    rules = replace(RULES, **rules)
    found = Findings.begin([(1, 2)], rules)
    compare(found, world.rows, [1, 2], rules)
    return found.pairs[0], found.alpha()


@pytest.mark.parametrize("seed", SEEDS)
def test_what_was_planted_is_found_exactly(seed):
    world = build(seed)
    found, _ = compared(world)
    assert found.confusion.counts == world.planted
    missing, extra = (sum(n for pair, n in world.planted.items() if pair[side] is None) for side in (1, 0))
    tally = found.overall
    assert (tally.matched, tally.missing, tally.extra) == (len(world.pairs), missing, extra)
    assert found.conflict_count == missing + extra + sum(one != two for one, two in world.pairs)


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_of_a_class_are_those_of_pycocotools(seed):
    """The true positives of COCOeval at an IoU of 0.5, where every score is the same."""
    coco, cocoeval = pytest.importorskip("pycocotools.coco"), pytest.importorskip("pycocotools.cocoeval")
    world, annotations = build(seed), defaultdict(list)
    for _, frame, version, shape in world.rows:
        left, top, right, bottom = (1000 * each for each in shape.box)
        annotations[version].append(
            {"id": shape.id, "image_id": frame, "category_id": CLASSES.index(shape.label) + 1, "iscrowd": 0,
             "score": 1.0, "bbox": [left, top, right - left, bottom - top], "area": (right - left) * (bottom - top)}
        )  # fmt: skip
    truth, trial = coco.COCO(), coco.COCO()
    for each, version in ((truth, 1), (trial, 2)):
        each.dataset = {
            "images": [{"id": frame} for frame in range(12)],
            "categories": [{"id": index + 1, "name": name} for index, name in enumerate(CLASSES)],
            "annotations": annotations[version],
        }
        each.createIndex()
    evaluation = cocoeval.COCOeval(truth, trial, "bbox")
    evaluation.params.iouThrs = evaluation.params.iouThrs[:1]
    evaluation.evaluate()
    parts = [each for each in evaluation.evalImgs if each is not None and each["aRng"] == evaluation.params.areaRng[0]]
    matched = {
        (int(trial_id), int(truth_id))
        for part in parts
        for trial_id, truth_id in zip(part["dtIds"], part["dtMatches"][0], strict=True)
        if truth_id
    }
    found, _ = compared(world, class_aware=True)
    assert found.overall.matched == len(matched) == sum(one == two for one, two in world.pairs)
    assert all(trial_id == truth_id + 1 for trial_id, truth_id in matched)


@pytest.mark.parametrize("seed", SEEDS)
def test_kappa_and_confusion_are_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    world = build(seed)
    found, _ = compared(world)
    ours, theirs = zip(*world.pairs, strict=True)
    assert found.confusion.kappa() == pytest.approx(metrics.cohen_kappa_score(ours, theirs))
    matrix = [row[:-1] for row in found.confusion.matrix()[:-1]]
    assert matrix == metrics.confusion_matrix(ours, theirs, labels=found.confusion.labels()).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_is_that_of_krippendorff(seed):
    krippendorff = pytest.importorskip("krippendorff")
    world = build(seed)
    _, alpha = compared(world)
    table = [[CLASSES.index(pair[side]) for pair in world.pairs] for side in (0, 1)]
    assert alpha == pytest.approx(krippendorff.alpha(reliability_data=table, level_of_measurement="nominal"))


@pytest.mark.parametrize("seed", SEEDS)
def test_hota_and_idf1_are_those_of_trackeval(seed):
    """Objects of a cell are a track of the reference; in the layer each changes its number in the middle."""
    trackeval, numpy = pytest.importorskip("trackeval"), pytest.importorskip("numpy")
    world, frames = build(seed), [([], []) for _ in range(12)]
    for _, frame, version, shape in world.rows:
        frames[frame][version - 1].append(shape)
    agreement = TrackAgreement(reach=0.02)
    for ours, theirs in frames:
        agreement.add(ours, theirs)
    agreement.end_media()
    numbers = [{}, {}]
    ids = [
        [numpy.array([numbers[side].setdefault(shape.track, len(numbers[side])) for shape in each[side]], dtype=int)
         for each in frames]
        for side in (0, 1)
    ]  # fmt: skip
    data = {
        "gt_ids": ids[0],
        "tracker_ids": ids[1],
        "similarity_scores": [
            numpy.array([[similarity(one, two, 0.02) for two in theirs] for one in ours]).reshape(
                len(ours), len(theirs)
            )
            for ours, theirs in frames
        ],
        "num_timesteps": len(frames),
    }
    for side, name in enumerate(("gt", "tracker")):
        data |= {f"num_{name}_ids": len(numbers[side]), f"num_{name}_dets": sum(map(len, ids[side]))}
    hota = trackeval.metrics.HOTA().eval_sequence(data)
    identity = trackeval.metrics.Identity({"PRINT_CONFIG": False}).eval_sequence(data)
    result = agreement.result()
    names = {"hota": "HOTA", "detection": "DetA", "association": "AssA", "localization": "LocA"}
    for ours, theirs in names.items():
        assert result[ours] == pytest.approx(float(numpy.mean(hota[theirs])), abs=1e-6), ours
    assert result["idf1"] == pytest.approx(float(identity["IDF1"]))
