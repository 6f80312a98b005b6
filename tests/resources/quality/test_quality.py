"""Quality reports: what is planted is found, and nobody's numbers show what they may not see."""

import collections
import random

import pytest

from chalicelib.resources.quality import comparison, matching, metrics, periods, tracks
from chalicelib.resources.quality.matching import Shape
from tests.resources.media.samples import media_type
from tests.service import join, new_user


def box(number, left, top, size=0.1, label="cod"):
    return Shape(number, "box", label, (left, top, left + size, top + size))


class TestMatching:
    def test_the_assignment_is_the_best_of_all_not_the_first_found(self):
        # greedy would pair a with the middle one and leave b alone
        ours = [box(1, 0.00, 0), box(2, 0.04, 0)]
        theirs = [box(3, 0.02, 0), box(4, -0.04, 0)]
        pairs = matching.match(ours, theirs, 0.3, 0.02)
        assert {(pair.reference, pair.other) for pair in pairs} == {(0, 1), (1, 0)}

    def test_small_random_frames_are_matched_as_by_trying_all(self):
        source = random.Random(3)

        def best(ours, theirs):
            if not ours:
                return 0.0
            rest = best(ours[1:], theirs)
            for index, each in enumerate(theirs):
                found = matching.similarity(ours[0], each, 0.02)
                if found >= 0.2:
                    rest = max(rest, found + best(ours[1:], theirs[:index] + theirs[index + 1 :]))
            return rest

        for _ in range(60):
            frame = [[box(n, source.random() * 0.2, source.random() * 0.2) for n in range(4)] for _ in range(2)]
            pairs = matching.match(*frame, 0.2, 0.02)
            assert sum(pair.similarity for pair in pairs) == pytest.approx(best(*frame))

    def test_polygons_are_compared_by_area(self):
        half = Shape(1, "poly", "", (0, 0, 1, 1), ((0, 0), (1, 0), (0, 1)))
        whole = Shape(2, "poly", "", (0, 0, 1, 1), ((0, 0), (1, 0), (1, 1), (0, 1)))
        assert matching.similarity(half, whole, 0.02) == pytest.approx(0.5, abs=0.01)

    def test_lines_have_no_direction(self):
        one = Shape(1, "line", "", (0, 0, 1, 1), ((0, 0), (1, 1)))
        two = Shape(2, "line", "", (0, 0, 1, 1), ((1, 1), (0, 0)))
        assert matching.similarity(one, two, 0.02) == 1


class TestMeasures:
    def test_kappa_is_that_of_the_textbook(self):
        # Cohen's example as given by Sim and Wright (2005): 20, 5, 10, 15 of 50
        assert metrics.kappa({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15}) == pytest.approx(0.4)

    def test_alpha_is_that_of_krippendorff(self):
        # the nominal example of "Computing Krippendorff's alpha-reliability" (2011), section C: 0.743
        observers = [
            [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
            [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
        ]
        units = [[value for value in unit if value is not None] for unit in zip(*observers, strict=True)]
        assert metrics.alpha_of(metrics.table_of(units)) == pytest.approx(0.743, abs=0.001)

    def test_the_interval_of_alpha_holds_it(self):
        units = {media: [["a", "a"], ["b", "b"], ["a", "b" if media % 3 else "a"]] for media in range(30)}
        low, high = metrics.alpha_interval([metrics.table_of(each) for each in units.values()])
        assert low <= metrics.alpha_of(metrics.table_of(unit for each in units.values() for unit in each)) <= high


@pytest.fixture
def layers(api, project):
    """Two layers over one video: ten boxes in the first; in the second one is missing, one renamed, one added."""
    video = media_type(project)
    media = api.made(f"Medias/{project}", {"type": video, "name": "a.mp4", "md5": ""})
    names = [{"name": "Label", "dtype": "string"}]
    kind = api.made(
        f"LocalizationTypes/{project}", {"name": "b", "dtype": "box", "media_types": [video], "attribute_types": names}
    )
    first, second = (api.made(f"Versions/{project}", {"name": name}) for name in ("truth", "trial"))

    def boxes(version, frames, label=lambda frame: "cod", shift=0.0):
        specs = [
            {"media_id": media, "type": kind, "version": version, "frame": frame, "x": 0.1 + shift, "y": 0.1,
             "width": 0.2, "height": 0.2, "attributes": {"Label": label(frame)}}
            for frame in frames
        ]  # fmt: skip
        return api.post(f"Localizations/{project}", specs).json["id"]

    boxes(first, range(10))
    boxes(second, range(1, 10), lambda frame: "eel" if frame == 5 else "cod", shift=0.01)
    boxes(second, [20])
    return first, second, media


def report(api, project, **spec):
    made = api.post(f"QualityReports/{project}", spec)
    assert made.status == 201, made.json
    assert api.get(f"QualityReport/{made.json['uid']}").json["status"] == "pending"
    api.drain()
    return api.get(f"QualityReport/{made.json['uid']}").json


def test_a_report_of_some_media_compares_those_only(api, project, layers):
    first, second, media = layers
    made = report(api, project, reference=first, versions=[second], media_ids=[media])
    assert (made["status"], made["results"][0]["overall"]["matched"]) == ("succeeded", 9)
    other = api.made(f"Medias/{project}", {"type": api.get(f"Media/{media}").json["type"], "name": "b", "md5": ""})
    made = report(api, project, reference=first, versions=[second], media_ids=[other])
    assert (made["status"], made["results"][0]["overall"]["matched"]) == ("succeeded", 0)


def test_planted_errors_are_found_exactly(api, project, layers):
    first, second, media = layers
    made = report(api, project, reference=first, versions=[second], class_attribute="Label")
    assert made["status"] == "succeeded"
    (result,) = made["results"]
    overall = result["overall"]
    assert (overall["matched"], overall["missing"], overall["extra"]) == (9, 1, 1)
    assert overall["precision"] == overall["recall"] == overall["f1"] == 0.9
    assert overall["mean_iou"] == pytest.approx(0.19 / 0.21)
    assert result["confusion"] == {"labels": ["cod", "eel"], "matrix": [[8, 1, 1], [0, 0, 0], [1, 0, 0]]}
    kinds = {(each["kind"], each["frame"]) for each in result["conflicts"]}
    assert kinds == {("missing", 0), ("class", 5), ("extra", 20)}
    matrix = result["confusion"]["matrix"]
    assert all(matrix[each["row"]][each["column"]] for each in result["conflicts"])
    assert {(each["row"], each["column"], each["user"]) for each in result["conflicts"]} == {
        (0, 2, None), (0, 1, api.user.id), (2, 0, api.user.id)
    }  # fmt: skip
    (week,) = result["weeks"]
    assert (week["matched"], week["extra"], week["precision"]) == (9, 1, 0.9)
    assert [each["user"] for each in result["people"]] == [api.user.id]
    assert [each["media"] for each in result["media"]] == [media]


def test_a_frequent_difference_leaves_room_for_rare_ones_in_the_list():
    found = comparison.Comparison(1, 2, most_conflicts=16)
    for frame in range(50):
        found.add(7, frame, [box(frame, 0, 0)], [], [])
    found.add(7, 50, [], [box(50, 0, 0, label="eel")], [])
    result = found.result()
    assert [each["frame"] for each in result["conflicts"]] == [0, 1, 50]
    assert result["conflict_count"] == 51


def test_class_aware_pairs_have_one_class(api, project, layers):
    first, second, _ = layers
    made = report(api, project, reference=first, versions=[second], class_attribute="Label", class_aware=True)
    overall = made["results"][0]["overall"]
    assert (overall["matched"], overall["missing"], overall["extra"]) == (8, 2, 2)


def test_a_layer_agrees_with_itself_moved_nowhere(api, project, layers):
    first, second, _ = layers
    made = report(api, project, versions=[first, second], query="frame=3")
    assert made["results"][0]["overall"]["f1"] == 1


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"versions": []}, "versions"),
        ({"reference": None}, "two layers"),
        ({"iou": 0}, "iou"),
        ({"class_attribute": "Colour"}, "Label"),
        ({"query": "version=1"}, "version"),
        ({"query": "colour=red"}, "colour"),
        ({"media_ids": [10**9]}, "Media"),
    ],
)
def test_a_wrong_order_is_refused_by_name(api, project, layers, change, named):
    first, second, _ = layers
    answer = api.post(f"QualityReports/{project}", {"reference": first, "versions": [second], **change})
    assert (answer.status, named in str(answer.json)) == (404 if "media_ids" in change else 400, True)


def test_a_report_is_its_users_own(api, project, layers):
    first, second, _ = layers
    made = report(api, project, reference=first, versions=[second])
    other = new_user()
    join(other, project, "Full Control")
    assert other.get(f"QualityReport/{made['uid']}").status == 404
    assert other.get(f"QualityReports/{project}").json == []
    assert api.get(f"QualityReports/{project}").json[0]["results"] is None


def tracked(number, track, left=0.0, size=0.1):
    return Shape(number, "box", "", (left, 0, left + size, 0.1), track=track)


def agreement_of(*media):
    """The result over media, each a list of frames, each of two lists of shapes."""
    found = tracks.TrackAgreement(reach=0.02)
    for frames in media:
        for ours, theirs in frames:
            found.add(ours, theirs)
        found.end_media()
    return found.result()


class TestTracks:
    """Values by hand, from the definitions of the papers."""

    def test_the_same_tracks_agree_wholly_whatever_their_numbers(self):
        frames = [([tracked(1, 1), tracked(2, 2, 0.5)], [tracked(3, 9), tracked(4, 8, 0.5)]) for _ in range(10)]
        found = agreement_of(frames)
        names = ("hota", "detection", "association", "localization", "idf1")
        assert [found[name] for name in names] == pytest.approx([1] * 5)

    def test_a_track_in_two_halves_is_associated_by_half(self):
        frames = [([tracked(1, 1)], [tracked(2, 7 if frame < 5 else 8)]) for frame in range(10)]
        found = agreement_of(frames)
        assert (found["detection"], found["association"], found["idf1"]) == pytest.approx((1, 0.5, 0.5))
        assert found["hota"] == pytest.approx(0.5**0.5)

    def test_half_of_the_frames_missing_halves_detection_and_association(self):
        frames = [([tracked(1, 1)], [tracked(2, 7)] if frame < 5 else []) for frame in range(10)]
        found = agreement_of(frames)
        assert (found["hota"], found["detection"], found["association"]) == pytest.approx((0.5, 0.5, 0.5))
        assert found["idf1"] == pytest.approx(2 / 3)

    def test_shapes_that_overlap_by_0_6_count_at_12_of_19_thresholds(self):
        # boxes of width 0.1 that are shifted by a quarter of it have an IoU of 0.075 / 0.125
        frames = [([tracked(1, 1)], [tracked(2, 7, 0.025)]) for _ in range(10)]
        found = agreement_of(frames)
        assert found["hota"] == pytest.approx(12 / 19)
        assert (found["localization"], found["idf1"]) == pytest.approx((0.6, 1))

    def test_a_short_swap_leaves_each_object_with_its_longer_partner(self):
        # two objects whose tracks are exchanged in 2 of 10 frames: per object 8 of 10 with one track
        def theirs(frame):
            one, two = (8, 7) if frame >= 8 else (7, 8)
            return [tracked(3, one), tracked(4, two, 0.5)]

        found = agreement_of([([tracked(1, 1), tracked(2, 2, 0.5)], theirs(frame)) for frame in range(10)])
        association = (8 * 8 / 12 + 2 * 2 / 18) / 10
        assert (found["association"], found["idf1"]) == pytest.approx((association, 0.8))

    def test_tracks_of_another_media_are_counted_apart(self):
        same = [([tracked(1, 1)], [tracked(2, 7)]) for _ in range(10)]
        nothing = [([tracked(1, 2)], []) for _ in range(10)]
        found = agreement_of(same, nothing)
        assert (found["detection"], found["association"]) == pytest.approx((0.5, 1))
        assert agreement_of([([box(1, 0, 0)], [])]) is None


class TestPeriods:
    def test_states_hold_until_the_next_one_or_on_their_frame(self):
        assert periods.periods_of([(4, "b"), (0, "a")], 10, holds=True) == [(0, 3, "a"), (4, 9, "b")]
        assert periods.periods_of([(4, "b")], 10, holds=False) == [(4, 4, "b")]
        assert periods.periods_of([], 10, holds=True) == []

    def test_random_states_are_counted_as_frame_by_frame(self):
        source = random.Random(5)
        for _ in range(50):
            sides = [
                periods.periods_of(
                    [(source.randrange(20), source.choice("ab")) for _ in range(source.randrange(4))],
                    20,
                    holds=source.random() < 0.7,
                )
                for _ in range(2)
            ]
            found = metrics.Confusion()
            periods.compare_periods(found, *sides)
            frames = [[next((c for a, b, c in side if a <= frame <= b), None) for frame in range(20)] for side in sides]
            expected = collections.Counter(pair for pair in zip(*frames, strict=True) if pair != (None, None))
            assert {pair: count for pair, count in found.counts.items() if count} == expected


def test_tracks_and_states_of_layers_are_compared(api, project, layers):
    first, second, media = layers
    api.patch(f"Media/{media}", {"num_frames": 30, "fps": 25})
    video = api.get(f"Media/{media}").json["type"]
    track, scene = (
        api.made(f"StateTypes/{project}", {"name": name, "association": association, "media_types": [video]})
        for name, association in (("t", "Localization"), ("s", "Frame"))
    )
    for version in (first, second):
        boxes = [each["id"] for each in api.get(f"Localizations/{project}", version=version).json]
        spec = {"type": track, "version": version, "media_ids": [media], "localization_ids": boxes}
        start = {"type": scene, "version": version, "media_ids": [media], "frame": 0 if version == first else 15}
        assert api.post(f"States/{project}", [spec, start]).status == 201
    (result,) = report(api, project, reference=first, versions=[second])["results"]
    # nine boxes of ten agree; one is missing, one extra
    assert result["tracks"]["detection"] == pytest.approx(sum(9 / 11 for n in range(1, 19)) / 19)
    assert result["tracks"]["idf1"] == pytest.approx(0.9)
    assert (result["states"]["agreement"], result["states"]["classes"][0]["recall"]) == (0.5, 0.5)
    (narrowed,) = report(api, project, reference=first, versions=[second], media_ids=[media])["results"]
    assert (narrowed["tracks"], narrowed["states"]) == (result["tracks"], result["states"])
