"""VIAME CSV: what is written is read again, and files of VIAME and DIVE are read."""

import csv
import io

import pytest
from hypothesis import given, settings

from chalicelib.formats.manifest import cell
from chalicelib.formats.model import Label, Media, Refusal, State, in_pixels
from chalicelib.formats.readers.science import read_viame
from chalicelib.formats.readers.unzip import ZipArchive
from tests.formats.test_hostile_archives import zipped
from tests.formats.test_reading import labels_of, rows_of
from tests.formats.worlds import dataset, groups, write


def held(label, tracks):
    """What the format holds of a label, its shape apart."""
    place = (label.media, label.frame, label.kind, label.class_name, tracks.get(label.track))
    return (*place, sorted((name, cell_text(value)) for name, value in label.attributes.items() if value != ""))


def cell_text(value):
    return value if isinstance(value, str) else str(cell(value))


@settings(max_examples=12)
@given(groups())
def test_all_but_dots_is_held(found_groups):
    found = rows_of("viame", found_groups)
    media = {group.media.key: group.media for group in found_groups}
    assert {each.key for each in found[Media]} == set(media)
    wanted = [in_pixels(label, media[label.media]) for label in labels_of(found_groups) if label.kind != "dot"]
    assert len(found[Label]) == len(wanted)
    order = {key: [each for each in found[Label] if each.media == key] for key in media}
    for key in media:
        own = [label for label in wanted if label.media == key]
        first = {label.track: at for at, label in reversed(list(enumerate(own))) if label.track is not None}
        again = {label.track: at for at, label in reversed(list(enumerate(order[key]))) if label.track is not None}
        for one, other in zip(order[key], own, strict=True):
            assert held(one, again) == held(other, first)
            assert one.shape == pytest.approx(other.shape, abs=1e-7)
    states = {state.key: state for group in found_groups for state in group.states}
    wanted_tracks = {label.track for label in wanted if label.track is not None}
    assert len(found[State]) == len(wanted_tracks)
    texts = sorted(
        sorted((name, cell_text(value)) for name, value in states[key].attributes.items() if value != "")
        for key in wanted_tracks
    )
    assert sorted(sorted(state.attributes.items()) for state in found[State]) == texts


@settings(max_examples=8)
@given(groups())
def test_dots_are_left_out_and_frames_have_their_time(found_groups):
    archive, left_out = write("viame", dataset(), [found_groups])
    assert left_out == sum(label.kind == "dot" for label in labels_of(found_groups))
    for group in found_groups:
        if not group.media.is_video:
            continue
        text = archive.read(f"{group.media.split}/{group.media.key}/annotations.csv").decode()
        for row in list(csv.reader(io.StringIO(text)))[2:]:
            hours, minutes, seconds = row[1].split(":")
            time = int(hours) * 3600 + int(minutes) * 60 + float(seconds)
            assert time == pytest.approx(int(row[2]) / group.media.fps, abs=1e-6)


FOREIGN = '''# 1: Detection or Track-id,2: Video or Image Identifier,3: Unique Frame Identifier,4-7: Img-bbox(TL_x,...
# metadata,fps: 5.0,"exported_by: ""dive:python"""
0,00:00:00.000000,0,10,20,30,50,0.9,-1,cod,0.9,hake,0.1,(kp) head 10 20,(kp) tail 30 50,(atr) Sex F,(trk-atr) Note a b
0,00:00:00.200000,1,12,20,32,50,1,-1,cod,1
7,00:00:00.400000,2,12,20,32,50,1,-1,hake,1,(poly) 12 20 32 20 32 50,(mask) a.png
8,00:00:00.400000,2,12,20
9,00:00:00.400000,-2,12,20,32,50,1,-1,hake,1
'''


def test_a_file_of_another_program_is_read():
    found = [placed.row for placed in read_viame.read(ZipArchive(zipped(("dive 7.csv", FOREIGN))))]
    media = [row for row in found if isinstance(row, Media)]
    assert [(row.key, row.is_video, row.fps) for row in media] == [("dive 7", True, 5.0)]
    first, second, third = (row for row in found if isinstance(row, Label))
    assert (first.kind, first.shape, first.class_name) == ("line", (10, 20, 20, 30), "cod")
    assert first.attributes == {"Sex": "F", "Confidence": 0.9}
    assert (first.track, second.frame, second.shape) == (second.track, 1, (12, 20, 20, 30))
    assert (third.track, third.kind, third.attributes) == (None, "poly", {})
    [track] = [row for row in found if isinstance(row, State)]
    assert (track.key, track.attributes) == (first.track, {"Note": "a b"})
    reasons = [row.reason for row in found if isinstance(row, Refusal)]
    assert reasons == ["5 cells are fewer than 9", "frame -2: frames count from 0"]


def test_names_of_pictures_are_images():
    text = "0,a/one.png,0,1,2,3,4,1,-1,cod,1\n0,a/two.png,1,1,2,3,4,1,-1,cod,1\n"
    found = [placed.row for placed in read_viame.read(ZipArchive(zipped(("set.csv", text), ("a/one.png", b""))))]
    media = [(row.key, row.path) for row in found if isinstance(row, Media)]
    assert media == [("one.png", "a/one.png"), ("two.png", "")]
    assert [(row.media, row.frame) for row in found if isinstance(row, Label)] == [("one.png", 0), ("two.png", 0)]
    assert len([row for row in found if isinstance(row, State)]) == 2
