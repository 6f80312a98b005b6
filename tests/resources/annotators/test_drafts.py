"""Drafts are accepted and rejected in bulk, and each decision can be undone."""

from __future__ import annotations

import pytest

from chalicelib.settings import override
from tests.resources.media.samples import media_type
from tests.service import new_sibling

SIDES = {"x": 0.25, "y": 0.5, "width": 0.25, "height": 0.25}


class Drafts:
    """A project with an annotator, drafts of two classes and a track in its layer, and a layer of a person."""

    def __init__(self, api, project):
        self.api, self.project = api, project
        kind = media_type(project, dtype="video")
        attributes = [{"name": "Label", "dtype": "string"}, {"name": "Score", "dtype": "float"}]
        attributes.append({"name": "Model", "dtype": "string"})
        common = {"media_types": [kind], "attribute_types": attributes}
        self.box = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", **common})
        self.track_type = api.made(f"StateTypes/{project}", {"name": "t", "association": "Localization", **common})
        names = {"label_attribute": "Label", "confidence_attribute": "Score", "model_attribute": "Model"}
        spec = {"name": "fish", "url": "https://93.184.216.34/m", "type": self.box, "track_type": self.track_type}
        self.annotator = api.made(f"Annotators/{project}", spec | names)
        self.layer = api.get(f"Annotator/{self.annotator}").json["drafts"]
        self.own = api.made(f"Versions/{project}", {"name": "mine"})
        spec = {"type": kind, "name": "a.mp4", "md5": ""}
        self.media = [api.made(f"Medias/{project}", spec) for _ in range(2)]
        rows = [("cod", 0.9), ("cod", 0.4), ("hake", 0.7), ("hake", 0.2)]
        self.ids = [self.draft(label, score, number % 2) for number, (label, score) in enumerate(rows)]
        self.inner = [self.draft("cod", 0.8, 0) for _ in range(2)]
        track = {"type": self.track_type, "media_ids": self.media[:1], "localization_ids": self.inner}
        [self.track] = api.made(
            f"States/{project}", [{**track, "version": self.layer, "attributes": {"Label": "cod", "Score": 0.8}}]
        )

    def draft(self, label, score, media):
        body = {**SIDES, "type": self.box, "frame": 0, "media_id": self.media[media], "version": self.layer}
        body["attributes"] = {"Label": label, "Score": score, "Model": "fish 2"}
        return self.api.made(f"Localizations/{self.project}", [body])[0]

    def review(self, decision, api=None, **more):
        if decision == "accept":
            more.setdefault("version", self.own)
        return (api or self.api).post(f"Drafts/{self.annotator}", {"decision": decision, **more})

    def restore(self, change):
        return self.api.post(f"Restore/{self.project}", {"changes": [change]})

    def places(self):
        """By id, the layers of all localizations, and of the track under its id as text."""
        found = {each["id"]: each["version"] for each in self.api.get(f"Localizations/{self.project}").json}
        return found | {str(each["id"]): each["version"] for each in self.api.get(f"States/{self.project}").json}


@pytest.fixture
def drafts(api, project):
    with override(service_origins=["https://93.184.216.34"]):
        yield Drafts(api, project)


@pytest.mark.parametrize(
    ("selection", "chosen"),
    [
        ({"labels": ["hake"]}, {2, 3}),
        ({"labels": ["cod"]}, {0, 1, "track"}),
        ({"least": 0.7}, {0, 2, "track"}),
        ({"least": 0.3, "most": 0.75, "labels": ["cod", "hake"]}, {1, 2}),
        ({"ids": [0, 3]}, {0, 3}),
        ({"state_ids": ["track"]}, {"track"}),
        ({"media_ids": [1]}, {1, 3}),
        ({"frames": [0, 0], "labels": ["hake"]}, {2, 3}),
        ({"frames": [1, 5]}, set()),
        ({"is_all": True}, {0, 1, 2, 3, "track"}),
    ],
)
@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_a_decision_is_one_change_that_can_be_undone(drafts, decision, selection, chosen):
    given = dict(selection)
    if "ids" in given:
        given["ids"] = [drafts.ids[number] for number in given["ids"]]
    if "state_ids" in given:
        given["state_ids"] = [drafts.track]
    if "media_ids" in given:
        given["media_ids"] = [drafts.media[number] for number in given["media_ids"]]
    before = drafts.places()
    said = drafts.review(decision, **given)
    assert said.status == 200, said.body
    wanted = {drafts.ids[each] for each in chosen if each != "track"}
    wanted |= {*drafts.inner, str(drafts.track)} if "track" in chosen else set()
    states = int("track" in chosen)
    assert (said.json["localizations"], said.json["states"]) == (len(wanted) - states, states)
    after = drafts.places()
    moved = dict.fromkeys(wanted, drafts.own) if decision == "accept" else {}
    assert after == {number: layer for number, layer in before.items() if number not in wanted} | moved
    if not wanted:
        assert "change" not in said.json
        return
    undone = drafts.restore(said.json["change"])
    assert (undone.status, sum(undone.json["restored"].values())) == (200, len(wanted)), undone.body
    assert drafts.places() == before
    assert drafts.restore(said.json["change"]).status == 409


def test_an_accepted_draft_keeps_what_the_model_said(drafts):
    drafts.review("accept", ids=drafts.ids[:1])
    row = drafts.api.get(f"Localization/{drafts.ids[0]}").json
    assert row["attributes"] == {"Label": "cod", "Score": 0.9, "Model": "fish 2"}


def test_what_was_changed_since_stays(drafts):
    change = drafts.review("accept", labels=["hake"]).json["change"]
    moved = drafts.api.patch(f"Localization/{drafts.ids[2]}", {"version": drafts.layer})
    assert moved.status == 200
    said = drafts.restore(change).json
    assert (said["restored"], said["skipped"]) == ({"localization": 1}, 1)


def test_a_bulk_change_of_attributes_is_undone_for_each_row(drafts):
    path = f"Localizations/{drafts.project}"
    said = drafts.api.patch(path, {"ids": drafts.ids, "attributes": {"Label": "cod"}})
    assert said.status == 200, said.body
    labels = {each["id"]: each["attributes"] for each in drafts.api.get(path).json}
    assert {labels[number]["Label"] for number in drafts.ids} == {"cod"}
    drafts.api.patch(f"Localization/{drafts.ids[3]}", {"attributes": {"Label": "ling"}})
    undone = drafts.restore(said.json["change"]).json
    assert undone["restored"] == {"localization": undone["restored"]["localization"]}
    labels = {each["id"]: each["attributes"]["Label"] for each in drafts.api.get(path).json}
    assert [labels[number] for number in drafts.ids] == ["cod", "cod", "hake", "ling"]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"decision": "accept", "version": None, "is_all": True}, "version: the layer"),
        ({"decision": "reject", "version": "own", "is_all": True}, "version: the layer"),
        ({"decision": "accept", "version": "layer", "is_all": True}, "version: it is the layer of the drafts"),
        ({"decision": "accept", "version": "foreign", "is_all": True}, "version: the project has no version"),
        ({"decision": "accept", "version": 10**9, "is_all": True}, "version: the project has no version"),
        ({"decision": "reject"}, "is_all: true"),
        ({"decision": "reject", "least": 0.5, "is_all": True}, "is_all: true"),
        ({"decision": "reject", "frames": [5, 1]}, "frames: the first and the last"),
        ({"decision": "reject", "ids": "inner"}, "belongs to a track; give the track in state_ids"),
    ],
)
def test_what_it_refuses(drafts, body, says):
    neighbour = new_sibling(drafts.api, drafts.project)
    foreign = drafts.api.get(f"Versions/{neighbour}").json[0]["id"]
    names = {"own": drafts.own, "layer": drafts.layer, "inner": drafts.inner, "foreign": foreign}
    before = drafts.places()
    given = {name: names.get(value, value) if isinstance(value, str) else value for name, value in body.items()}
    said = drafts.api.post(f"Drafts/{drafts.annotator}", {name: v for name, v in given.items() if v is not None})
    assert (said.status, says in said.message) == (400, True), said.body
    assert drafts.places() == before


def test_it_takes_can_edit(drafts, member):
    assert drafts.review("reject", api=member("View Only"), is_all=True).status == 403
