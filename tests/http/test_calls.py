"""How often the main requests ask DynamoDB: on AWS each call is a wait of some milliseconds."""

from __future__ import annotations

import threading
import time

import msgspec
import pytest

from chalicelib.access import authentication
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import PROJECT, TOKEN, USER, StoredToken
from chalicelib.core.models.credentials import Credential, hash_of, key_of, new_token
from chalicelib.core.permissions import Level
from chalicelib.core.resource import now
from chalicelib.resources.accounts import administration
from chalicelib.storage.dynamodb import ahead, credentials, ids, records
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.log import log, tickets
from chalicelib.storage.view import cache, views
from chalicelib.storage.view.locks import Shared
from infra.emulator.dynamodb.metering import metering
from tests.contract.world import build
from tests.service import Api, join, new_user


@pytest.fixture(scope="module")
def here():
    return build()


def calls(do, status):
    """The calls of a request, by operation, in a container that has served one like it."""
    for _ in range(2):
        with metering() as meter:
            said = do()
        assert said.status == status, said.body
    return {name: usage.calls for name, usage in meter.operations.items()}


def test_requests_make_few_calls(here):
    api, project, media = here.owner, here.things["project"], here.things["media"]
    box = {"media_id": media, "type": here.things["localization_type"], "frame": 0}
    numbers = iter(api.post(f"Localizations/{project}", [box] * 5).json["id"])
    one = f"Localization/{next(numbers)}"
    assert calls(lambda: api.get(f"Localizations/{project}", stop=3), 200) == {"BatchGetItem": 1, "Query": 1}
    assert calls(lambda: api.get(f"LocalizationCount/{project}"), 200) == {"BatchGetItem": 1, "Query": 1}
    assert calls(lambda: api.get(f"LocalizationTypes/{project}"), 200) == {"BatchGetItem": 1, "Query": 1}
    assert calls(lambda: api.get(one), 200) == {"BatchGetItem": 2}
    assert calls(lambda: api.get(f"Media/{media}"), 200) == {"BatchGetItem": 2}
    commit = {"UpdateItem": 1, "TransactWriteItems": 1}
    assert calls(lambda: api.patch(one, {"x": next(_frames) % 100 / 100}), 200) == {"BatchGetItem": 2, **commit}
    assert calls(lambda: api.delete(f"Localization/{next(numbers)}"), 200) == {"BatchGetItem": 2, **commit}
    created = calls(lambda: api.post(f"Localizations/{project}", [box]), 201)
    assert created == {"BatchGetItem": 2, **commit}
    version = {"version": here.things["version"]}
    assert calls(lambda: api.post(f"Localizations/{project}", [box | version]), 201) == {"BatchGetItem": 2, **commit}


_frames = iter(range(1, 100))


def test_a_change_of_attributes_reads_the_type_once(here):
    api, project = here.owner, here.things["project"]
    noted = {"name": "noted", "dtype": "box", "media_types": [here.things["media_type"]]}
    noted["attribute_types"] = [{"name": "note", "dtype": "string"}]
    box = {"media_id": here.things["media"], "type": api.made(f"LocalizationTypes/{project}", noted), "frame": 0}
    one = f"Localization/{api.made(f'Localizations/{project}', [box])[0]}"
    made = calls(lambda: api.patch(one, {"attributes": {"note": str(next(_frames))}}), 200)
    assert made == {"BatchGetItem": 2, "UpdateItem": 1, "TransactWriteItems": 1}


def test_a_list_of_projects_reads_memberships_and_projects_in_one_call_and_all_other_users_in_one(here):
    alone = new_user()
    join(alone, here.things["project"], "View Only")
    for _ in range(2):
        assert alone.post("Organizations", {"name": f"calls {alone.user.id} {_}"}).status == 201
    organizations = [each["id"] for each in alone.get("Organizations").json if each["name"].startswith("calls ")]
    for number in organizations:
        alone.made("Projects", {"name": "calls", "summary": "", "organization": number})
    alone.get("Projects")
    made = calls(lambda: alone.get("Projects"), 200)
    # memberships with projects, last commits and user, then other users; of each project members and temporary files
    assert made == {"BatchGetItem": 2, "GetItem": 1, "Query": 7}
    assert here.owner.get("Projects").json[0]["usernames"]


def test_a_token_of_an_older_release_works_and_moves_to_the_credentials(here):
    api, project = new_user(), here.things["project"]
    join(api, project, "View Only")
    api.token = "ab" * 20
    hashed = hash_of(api.token)
    members = {"user": api.user.id, "username": api.user.username, "created_datetime": "2025-01-01T00:00:00.000Z"}
    records.create(TOKEN, StoredToken(id=hashed, **members))
    records.edit(USER, api.user.id, lambda user: msgspec.structs.replace(user, tokens=[*user.tokens, hashed]))
    assert api.get(f"LocalizationTypes/{project}").status == 200
    assert records.maybe(TOKEN, hashed) is None
    made = calls(lambda: api.get(f"LocalizationTypes/{project}"), 200)
    assert made == {"BatchGetItem": 1, "GetItem": 1, "Query": 1}
    assert [each["id"] for each in api.get("Token").json if each["is_present"]] == [hashed[:16]]
    assert api.delete("Token", id=hashed[:16]).status == 200
    assert api.get("Token").status == 401


def test_a_revoked_token_of_an_older_release_is_not_moved(here):
    api = new_user()
    hashed = hash_of(f"cd{api.user.id:038x}")
    api.token = f"cd{api.user.id:038x}"
    members = {"user": api.user.id, "username": api.user.username, "created_datetime": "2025-01-01T00:00:00.000Z"}
    records.create(TOKEN, StoredToken(id=hashed, **members))
    records.edit(USER, api.user.id, lambda user: msgspec.structs.replace(user, tokens=[*user.tokens, hashed]))
    administration.set_active(api.user, active=False)
    assert api.get("Token").status == 401


def test_a_request_with_the_token_of_a_job_takes_no_call_more(here):
    project = here.things["project"]
    api = new_user()
    join(api, project, "View Only")
    token = new_token("job", api.user.id)
    change = Transaction()
    limits = {"projects": [project], "level": Level.VIEW}
    made = Credential(id=key_of(token), kind="job", user=api.user.id, created_datetime=now(), **limits)
    credentials.put(change, made, int(time.time()) + 60)
    change.run()
    own = calls(lambda: api.get(f"LocalizationTypes/{project}"), 200)
    assert calls(lambda: Api(api.user, token).get(f"LocalizationTypes/{project}"), 200) == own


def test_a_token_names_its_user_and_is_not_trusted_for_it(here):
    api, other = new_user(), here.owner
    assert authentication.probable_user(api.token) == api.user.id
    assert authentication.probable_user("no token of ours") is None
    forged = api.token[:-8] + other.token[-8:]
    api.token = forged
    assert api.get(f"Project/{here.things['project']}").status == 401


def test_a_membership_that_ends_is_felt_at_once(here):
    api, project = new_user(), here.things["project"]
    join(api, project, "View Only")
    assert api.get(f"Project/{project}").status == 200
    (membership,) = [
        each["id"] for each in here.owner.get(f"Memberships/{project}").json if each["user"] == api.user.id
    ]
    assert here.owner.delete(f"Membership/{membership}").status == 200
    assert api.get(f"Project/{project}").status == 404
    assert records.get(PROJECT, project).id == project


def test_a_list_reads_the_log_beside_the_caller(here, monkeypatch):
    project, begun = here.things["project"], threading.Event()
    here.owner.get(f"LocalizationCount/{project}")  # its view is loaded
    batch, read = ahead.read_batch, views._views._read_after

    def read_after(number, seq):
        begun.set()
        return read(number, seq)

    def read_batch(wanted):
        assert begun.wait(5)
        return batch(wanted)

    monkeypatch.setattr(views._views, "_read_after", read_after)
    monkeypatch.setattr(ahead, "read_batch", read_batch)
    assert here.owner.get(f"LocalizationCount/{project}").status == 200


def test_what_a_refused_list_read_of_the_log_serves_no_later_request(here):
    project, stranger = here.things["project"], new_user()
    stranger.token = "0" * 40
    before = views.current(project).seq
    assert stranger.get(f"LocalizationCount/{project}").status == 401
    log.fill(project, tickets.take_ticket(project).seq)
    assert views.current(project).seq == before + 1


def test_what_was_read_of_the_log_serves_only_the_next_use_of_the_view(here, monkeypatch):
    project = here.things["project"]
    before = views.current(project).seq
    views._views.look_ahead(project)
    assert cache._AHEAD.get().commits.result() == []
    with monkeypatch.context() as patch:
        patch.setattr(Shared, "run", lambda _, work: work(False))
        views.current(project)
    log.fill(project, tickets.take_ticket(project).seq)
    assert views.current(project).seq == before + 1


def test_what_was_read_ahead_serves_only_a_request_for_which_nobody_else_waits():
    shared, found, go = Shared(), [], threading.Event()

    def work(is_alone):
        found.append(is_alone)
        if len(found) == 1:
            go.wait(5)

    threads = [threading.Thread(target=shared.run, args=(work,)) for _ in range(3)]
    for thread in threads:
        thread.start()
        while not found:
            pass
    while shared._waiting < 2:
        pass
    go.set()
    for thread in threads:
        thread.join()
    assert found == [True, False]


class TestIds:
    def test_ids_of_a_container_increase_whatever_their_number(self):
        ids.forget()
        taken = [number for count in (1, 3, 49, 500, 1, 60, 2) for number in ids.reserve(Kind.STATE, count)]
        assert taken == sorted(set(taken))

    def test_fifty_single_ids_take_one_call(self):
        ids.forget()
        with metering() as meter:
            taken = [ids.reserve(Kind.STATE)[0] for _ in range(ids.BLOCK)]
        assert meter.total.calls == 1
        assert taken == list(range(taken[0], taken[0] + ids.BLOCK))

    def test_containers_take_no_id_twice(self):
        ids.forget()
        first = ids.reserve(Kind.STATE, 3)
        ids.forget()
        assert set(ids.reserve(Kind.STATE, 3)).isdisjoint(first)

    def test_ids_of_records_have_no_gaps(self):
        first = ids.reserve("project")[0]
        ids.forget()
        assert ids.reserve("project")[0] == first + 1
