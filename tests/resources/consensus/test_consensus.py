"""Consensus layers: what most copies have is kept, what they disagree on becomes tasks, and nothing else."""

import random

import pytest

from chalicelib.resources.consensus import service as consensus_service
from chalicelib.resources.consensus import voting
from chalicelib.resources.quality.matching import Shape
from chalicelib.resources.quality.shapes import Row
from chalicelib.resources.tasks.honeypot_schemas import HONEYPOT_SCORE, HONEYPOT_SET, HoneypotScore
from chalicelib.storage.dynamodb import records
from tests.resources.media.samples import media_type
from tests.resources.tasks.test_tasks import made as made_tasks
from tests.resources.tasks.test_tasks import member


def drawn(number, left, top=0.1, label="cod", size=0.1, **more):
    row = Row(id=number, type=1, media=1, frame=0, version=0, x=left, y=top, width=size, height=size, **more)
    return voting.Drawn(row, Shape(number, "box", label, (left, top, left + size, top + size)))


class TestVoting:
    def test_a_planted_world_is_recovered_from_copies_with_errors(self):
        """Of each object at most one of three copies is missing, renamed or displaced far; places jitter."""
        chance = random.Random(5)
        for _ in range(50):
            objects = [(0.02 + 0.16 * n, chance.choice(["cod", "eel"])) for n in range(6)]
            layers = {1: [], 2: [], 3: []}
            for number, (left, label) in enumerate(objects):
                faulty, fault = chance.randrange(1, 4), chance.choice(["none", "missing", "renamed", "displaced"])
                for layer, some in layers.items():
                    is_faulty = layer == faulty
                    if is_faulty and fault == "missing":
                        continue
                    name = "crab" if is_faulty and fault == "renamed" else label
                    top = 0.7 if is_faulty and fault == "displaced" else 0.1
                    some.append(drawn(number * 10 + layer, left + chance.uniform(-0.01, 0.01), top, name))
            weights = dict.fromkeys(layers, 1.0)
            kept = []
            for one in voting.objects_of(layers, 0.5, 0.02):
                outcome, label = voting.decide(one, weights, 0.5)
                assert outcome != "undecided"
                if outcome == "kept":
                    _, members = voting.merge(one, label, weights, 0.02)
                    kept.append((members["x"], label))
            assert [label for _, label in sorted(kept)] == [label for _, label in objects]
            assert [x for x, _ in sorted(kept)] == pytest.approx([x for x, _ in objects], abs=0.01)

    def test_of_two_copies_one_alone_decides_nothing(self):
        assert voting.decide({1: drawn(1, 0)}, {1: 1, 2: 1}, 0.5) == ("undecided", "")
        assert voting.decide({1: drawn(1, 0), 2: drawn(2, 0, label="eel")}, {1: 1, 2: 1}, 0.5) == ("undecided", "")

    def test_weights_outvote_numbers(self):
        found = {1: drawn(1, 0, label="eel"), 2: drawn(2, 0), 3: drawn(3, 0)}
        assert voting.decide(found, {1: 1, 2: 1, 3: 1}, 0.5) == ("kept", "cod")
        assert voting.decide(found, {1: 0.9, 2: 0.2, 3: 0.2}, 0.5) == ("kept", "eel")
        assert voting.decide({2: found[2]}, {1: 0.9, 2: 0.2, 3: 0.2}, 0.5)[0] == "dropped"

    def test_a_higher_agreement_leaves_two_of_three_undecided(self):
        found = {1: drawn(1, 0), 2: drawn(2, 0)}
        assert voting.decide(found, {1: 1, 2: 1, 3: 1}, 0.7)[0] == "undecided"
        assert voting.decide({1: drawn(1, 0)}, {1: 1, 2: 1, 3: 1, 4: 1}, 0.7)[0] == "dropped"

    def test_places_are_means_by_weight_and_attributes_what_most_have(self):
        found = {1: drawn(1, 0.10, attributes={"n": 1}), 2: drawn(2, 0.13, attributes={"n": 2})}
        found[3] = drawn(3, 0.12, attributes={"n": 2})
        _, members = voting.merge(found, "cod", {1: 2.0, 2: 1.0, 3: 1.0}, 0.02)
        assert members["x"] == pytest.approx((0.2 + 0.13 + 0.12) / 4)
        assert members["attributes"]["n"] in (1, 2)
        _, members = voting.merge(found, "cod", dict.fromkeys(found, 1.0), 0.02)
        assert members["attributes"] == {"n": 2}

    def test_two_shapes_of_a_layer_are_two_objects(self):
        layers = {1: [drawn(1, 0.1), drawn(2, 0.11)], 2: [drawn(3, 0.1)]}
        found = [sorted(one) for one in voting.objects_of(layers, 0.3, 0.02)]
        assert sorted(found) == [[1], [1, 2]]


@pytest.fixture
def world(api, project):
    """Two videos, a type of boxes with a class, and a layer for each of three copies."""
    video = media_type(project)
    media = [api.made(f"Medias/{project}", {"type": video, "name": f"{n}.mp4", "md5": ""}) for n in range(2)]
    names = [{"name": "Label", "dtype": "string"}]
    kind = api.made(
        f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [video], "attribute_types": names}
    )
    layers = [api.made(f"Versions/{project}", {"name": f"copy {n}"}) for n in range(3)]

    def draw(version, medium, frame, x=0.1, label="cod", by=api):
        spec = {"media_id": medium, "type": kind, "version": version, "frame": frame, "x": x, "y": 0.1,
                "width": 0.2, "height": 0.2, "attributes": {"Label": label}}  # fmt: skip
        return by.post(f"Localizations/{project}", [spec]).json["id"][0]

    return media, layers, draw


def consensus(api, project, **spec):
    made = api.post(f"ConsensusLayers/{project}", {"name": "agreed", "class_attribute": "Label", **spec})
    assert made.status == 201, made.json
    api.drain()
    return api.get(f"ConsensusLayer/{made.json['uid']}").json


class TestLayers:
    def test_what_most_have_is_kept_with_what_it_was_made_of(self, api, project, world):
        (media, _), layers, draw = world
        same = [draw(layer, media, 3, x=0.1 + 0.01 * n) for n, layer in enumerate(layers)]
        draw(layers[0], media, 5)
        made = consensus(api, project, versions=layers)
        assert [made[name] for name in ("status", "kept", "dropped", "undecided")] == ["succeeded", 1, 1, 0]
        (found,) = api.get(f"Localizations/{project}", version=made["version"]).json
        assert (found["frame"], found["made_of"], found["attributes"]) == (3, sorted(same), {"Label": "cod"})
        assert found["x"] == pytest.approx(0.11)
        assert api.get(f"Tasks/{project}").json == []

    def test_what_is_undecided_becomes_a_task_in_the_new_layer(self, api, project, world):
        media, layers, draw = world
        one, two = draw(layers[0], media[1], 7), draw(layers[1], media[1], 7, label="eel")
        made = consensus(api, project, versions=layers[:2])
        assert made["conflicts"] == [{"media": media[1], "frame": 7, "ids": [one, two]}]
        (task,) = api.get(f"Tasks/{project}").json
        assert (task["media_id"], task["version"], task["name"]) == (media[1], made["version"], "agreed")
        assert "on frames 7" in task["instructions"]
        assert api.get(f"Localizations/{project}", version=made["version"]).json == []

    def test_copies_of_tasks_count_where_they_were_handed_in(self, api, project, world):
        media, layers, draw = world
        made_tasks(api, project, media, copies=2, versions=layers[:2])
        people = [member(project) for _ in range(2)]
        first = people[0].post(f"NextTask/{project}", {}).json
        draw(first["version"], first["media_id"], 1, by=people[0])
        assert people[0].patch(f"Task/{first['id']}", {"state": "to review"}).status == 200
        assert consensus(api, project, tasks="survey", name="early")["skipped"] == 1
        while (answer := people[1].post(f"NextTask/{project}", {})).status == 200:
            task = answer.json
            draw(task["version"], task["media_id"], 1, by=people[1])
            people[1].patch(f"Task/{task['id']}", {"state": "to review"})
        made = consensus(api, project, tasks="survey")
        assert [made[name] for name in ("kept", "undecided", "skipped")] == [1, 0, 1]

    def test_a_layer_is_hidden_from_those_who_still_work_on_a_copy(self, api, project, world):
        media, layers, draw = world
        made_tasks(api, project, media[:1], copies=3, versions=layers)
        early = member(project)
        early.post(f"NextTask/{project}", {})
        for layer in layers[:2]:
            draw(layer, media[0], 1)
        made = consensus(api, project, versions=layers[:2])
        assert made["kept"] == 1
        late = member(project)
        late.post(f"NextTask/{project}", {})
        for person in (early, late):
            assert person.get(f"LocalizationCount/{project}", version=made["version"]).json == 0
        assert api.get(f"LocalizationCount/{project}", version=made["version"]).json == 1

    def test_layers_weigh_what_a_report_says(self, api, project, world):
        (media, other), layers, draw = world
        truth = api.made(f"Versions/{project}", {"name": "truth"})
        for frame in range(4):
            draw(truth, other, frame)
            draw(layers[0], other, frame)
            draw(layers[1], other, frame, x=0.1 if frame == 0 else 0.7)
        draw(layers[0], media, 9)
        uid = api.post(f"QualityReports/{project}", {"reference": truth, "versions": layers[:2]}).json["uid"]
        api.drain()
        made = consensus(api, project, versions=layers[:2], report=uid, media_ids=[media])
        assert (made["kept"], made["undecided"]) == (1, 0)
        assert consensus(api, project, versions=layers[:2], media_ids=[media], name="equal")["undecided"] == 1

    def test_many_media_take_several_rounds_and_a_repeated_round_adds_nothing(self, api, project, world, monkeypatch):
        media, layers, draw = world
        monkeypatch.setattr(consensus_service, "SHAPES_A_ROUND", 1)
        for medium in media:
            for layer in layers:
                draw(layer, medium, 2)
        made = consensus(api, project, versions=layers)
        assert made["kept"] == 2
        for number in (0, 1, 2):
            consensus_service.run_round(made["uid"], number)
        assert api.get(f"LocalizationCount/{project}", version=made["version"]).json == 2
        assert api.get(f"ConsensusLayer/{made['uid']}").json == made

    def test_deleting_the_version_takes_it_back(self, api, project, world):
        (media, _), layers, draw = world
        for layer in layers:
            draw(layer, media, 3)
        before = api.get(f"LocalizationCount/{project}").json
        made = consensus(api, project, versions=layers)
        assert api.delete(f"Version/{made['version']}").status == 200
        assert api.get(f"LocalizationCount/{project}").json == before

    @pytest.mark.parametrize(
        ("spec", "named"),
        [
            ({}, "tasks"),
            ({"tasks": "none"}, "tasks"),
            ({"versions": [0, 0]}, "two layers"),
            ({"tasks": "a", "versions": [0, 1]}, "tasks"),
            ({"versions": [0, 1], "agreement": 0.3}, "agreement"),
            ({"versions": [0, 1], "class_attribute": "Nothing"}, "class_attribute"),
        ],
    )
    def test_a_wrong_order_is_refused_by_name(self, api, project, world, spec, named):
        if "versions" in spec:
            spec = {**spec, "versions": [world[1][place] for place in spec["versions"]]}
        answer = api.post(f"ConsensusLayers/{project}", {"name": "agreed", **spec})
        assert (answer.status, named in str(answer.json)) == (400, True)

    def test_only_full_control_makes_and_sees_layers(self, api, project, world):
        (media, _), layers, draw = world
        draw(layers[0], media, 3)
        uid = consensus(api, project, versions=layers)["uid"]
        body = {"name": "mine", "versions": layers}
        assert member(project, "Can Execute").post(f"ConsensusLayers/{project}", body).status == 403
        assert member(project, "Full Control").get(f"ConsensusLayer/{uid}").status == 404
        assert api.delete(f"ConsensusLayer/{uid}").status == 200


class TestPeople:
    """Three copies of one media: one person with a high score says eel, two with low ones say cod."""

    @pytest.fixture
    def copies(self, api, project, world):
        media, layers, draw = world
        honeypots = {"reference": api.made(f"Versions/{project}", {"name": "truth"}), "media_ids": media[1:]}
        made_tasks(api, project, media, copies=3, versions=layers, honeypots=honeypots)
        people = [member(project) for _ in layers]
        found = records.list_children(HONEYPOT_SET, project)[0]
        for index, person in enumerate(people):
            while (answer := person.post(f"NextTask/{project}", {})).status == 200:
                task = answer.json
                if task["media_id"] == media[0]:
                    draw(task["version"], media[0], 1, by=person, label="cod" if index else "eel")
                assert person.patch(f"Task/{task['id']}", {"state": "to review"}).status == 200
            result = {"uid": f"{found.uid[:-1]}{index}", "id": "", "project": project, "name": "survey"}
            score = HoneypotScore(**result, set=found.uid, user=person.user.id, score=0.2 if index else 0.9)
            records.create(HONEYPOT_SCORE, score)
        return people

    def test_a_copy_weighs_what_its_person_scores_on_honeypots(self, api, project, copies):
        made = consensus(api, project, tasks="survey", by_person=True)
        assert [made[name] for name in ("status", "kept", "undecided")] == ["succeeded", 1, 0]
        (box,) = api.get(f"Localizations/{project}", version=made["version"]).json
        assert box["attributes"] == {"Label": "eel"}
        made = consensus(api, project, tasks="survey", name="equal")
        (box,) = api.get(f"Localizations/{project}", version=made["version"]).json
        assert box["attributes"] == {"Label": "cod"}

    def test_people_weigh_only_where_they_have_done_tasks_and_have_scores(self, api, project, world):
        (media, _), layers, _ = world
        for body in ({"versions": layers}, {"tasks": "survey"}):
            made_tasks(api, project, [media], copies=3, versions=layers)
            answer = api.post(f"ConsensusLayers/{project}", {"name": "agreed", "by_person": True, **body})
            assert (answer.status, "by_person" in str(answer.json)) == (400, True)
