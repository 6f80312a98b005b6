"""Worked examples of queries over what entities have to do with each other: media, tracks, sections, marks."""

from __future__ import annotations

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.errors import BadInput, NotFound
from chalicelib.query import check, parse
from chalicelib.query.compiler import sql
from chalicelib.query.parsers.parameters import MediaQuery
from tests.query.query_rig import Rig, box, media, section, state, term, version
from tests.query.random_queries import encoded


@pytest.mark.slow
def test_media_lists():
    rig = Rig(
        media(1, "b.mp4", md5="m", primary_section=1),
        media(2, "A.mp4", attributes={"site": "x", "tator_user_sections": "tag1"}),
        media(3, "a.mp4", archive_state="archived"),
        media(4, "c.mp4", archive_state="to_live"),
        box(1, {"n": 1}, media=1),
        box(2, {"n": 1}, media=1),
        box(3, {"n": 1}, media=2, variant_deleted=True),
        box(4, {"n": 1}, media=2, latest=False),
        state(5, {"n": 1, "w": "x"}, media=[2, 3], localizations=[1]),
    )
    assert rig.ask(Kind.MEDIA) == [2, 1]
    assert rig.ask(Kind.MEDIA, archive_lifecycle="all") == [2, 3, 1, 4]
    assert rig.ask(Kind.MEDIA, archive_lifecycle="archived") == [3, 4]
    assert rig.ask(Kind.MEDIA, media_id=[3, 1]) == [3, 1]
    assert rig.ask(Kind.MEDIA, name="A.MP4", archive_lifecycle="all") == [2, 3]
    assert rig.ask(Kind.MEDIA, md5="m") == [1]
    assert rig.ask(Kind.MEDIA, dtype="image") == []
    assert rig.ask(Kind.MEDIA, dtype="video", after=2) == [1]
    assert rig.ask(Kind.MEDIA, after=77, archive_lifecycle="all") == []
    assert rig.ask(Kind.MEDIA, after="A.mp4") == [1]
    assert rig.ask(Kind.MEDIA, after_name="a.mp4", archive_lifecycle="all") == [1, 4]
    assert rig.ask(Kind.MEDIA, attribute=["tator_user_sections::tag1"]) == [2]
    assert rig.ask(Kind.MEDIA, body={"state_ids": [5]}, media_id=[1]) == [2, 3, 1]
    assert rig.ask(Kind.MEDIA, body={"localization_ids": [1]}) == [1]
    assert rig.ask(Kind.MEDIA, related_attribute=["n::1"]) == [2, 1]
    assert rig.ask(Kind.MEDIA, related_attribute=["n::1", "w::x"], archive_lifecycle="all") == [2, 3]
    assert rig.search(term("$related_states", "search", term("w", "eq", "x")), Kind.MEDIA) == [2]
    related = encoded(term("n", "eq", 1))
    assert rig.ask(Kind.MEDIA, encoded_related_search=related, sort_by=["-$incident"]) == [1, 2]
    assert rig.search(term("$incident", "gt", 1), Kind.MEDIA, encoded_related_search=related) == [1]
    assert rig.ask(Kind.MEDIA, related_attribute=["n::1"], sort_by=["-$incident"]) == [1, 2]
    assert rig.search(term("$incident", "gt", 1), Kind.MEDIA, related_attribute=["n::1"]) == [1]
    assert rig.search(term("$incident", "gt", 1), Kind.MEDIA, annotation_search="n:1") == [1]
    with pytest.raises(BadInput):
        rig.ask(Kind.MEDIA, related_attribute=["nope::1"])


def test_tracks_have_a_length_and_a_duration():
    long = state(4, localizations=[1, 2, 3], segments=[[0, 2]])
    late = state(5, localizations=[4, 6], segments=[[4, 4], [6, 6]], media=[2, 1])
    unknown = state(7, media=[3], segments=[[0, 9]])
    rig = Rig(media(1, fps=30.0), media(2, fps=10.0), media(3), long, late, state(6), unknown)
    assert rig.ask(Kind.STATE, sort_by=["-$length"]) == [4, 5, 6, 7]
    assert rig.ask(Kind.STATE, sort_by=["$num_frames"]) == [4, 5, 7, 6]
    assert rig.ask(Kind.STATE, sort_by=["$duration"]) == [4, 5, 6, 7]
    assert rig.ask(Kind.STATE, attribute_gte=["$length::3"]) == [4]
    assert rig.ask(Kind.STATE, attribute_gt=["$duration::0.2"]) == [5]
    assert rig.ask(Kind.STATE, search="_duration:[0.1 TO 0.2] AND _length:>2") == [4]
    assert rig.search(term("$duration", "isnull", value=True), Kind.STATE) == [6, 7]


def test_what_only_begins_a_gap_is_not_in_the_length_of_its_track():
    gap, outline = box(2, x=None), box(3, x=None, points=[[0.1, 0.1], [0.4, 0.1], [0.4, 0.4]])
    ended, whole = state(4, localizations=[1, 2, 3]), state(5, localizations=[1, 3, 6])
    rig = Rig(media(1), box(1, x=0.1), gap, outline, box(6, x=0.1), ended, whole)
    assert rig.ask(Kind.STATE, attribute=["$length::2"]) == [4]
    assert rig.ask(Kind.STATE, search="_length:>2") == [5]
    assert rig.ask(Kind.STATE, sort_by=["-$length"]) == [5, 4]


@pytest.mark.slow
def test_sections():
    rig = Rig(
        media(1, "1", primary_section=1, num_frames=5),
        media(2, "2", num_frames=50),
        media(3, "3", primary_section=1, num_frames=50),
        box(1, media=1),
        box(2, {"n": 9}, media=2),
        state(3, media=[2, 3]),
        sections=(
            section(1, "folder"),
            section(2, "playlist", media=[2, 9]),
            section(3, "saved_search", object_search=term("$num_frames", "gt", 10)),
            section(4, "saved_search", related_search=term("n", "eq", 9)),
            section(5, "saved_search", object_search=term("$section", "eq", 5)),
            section(6, "saved_search"),
            section(7, "saved_search", lucene_string="_num_frames:>10"),
        ),
    )
    expected = {1: [1, 3], 2: [2], 3: [2, 3], 4: [2], 6: [], 7: [2, 3]}
    for number, found in expected.items():
        assert rig.ask(Kind.MEDIA, section=number) == found
        assert rig.search(term("$section", "eq", number), Kind.MEDIA) == found
        assert rig.search(term("tator_user_sections", "eq", f"tag{number}"), Kind.MEDIA) == found
        assert rig.ask(section=number) == [n for n in (1, 2) if n in found]
        assert rig.ask(Kind.STATE, section=number) == [3] * bool({2, 3} & set(found))
    assert rig.ask(Kind.MEDIA, multi_section=[1, 2, 99]) == [1, 2, 3]
    assert rig.ask(Kind.MEDIA, multi_section=[99]) == []
    assert rig.ask(multi_section=[2]) == [2]
    assert rig.ask(sort_by=["$section"]) == [1, 2]
    assert rig.ask(sort_by=["-$section"]) == [2, 1]
    assert rig.ask(attribute=["$section::1"]) == [1]
    with pytest.raises(NotFound):
        rig.ask(Kind.MEDIA, section=99)
    with pytest.raises(NotFound):
        rig.search(term("$section", "eq", 99))
    with pytest.raises(BadInput, match="itself"):
        rig.ask(Kind.MEDIA, section=5)


def test_marks_tombstones_and_links():
    rig = Rig(
        media(1),
        box(1, latest=False),
        box(2, {"n": 2}),
        box(3, variant_deleted=True),
        box(4, {"n": 4}, frame=7),
        state(5, {"n": 5}, localizations=[2, 3], frame=7),
        state(6, {"n": 6}, localizations=[4], variant_deleted=True, frame=2),
    )
    assert rig.ask() == [2, 4]
    assert rig.ask(show_deleted=1) == [2, 3, 4]
    assert rig.ask(show_all_marks=1) == [1, 2, 4]
    assert rig.ask(show_all_marks=1, show_deleted=1) == [1, 2, 3, 4]
    assert rig.ask(related_id=[5]) == [2]
    assert rig.ask(Kind.STATE, related_id=[2, 4]) == [5]
    assert rig.ask(body={"state_ids": [5], "ids": [4]}) == [2, 4]
    assert rig.ask(body={"frame_state_ids": [5]}) == [4]
    assert rig.ask(body={"frame_state_ids": [6]}) == []
    assert rig.ask(Kind.STATE, body={"localization_ids": [3]}) == [5]
    assert rig.search(term("$track_membership", "search", term("n", "gt", 0))) == [2]
    assert rig.search(term("$coincident_states", "search", term("$id", "in", [5, 6]))) == [4]
    assert rig.search(term("$coincident_localizations", "search", term("n", "eq", 4)), Kind.STATE) == [5]


def test_merge():
    shared = "00000000-0000-0000-0000-00000000000a"
    rig = Rig(
        media(1),
        box(1, {"n": 1}, elemental_id=shared),
        box(2, {"n": 2}, elemental_id=shared, version=2),
        box(3, {"n": 1}),
        box(4, {"n": 2}, parent=3, version=2, variant_deleted=True),
        box(5, {"n": 1}),
        versions=(version(1), version(2, 1)),
    )
    assert rig.ask(version=[1, 2]) == [2, 5]
    assert rig.ask(version=[1, 2], merge=0) == [1, 2, 3, 5]
    assert rig.ask(version=[1, 2], show_deleted=1) == [2, 4, 5]
    assert rig.ask(version=[1]) == [1, 3, 5]
    assert rig.ask() == [1, 2, 3, 5]
    assert rig.ask(exclude_parents=1) == [1, 2, 5]
    assert rig.ask(version=[1, 2], attribute=["n::1"]) == [1, 3, 5]  # what fails the filter hides nothing


def test_a_media_list_searches_the_annotations_that_it_counts_once():
    rig = Rig(media(1), media(2), box(1, {"n": 1}, media=1))

    def scans(**given) -> int:
        query = check(parse(Kind.MEDIA, MediaQuery(**given)), rig.view.definitions)
        return sql.ids(query, rig.view.state.layout).text.count(f"FROM {sql.table(Kind.LOCALIZATION)}")

    assert scans(related_attribute=["n::1"]) == 1
    assert scans(encoded_related_search=encoded(term("n", "eq", 1))) == 1
    assert scans(media_id=[1]) == 0
