"""The measures of quality reports equal those of other libraries, and find what was planted, on random worlds.

What scikit-learn, krippendorff and TrackEval measure is a table (`oracles.py`); where they are installed, they are
asked again. pycocotools is among the tools of development.
"""

import json
from collections import defaultdict
from dataclasses import replace

import pytest

from chalicelib.resources.quality.comparison import Findings, Rules, compare
from chalicelib.resources.quality.tracks import THRESHOLDS, TrackAgreement
from tests.resources.quality import oracles
from tests.resources.quality.oracles import CLASSES, SEEDS, TABLE, build, crowd

RULES = Rules(threshold=0.5, reach=0.02, class_aware=False)
MEASURED = json.loads(TABLE.read_text())


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
    found, _ = compared(build(seed))
    assert found.confusion.kappa() == pytest.approx(MEASURED["grid"][seed]["kappa"])
    assert found.confusion.labels() == list(CLASSES)
    assert [row[:-1] for row in found.confusion.matrix()[:-1]] == MEASURED["grid"][seed]["confusion"]


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_is_that_of_krippendorff(seed):
    _, alpha = compared(build(seed))
    assert alpha == pytest.approx(MEASURED["grid"][seed]["alpha"])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kind", "make"), [("grid", build), ("crowd", crowd)])
def test_hota_and_idf1_are_those_of_trackeval(kind, make, seed):
    agreement = TrackAgreement(reach=0.02)
    for ours, theirs in make(seed).frames():
        agreement.add(ours, theirs)
    agreement.end_media()
    result, measured = agreement.result(), MEASURED[kind][seed]
    for name in ("hota", "detection", "association", "idf1"):
        assert result[name] == pytest.approx(measured[name], abs=1e-6), name
    # at a threshold that no pair reaches, TrackEval has a localization of 1, and a report none
    reached = sum(each.matched > 0 for each in agreement.at)
    theirs = (result["localization"] * reached + len(THRESHOLDS) - reached) / len(THRESHOLDS)
    assert theirs == pytest.approx(measured["localization"], abs=1e-6)


@pytest.mark.parametrize(
    ("library", "ask"),
    [
        ("sklearn", oracles.by_scikit_learn),
        ("krippendorff", oracles.by_krippendorff),
        ("trackeval", oracles.by_trackeval),
    ],
)
def test_the_table_is_what_the_libraries_measure(library, ask):
    pytest.importorskip(library)
    for seed in SEEDS:
        for name, value in ask(build(seed)).items():
            known = MEASURED["grid"][seed][name]
            assert value == (known if name == "confusion" else pytest.approx(known)), (seed, name)
