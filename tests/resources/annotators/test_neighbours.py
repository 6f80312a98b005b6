"""Similar localizations, labels by votes of neighbours, and queues for review."""

from __future__ import annotations

import pytest

# by place in the list: vector, label, confidence
ROWS = [
    ([1.0, 0.0], "cod", 0.9),
    ([0.99, 0.1], "cod", 0.55),
    ([0.95, 0.2], "hake", 0.3),
    ([0.0, 1.0], "hake", 0.48),
    ([0.0, 0.999], None, 0.1),
    ([-1.0, 0.2], None, None),
    (None, None, None),
]


class Fish:
    def __init__(self, api, project):
        self.api, self.project = api, project
        media_type = api.made(f"MediaTypes/{project}", {"name": "video", "dtype": "video"})
        attributes = [{"name": "Label", "dtype": "string"}, {"name": "Score", "dtype": "float"}]
        attributes.append({"name": "Look", "dtype": "float_array", "size": 2})
        spec = {"name": "box", "dtype": "box", "media_types": [media_type], "attribute_types": attributes}
        self.type = api.made(f"LocalizationTypes/{project}", spec)
        self.media = api.made(f"Medias/{project}", {"type": media_type, "name": "a.mp4", "md5": ""})
        common = {"media_id": self.media, "type": self.type, "frame": 0, "x": 0, "y": 0, "width": 0.5, "height": 0.5}
        names = ("Look", "Label", "Score")
        values = [{name: value for name, value in zip(names, row, strict=True) if value is not None} for row in ROWS]
        self.ids = api.made(f"Localizations/{project}", [{**common, "attributes": each} for each in values])

    def places(self, numbers):
        return [self.ids.index(number) for number in numbers]

    def similar(self, like, api=None, **more):
        body = {"float_array": [{"name": "Look", "like": like, "metric": "cosine", **more}]}
        return (api or self.api).ask("PUT", f"Localizations/{self.project}", body, type=self.type)

    def suggest(self, *places, **more):
        body = {"ids": [self.ids[place] for place in places], "embedding_attribute": "Look", "label_attribute": "Label"}
        return self.api.post(f"LabelSuggestions/{self.project}", body | more)

    def queue(self, order, attribute, **more):
        body = {"order": order, "type": self.type, "attribute": attribute}
        return self.api.post(f"ReviewQueue/{self.project}", body | more)


@pytest.fixture
def fish(api, project):
    return Fish(api, project)


def test_similar_to_one_are_those_with_the_nearest_vectors(fish):
    found = fish.similar(fish.ids[0]).json
    assert fish.places(each["id"] for each in found)[:3] == [0, 1, 2]
    near = {"name": "Look", "like": fish.ids[0], "metric": "cosine", "upper_bound": 0.1}
    said = fish.api.ask("PUT", f"LocalizationCount/{fish.project}", {"float_array": [near]}, type=fish.type)
    assert said.json == 3


def test_what_has_no_vector_is_like_nothing(fish):
    for like in (fish.ids[6], 99_999):
        said = fish.similar(like)
        assert (said.status, f"no localization {like} with a vector 'Look'" in said.message) == (400, True)
    for like, more in ((fish.ids[0], {"center": [1, 0]}), (None, {})):
        said = fish.similar(like, **more)
        assert (said.status, "one of them" in said.message) == (400, True), said.body


def test_neighbours_vote_for_labels_and_the_asked_do_not(fish):
    [first, last] = fish.suggest(4, 6, neighbours=3).json
    assert [each["label"] for each in first["labels"]] == ["hake", "cod"]
    assert (first["labels"][0]["votes"], first["labels"][0]["share"]) == (2, pytest.approx(2 / 3))
    assert first["labels"][0]["distance"] == pytest.approx(0, abs=1e-6)
    assert last == {"id": fish.ids[6], "labels": []}
    [own] = fish.suggest(0, neighbours=1).json
    assert [(each["label"], each["votes"]) for each in own["labels"]] == [("cod", 1)]
    assert own["labels"][0]["distance"] > 0


def test_queues_begin_with_the_uncertain_the_unlike_and_near_duplicates(fish):
    found = fish.queue("uncertain", "Score", count=3).json
    assert fish.places(each["id"] for each in found) == [3, 1, 2]
    assert fish.places(each["id"] for each in fish.queue("unlike", "Look", count=1).json) == [5]
    pairs = fish.queue("duplicates", "Look", within=0.01).json
    assert [fish.places((each["id"], each["other"])) for each in pairs] == [[3, 4], [0, 1], [1, 2]]
    near = fish.queue("duplicates", "Look", within=0.01, metric="l2norm").json
    assert [(fish.places((each["id"], each["other"])), each["value"]) for each in near] == [
        ([3, 4], pytest.approx(0.001, abs=1e-4))
    ]
    assert fish.queue("duplicates", "Look", query=f"?media_id={fish.media + 1}").json == []


@pytest.mark.parametrize(
    ("order", "attribute", "more", "says"),
    [
        ("uncertain", "None", {}, "has no attribute 'None'; it has Label, Look, Score"),
        ("uncertain", "Label", {}, "is of dtype string"),
        ("unlike", "Score", {}, "is of dtype float"),
        ("duplicates", "Look", {"query": "?nothing=1"}, "nothing"),
        ("duplicates", "Look", {"count": 0}, "count"),
    ],
)
def test_what_a_queue_refuses(fish, order, attribute, more, says):
    said = fish.queue(order, attribute, **more)
    assert (said.status, says in said.body.decode()) == (400, True), said.body


def test_what_suggestions_refuse(fish):
    said = fish.suggest(0, 99 % len(ROWS), label_attribute="Lable")
    assert (said.status, "Lable" in said.message) == (400, True)
    body = {"ids": [99_999], "embedding_attribute": "Look", "label_attribute": "Label"}
    assert fish.api.post(f"LabelSuggestions/{fish.project}", body).status == 404
