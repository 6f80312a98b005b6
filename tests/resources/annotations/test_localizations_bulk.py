"""Many localizations over HTTP: chosen by a query, changed and deleted together."""

from __future__ import annotations

import uuid

import pytest

from chalicelib.errors import Conflict
from chalicelib.resources.annotations import reassign
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.storage.log import growth
from tests.resources.annotations.boxes import EVERYTHING, Here, settle


@pytest.fixture
def here(api, project) -> Here:
    return settle(api, project)


class TestManyAtOnce:
    def test_all_that_match_are_changed_in_place(self, here):
        numbers = here.api.made(here.many, [here.spec(frame=frame) for frame in range(250)])
        body = {"ids": numbers[:200], "attributes": {"count": 7}}
        assert here.api.patch(here.many, body, count=200).status == 200
        assert here.count(attribute="count::7") == 200
        assert [box["id"] for box in here.listed()] == numbers

    def test_a_wrong_count_changes_nothing(self, here):
        here.api.made(here.many, [here.spec() for _ in range(3)])
        said = here.api.patch(here.many, {"attributes": {"count": 7}}, count=2)
        assert said.status == 400
        assert "3" in said.message
        assert here.api.delete(here.many, count=4).status == 400
        assert here.count(attribute="count::7") == 0
        assert here.count() == 3

    def test_several_types_are_refused(self, here):
        other = here.api.made(
            f"LocalizationTypes/{here.project}", {"name": "dot", "dtype": "dot", "media_types": [here.media_type]}
        )
        here.make()
        here.make(type=other)
        assert here.api.patch(here.many, {"attributes": {}}).status == 400
        assert here.api.patch(here.many, {"attributes": {}}, type=other).status == 200

    def test_bad_attributes_are_refused_before_anything_changes(self, here):
        here.make()
        assert here.api.patch(here.many, {"attributes": {"nothing": 1}}).status == 400
        assert here.api.patch(here.many, {"new_version": 10**9}).status == 400

    def test_a_new_version_moves_them(self, here):
        layer = here.version()
        numbers = here.api.made(here.many, [here.spec() for _ in range(40)])
        assert here.api.patch(here.many, {"ids": numbers, "new_version": layer}).status == 200
        assert [box["id"] for box in here.listed(version=layer)] == numbers
        assert here.count() == 40

    def test_those_that_meet_their_element_in_the_new_version_become_its_latest_mark(self, here):
        layer, names = here.version(), [str(uuid.uuid4()) for _ in range(3)]
        there = [here.make(elemental_id=name, version=layer) for name in names[:2]]
        moved = [here.make(elemental_id=name) for name in names]
        assert here.api.patch(here.many, {"ids": [*moved, *there], "new_version": layer}).status == 200
        assert [(box["id"], box["mark"]) for box in here.listed(version=layer)] == [
            (number, mark) for number, mark in zip(moved, (1, 1, 0), strict=True)
        ]
        assert here.count(**EVERYTHING) == 5

    def test_not_in_place_every_match_gets_a_new_mark(self, here):
        numbers = here.api.made(here.many, [here.spec() for _ in range(60)])
        assert here.api.patch(here.many, {"attributes": {"count": 1}, "in_place": 0}).status == 200
        assert {box["mark"] for box in here.listed()} == {1}
        assert here.count() == 60
        assert not {box["id"] for box in here.listed()} & set(numbers)
        assert here.count(show_all_marks=1) == 120

    def test_one_new_name_for_several_makes_them_marks_of_one_element(self, here):
        numbers = here.api.made(here.many, [here.spec() for _ in range(40)])
        here.api.patch(here.many, {"ids": numbers, "new_elemental_id": str(uuid.uuid4())})
        assert [box["id"] for box in here.listed()] == numbers[-1:]
        assert [box["mark"] for box in here.listed(show_all_marks=1)] == list(range(40))

    def test_deleting_leaves_tombstones_and_pruning_nothing(self, here):
        here.api.made(here.many, [here.spec(frame=frame % 2) for frame in range(150)])
        assert here.api.delete(here.many, frame=1, count=75).status == 200
        assert (here.count(), here.count(show_deleted=1)) == (75, 150)
        assert here.api.delete(here.many, {"prune": 1}, **EVERYTHING, count=150).status == 200
        assert here.count(**EVERYTHING) == 0

    def test_pruning_the_latest_marks_shows_those_before(self, here):
        numbers = here.api.made(here.many, [here.spec() for _ in range(60)])
        here.api.patch(here.many, {"attributes": {"count": 1}, "in_place": 0})
        assert here.api.delete(here.many, {"prune": 1}, count=60).status == 200
        assert [box["id"] for box in here.listed()] == numbers

    def test_bodies_choose_like_parameters(self, here):
        numbers = here.api.made(here.many, [here.spec(frame=frame) for frame in range(5)])
        body = {"ids": [*numbers[:3], *numbers[:3]]}
        assert [box["id"] for box in here.api.put(here.many, body).json] == numbers[:3]
        assert here.api.put(f"LocalizationCount/{here.project}", body, start=1).json == 2
        assert here.api.put(here.many, {"ids": []}).json == here.listed()
        assert here.api.get(here.many, operation="count").json == 5

    def test_only_the_members_asked_for_come(self, here):
        here.make(attributes={"text": "t"})
        assert here.listed(fields="frame,attributes.text,attributes.count") == [
            {"frame": 0, "attributes": {"text": "t", "count": None}}
        ]
        assert here.api.get(here.many, fields="nothing").status == 400

    def test_csv_has_a_column_for_every_attribute(self, here):
        here.make(attributes={"text": "t"})
        names, row = here.api.get(here.many, format="csv").body.decode().splitlines()
        assert names.endswith("flag,count,size,kind,text,place,vector")
        assert row.endswith(",,,a,t,,")


class TestLargeDocuments:
    """DynamoDB takes 4 MB in one transaction, which 97 rows of 60 KB exceed."""

    TEXT = "long " * 12_000

    @pytest.fixture
    def numbers(self, here) -> list[int]:
        made: list[int] = []
        for start in range(0, 120, 40):
            more = [here.spec(frame=start + n, attributes={"text": self.TEXT}) for n in range(40)]
            made += here.api.made(here.many, more)
        return made

    @pytest.mark.slow
    def test_they_are_changed_together(self, here, numbers):
        assert here.api.patch(here.many, {"attributes": {"count": 7}}, count=120).status == 200
        assert here.count(attribute="count::7") == 120
        assert here.one(numbers[-1])["attributes"]["text"] == self.TEXT

    @pytest.mark.slow
    @pytest.mark.parametrize("prune", [pytest.param(0, marks=pytest.mark.nightly), 1])
    def test_they_are_deleted_together(self, here, numbers, prune):
        assert here.api.delete(here.many, {"prune": prune}, count=120).status == 200
        assert here.count() == 0
        assert len(numbers) == 120

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("body", "is_left_to_the_queue"),
        [
            ({}, True),
            ({"new_elemental_id": str(uuid.UUID(int=1))}, False),
            pytest.param({}, False, marks=pytest.mark.nightly),
            pytest.param({"in_place": 0}, False, marks=pytest.mark.nightly),
            pytest.param({"in_place": 0}, True, marks=pytest.mark.nightly),
            pytest.param({"new_elemental_id": str(uuid.UUID(int=1))}, True, marks=pytest.mark.nightly),
        ],
        ids=str,
    )
    @pytest.mark.usefixtures("no_delays")
    def test_they_go_to_another_version_together(self, here, numbers, body, is_left_to_the_queue, monkeypatch):
        layer = here.version()
        if is_left_to_the_queue:
            monkeypatch.setattr(bulk_service, "SOON_DONE", 10)
            with monkeypatch.context() as patch:
                patch.setattr(bulk_service._Runner, "run", lambda *_: 1 / 0)
                assert here.api.patch(here.many, {"new_version": layer, **body}, count=120).status == 500
            here.api.drain()
        else:
            assert here.api.patch(here.many, {"new_version": layer, **body}, count=120).status == 200
        shown = {"version": layer, "show_all_marks": 1}
        found = [*here.listed(**shown, stop=60), *here.listed(**shown, start=60)]
        assert sorted(row["frame"] for row in found) == list(range(120))
        assert {row["attributes"]["text"] for row in found} == {self.TEXT}
        assert len({row["mark"] for row in found}) == (120 if "new_elemental_id" in body else 1)

    @pytest.mark.slow
    @pytest.mark.usefixtures("no_delays")
    def test_a_large_change_stops_between_parts_where_the_compaction_is_behind(self, here, numbers, monkeypatch):
        monkeypatch.setattr(bulk_service, "SOON_DONE", 10)
        rooms = iter([True, False])
        monkeypatch.setattr(growth, "has_room", lambda _project: next(rooms, True))
        said = here.api.patch(here.many, {"attributes": {"text": "later"}}, count=120)
        assert (said.status, "97 of 120 are done" in said.message) == (503, True)
        here.api.drain()
        assert {row["attributes"]["text"] for row in here.listed()} == {"later"}

    @pytest.mark.slow
    def test_they_go_to_another_version_though_others_keep_interfering(self, here, numbers, monkeypatch):
        """Who lost a race looks again at all rows that are left, and does no more of them at once than fit."""
        layer, real, sizes = here.version(), reassign.Moves._move_alone, []

        def move(moves, part, guard):
            sizes.append(len(part))
            if len(sizes) % 2:
                raise Conflict("The request conflicts with another one or with the current state.")
            real(moves, part, guard)

        monkeypatch.setattr(reassign.Moves, "_move_alone", move)
        monkeypatch.setattr(reassign, "ROUNDS", 99)
        assert here.api.patch(here.many, {"new_version": layer}, count=120).status == 200
        assert here.count(version=layer) == len(numbers)
        assert sizes[:4] == [97, 97, 48, 48]
