"""The feed of events."""

import threading
import time

import pytest

from chalicelib.access.masks import EXIST, READ, mask_of
from chalicelib.core.log.commits import Note
from chalicelib.core.models.accounts import MEMBERSHIP
from chalicelib.core.permissions import Level
from chalicelib.core.records import padded
from chalicelib.resources.events import operations as events_operations
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import log
from tests.resources.annotations.boxes import settle
from tests.service import join, new_user


@pytest.fixture
def here(api, project):
    return settle(api, project)


@pytest.fixture
def start(here):
    return read(here, after="now")["next"]


def read(here, api=None, **query):
    said = (api or here.api).get(f"Events/{here.project}", **query)
    assert said.status == 200, said.body
    return said.json


def everything(here, after, api=None, **query):
    """All events after a position, in pages."""
    found = []
    while True:
        page = read(here, api, after=after, **query)
        assert page["next"] != after or not page["behind"]
        found += page["events"]
        after = page["next"]
        if not page["behind"]:
            return found


class TestEvents:
    def test_an_event_has_the_members_of_cloud_events(self, here, start):
        number = here.make(x=0.25, y=0.5, width=0.1, height=0.2, attributes={"count": 7})
        (event,) = read(here, after=start)["events"]
        commit = int(start) + 1
        assert event["specversion"] == "1.0"
        assert event["id"] == f"{here.project}/{commit}"
        assert event["source"] == f"/rest/Project/{here.project}"
        assert event["type"] == "limn.localization.created"
        assert event["subject"] == f"localization/{number}"
        assert (event["user"], event["commit"]) == (here.api.user.id, commit)
        (change,) = event["data"]["changes"]
        assert (event["data"]["ids"], change["id"], change["old"], change["latest"]) == ([number], number, None, True)
        shown = here.one(number)
        assert change["new"] == {name: value for name, value in shown.items() if name != "effective_permission"}

    def test_a_change_has_old_and_new_values(self, here):
        number = here.make(x=0.25, attributes={"count": 7})
        start = read(here, after="now")["next"]
        here.api.patch(f"Localization/{number}", {"x": 0.5, "attributes": {"count": 8}})
        (event,) = read(here, after=start)["events"]
        (change,) = event["data"]["changes"]
        assert event["type"] == "limn.localization.updated"
        assert change["old"] == {"x": 0.25, "attributes": {"count": 7}}
        assert change["new"].pop("modified_datetime") == here.one(number)["modified_datetime"]
        assert change["new"] == {"x": 0.5, "attributes": {"count": 8}, "modified_by": here.api.user.id}

    def test_each_entity_of_a_bulk_change_has_its_own_old_values(self, here):
        numbers = here.api.made(here.many, [here.spec(attributes={"count": count}) for count in range(5)])
        start = read(here, after="now")["next"]
        here.api.patch(here.many, {"attributes": {"count": 50}})
        (event,) = read(here, after=start)["events"]
        assert [change["id"] for change in event["data"]["changes"]] == numbers
        assert [change["old"]["attributes"]["count"] for change in event["data"]["changes"]] == [0, 1, 2, 3, 4]
        assert {change["new"]["attributes"]["count"] for change in event["data"]["changes"]} == {50}

    def test_a_new_mark_replaces_the_one_before(self, here):
        number = here.make()
        start = read(here, after="now")["next"]
        made = here.api.patch(f"Localization/{number}", {"x": 0.5, "in_place": 0}).json["object"]["id"]
        (event,) = read(here, after=start)["events"]
        assert [(change["id"], change["latest"]) for change in event["data"]["changes"]] == [
            (number, False),
            (made, True),
        ]
        assert event["data"]["changes"][1]["new"]["x"] == 0.5
        assert event["data"]["changes"][1]["new"]["elemental_id"] == here.one(made)["elemental_id"]

    def test_deletions_say_what_was_deleted(self, here):
        kept, pruned = here.make(x=0.125), here.make(x=0.25)
        start = read(here, after="now")["next"]
        here.api.delete(f"Localization/{kept}")
        here.api.delete(f"Localization/{pruned}", {"prune": 1})
        tombstone, deletion = read(here, after=start)["events"]
        assert {tombstone["type"], deletion["type"]} == {"limn.localization.deleted"}
        assert (tombstone["data"]["ids"], deletion["data"]["ids"]) == ([kept], [pruned])
        assert deletion["data"]["changes"][0]["old"]["x"] == 0.25
        assert deletion["data"]["changes"][0]["new"] is None

    def test_pruning_a_mark_shows_the_one_before_again(self, here):
        number = here.make()
        made = here.api.patch(f"Localization/{number}", {"x": 0.5, "in_place": 0}).json["object"]["id"]
        start = read(here, after="now")["next"]
        here.api.delete(f"Localization/{made}", {"prune": 1})
        found = {event["type"]: event["data"]["ids"] for event in read(here, after=start)["events"]}
        assert found == {"limn.localization.deleted": [made], "limn.localization.restored": [number]}

    @pytest.mark.parametrize(
        ("kind", "path", "body"),
        [
            ("section", "Section", {}),
            ("version", "Version", {}),
            ("media_type", "MediaType", {"dtype": "image"}),
            ("localization_type", "LocalizationType", {"dtype": "dot"}),
            ("state_type", "StateType", {"association": "Frame"}),
            ("leaf_type", "LeafType", {}),
            ("file_type", "FileType", {}),
        ],
    )
    def test_definitions_of_every_kind_are_in_the_feed(self, here, start, kind, path, body):
        if kind in ("localization_type", "state_type"):
            body = {**body, "media_types": [here.media_type]}
        number = here.api.made(f"{path}s/{here.project}", {"name": "first", **body})
        assert here.api.patch(f"{path}/{number}", {"name": "second"}).status == 200
        assert here.api.delete(f"{path}/{number}").status == 200
        found = [event for event in read(here, after=start)["events"] if event["subject"] == f"{kind}/{number}"]
        assert [(event["type"], event["user"]) for event in found] == [
            (f"limn.{kind}.{action}", here.api.user.id) for action in ("created", "updated", "deleted")
        ]
        made, renamed, gone = (event["data"]["changes"][0] for event in found)
        assert (made["old"], made["new"]["name"]) == (None, "first")
        assert (renamed["old"]["name"], renamed["new"]["name"]) == ("first", "second")
        assert (gone["old"]["name"], gone["new"]) == ("second", None)

    def test_a_large_commit_is_in_pieces_with_numbers(self, here, start):
        numbers = here.api.made(here.many, [here.spec(frame=frame) for frame in range(250)])
        events = read(here, after=start)["events"]
        commit = int(start) + 1
        assert [event["id"] for event in events] == [f"{here.project}/{commit}/{part}" for part in (1, 2, 3)]
        assert [number for event in events for number in event["data"]["ids"]] == numbers
        assert {event["subject"] for event in events} == {"localization"}

    @pytest.mark.parametrize("limit", [1, 2, 3, 7])
    def test_pages_of_any_size_have_the_same_events(self, here, start, limit):
        here.api.made(here.many, [here.spec(frame=frame) for frame in range(250)])
        for number in (here.make(), here.make()):
            here.api.patch(f"Localization/{number}", {"x": 0.5})
        whole = read(here, after=start)["events"]
        assert everything(here, start, limit=limit) == whole
        assert len(whole) == 7
        assert len(read(here, after=start, limit=limit)["events"]) == limit

    def test_behind_counts_the_commits_that_are_left(self, here, start):
        for _ in range(5):
            here.make()
        page = read(here, after=start, limit=2)
        assert (page["behind"], page["next"]) == (3, str(int(start) + 2))
        assert read(here, after=page["next"])["behind"] == 0

    def test_kinds_and_types_select(self, here, start):
        number = here.make()
        here.api.patch(f"Localization/{number}", {"x": 0.5})
        here.api.made(f"Sections/{here.project}", {"name": "s"})

        def types(kinds):
            return [event["type"][5:] for event in everything(here, start, kinds=kinds)]

        assert types("section") == ["section.created"]
        assert types("localization.updated,section") == ["localization.updated", "section.created"]
        assert types("localization") == ["localization.created", "localization.updated"]
        page = read(here, after=start, kinds="media")
        assert (page["events"], page["behind"]) == ([], 0)

    @pytest.mark.parametrize(
        ("query", "says"),
        [
            ({"after": "x"}, "after"),
            ({"after": "-1"}, "after"),
            ({"after": "99999999"}, "after"),
            ({"kinds": "localisation"}, "kinds"),
            ({"limit": 0}, "limit"),
            ({"limit": 1001}, "limit"),
            ({"wait": 21}, "wait"),
        ],
    )
    def test_parameters_are_checked(self, here, query, says):
        said = here.api.get(f"Events/{here.project}", **query)
        assert said.status == 400
        assert says in said.message

    def test_strangers_find_nothing(self, here):
        assert new_user().get(f"Events/{here.project}").status == 404

    def test_a_note_is_an_event_that_lists_do_not_see(self, here, start):
        change = Transaction()
        note = Note(type="job.ended", kind="job", id="u-1", data={"status": "Succeeded"})
        change.add_note(here.project, None, note)
        change.run()
        here.make()
        first, second = read(here, after=start)["events"]
        assert (first["type"], first["subject"], first["user"]) == ("limn.job.ended", "job/u-1", None)
        assert first["data"] == {"ids": ["u-1"], "status": "Succeeded"}
        assert second["commit"] == first["commit"] + 1
        assert here.count() == 1


class TestListThenFeed:
    def test_a_list_says_which_commit_it_shows(self, here, start):
        here.make()
        said = here.api.get(here.many)
        assert said.headers["Limn-Commit"] == str(int(start) + 1)
        assert read(here, after=said.headers["Limn-Commit"])["events"] == []

    def test_an_expired_position_says_where_to_begin(self, here, start):
        for _ in range(3):
            here.make()
        end = int(start) + 3
        log.expire(here.project, range(1, end), int(time.time()) - 10)
        said = here.api.get(f"Events/{here.project}", after=start)
        assert said.status == 410
        assert said.json["begin"] == end
        assert "Limn-Commit" in said.json["details"]
        assert read(here, after=end)["events"] == []
        assert len(read(here, after=end - 1)["events"]) == 1
        log.forget(here.project, range(2, end))  # DynamoDB removes them in any order
        assert here.api.get(f"Events/{here.project}", after=start).status == 410


def during_a_wait(monkeypatch, act):
    """Let a request that waits do something in place of its pause."""
    monkeypatch.setattr(events_operations.WAITING, "pause", lambda seconds: act(seconds) or True)


class TestWaiting:
    @pytest.mark.slow
    def test_a_request_waits_until_there_is_something(self, here, start):
        timer = threading.Timer(0.3, here.make)
        timer.start()
        page = read(here, after=start, wait=20)
        timer.join()
        assert len(page["events"]) == 1

    def test_it_ends_when_its_time_does(self, here, start):
        page = read(here, after=start, wait=0.2)
        assert page == {"events": [], "next": start, "behind": 0}

    def test_it_ends_when_the_process_does(self, here, start, monkeypatch):
        over = threading.Event()
        over.set()
        monkeypatch.setattr(events_operations.WAITING, "_is_over", over)
        during = time.monotonic()
        assert read(here, after=start, wait=20)["events"] == []
        assert time.monotonic() - during < 20

    @pytest.mark.parametrize(("loss", "status"), [("token", 401), ("membership", 404)])
    def test_who_loses_access_while_a_request_waits_gets_nothing(self, here, start, monkeypatch, loss, status):
        reader = new_user()
        join(reader, here.project, "View Only")

        def lose(_):
            found = records.find(MEMBERSHIP, here.project, padded(reader.user.id))
            [own, *_] = [each["id"] for each in reader.get("Token").json]
            said = reader.delete("Token", id=own) if loss == "token" else here.api.delete(f"Membership/{found.id}")
            assert said.status < 300, said.body
            here.make()

        during_a_wait(monkeypatch, lose)
        assert reader.get(f"Events/{here.project}", after=start, wait=20).status == status

    @pytest.mark.parametrize("elsewhere", [False, True])
    def test_too_many_waiting_requests_are_answered_at_once(self, here, start, organization, monkeypatch, elsewhere):
        during_a_wait(monkeypatch, None)
        waiting = events_operations.WAITING
        own, all_ = events_operations.MOST_OF_ONE, events_operations.MOST_WAITING
        # of one's own organization, or of all others together
        taken = [-number for number in range(1, all_ + 1)] if elsewhere else [organization] * own
        assert all(waiting.begin(each) for each in taken)
        assert not waiting.begin(organization)
        try:
            assert read(here, after=start, wait=20)["events"] == []
        finally:
            for each in taken:
                waiting.end(each)
        assert waiting._numbers == {}


@pytest.fixture
def guest(api, project, colleague, fine_grained):
    """A user who sees the project, and of its content one folder."""
    colleague.folder = api.made(f"Sections/{project}", {"name": "shown"})
    eyes = {"user": colleague.user.id}
    api.made("RowProtections", {**eyes, "project": project, "permission": EXIST | READ})
    colleague.own = api.made("RowProtections", {**eyes, "section": colleague.folder, "permission": mask_of(Level.VIEW)})
    return colleague


class TestScope:
    def media(self, here, name, section=None):
        spec = {"type": here.media_type, "name": name, "md5": "", "section_id": section}
        return here.api.made(f"Medias/{here.project}", {key: value for key, value in spec.items() if value is not None})

    def test_hidden_media_and_their_localizations_do_not_appear(self, here, guest):
        start = read(here, after="now")["next"]
        media = [self.media(here, "shown.mp4", guest.folder), self.media(here, "hidden.mp4")]
        boxes = here.api.made(here.many, [here.spec(media_id=number) for number in media for _ in range(4)])
        here.api.patch(here.many, {"attributes": {"count": 7}})
        assert here.api.delete(f"Media/{media[0]}").status == 200
        assert here.api.delete(f"Media/{media[1]}").status == 200
        found = {}
        for event in everything(here, start, guest, limit=2):
            found.setdefault(event["type"], []).extend(event["data"]["ids"])
            assert [change["id"] for change in event["data"]["changes"]] == event["data"]["ids"]
        assert found == {
            "limn.media.created": media[:1],
            "limn.localization.created": boxes[:4],
            "limn.localization.updated": boxes[:4],
            "limn.localization.deleted": boxes[:4],
            "limn.media.deleted": media[:1],
        }

    def test_a_reader_does_not_learn_how_much_is_hidden(self, here, guest):
        start = read(here, after="now")["next"]
        hidden = self.media(here, "hidden.mp4")
        here.api.made(here.many, [here.spec(media_id=hidden) for _ in range(150)])
        page = read(here, guest, after=start, limit=1)
        assert (page["events"], page["behind"]) == ([], 0)
        self.media(here, "shown.mp4", guest.folder)
        for _ in range(3):
            self.media(here, "hidden.mp4")
        assert read(here, guest, after=start, limit=1)["behind"] == 1

    @pytest.mark.slow
    def test_a_reader_waits_until_there_is_something_to_see(self, here, guest):
        start = read(here, after="now")["next"]
        timers = [
            threading.Timer(0.1, self.media, (here, "hidden.mp4")),
            threading.Timer(0.8, self.media, (here, "shown.mp4", guest.folder)),
        ]
        for timer in timers:
            timer.start()
        page = read(here, guest, after=start, wait=15)
        for timer in timers:
            timer.join()
        assert [event["type"] for event in page["events"]] == ["limn.media.created"]

    @pytest.mark.slow
    def test_what_is_closed_while_a_request_waits_does_not_appear(self, here, guest, monkeypatch):
        start = read(here, after="now")["next"]

        def close(_):
            if here.api.delete(f"RowProtection/{guest.own}").status == 200:
                self.media(here, "closed.mp4", guest.folder)
            else:
                time.sleep(0.2)

        during_a_wait(monkeypatch, close)
        assert read(here, guest, after=start, wait=2)["events"] == []

    def test_definitions_and_notes_are_as_open_as_what_they_concern(self, here, guest):
        start = read(here, after="now")["next"]
        hidden, shown = self.media(here, "hidden.mp4"), self.media(here, "shown.mp4", guest.folder)
        section = here.api.made(f"Sections/{here.project}", {"name": "hidden"})
        here.api.patch(f"Section/{guest.folder}", {"name": "renamed"})
        for media in (hidden, shown):
            change = Transaction()
            change.add_note(here.project, None, Note(type="media.ready", kind="media", id=media, media=[media]))
            change.run()
        found = [event["subject"] for event in everything(here, start, guest)]
        assert found == [f"media/{shown}", f"section/{guest.folder}", f"media/{shown}"]
        assert section
