"""Archives are read in a process that may die: the import fails with a sentence, and other work goes on."""

from __future__ import annotations

import json

import msgspec
import pytest

from chalicelib.formats.model import Label, Media, Refusal
from chalicelib.formats.readers import tasks
from chalicelib.formats.readers.reading import Placed
from chalicelib.resources.imports import archives, steps
from chalicelib.video.process.isolation import Limits
from tests.resources.imports.archives import imported, uploaded, zipped
from tests.video import misbehaving

ROW = {"media": "reef.png", "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2, "type": "Box"}


def lines(*rows):
    return {"localizations.jsonl": "\n".join(map(json.dumps, rows))}


@pytest.mark.parametrize(
    ("task", "limits", "says"),
    [
        (misbehaving.crash_after_listing, Limits(), "crashes the program that reads it"),
        (misbehaving.yield_nonsense, Limits(), "gave no answer that can be read"),
        pytest.param(
            *(misbehaving.hang_after_listing, Limits(seconds=1.0), "takes longer than allowed"), marks=pytest.mark.slow
        ),
        pytest.param(
            *(misbehaving.grow_after_listing, Limits(memory=1 << 30), "takes more memory than allowed"),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["crash", "nonsense", "hang", "grow"],
)
def test_an_archive_that_ends_its_reader_is_a_failed_import(world, monkeypatch, task, limits, says):
    with monkeypatch.context() as patch:
        patch.setattr(tasks, "read_rows", task)
        patch.setattr(archives, "LIMITS", limits)
        found = imported(world.api, world.project, lines(ROW), "jsonl")
        assert (found["status"], says in found["message"]) == ("failed", True), found["message"]
    assert world.localizations() == []
    assert imported(world.api, world.project, lines(ROW), "jsonl")["status"] == "succeeded"
    assert len(world.localizations()) == 1


@pytest.mark.slow
def test_a_file_that_ends_its_reader_is_a_failed_import(world, monkeypatch, picture):
    files = {"data.yaml": "names: [Box]", "labels/a.txt": "0 .5 .5 .5 .5\n", "images/a.png": picture}
    with monkeypatch.context() as patch:
        patch.setattr(tasks, "read_files", misbehaving.yield_then_crash)
        found = imported(world.api, world.project, files, "yolo")
        assert (found["status"], "crashes the program" in found["message"]) == ("failed", True)
    assert imported(world.api, world.project, files, "yolo")["status"] == "succeeded"


def test_an_archive_that_is_replaced_between_its_parts_says_which_file_is_gone(world, picture):
    files = {"data.yaml": "names: [Box]", "labels/a.txt": "0 .5 .5 .5 .5\n", "images/a.png": picture}
    key = uploaded(world.api, world.project, zipped(files))
    uid = world.api.post(f"Imports/{world.project}", {"format": "yolo", "key": key}).json["uid"]
    steps.check(uid)
    uploaded(world.api, world.project, zipped({"other.txt": "x"}))
    world.api.drain()
    found = world.api.get(f"Import/{uid}").json
    assert (found["status"], "it has no file images/a.png any more" in found["message"]) == ("failed", True)


def test_values_that_no_message_holds_are_refused_row_by_row(world):
    rows = [ROW | {"attributes.Species": value} for value in ("Cod", 10**30, "\ud800")]
    text = "\n".join(json.dumps(row) for row in rows)
    found = imported(world.api, world.project, {"localizations.jsonl": text}, "jsonl")
    assert (found["status"], found["report"]["localizations"]["accepted"]) == ("succeeded", 1)
    assert [(each["place"], each["reason"]) for each in found["report"]["refusals"]] == [
        ("localizations.jsonl:2", "it has an integer of more than 64 bits"),
        ("localizations.jsonl:3", "it has a text that is not Unicode"),
    ]


class TestRows:
    def test_they_arrive_as_they_were(self):
        rows = [
            Placed("a", Label(media="m", kind="box", shape=(0, 1, 2, 3), attributes={"a": [1, None]}), "a note"),
            Placed("b", Media(key="m", name="m", fps=2.5)),
            Placed("c", Refusal(place="c", reason="no")),
        ]
        assert tasks.decode_rows(*tasks._encode(iter(rows))) == rows

    def test_one_of_the_wrong_shape_is_a_refusal_at_its_place(self):
        rows = [Placed("a", Media(key=5, name="m")), Placed("b", Media(key="m", name="m"))]
        first, second = tasks.decode_rows(*tasks._encode(iter(rows)))
        assert isinstance(first.row, Refusal)
        assert (first.place, "Expected `str`, got `int`" in first.row.reason) == ("a", True)
        assert second == rows[1]

    def test_frames_are_as_small_as_rows_are_large(self):
        rows = [Placed(str(n), Media(key="m", name="x" * 100_000)) for n in range(6)]
        frames = list(tasks._encode(iter(rows)))
        assert [len(msgspec.msgpack.decode(frame)) for frame in frames] == [2, 2, 2]
        assert [row for frame in frames for row in tasks.decode_rows(frame)] == rows
