"""Reports in rounds: the same result in one round or in many, also when a round dies or comes again."""

import random
from unittest.mock import ANY

import msgspec
import pytest

from chalicelib.core.keys import object_keys
from chalicelib.errors import Unavailable
from chalicelib.resources.quality import comparison as comparison_module
from chalicelib.resources.quality import service as quality_service
from chalicelib.resources.quality.comparison import Findings, Rules, compare
from chalicelib.resources.quality.matching import Shape
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects
from tests.resources.media.samples import media_type
from tests.service import join, new_user

RULES = Rules(threshold=0.5, reach=0.02, class_aware=False)
BOX = {"width": 0.1, "height": 0.1}


def some_rows(seed, media=12):
    """Two layers of boxes, some without partner and some of another class, and their tracks."""
    chance = random.Random(seed)
    for number in range(1, media + 1):
        for frame in range(chance.randrange(1, 5)):
            for cell in range(5):
                left = 0.15 * cell
                for version in (1, 2):
                    if chance.random() < 0.8:
                        place = left + chance.uniform(0, 0.03)
                        yield number, frame, version, Shape(
                            chance.randrange(10**6), "box", chance.choice("ab"), (place, 0, place + 0.1, 0.1),
                            user=version, week="2026-W07", track=number * 100 + cell * 10 + version,
                        )  # fmt: skip


def results_of(found):
    return [each.result() for each in found.pairs], found.alpha(), found.alpha_interval(), found.shapes, found.media


@pytest.mark.parametrize("seed", range(5))
def test_what_is_kept_between_rounds_goes_on_to_the_same_result(seed):
    rows = list(some_rows(seed))
    whole, found = (Findings.begin([(1, 2)], RULES) for _ in range(2))
    assert compare(whole, rows, [1, 2], RULES)
    while not compare(found, [each for each in rows if each[0] > found.after], [1, 2], RULES, is_enough=lambda: True):
        found = msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=Findings)
    assert results_of(found) == results_of(whole)


def test_what_is_kept_does_not_grow_with_the_media(monkeypatch):
    monkeypatch.setattr(comparison_module, "BLOCKS", 10)
    monkeypatch.setattr(comparison_module, "MOST_MEDIA", 10)
    monkeypatch.setattr(comparison_module, "MOST_CONFLICTS", 40)

    def size(media):
        found = Findings.begin([(1, 2)], RULES)
        compare(found, some_rows(1, media), [1, 2], RULES)
        return found, len(msgspec.msgpack.encode(found))

    (few, small), (many, large) = size(60), size(600)
    assert large < small * 1.3
    assert (few.pairs[0].media_count, many.pairs[0].media_count) == (60, 600)
    assert len(many.pairs[0].result()["media"]) == 10
    f1 = [each["f1"] for each in many.pairs[0].result()["media"]]
    assert f1 == sorted(f1)
    assert many.alpha() == pytest.approx(alpha_of_one_block(600))


def alpha_of_one_block(media):
    """The same with a block for each media."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison_module, "BLOCKS", 10_000)
        found = Findings.begin([(1, 2)], RULES)
        compare(found, some_rows(1, media), [1, 2], RULES)
        return found.alpha()


@pytest.fixture
def survey(api, project):
    """Two layers over six media of a few boxes and states each, with planted differences."""
    video = media_type(project)
    names = [{"name": "Label", "dtype": "string"}]
    types = {"media_types": [video], "attribute_types": names}
    kind = api.made(f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", **types})
    of_frames = {"name": "s", "association": "Frame", "interpolation": "latest", **types}
    state = api.made(f"StateTypes/{project}", of_frames)
    track = api.made(f"StateTypes/{project}", {"name": "t", "association": "Localization", **types})
    layers = [api.made(f"Versions/{project}", {"name": name}) for name in ("truth", "trial")]
    for number in range(6):
        media = api.made(f"Medias/{project}", {"type": video, "name": f"{number}.mp4", "md5": ""})
        for version in layers:
            if number != 3 or version == layers[0]:  # one media without partners
                boxes = [
                    {"media_id": media, "type": kind, "version": version, "frame": frame, "x": 0.1, "y": 0.1, **BOX,
                     "attributes": {"Label": "eel" if (number + frame + version) % 3 == 0 else "cod"}}
                    for frame in range(4)
                ]  # fmt: skip
                made = api.made(f"Localizations/{project}", boxes)
                spec = {"media_ids": [media], "type": track, "version": version, "localization_ids": made}
                api.made(f"States/{project}", [spec])
            states = [
                {"media_ids": [media], "type": state, "version": version, "frame": frame,
                 "attributes": {"Label": f"{frame % 2}{number % version}"}}
                for frame in (0, 2)
            ]  # fmt: skip
            api.made(f"States/{project}", states)
    return layers


def order(api, project, layers):
    return api.made(
        f"QualityReports/{project}", {"reference": layers[0], "versions": layers[1:], "class_attribute": "Label"}
    )


def read(api, uid):
    found = api.get(f"QualityReport/{uid}").json
    return {**found, "uid": ANY, "id": ANY, "created_datetime": ANY}


@pytest.fixture
def whole(api, project, survey):
    """A report in one round."""
    uid = order(api, project, survey)
    api.drain()
    found = read(api, uid)
    assert found["status"] == "succeeded"
    assert found["results"][0]["states"]
    assert found["results"][0]["tracks"]
    return found


@pytest.fixture
def small_rounds(monkeypatch):
    monkeypatch.setattr(quality_service, "SHAPES_A_ROUND", 5)


def test_a_large_report_takes_rounds_with_the_same_result(api, project, survey, whole, small_rounds):
    uid = order(api, project, survey)
    assert api.drain() >= 4
    assert read(api, uid) == whole
    report = records.get(quality_service.QUALITY_REPORT, uid)
    assert report.round >= 3
    assert list(objects.under(object_keys.exports_prefix(project, uid))) == []


def test_a_round_ends_when_its_time_does(api, project, survey, whole):
    uid = order(api, project, survey)
    seen = []
    for number in range(7):  # the last one finds nothing left
        quality_service.make(uid, number, has_time=lambda: False)
        seen.append(api.get(f"QualityReport/{uid}").json["compared"])
    assert seen == sorted(seen)
    assert len(set(seen)) == 6
    assert read(api, uid) == whole


@pytest.mark.parametrize("name", ["write", "send", "edit"])
def test_a_round_that_dies_counts_nothing_twice(api, project, survey, whole, small_rounds, monkeypatch, name):
    """Each round dies once at a step, after it and before it, and comes again."""
    holder = {"write": objects, "edit": records, "send": quality_service}[name]
    uid = order(api, project, survey)
    real, calls = getattr(holder, name), []

    def dying(*args, **kwargs):
        calls.append(1)
        if len(calls) % 4 == 1:
            raise Unavailable("dies before")
        done = real(*args, **kwargs)
        if len(calls) % 4 == 3:
            raise Unavailable("dies after")
        return done

    number = 0
    for _ in range(40):
        with monkeypatch.context() as patch:
            patch.setattr(holder, name, dying)
            try:
                quality_service.make(uid, number)
            except Unavailable:
                continue
        report = records.get(quality_service.QUALITY_REPORT, uid)
        if report.is_finished:
            break
        number = report.round
    assert len(calls) > 3
    assert read(api, uid) == whole


def test_an_earlier_round_that_comes_again_changes_nothing(api, project, survey, whole, small_rounds):
    uid = order(api, project, survey)
    quality_service.make(uid, 0)
    before = records.get(quality_service.QUALITY_REPORT, uid)
    quality_service.make(uid, 0)
    assert records.get(quality_service.QUALITY_REPORT, uid) == before
    api.drain()
    quality_service.make(uid, 1)
    assert read(api, uid) == whole


def test_who_left_the_project_gets_no_further_round(api, project, survey, small_rounds):
    ada = new_user()
    join(ada, project, "Can Edit")
    uid = order(ada, project, survey)
    quality_service.make(uid, 0)
    [own] = [each["id"] for each in api.get(f"Memberships/{project}").json if each["user"] == ada.user.id]
    assert api.delete(f"Membership/{own}").status == 200
    api.drain()
    report = records.get(quality_service.QUALITY_REPORT, uid)
    assert (report.status, report.results) == ("failed", None)
    assert "no longer see" in report.message
