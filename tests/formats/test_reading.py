"""What a format writes, its reader reads: all of it, or what the format holds."""

from __future__ import annotations

import io
from collections import defaultdict

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from chalicelib.formats.model import Label, Media, Refusal, State, box_of, in_pixels
from chalicelib.formats.readers import (
    read_coco,
    read_cvat,
    read_dota,
    read_masks,
    read_mot,
    read_mots,
    read_table,
    read_voc,
    read_yolo,
)
from chalicelib.formats.readers.science import (
    read_biigle,
    read_camtrapdp,
    read_coralnet,
    read_dive,
    read_eventmeasure,
    read_ifdo,
    read_vars,
    read_viame,
)
from chalicelib.formats.readers.unzip import ZipArchive
from tests.formats import worlds

READERS = {
    "coco": read_coco.read,
    "kwcoco": read_coco.read,
    "yolo": read_yolo.read,
    "voc": read_voc.read,
    "mot": read_mot.read,
    "mots": read_mots.read,
    "dota": read_dota.read,
    "masks": read_masks.read,
    "cvat": read_cvat.read,
    "viame": read_viame.read,
    "dive": read_dive.read,
    "coralnet": read_coralnet.read,
    "camtrapdp": read_camtrapdp.read,
    "ifdo": read_ifdo.read,
    "biigle": read_biigle.read,
    "vars": read_vars.read,
    "eventmeasure": read_eventmeasure.read,
    "csv": read_table.read_csv,
    "jsonl": read_table.read_jsonl,
    "parquet": read_table.read_parquet,
}


def rows_of(name, groups, **more):
    """What the reader of a format finds in what its writer wrote of groups, in two parts."""
    made, _ = worlds.write(name, worlds.dataset(**more), [groups[:1], groups[1:]])
    found = defaultdict(list)
    for placed in READERS[name](ZipArchive(made.fp if made.fp.seekable() else io.BytesIO())):
        found[type(placed.row)].append(placed.row)
    assert found[Refusal] == []
    return found


def labels_of(groups):
    return [label for group in groups for label in group.labels]


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
def test_tables_hold_everything(name):
    @settings(max_examples=3 if name == "parquet" else 12)
    @given(worlds.groups())
    def check(groups):
        found = rows_of(name, groups)
        assert found[Media] == [group.media for group in groups]
        states = [state for group in groups for state in group.states]
        if name == "csv":  # CSV has text: the import gives it the type of the attribute
            states, labels = texts(states), texts(labels_of(groups))
            assert (texts(found[State]), texts(found[Label])) == (states, labels)
        else:
            assert (found[State], found[Label]) == (states, labels_of(groups))

    check()


def texts(rows):
    from chalicelib.formats.manifest import cell

    return [
        replace(row, attributes={name: str(cell(value)) for name, value in row.attributes.items() if value != ""})
        for row in rows
    ]


@pytest.mark.slow
@settings(max_examples=12)
@given(worlds.groups())
def test_coco_holds_all_but_lines(groups):
    found = rows_of("coco", groups)
    assert {media.key for media in found[Media]} == {group.media.key for group in groups}
    media = {group.media.key: group.media for group in groups}
    expected = [in_pixels(label, media[label.media]) for label in labels_of(groups) if label.kind != "line"]
    assert sorted(map(repr, found[Label])) == sorted(map(repr, expected))
    tracks = {label.track for label in labels_of(groups) if label.track}
    assert tracks <= {state.key for state in found[State]}


@pytest.mark.slow
@settings(max_examples=12)
@given(worlds.groups())
def test_cvat_holds_shapes_tracks_and_attributes_as_text(groups):
    found = rows_of("cvat", groups)
    media = {group.media.key: group.media for group in groups}
    got = {(label.media, label.frame, label.kind, label.track, label.class_name, label.shape) for label in found[Label]}
    assert len(found[Label]) == len(labels_of(groups))
    for label in labels_of(groups):
        other = in_pixels(label, media[label.media])
        close = [
            each
            for each in got
            if each[:5] == (other.media, other.frame, other.kind, other.track, other.class_name)
            and each[5] == pytest.approx(other.shape, abs=1e-7)
        ]
        assert close, (other, got)


@settings(max_examples=12)
@given(worlds.groups(kinds=("box",)))
def test_yolo_holds_boxes_and_classes(groups):
    found = rows_of("yolo", groups)

    def seen(labels):
        rounded = [tuple(round(number, 6) + 0.0 for number in label.shape) for label in labels]
        return sorted(
            (label.media, label.frame, label.class_name, *shape) for label, shape in zip(labels, rounded, strict=True)
        )

    assert [each[:3] for each in seen(found[Label])] == [each[:3] for each in seen(labels_of(groups))]
    for one, other in zip(seen(found[Label]), seen(labels_of(groups)), strict=True):
        assert one[3:] == pytest.approx(other[3:], abs=1e-5)


@settings(max_examples=12)
@given(worlds.groups(kinds=("box",)))
def test_yolo_segmentation_holds_corners(groups):
    found = rows_of("yolo", groups, task="segment")
    assert {label.kind for label in found[Label]} <= {"poly"}
    assert len(found[Label]) == len(labels_of(groups))


@pytest.mark.slow
@settings(max_examples=12)
@given(worlds.groups(kinds=("box",)))
def test_voc_holds_whole_pixels(groups):
    found = rows_of("voc", groups)
    media = {group.media.key: group.media for group in groups}
    assert len(found[Label]) == len(labels_of(groups))
    for label in found[Label]:
        assert all(number == int(number) for number in label.shape)
        x, y, width, height = label.shape
        size = media[label.media]
        assert 0 <= x < x + width <= size.width
        assert 0 <= y < y + height <= size.height
    tracks = {label.track for label in labels_of(groups) if label.track}
    assert {state.key for state in found[State]} == tracks


@settings(max_examples=12)
@given(worlds.groups(kinds=("box",)))
def test_mot_holds_boxes_classes_and_tracks(groups):
    found = rows_of("mot", groups)
    media = {group.media.key: group.media for group in groups}

    def key(label):
        return (label.media, label.frame, label.track or "", label.class_name, box_of(label))

    expected = sorted(key(in_pixels(label, media[label.media])) for label in labels_of(groups))
    got = sorted(map(key, found[Label]))
    assert [each[:3] for each in got] == [each[:3] for each in expected]
    assert {state.key for state in found[State]} == {label.track for label in labels_of(groups) if label.track}
