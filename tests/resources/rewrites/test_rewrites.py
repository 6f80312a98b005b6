"""Checked bulk changes over HTTP: frames shifted or mapped, attributes from CSV, URLs by prefix; and dry runs."""

from __future__ import annotations

import time

import pytest

from chalicelib.storage.dynamodb import steps
from tests.resources.annotations.boxes import Here, settle
from tests.service import join, new_user


@pytest.fixture
def here(api, project) -> Here:
    return settle(api, project)


def frames_of(here: Here) -> list[int]:
    return [box["frame"] for box in here.listed(sort_by="$id")]


def move(here: Here, body, **query):
    return here.api.patch(f"AnnotationFrames/{here.project}", body, **query)


class TestFrames:
    def test_a_shift_moves_all_that_match_and_the_segments_of_their_tracks(self, here):
        numbers = here.api.made(here.many, [here.spec(frame=frame) for frame in (3, 4, 9)])
        spec = {"name": "track", "association": "Localization", "media_types": [here.media_type]}
        track = here.api.made(f"StateTypes/{here.project}", spec)
        state = {"type": track, "media_ids": [here.media], "localization_ids": numbers}
        (state,) = here.api.made(f"States/{here.project}", state)
        said = move(here, {"shift": 10, "ids": numbers[:2]})
        assert said.status == 200, said.json
        assert (said.json["matched"], said.json["changed"], said.json["refused"]) == (2, 2, 0)
        assert frames_of(here) == [13, 14, 9]
        assert here.api.get(f"State/{state}").json["segments"] == [[9, 9], [13, 14]]

    def test_a_table_maps_frames_and_refuses_those_it_lacks(self, here):
        here.api.made(here.many, [here.spec(frame=frame) for frame in (0, 1)])
        said = move(here, {"frames": [[0, 7]]})
        assert said.status == 400
        assert "frame 1 is not in the table" in said.json["details"]
        assert frames_of(here) == [0, 1]
        assert move(here, {"frames": [[0, 1], [1, 0]]}).json["changed"] == 2
        assert frames_of(here) == [1, 0]

    def test_a_dry_run_says_how_many_would_change_and_which_would_be_refused_and_changes_nothing(self, here):
        numbers = here.api.made(here.many, [here.spec(frame=frame) for frame in (5, 1)])
        here.api.patch(f"Media/{here.media}", {"num_frames": 100})
        said = move(here, {"shift": -2}, dry_run=True).json
        assert (said["matched"], said["changed"], said["refused"]) == (2, 1, 1)
        assert said["refusals"] == [{"id": numbers[1], "reason": "frame: 1 would become -1, before the first frame."}]
        assert "has 100 frames" in move(here, {"shift": 95}, dry_run=True).json["refusals"][0]["reason"]
        assert frames_of(here) == [5, 1]

    @pytest.mark.parametrize("body", [{}, {"shift": 1, "frames": [[0, 1]]}, {"frames": [[0, 1], [0, 2]]}])
    def test_one_of_shift_and_table_is_needed(self, here, body):
        assert move(here, body).status == 400

    @pytest.mark.slow
    def test_a_shift_that_stops_half_way_is_finished_once(self, here, monkeypatch, no_delays):
        for _ in range(2):
            here.api.made(here.many, [here.spec(frame=0) for _ in range(60)])
        apply, parts = steps.apply, []

        def dying(*given, **more):
            if parts:
                raise KeyboardInterrupt
            parts.append(1)
            return apply(*given, **more)

        with monkeypatch.context() as crash:
            crash.setattr(steps, "apply", dying)
            with pytest.raises(KeyboardInterrupt):
                move(here, {"shift": 5})
        assert sorted(set(frames_of(here))) == [0, 5]
        here.api.drain()
        assert frames_of(here) == [5] * 120


class TestValues:
    def assign(self, here: Here, text: str, **query):
        here.api.headers["Content-Type"] = "text/csv"
        try:
            return here.api.ask("PATCH", f"AttributeValues/{here.project}", raw=text.encode(), **query)
        finally:
            del here.api.headers["Content-Type"]

    def test_each_row_sets_the_attributes_of_its_entity_and_an_empty_cell_keeps_the_value(self, here):
        one, other = here.make(attributes={"text": "x", "count": 1}), here.make(attributes={"text": "y"})
        csv = f'id,text,count,flag,size,place\r\n{one},\'=1+1,,true,2.5,"[8.5,48.5]"\r\n{other},cod,7,,,\r\n'
        said = self.assign(here, csv)
        assert (said.status, said.json["changed"]) == (200, 2), said.json
        assert here.one(one)["attributes"] == {
            "kind": "a", "text": "=1+1", "count": 1, "flag": True, "size": 2.5, "place": [8.5, 48.5]
        }  # fmt: skip
        assert here.one(other)["attributes"] == {"kind": "a", "text": "cod", "count": 7}

    def test_one_bad_value_changes_nothing_and_a_dry_run_names_all_of_them(self, here):
        one, other = here.make(), here.make()
        csv = f"id,count\n{one},5\n{other},500\n999999999,1\n"
        said = self.assign(here, csv)
        assert said.status == 400
        assert "2 of 3" in said.message
        assert "count" not in here.one(one)["attributes"]
        dry = self.assign(here, csv, dry_run=True).json
        assert (dry["changed"], [each["id"] for each in dry["refusals"]]) == (1, [other, 999999999])

    @pytest.mark.parametrize(
        ("text", "part"),
        [
            ("", "must begin with the column id"),
            ("id,cuont\n1,2\n", "Did you mean 'count'?"),
            ("id,count\n1,2,3\n", "Row 2"),
            ("id,count\nx,2\n", "Row 2"),
            ("id,count\n1,2\n1,3\n", "more than once"),
            ("id,count,count\n", "more than once"),
            ('id,count\n1,"2\n', "not CSV"),
        ],
    )
    def test_a_malformed_csv_is_refused_by_its_row(self, here, text, part):
        said = self.assign(here, text)
        assert said.status == 400
        assert part in said.message

    @pytest.mark.parametrize(
        "text",
        [
            "id," + ",".join(f"name {number}" for number in range(200_000)),
            "id" + "\n" * 2_000_000,
            "id,place\n{id}," + "[" * 100_000,
            "id,place\n{id}," + "9" * 100_000,
        ],
        ids=["columns", "lines", "depth", "digits"],
    )
    def test_what_would_take_long_to_read_is_refused_at_once(self, here, text):
        began = time.process_time()
        said = self.assign(here, text.replace("{id}", str(here.make())))
        assert (said.status, len(said.body) < 5_000) == (400, True), said.body[:300]
        assert time.process_time() - began < 5

    def test_media_of_another_project_cannot_be_named(self, here):
        assert self.assign(here, f"id\n{here.media}\n", kind="media").json["matched"] == 1
        organization = here.api.get(f"Project/{here.project}").json["organization"]
        other = here.api.made("Projects", {"name": f"other {here.project}", "organization": organization})
        here.api.headers["Content-Type"] = "text/csv"
        said = here.api.ask("PATCH", f"AttributeValues/{other}", raw=f"id\n{here.media}\n".encode(), kind="media")
        assert said.status == 400
        assert "no media with this id" in said.json["details"]


class TestUrls:
    OLD, NEW = "https://old.example.org/a/", "https://new.example.org/b/"

    def replace(self, here: Here, **query):
        return here.api.patch(f"FileUrls/{here.project}", {"old": self.OLD, "new": self.NEW}, **query)

    def test_the_beginning_of_urls_of_files_by_reference_is_replaced(self, here):
        entry = {"codec": "h264", "resolution": [1, 1], "reference_only": 1}
        files = {"streaming": [{**entry, "path": f"{self.OLD}x.mp4"}, {**entry, "path": "https://elsewhere.org/y.mp4"}]}
        here.api.patch(f"Media/{here.media}", {"media_files": files})
        assert self.replace(here, dry_run=True).json["changed"] == 1
        assert self.replace(here, count=5).status == 400
        assert self.replace(here).json["changed"] == 1
        paths = [each["path"] for each in here.api.get(f"Media/{here.media}").json["media_files"]["streaming"]]
        assert paths == [f"{self.NEW}x.mp4", "https://elsewhere.org/y.mp4"]
        assert self.replace(here).json["changed"] == 0

    @pytest.mark.parametrize("new", ["javascript:x", "s3://bucket/x", "https://user:pw@host/"])
    def test_a_url_that_no_file_may_have_is_refused(self, here, new):
        entry = {"codec": "h264", "resolution": [1, 1], "reference_only": 1, "path": f"{self.OLD}x.mp4"}
        here.api.patch(f"Media/{here.media}", {"media_files": {"streaming": [entry]}})
        said = here.api.patch(f"FileUrls/{here.project}", {"old": self.OLD, "new": new})
        assert said.status == 400


def test_only_who_may_edit_can_change(here):
    reader = new_user()
    join(reader, here.project, "View Only")
    assert reader.patch(f"AnnotationFrames/{here.project}", {"shift": 1}).status == 403
    assert reader.patch(f"AnnotationFrames/{here.project}", {"shift": 1}, dry_run=True).status == 403
