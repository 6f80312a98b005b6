"""Hidden layers: no read below Full Control depends on what is in one, and no guest sees the other copies of a task."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.permissions import Permission
from tests.contract.test_permissions import PROJECT_LEVELS, ask
from tests.contract.world import World, build
from tests.resources.media.samples import media_type
from tests.resources.share_links.test_share_links import NOBODY, guest_of
from tests.service import Api, Said, join, new_user

PLACE = {"frame": 0, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
READS = [o for o in OPERATIONS if o.is_read and o.needs is not Permission.ANYONE and not o.id.startswith("Delete")]


@dataclass
class Survey:
    """A world with a hidden layer, by a set of tasks with honeypots, and what its owner does in the layer."""

    world: World
    gold: int
    shown: int = 0
    """A box that everybody sees."""
    first: tuple[int, int] = (0, 0)
    """A box and a state in the hidden layer."""

    @property
    def project(self) -> int:
        return int(self.world.things["project"])

    def draw(self, **more: Any) -> tuple[int, int]:
        """A box and a state in the hidden layer; their ids."""
        owner, things = self.world.owner, self.world.things
        attributes = {"label": "hiddenmark", "vector": [1.0, 0.0]}
        common = {"version": self.gold, "elemental_id": str(uuid.uuid4()), "attributes": attributes, "frame": 0, **more}
        box = {**PLACE, **common, "media_id": things["media"], "type": things["localization_type"]}
        (number,) = owner.made(f"Localizations/{self.project}", [box])
        common.pop("media_id", None)
        state = {**common, "media_ids": [things["media"]], "type": things["state_type"], "localization_ids": [number]}
        (track,) = owner.made(f"States/{self.project}", [state])
        return number, track


@pytest.fixture(scope="module")
def survey() -> Survey:
    world = build()
    owner, things, project = world.owner, world.things, world.things["project"]
    for name in ("localization", "state"):
        for dtype in ("string", "float_array"):
            addition = {"name": "label", "dtype": dtype} if dtype == "string" else _vector()
            body = {"entity_type": f"{name.capitalize()}Type", "addition": addition}
            assert owner.post(f"AttributeType/{things[f'{name}_type']}", body).status == 201
    gold = owner.made(f"Versions/{project}", {"name": "hiddenmark gold"})
    work = owner.made(f"Versions/{project}", {"name": "work"})
    found = Survey(world, gold)
    found.first = found.draw()
    found.shown, _ = found.draw(version=work, attributes={"label": "seen", "vector": [0.0, 1.0]})
    other = owner.made(f"Medias/{project}", {"type": things["media_type"], "name": "b.mp4", "md5": ""})
    kept = {"reference": gold, "media_ids": [things["media"]], "least": 1}
    body = {"name": "set", "media_ids": [things["media"], other], "versions": [work], "honeypots": kept}
    assert owner.post(f"Tasks/{project}", body).status == 201
    owner.drain()
    return found


def _vector() -> dict[str, Any]:
    return {"name": "vector", "dtype": "float_array", "size": 2}


def questions(survey: Survey) -> list[tuple[str, str, Any, dict[str, Any]]]:
    """Reads that would find hidden rows by their values, order, neighbours, sums or history."""
    project, things = survey.project, survey.world.things
    search = {"attribute": "label", "operation": "icontains", "value": "hidden"}
    vector = {"name": "vector", "center": [1.0, 0.0], "metric": "l2norm", "upper_bound": 9.0}
    queue = {"type": things["localization_type"], "attribute": "vector"}
    votes = {"ids": [survey.shown], "embedding_attribute": "vector", "label_attribute": "label"}
    asked: list[tuple[str, str, Any, dict[str, Any]]] = [
        ("GET", f"Events/{project}", None, {"limit": 1000}),
        ("GET", f"Events/{project}", None, {"kinds": "version"}),
        *(("GET", f"ChangeLog/{project}", None, {"entity_type": kind}) for kind in ("localization", "state")),
        ("GET", f"ChangeLog/{project}", None, {"since": "2001-01-01"}),
        ("GET", f"Comments/{project}", None, {}),
        ("PUT", f"Medias/{project}", {"localization_ids": [survey.first[0]]}, {}),
        ("PUT", f"Medias/{project}", {"state_ids": [survey.first[1]]}, {}),
        ("PUT", f"Localizations/{project}", {"state_ids": [survey.first[1]]}, {}),
        ("PUT", f"Localizations/{project}", {"frame_state_ids": [survey.first[1]]}, {}),
        ("PUT", f"States/{project}", {"localization_ids": [survey.first[0]]}, {}),
        ("GET", f"Medias/{project}", None, {"related_attribute": "label::hiddenmark"}),
        ("GET", f"Medias/{project}", None, {"related_attribute_contains": "label::hidden"}),
        ("PUT", f"Localizations/{project}", {"float_array": [vector]}, {"type": things["localization_type"]}),
        ("POST", f"ReviewQueue/{project}", {**queue, "order": "unlike"}, {}),
        ("POST", f"ReviewQueue/{project}", {**queue, "order": "duplicates", "within": 9.0}, {}),
        ("POST", f"LabelSuggestions/{project}", votes, {}),
        ("GET", f"Sightings/{project}", None, {"label": "label"}),
        ("GET", f"SpeciesAccumulation/{project}", None, {"label": "label"}),
    ]
    for kind in ("Localization", "State"):
        asked += [
            ("GET", f"{kind}s/{project}", None, {"show_deleted": 1, "sort_by": "-$id", "show_all_marks": 1}),
            ("PUT", f"{kind}s/{project}", {"object_search": search}, {}),
            ("GET", f"{kind}Count/{project}", None, {"media_id": things["media"]}),
            ("GET", f"{kind}Count/{project}", None, {"attribute": "label::hiddenmark"}),
            ("GET", f"{kind}s/{project}", None, {"merge": 1, "format": "csv"}),
            *(
                ("GET", f"Statistics/{project}", None, {"kind": kind.lower(), **query})
                for query in ({"group_by": "label"}, {"group_by": "$version"}, {"facets": "label"}, {"measure": "maxn"})
            ),
        ]
    return asked


def answers(who: Api, survey: Survey) -> dict[str, Any]:
    """What somebody is answered to every read, and to the questions."""
    said: dict[str, Said] = {}
    for operation in READS:
        said[operation.id] = ask(who, operation, survey.world)
    for method, path, body, query in questions(survey):
        answer = who.ask(method, path, body, **query)
        assert answer.status == 200, (path, body, query, answer.body)
        said[f"{method} {path} {body} {query}"] = answer
    return {name: _shown(each) for name, each in said.items()}


def _shown(said: Said) -> Any:
    try:
        body = json.loads(said.body)
    except ValueError:
        body = said.body
    if isinstance(body, dict) and "events" in body:
        body = body["events"]  # the number of the last commit moves with each one
    return said.status, body


@pytest.mark.slow
@pytest.mark.parametrize("level", PROJECT_LEVELS[:-1])
def test_no_read_depends_on_what_is_in_a_hidden_layer(survey, level):
    who, owner = survey.world.members[level], survey.world.owner
    before = answers(who, survey)
    assert not any("hiddenmark" in str(each) for each in before.values())
    box, state = survey.draw(frame=3)
    other, _ = survey.draw(frame=4)
    assert owner.patch(f"Localization/{box}", {"x": 0.3, "attributes": {"label": "hiddenmark 2"}}).status == 200
    assert owner.delete(f"Localization/{other}").status == 200
    for name, number in (("localization_id", box), ("state_id", state)):
        owner.made(f"Comments/{survey.project}", {name: number, "text": "hiddenmark"})
    assert owner.patch(f"Version/{survey.gold}", {"description": "hiddenmark"}).status == 200
    owner.made(f"Datasets/{survey.project}", {"name": f"hiddenmark {level}"})
    owner.drain()
    after = answers(who, survey)
    differing = {name: (before[name], after[name]) for name in before if before[name] != after[name]}
    assert differing == {}


class TestById:
    """What is hidden is refused as what never was, whichever member names it."""

    @pytest.fixture
    def ada(self, survey) -> Api:
        return survey.world.members["Can Execute"]

    def test_its_history_is_not_found(self, survey, ada):
        box, state = survey.draw()
        for kind, number in (("localization", box), ("state", state), ("version", survey.gold)):
            assert ada.get(f"History/{survey.project}/{kind}/{number}").status == 404
            assert survey.world.owner.get(f"History/{survey.project}/{kind}/{number}").status == 200

    def test_its_changes_are_not_listed(self, survey, ada):
        box, _ = survey.draw()
        assert ada.get(f"ChangeLog/{survey.project}", entity_id=box, entity_type="localization").json == []
        assert survey.world.owner.get(f"ChangeLog/{survey.project}", entity_id=box).json != []

    def test_a_reference_to_it_is_refused_as_one_to_nothing(self, survey, ada):
        box, _ = survey.draw()
        things = survey.world.things

        def refused(path: str, body: Any, number: int) -> tuple[int, str]:
            said = ada.post(f"{path}/{survey.project}", body)
            return said.status, said.message.replace(str(number), "N")

        for number in (box, 10**9):
            state = {"media_ids": [things["media"]], "type": things["state_type"], "localization_ids": [number]}
            assert refused("States", [state], number)[0] == 400
            assert refused("Comments", {"localization_id": number, "text": "x"}, number)[0] in (400, 404)
        bodies = [{"localization_id": number, "text": "x"} for number in (box, 10**9)]
        assert refused("Comments", bodies[0], box) == refused("Comments", bodies[1], 10**9)

    def test_a_version_of_a_dataset_with_it_is_not_exported(self, survey, ada):
        owner, project = survey.world.owner, survey.project
        frozen = owner.made(f"Datasets/{project}", {"name": f"frozen {uuid.uuid4()}"})
        owner.drain()
        assert owner.get(f"Dataset/{frozen}").json["status"] == "succeeded"
        assert ada.post(f"Exports/{project}", {"format": "coco", "dataset": frozen}).status == 404
        assert ada.get(f"DatasetRows/{frozen}", media_id=survey.world.things["media"]).status == 404

    def test_media_with_hidden_rows_are_deleted_as_others_are(self, survey, ada):
        owner, project, things = survey.world.owner, survey.project, survey.world.things
        media = owner.made(f"Medias/{project}", {"type": things["media_type"], "name": "c.mp4", "md5": ""})
        survey.draw(media_id=media)
        assert ada.delete(f"Media/{media}").status == 200


class TestCopies:
    """While a person works on a copy, no other way in shows the others."""

    @pytest.fixture
    def copies(self, api, project):
        video = media_type(project)
        media = api.made(f"Medias/{project}", {"type": video, "name": "a.mp4", "md5": ""})
        kind = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [video]})
        layers = [api.made(f"Versions/{project}", {"name": name}) for name in ("one", "two")]
        boxes = [{**PLACE, "type": kind, "media_id": media, "version": layer} for layer in layers]
        api.made(f"Localizations/{project}", boxes)
        api.post(f"Tasks/{project}", {"name": "set", "media_ids": [media], "copies": 2, "versions": layers})
        ada = new_user()
        join(ada, project, "Can Edit")
        assert ada.post(f"NextTask/{project}", {}).status == 200
        return media, ada

    def test_neither_a_public_project_nor_a_link_shows_them(self, api, project, copies):
        media, ada = copies
        spec = {"media_ids": [media]}
        token = api.post(f"ShareLinks/{project}", spec).json["url"].rpartition("/")[2]
        assert api.patch(f"Project/{project}", {"public": "unlisted"}).status == 200
        assert api.get(f"LocalizationCount/{project}").json == 2
        for who in (ada, NOBODY, guest_of(token)):
            assert who.get(f"LocalizationCount/{project}").json <= 1
        (task,) = [each for each in api.get(f"Tasks/{project}").json if each.get("assignee")]
        api.patch(f"Task/{task['id']}", {"state": "to review"})
        api.patch(f"Task/{task['id']}", {"state": "done"})
        assert NOBODY.get(f"LocalizationCount/{project}").json == 2

    def test_events_tell_of_no_annotation_in_another_copy(self, api, project, copies):
        _, ada = copies
        events = ada.get(f"Events/{project}", kinds="localization").json["events"]
        seen = [number for event in events for number in event["data"]["ids"]]
        assert seen == [each["id"] for each in ada.get(f"Localizations/{project}").json]
        assert len(seen) == 1
