"""Bulk changes of media, leaves and sections, killed after each of their AWS calls in turn.

The queue finishes each of them, once; or it had not begun. `test_bulk_crashes` does the same with localizations.
"""

from __future__ import annotations

import json

import pytest

from chalicelib.resources.leaves import bulk as leaves_bulk
from chalicelib.resources.media import clearing as media_clearing
from chalicelib.resources.sections import bulk as sections_bulk
from chalicelib.storage.dynamodb import steps
from chalicelib.storage.log import log
from tests.faults.kills import Killer, make_bulk_changes_small
from tests.faults.picture import commits_after
from tests.resources.annotations.boxes import settle

pytestmark = pytest.mark.slow

A_COMMIT = 3
PARTS = 3
MOST_CALLS = 150


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch, no_delays):
    make_bulk_changes_small(monkeypatch, A_COMMIT)
    monkeypatch.setattr(steps, "MOST_STEPS", A_COMMIT)
    monkeypatch.setattr(leaves_bulk, "A_COMMIT", A_COMMIT)
    monkeypatch.setattr(leaves_bulk, "A_ROUND", 2 * A_COMMIT)
    monkeypatch.setattr(media_clearing, "A_ROUND", 2 * A_COMMIT)
    monkeypatch.setattr(sections_bulk, "A_ROUND", 2 * A_COMMIT)


@pytest.fixture
def here(api, project):
    here = settle(api, project)
    common = {"media_types": [here.media_type]}
    here.state = api.made(f"StateTypes/{project}", {"name": "s", "association": "Media", **common})
    here.leaf = api.made(f"LeafTypes/{project}", {"name": "l", "attribute_types": [{"name": "n", "dtype": "int"}]})
    api.post("AttributeType/" + str(here.media_type), _attribute("MediaType"))
    here.label = None
    here.serial = 0
    return here


def _attribute(entity_type):
    return {"entity_type": entity_type, "addition": {"name": "note", "dtype": "string"}}


def rows(here, word, numbers, *names):
    """What is left of things, whatever their ids, and how long their change logs are."""
    shown = here.api.put(f"{word}/{here.project}", {"ids": numbers}).json if word != "Leaves" else None
    if shown is None:
        shown = [leaf for leaf in here.api.get(f"Leaves/{here.project}").json if leaf["id"] in numbers]
    return sorted(json.dumps([row[name] for name in names]) for row in shown)


def logs(here, numbers, kind):
    return [
        len(here.api.get(f"ChangeLog/{here.project}", entity_id=number, entity_type=kind).json) for number in numbers
    ]


class OfMedia:
    """Seven media, some of them with localizations and a state that lies on two."""

    def make(self, here):
        spec = {"type": here.media_type, "md5": "", "name": "a.mp4"}
        self.media = [here.api.made(f"Medias/{here.project}", spec) for _ in range(7)]
        boxes = [here.spec(media_id=media) for media in self.media[:2] for _ in range(4)]
        self.boxes = here.api.made(here.many, boxes)
        of = {"type": here.state, "frame": 0}
        pairs = [self.media[:2], self.media[1:3], [self.media[0], here.media]]
        states = [{**of, "media_ids": pair} for pair in pairs]
        self.states = here.api.made(f"States/{here.project}", states)

    def outcome(self, here):
        return (
            rows(here, "Medias", self.media, "attributes", "archive_state", "primary_section"),
            rows(here, "Localizations", self.boxes, "frame"),
            rows(here, "States", self.states, "frame"),
            logs(here, self.media, "media") + logs(here, self.boxes, "localization") + logs(here, self.states, "state"),
        )


class EditMedia(OfMedia):
    def change(self, here):
        body = {"ids": self.media, "attributes": {"note": "new"}, "archive_state": "to_archive"}
        return here.api.patch(f"Medias/{here.project}", body)


class DeleteMedia(OfMedia):
    def change(self, here):
        return here.api.delete(f"Medias/{here.project}", {"ids": self.media})


class DeleteOneMedia(OfMedia):
    def change(self, here):
        return here.api.delete(f"Media/{self.media[0]}")


class DeleteSections(OfMedia):
    """Two folders, one of them with more media than a commit holds."""

    def make(self, here):
        self.boxes = self.states = []
        here.serial += 1
        spec = {"type": here.media_type, "md5": "", "name": "a.mp4"}
        names = [f"s{here.serial}.{name}" for name in ("full", "small")]
        self.sections = [here.api.made(f"Sections/{here.project}", {"name": name}) for name in names]
        self.media = [
            here.api.made(f"Medias/{here.project}", {**spec, "section_id": self.sections[n > 4]}) for n in range(7)
        ]
        self.root = f"s{here.serial}"

    def outcome(self, here):
        found = here.api.get(f"Sections/{here.project}", descendants=self.root).json
        media = here.api.put(f"Medias/{here.project}", {"ids": self.media}).json
        folders = sorted(str(each["primary_section"] in self.sections) for each in media)
        return len(found), folders, logs(here, self.media, "media")

    def change(self, here):
        return here.api.delete(f"Sections/{here.project}", descendants=self.root)


class RenameSections:
    def make(self, here):
        here.serial += 1
        self.old, self.new = f"old{here.serial}", f"new{here.serial}"
        names = ["a", "a.b", "a.b.c", "d", "e"]
        for name in names:
            here.api.made(f"Sections/{here.project}", {"name": f"{self.old}.{name}"})

    def outcome(self, here):
        found = here.api.get(f"Sections/{here.project}").json
        paths = [section["path"].partition(".") for section in found]
        return sorted((root.rstrip("0123456789"), path) for root, _, path in paths if root in (self.old, self.new))

    def change(self, here):
        body = {"path_substitution": {"old": self.old, "new": self.new}}
        return here.api.patch(f"Sections/{here.project}", body)


class OfLeaves:
    """A leaf with eight below it, on three levels."""

    def make(self, here):
        here.serial += 1
        self.name = f"top{here.serial}"

        def leaf(name, parent):
            return here.api.made(f"Leaves/{here.project}", {"name": name, "type": here.leaf, "parent": parent})[0]

        self.top = leaf(self.name, -1)
        self.leaves = [self.top]
        for n in range(3):
            child = leaf(f"c{n}", self.top)
            self.leaves += [child, leaf(f"d{n}", child)]
        self.leaves += [leaf("e0", self.leaves[-1]), leaf("e1", self.leaves[-1])]

    def outcome(self, here):
        found = [leaf for leaf in here.api.get(f"Leaves/{here.project}").json if leaf["id"] in self.leaves]
        places = [
            (leaf["path"].partition(".")[2].replace(self.name, "top"), leaf["depth"], leaf["attributes"])
            for leaf in found
        ]
        return sorted(map(json.dumps, places)), logs(here, self.leaves, "leaf")


class EditLeaves(OfLeaves):
    def change(self, here):
        return here.api.patch(f"Leaves/{here.project}", {"ids": self.leaves, "attributes": {"n": 7}})


class DeleteLeaves(OfLeaves):
    def change(self, here):
        return here.api.delete(f"Leaves/{here.project}", {"ids": self.leaves})


class RenameLeaf(OfLeaves):
    def change(self, here):
        return here.api.patch(f"Leaf/{self.top}", {"name": "renamed"})


class MoveLeafBelowItsLowest(OfLeaves):
    def change(self, here):
        return here.api.patch(f"Leaf/{self.top}", {"parent": self.leaves[-1], "attributes": {"n": 5}})


class DeleteLeafWithAllBelow(OfLeaves):
    def change(self, here):
        return here.api.delete(f"Leaf/{self.top}")


ALL = [
    EditMedia,
    DeleteMedia,
    DeleteOneMedia,
    DeleteSections,
    RenameSections,
    EditLeaves,
    DeleteLeaves,
    RenameLeaf,
    MoveLeafBelowItsLowest,
    DeleteLeafWithAllBelow,
]


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 17])
@pytest.mark.parametrize("case", ALL, ids=lambda case: case.__name__)
def test_it_is_finished_once_wherever_it_is_killed(here, case, every, monkeypatch):
    def fresh():
        things = case()
        things.make(here)
        return things, things.outcome(here), log.last(here.project, fresh=True)

    things, before, commits = fresh()
    assert things.change(here).status == 200
    wanted = things.outcome(here)
    assert wanted != before
    parts = commits_after(here.project, commits)
    assert parts >= PARTS
    here.api.drain()
    assert things.outcome(here) == wanted
    killer = Killer(monkeypatch)
    unfinished = 0
    for call in range(every, MOST_CALLS, every):
        things, before, commits = fresh()
        killer.left = call
        said = things.change(here)
        if killer.left is not None:
            killer.left = None
            break
        assert said.status == 500
        unfinished += things.outcome(here) not in (before, wanted)
        here.api.drain()
        found = things.outcome(here)
        assert found in (before, wanted), call
        assert commits_after(here.project, commits) == (parts if found == wanted else 0), call
    else:
        raise AssertionError("it never got through")
    assert unfinished >= (PARTS - 1 if every == 1 else 0)
    assert call > every
