"""Change logs: who changed what, the oldest first."""

import pytest

from tests.resources.annotations.boxes import settle
from tests.service import join, new_user


@pytest.fixture
def here(api, project):
    return settle(api, project)


def logs(here, **query):
    said = here.api.get(f"ChangeLog/{here.project}", **query)
    assert said.status == 200, said.body
    return said.json


def values(members):
    return {member["name"]: member["value"] for member in members}


def told(log):
    description = log["description_of_change"]
    assert [member["name"] for member in description["old"]] == [member["name"] for member in description["new"]]
    return values(description["old"]), values(description["new"])


class TestGetChangeLogList:
    def test_a_creation_lists_what_has_a_value(self, here):
        number = here.make(x=0.0, y=0.5, width=0.1, height=0.2, attributes={"flag": False, "text": ""})
        (log,) = logs(here, entity_id=number, entity_type="localization")
        old, new = told(log)
        assert set(old.values()) == {None}
        assert (new["_id"], new["_x"], new["_frame"], new["_media"]) == (number, 0.0, 0, here.media)
        assert (new["flag"], new["text"], new["kind"]) == (False, "", "a")
        assert "_u" not in new
        assert "count" not in new
        assert "_created_datetime" not in new
        assert (log["user"], log["project"]) == (here.api.user.id, here.project)
        assert log["modified_datetime"].endswith("Z")

    def test_changes_follow_in_order_with_what_differs(self, here):
        number = here.make(attributes={"count": 42})
        here.api.patch(f"Localization/{number}", {"attributes": {"count": 54}})
        here.api.patch(f"Localization/{number}", {"x": 0.25})
        found = logs(here, entity_id=number, entity_type="localization")
        assert [told(log) for log in found[1:]] == [({"count": 42}, {"count": 54}), ({"_x": None}, {"_x": 0.25})]
        assert [log["id"] for log in found] == sorted({log["id"] for log in found})

    def test_zero_and_false_differ(self, here):
        number = here.make(attributes={"text": 0})
        here.api.patch(f"Localization/{number}", {"attributes": {"text": False}})
        old, new = told(logs(here, entity_id=number, entity_type="localization")[-1])
        assert (old["text"], new["text"]) == (0, False)
        assert new["text"] is False

    def test_every_new_value_of_a_deletion_is_true(self, here):
        number = here.make()
        here.api.delete(f"Localization/{number}", {"prune": 1})
        assert set(told(logs(here, entity_id=number, entity_type="localization")[-1])[1].values()) == {True}

    def test_a_creation_of_many_has_one_for_each(self, here):
        numbers = here.api.made(here.many, [here.spec(frame=frame) for frame in range(20)])
        found = logs(here, entity_type="localization")
        assert [told(log)[1]["_id"] for log in found] == numbers
        assert [told(log)[1]["_frame"] for log in found] == list(range(20))
        assert len({log["id"] for log in found}) == 20

    def test_a_bulk_change_has_one_for_all(self, here):
        numbers = here.api.made(here.many, [here.spec() for _ in range(250)])
        assert here.api.patch(here.many, {"attributes": {"count": 7}}).status == 200
        found = logs(here, entity_type="localization")
        assert len(found) == 251
        assert told(found[-1]) == ({"count": None}, {"count": 7})
        for number in (numbers[0], numbers[120], numbers[-1]):
            assert told(logs(here, entity_id=number, entity_type="localization")[-1]) == told(found[-1])

    def test_two_requests_for_the_same_change_stay_two(self, here):
        for number in (here.make(), here.make()):
            here.api.patch(f"Localization/{number}", {"x": 0.5})
        assert len(logs(here, entity_type="localization")) == 4

    def test_a_deleted_media_takes_its_localizations_along(self, here):
        number = here.make()
        here.api.delete(f"Media/{here.media}")
        for kind, gone in (("localization", number), ("media", here.media)):
            assert told(logs(here, entity_id=gone, entity_type=kind)[-1]) == ({"_deleted": False}, {"_deleted": True})

    def test_by_user(self, here):
        other = new_user()
        join(other, here.project, "Can Edit")
        number = here.make()
        other.patch(f"Localization/{number}", {"x": 0.5})
        (log,) = logs(here, user_id=other.user.id)
        assert told(log)[1] == {"_x": 0.5, "_modified_by": other.user.id}
        assert logs(here, user_id=other.user.id, entity_type="media") == []
        assert {log["user"] for log in logs(here, user_id=here.api.user.id)} == {here.api.user.id}

    def test_an_id_alone_is_that_of_any_kind(self, here):
        (log,) = logs(here, entity_id=here.media)
        assert told(log)[1]["_name"] == "a.mp4"

    def test_leaves_are_told_and_files_are_not(self, here):
        leaf_type = here.api.made(f"LeafTypes/{here.project}", {"name": "leaf"})
        file_type = here.api.made(f"FileTypes/{here.project}", {"name": "file"})
        leaf = here.api.made(f"Leaves/{here.project}", {"name": "Honda", "type": leaf_type})[0]
        here.api.made(f"Files/{here.project}", {"name": "f", "description": "", "type": file_type})
        assert told(logs(here, entity_id=leaf, entity_type="leaf")[0])[1]["_name"] == "Honda"
        assert all(told(log)[1].get("_name") != "f" for log in logs(here, user_id=here.api.user.id))

    def test_what_no_reader_sees_is_not_told(self, here):
        number = here.make()
        made = here.api.patch(f"Localization/{number}", {"x": 0.5, "in_place": 0}).json["object"]["id"]
        for either in (number, made):
            last = logs(here, entity_id=either, entity_type="localization")[-1]
            assert told(last)[1] == {"_x": 0.5, "_id": made, "_mark": 1}
        assert len(logs(here, entity_type="localization")) == 2

    def test_a_file_record_is_a_change_and_no_creation(self, here, organization):
        body = {"path": f"{organization}/{here.project}/{here.media}/a", "codec": "aac"}
        assert here.api.post(f"AudioFiles/{here.media}", body).status == 201
        found = logs(here, entity_id=here.media, entity_type="media")
        assert len(found) == 2
        assert told(found[-1])[1].keys() == {"_media_files"}

    @pytest.mark.parametrize("query", [{}, {"entity_type": "file"}, {"entity_id": 0}, {"user_id": "x"}])
    def test_what_breaks_a_rule_is_refused(self, api, project, query):
        assert api.get(f"ChangeLog/{project}", **query).status == 400

    def test_any_member_may_and_a_stranger_may_not(self, here, member, stranger):
        assert member("View Only").get(f"ChangeLog/{here.project}", entity_id=1).status == 200
        assert stranger.get(f"ChangeLog/{here.project}", entity_id=1).status == 404


class TestPages:
    @pytest.fixture
    def changes(self, here):
        """Creations, a bulk change of three parts with commits of others around it, and single changes."""
        numbers = here.api.made(here.many, [here.spec() for _ in range(250)])
        here.api.patch(here.many, {"attributes": {"count": 7}})
        here.api.patch(f"Localization/{numbers[0]}", {"x": 0.5})
        return logs(here, entity_type="localization")

    @pytest.mark.slow
    @pytest.mark.parametrize("stop", [60, 251])
    def test_pages_of_any_size_have_the_same_entries(self, here, changes, stop):
        found, after = [], None
        while True:
            said = here.api.get(f"ChangeLog/{here.project}", entity_type="localization", stop=stop, after=after)
            found += said.json
            assert len(said.json) <= stop
            if "Link" not in said.headers:
                break
            assert f"after={said.json[-1]['id']}" in said.headers["Link"]
            after = said.json[-1]["id"]
        assert found == changes

    def test_a_page_after_a_bulk_change_does_not_repeat_its_parts(self, here, changes):
        bulk, last = changes[250:]
        assert logs(here, entity_type="localization", after=bulk["id"]) == [last]

    def test_by_time(self, here, changes):
        moment = changes[-1]["modified_datetime"]
        assert logs(here, since=moment)[-1] == changes[-1]
        assert changes[-1] not in logs(here, before=moment)
        said = here.api.get(f"ChangeLog/{here.project}", since="yesterday")
        assert said.status == 400
        assert "ISO 8601" in said.message
