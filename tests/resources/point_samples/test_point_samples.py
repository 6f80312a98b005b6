"""Sampled points: where they lie, that they can be repeated, what is refused."""

import math

import pytest

from chalicelib.resources.comments.schemas import Region
from chalicelib.resources.point_samples import service
from chalicelib.resources.point_samples.service import points_of
from tests.resources.media.samples import media_type

WHOLE = Region(x=0.0, y=0.0, width=1.0, height=1.0)
PART = Region(x=0.25, y=0.5, width=0.5, height=0.25)


class TestPlaces:
    @pytest.mark.parametrize("method", ["random", "stratified", "grid"])
    @pytest.mark.parametrize("count", [1, 7, 50, 999])
    def test_all_points_lie_in_the_region(self, method, count):
        points = points_of(method, count, PART, "sample")
        assert len(points) == len(set(points)) == count
        assert all(0.25 <= x <= 0.75 and 0.5 <= y <= 0.75 for x, y in points)

    def test_a_grid_has_the_centres_of_its_cells(self):
        assert points_of("grid", 4, WHOLE, "") == [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)]

    def test_stratified_points_have_a_cell_each(self):
        points = points_of("stratified", 100, WHOLE, "sample")
        assert len({(math.floor(x * 10), math.floor(y * 10)) for x, y in points}) == 100

    def test_the_same_sample_has_the_same_points(self):
        assert points_of("random", 9, WHOLE, "one") == points_of("random", 9, WHOLE, "one")
        assert points_of("random", 9, WHOLE, "one") != points_of("random", 9, WHOLE, "two")

    def test_planted_cover_is_within_its_binomial_interval(self):
        cover, count, inside = 0.3, 200, 0
        reach = 1.96 * math.sqrt(cover * (1 - cover) / count)
        for number in range(100):
            hits = sum(x < cover for x, _ in points_of("random", count, WHOLE, f"trial {number}"))
            inside += abs(hits / count - cover) <= reach
        assert inside >= 90


@pytest.fixture
def media(api, project):
    kind = media_type(project)
    number = api.made(f"Medias/{project}", {"type": kind, "name": "a.mp4", "md5": ""})
    api.patch(f"Media/{number}", {"num_frames": 100, "fps": 25})
    return number


@pytest.fixture
def dots(api, project, media):
    types = [api.get(f"Media/{media}").json["type"]]
    names = [{"name": "Label", "dtype": "string"}]
    body = {"name": "point", "dtype": "dot", "media_types": types, "attribute_types": names}
    return api.made(f"LocalizationTypes/{project}", body)


def test_points_are_dots_on_each_chosen_frame(api, project, media, dots):
    body = {"media_ids": [media], "type": dots, "every": 40, "count": 5, "method": "stratified", "seed": 7}
    made = api.post(f"PointSamples/{project}", body)
    assert (made.status, made.json["frames"], len(made.json["id"])) == (201, 3, 15)
    found = api.get(f"Localizations/{project}", media_id=media).json
    assert {each["frame"] for each in found} == {0, 40, 80}
    assert all(0 <= each["x"] <= 1 and 0 <= each["y"] <= 1 for each in found)


def test_a_repeated_sample_makes_no_second_points(api, project, media, dots):
    body = {"media_ids": [media], "type": dots, "frame": 3, "count": 4}
    first = api.post(f"PointSamples/{project}", body).json["id"]
    assert api.post(f"PointSamples/{project}", body).json["id"] == first
    assert len(api.get(f"Localizations/{project}", media_id=media).json) == 4
    other = api.post(f"PointSamples/{project}", {**body, "seed": 1}).json["id"]
    assert not set(other) & set(first)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"frame": 1, "every": 2}, "every"),
        ({"frame": 100}, "frame"),
        ({"count": 0}, "count"),
        ({"count": 1_000, "every": 1}, "count"),
        ({"method": "spiral"}, "method"),
        ({"region": {"x": 0.5, "y": 0, "width": 0.6, "height": 1}}, "region"),
        ({"media_ids": None}, "media_ids"),
    ],
)
def test_a_wrong_sample_is_refused_by_name(api, project, media, dots, change, named):
    answer = api.post(f"PointSamples/{project}", {"media_ids": [media], "type": dots, **change})
    assert (answer.status, named in str(answer.json)) == (400, True)


def test_frames_are_counted_before_they_are_listed(api, project, media, dots, monkeypatch):
    """A media says any number of frames: 2⁵³ of them in a list would fill the memory."""

    class Frames:
        def __len__(self):
            return 2**53

    monkeypatch.setattr(service, "_frames_of", lambda *_: Frames())
    answer = api.post(f"PointSamples/{project}", {"media_ids": [media], "type": dots, "every": 1, "count": 1})
    assert (answer.status, answer.message.split()[1]) == (400, str(2**53))


def test_a_type_of_boxes_is_refused(api, project, media):
    types = [api.get(f"Media/{media}").json["type"]]
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", "media_types": types})
    answer = api.post(f"PointSamples/{project}", {"media_ids": [media], "type": box})
    assert (answer.status, "dot" in answer.json["message"]) == (400, True)
