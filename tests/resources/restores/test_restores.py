"""Deletions that are undone by the number of their change, and the history that has the numbers."""

import uuid
from datetime import datetime, timedelta

import pytest

from chalicelib.access.masks import EXIST, READ, mask_of
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.core.time import clock
from chalicelib.maintenance import compaction, upkeep
from chalicelib.settings import override
from chalicelib.storage.dynamodb import entities
from tests.races import meanwhile
from tests.resources.annotations.boxes import EVERYTHING, settle
from tests.service import new_user


@pytest.fixture
def here(api, project):
    return settle(api, project)


def history(here, kind, number, **query):
    said = here.api.get(f"History/{here.project}/{kind}/{number}", **query)
    assert said.status == 200, said.body
    return said.json


def last_change(here, kind, number):
    return history(here, kind, number)[-1]["change"]


def restore(here, *changes, api=None):
    return (api or here.api).post(f"Restore/{here.project}", {"changes": list(changes)})


def events(here, after):
    return here.api.get(f"Events/{here.project}", after=after).json["events"]


def named(said):
    """The change that the answer of a deletion names, in its body and its header."""
    assert said.status == 200, said.body
    assert said.headers["Limn-Commit"] == str(said.json["change"])
    return said.json["change"]


def test_the_answer_of_a_deletion_names_the_change_to_restore(here):
    box, section = here.make(x=0.25), here.api.made(f"Sections/{here.project}", {"name": "dive"})
    for kind, path, number in (
        ("localization", f"Localization/{box}", box),
        ("media", f"Media/{here.media}", here.media),
        ("section", f"Section/{section}", section),
    ):
        change = named(here.api.delete(path))
        if kind != "section":
            assert last_change(here, kind, number) == change
            assert here.api.get(f"ChangeLog/{here.project}", entity_id=number).json[-1]["change"] == change
        assert events(here, change - 1)[0]["commit"] == change
        assert restore(here, change).status == 200
        assert here.api.get(path).status == 200
    change = named(here.api.delete(here.many))
    assert restore(here, change).json["restored"] == {"localization": 1}


@pytest.mark.slow
def test_the_answer_of_a_large_deletion_names_all_of_it(here):
    spec = {"media_id": here.media, "type": here.type, "frame": 0}
    for _ in range(2):
        assert here.api.post(here.many, [spec] * 450).status == 201
    change = named(here.api.delete(here.many, count=900))
    assert restore(here, change).json["restored"] == {"localization": 900}


def track(here, boxes, **more):
    kind = here.api.made(
        f"StateTypes/{here.project}",
        {"name": "t", "association": "Localization", "media_types": [here.media_type], **more},
    )
    spec = {"type": kind, "media_ids": [here.media], "localization_ids": boxes}
    return here.api.made(f"States/{here.project}", spec)[0]


class TestHistory:
    @pytest.mark.slow
    def test_it_has_old_and_new_values_of_each_change(self, here):
        number = here.make(x=0.25, attributes={"count": 7})
        other = here.make(attributes={"count": 9})
        here.api.patch(f"Localization/{number}", {"x": 0.5})
        here.api.patch(here.many, {"attributes": {"count": 50}})
        here.api.delete(f"Localization/{number}", {"prune": 1})
        for _ in range(2):
            created, moved, counted, gone = history(here, "localization", number)
            assert [each["action"] for each in (created, moved, counted, gone)] == [
                "created", "updated", "updated", "deleted",
            ]  # fmt: skip
            assert (created["old"], created["new"]["x"], created["user"]) == (None, 0.25, here.api.user.id)
            assert (moved["old"], moved["new"]) == ({"x": 0.25}, {"x": 0.5})
            assert counted["old"]["attributes"] == {"count": 7}
            assert counted["new"]["attributes"] == {"count": 50}
            assert history(here, "localization", other)[-1]["old"]["attributes"] == {"count": 9}
            compaction.compact(here.project, force=True)

    def test_that_of_an_annotation_is_that_of_its_marks(self, here):
        number = here.make(x=0.25)
        made = here.api.patch(f"Localization/{number}", {"x": 0.5, "in_place": 0}).json["object"]["id"]
        for either in (number, made):
            created, marked = history(here, "localization", either)
            assert (created["id"], marked["id"]) == (number, made)
            assert (marked["old"]["x"], marked["new"]["x"]) == (0.25, 0.5)

    def test_definitions_have_one_after_a_compaction_too(self, here):
        section = here.api.made(f"Sections/{here.project}", {"name": "dive 1"})
        here.api.patch(f"Section/{section}", {"name": "dive 2"})
        before = history(here, "section", section)
        assert before[1]["old"]["name"] == "dive 1"
        compaction.compact(here.project, force=True)
        assert history(here, "section", section) == before

    def test_pages(self, here):
        number = here.make()
        for x in (0.1, 0.2, 0.3):
            here.api.patch(f"Localization/{number}", {"x": x})
        whole = history(here, "localization", number)
        first = history(here, "localization", number, stop=2)
        assert first + history(here, "localization", number, after=first[-1]["change"]) == whole

    @pytest.mark.parametrize("path", ["localization/99999999", "box/1", "section/99999999"])
    def test_what_does_not_exist_has_none(self, here, path):
        assert here.api.get(f"History/{here.project}/{path}").status == 404

    def test_strangers_see_none(self, here):
        number = here.make()
        assert new_user().get(f"History/{here.project}/localization/{number}").status == 404


class TestRestore:
    @pytest.mark.parametrize("body", [None, {"prune": 1}])
    def test_a_deleted_localization_comes_back_as_it_was(self, here, body):
        number = here.make(x=0.25, attributes={"count": 7})
        before = here.listed()
        start = here.api.get(f"Events/{here.project}", after="now").json["next"]
        here.api.delete(f"Localization/{number}", body)
        assert here.listed() == []
        change = last_change(here, "localization", number)
        said = restore(here, change)
        assert (said.status, said.json["restored"]) == (200, {"localization": 1})
        (after,) = here.listed()
        ignored = {"id", "mark", "modified_datetime"}
        assert {name: after[name] for name in after if name not in ignored} == {
            name: before[0][name] for name in after if name not in ignored
        }
        gone, back = events(here, start)
        assert (gone["commit"], back["type"]) == (change, "limn.localization.restored")
        shown = [each for each in back["data"]["changes"] if each["latest"]]
        assert [each["id"] for each in shown] == [after["id"]]
        assert shown[0]["new"]["x"] == 0.25
        assert history(here, "localization", number)[-1]["action"] == "restored"

    def test_a_restored_localization_has_its_id_and_is_in_its_track_again(self, here):
        number, other = here.make(x=0.25), here.make()
        state = track(here, [number, other])
        change = named(here.api.delete(f"Localization/{number}"))
        tombstone = here.listed(**EVERYTHING)[-1]["id"]
        start = here.api.get(f"Events/{here.project}", after="now").json["next"]
        assert restore(here, change).json["restored"] == {"localization": 1}
        assert [row["id"] for row in here.listed()] == [number, other]
        assert [row["id"] for row in here.listed(**EVERYTHING)] == [number, other]
        assert [row["id"] for row in here.listed(related_id=state)] == [number, other]
        assert [(each["type"], each["data"]["changes"][0]["id"]) for each in events(here, start)] == [
            ("limn.localization.restored", number)
        ]
        assert tombstone not in [
            entry["id"] for entry in history(here, "localization", number) if entry["change"] > change
        ]

    def test_earlier_marks_that_became_tombstones_are_earlier_marks_again(self, here):
        number = here.make(x=0.25)
        here.api.patch(f"Localization/{number}", {"x": 0.5, "in_place": 0})
        before = [(row["id"], row["variant_deleted"]) for row in here.listed(**EVERYTHING)]
        for body in ({"ids": [number]}, {}):
            change = named(here.api.delete(here.many, body, show_all_marks=1))
            assert restore(here, change).status == 200
            assert [(row["id"], row["variant_deleted"]) for row in here.listed(**EVERYTHING)] == before

    def test_a_second_restore_of_the_same_change_deletes_nothing(self, here):
        number = here.make(x=0.25)
        change = named(here.api.delete(f"Localization/{number}"))
        assert restore(here, change).status == 200
        assert restore(here, change).status == 409
        assert [row["id"] for row in here.listed()] == [number]

    def test_two_restores_of_the_same_change_at_once_delete_nothing(self, here):
        number = here.make(x=0.25)
        change = named(here.api.delete(f"Localization/{number}"))
        with meanwhile(lambda: restore(here, change)) as other:
            assert restore(here, change).status == 200
        assert other.answer.status == 200
        assert [row["id"] for row in here.listed(**EVERYTHING)] == [number]

    @pytest.mark.parametrize("body", [None, {"prune": 1}])
    def test_a_track_comes_back_with_the_boxes_that_its_deletion_deleted(self, here, body):
        boxes = [here.make(frame=frame) for frame in range(3)]
        state = track(here, boxes, delete_child_localizations=True)
        change = named(here.api.delete(f"State/{state}", body))
        assert here.count() == 0
        assert restore(here, change).json["restored"] == {"localization": 3, "state": 1}
        assert [row["id"] for row in here.listed(related_id=state)] == boxes
        assert here.api.get(f"State/{state}").json["localizations"] == boxes

    def test_many_by_one_number_and_several_numbers(self, here):
        numbers = here.api.made(here.many, [here.spec(frame=frame) for frame in range(60)])
        here.api.delete(here.many, {"ids": numbers[:50], "prune": 1})
        here.api.delete(here.many, {"ids": numbers[50:]})
        changes = {last_change(here, "localization", number) for number in (numbers[0], numbers[-1])}
        assert here.count() == 0
        said = restore(here, *changes)
        assert said.json["restored"] == {"localization": 60}
        assert here.count() == 60

    def test_a_restored_mark_is_the_latest_of_its_element_again(self, here):
        number = here.make(x=0.25)
        made = here.api.patch(f"Localization/{number}", {"x": 0.5, "in_place": 0}).json["object"]["id"]
        here.api.delete(f"Localization/{made}", {"prune": 1})
        assert [row["id"] for row in here.listed()] == [number]
        assert restore(here, last_change(here, "localization", made)).status == 200
        assert [row["id"] for row in here.listed()] == [made]
        assert [row["id"] for row in here.listed(**EVERYTHING)] == [number, made]

    @pytest.mark.slow
    def test_a_media_comes_back_with_what_went_with_it(self, here):
        boxes = here.api.made(here.many, [here.spec(frame=frame) for frame in range(150)])
        gone_before = boxes.pop()
        here.api.delete(f"Localization/{gone_before}", {"prune": 1})
        state = track(here, boxes[:3])
        before = here.api.get(f"Media/{here.media}").json
        assert here.api.delete(f"Media/{here.media}").status == 200
        assert here.count() == 0
        compaction.compact(here.project, force=True)
        said = restore(here, last_change(here, "media", here.media))
        assert said.json["restored"] == {"media": 1, "localization": 149, "state": 1}
        assert here.api.get(f"Media/{here.media}").json == before
        assert [row["id"] for row in here.listed()] == boxes
        assert here.api.get(f"State/{state}").json["localizations"] == boxes[:3]

    def test_a_section_comes_back_with_its_media(self, here):
        section = here.api.made(f"Sections/{here.project}", {"name": "dive 1"})
        here.api.patch(f"Media/{here.media}", {"primary_section": section})
        before = here.api.get(f"Section/{section}").json
        here.api.delete(f"Section/{section}")
        assert here.api.get(f"Media/{here.media}").json["primary_section"] is None
        change = last_change(here, "section", section)
        start = here.api.get(f"Events/{here.project}", after="now").json["next"]
        assert restore(here, change).json["restored"] == {"section": 1}
        assert here.api.get(f"Section/{section}").json == before
        assert here.api.get(f"Media/{here.media}").json["primary_section"] == section
        assert events(here, start)[0]["type"] == "limn.section.restored"
        assert restore(here, change).status == 409


class TestRefusals:
    def test_what_is_there_or_was_never_deleted(self, here):
        number = here.make()
        created = last_change(here, "localization", number)
        here.api.delete(f"Localization/{number}", {"prune": 1})
        change = last_change(here, "localization", number)
        assert restore(here, created).status == 409
        assert restore(here, change).status == 200
        said = restore(here, change)
        assert said.status == 409
        assert str(change) in said.message
        assert restore(here, 99_999_999).status == 404
        assert here.count() == 1

    def test_all_changes_are_checked_before_the_first_is_undone(self, here):
        number = here.make()
        here.api.delete(f"Localization/{number}", {"prune": 1})
        assert restore(here, last_change(here, "localization", number), 1).status == 409
        assert here.count() == 0

    def test_a_box_does_not_come_back_without_its_media(self, here):
        number = here.make()
        here.api.delete(f"Localization/{number}", {"prune": 1})
        here.api.delete(f"Media/{here.media}")
        said = restore(here, last_change(here, "localization", number))
        assert said.status == 409
        assert "media" in said.message

    def test_what_was_purged_is_gone(self, here):
        here.make()
        here.api.delete(f"Media/{here.media}")
        change = last_change(here, "media", here.media)
        with override(deleted_retention=1):
            said = restore(here, change)
            assert said.status == 410
            assert "files" in said.message
        with override(deleted_retention=0):
            upkeep.look_after(here.project)
        said = restore(here, change)
        assert said.status == 410
        assert "purged" in said.message

    def test_a_deleted_type_does_not_come_back(self, here):
        number = here.make()
        here.api.delete(f"Localization/{number}", {"prune": 1})
        change = last_change(here, "localization", number)
        here.api.delete(f"LocalizationType/{here.type}")
        assert restore(here, change).status == 410

    def test_a_path_that_is_taken(self, here):
        section = here.api.made(f"Sections/{here.project}", {"name": "dive"})
        here.api.delete(f"Section/{section}")
        change = last_change(here, "section", section)
        here.api.made(f"Sections/{here.project}", {"name": "dive"})
        assert restore(here, change).status == 409

    def test_viewers_restore_nothing(self, here, member):
        number = here.make()
        here.api.delete(f"Localization/{number}", {"prune": 1})
        assert restore(here, last_change(here, "localization", number), api=member("View Only")).status == 403

    def test_with_fine_grained_permissions_the_rows_count(self, here, colleague, fine_grained):
        eyes = {"user": colleague.user.id}
        here.api.made("RowProtections", {**eyes, "project": here.project, "permission": EXIST | READ})
        number = here.make()
        here.api.delete(f"Localization/{number}", {"prune": 1})
        change = last_change(here, "localization", number)
        own = here.api.made(f"Sections/{here.project}", {"name": "own"})
        here.api.made("RowProtections", {**eyes, "section": own, "permission": mask_of(Level.EDIT)})
        assert restore(here, change, api=colleague).status == 409  # hidden: as if nothing had been deleted
        here.api.made("RowProtections", {**eyes, "media": here.media, "permission": mask_of(Level.VIEW)})
        assert restore(here, change, api=colleague).status == 403
        here.api.made("RowProtections", {**eyes, "media": here.media, "permission": mask_of(Level.EDIT)})
        assert restore(here, change, api=colleague).status == 200


def test_the_upkeep_keeps_what_was_restored_and_what_was_deleted_again(here):
    kept, again = here.make(), here.make()
    here.api.delete(here.many, {"ids": [kept, again], "prune": 1})
    change = last_change(here, "localization", kept)
    upkeep.find(here.project)
    assert restore(here, change).status == 200
    here.api.delete(f"Localization/{again}", {"prune": 1})
    first = datetime.fromisoformat(history(here, "localization", kept)[1]["time"])
    second = datetime.fromisoformat(history(here, "localization", again)[-1]["time"])
    due = first + timedelta(days=30, milliseconds=1)
    assert second > first
    with clock.ahead_by((due - clock.utc_now()).total_seconds()):
        upkeep.look_after(here.project)
    assert here.count() == 1
    assert set(entities.get_deleted(Kind.LOCALIZATION, [again])) == {again}


class TestSeveralChangesAtOnce:
    """Each of them alone could be undone; together they would give two rows of one element, or of one path."""

    def twins(self, here):
        """Two deleted localizations that were the same mark of one element, and their deletions."""
        element = str(uuid.uuid4())
        made, changes = [], []
        for _ in range(2):
            made.append(here.make(elemental_id=element))
            here.api.delete(f"Localization/{made[-1]}", {"prune": 1})
            deletions = [each for each in history(here, "localization", made[-1]) if each["action"] == "deleted"]
            changes.append(next(each["change"] for each in deletions if each["id"] == made[-1]))
        return made, changes

    def test_of_two_rows_of_one_mark_neither_comes_back(self, here):
        _, changes = self.twins(here)
        said = restore(here, *changes)
        assert (said.status, here.listed(**EVERYTHING)) == (409, [])
        assert restore(here, changes[1]).status == 200
        assert restore(here, changes[0]).status == 409

    def test_of_two_rows_of_one_mark_one_comes_back_from_two_requests(self, here):
        made, changes = self.twins(here)
        with meanwhile(lambda: restore(here, changes[1])) as other:
            restore(here, changes[0])
        assert other.answer.status == 200
        assert [each["id"] for each in here.listed(**EVERYTHING)] == made[1:]
        assert here.api.patch(f"Localization/{made[1]}", {"x": 0.5}).status == 200

    def test_of_two_sections_of_one_path_neither_comes_back(self, here):
        changes = []
        for _ in range(2):
            number = here.api.made(f"Sections/{here.project}", {"name": "dive", "path": "dive"})
            here.api.delete(f"Section/{number}")
            changes.append(history(here, "section", number)[-1]["change"])
        said = restore(here, *changes)
        assert (said.status, here.api.get(f"Sections/{here.project}").json) == (409, [])
        assert restore(here, changes[0]).status == 200
