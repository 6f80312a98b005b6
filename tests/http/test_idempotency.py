"""The header Idempotency-Key: what is sent again is carried out once."""

from __future__ import annotations

import threading
import uuid

import pytest

from chalicelib.core.time import clock
from chalicelib.storage.dynamodb.progress import idempotency
from chalicelib.storage.dynamodb.tables import RecordRow
from tests.faults.crashes import Killed, crasher
from tests.service import new_user


@pytest.fixture
def keyed(api):
    """The API with a key for each request that it sends."""

    def send(method, path, body=None, key=None, user=api, **query):
        user.headers["Idempotency-Key"] = key or str(uuid.uuid4())
        try:
            return user.ask(method, path, body, **query)
        finally:
            del user.headers["Idempotency-Key"]

    return send


def section(name="A"):
    return {"name": name, "path": name}


def rows_of(user):
    return list(RecordRow.query(f"idempotency#{user.id}", consistent_read=True))


def test_a_repeated_creation_gives_the_first_answer_and_makes_nothing(api, project, keyed):
    first = keyed("POST", f"Sections/{project}", section(), key="a-key-of-16-chars")
    again = keyed("POST", f"Sections/{project}", section(), key="a-key-of-16-chars")
    assert (first.status, again.status, again.json) == (201, 201, first.json)
    assert [first.headers.get("Idempotency-Replayed"), again.headers["Idempotency-Replayed"]] == [None, "true"]
    assert again.headers.get("Limn-Commit") == first.headers.get("Limn-Commit")
    assert len(api.get(f"Sections/{project}").json) == 1


def test_a_repeated_deletion_answers_as_the_first_although_nothing_is_left(api, project, keyed):
    made = api.made(f"Sections/{project}", section())
    key = str(uuid.uuid4())
    assert [keyed("DELETE", f"Section/{made}", key=key).status for _ in range(2)] == [200, 200]


@pytest.mark.parametrize("other", ["body", "path"])
def test_a_key_of_another_request_is_refused_and_named(api, project, keyed, other):
    key = str(uuid.uuid4())
    assert keyed("POST", f"Sections/{project}", section(), key=key).status == 201
    path = f"Bookmarks/{project}" if other == "path" else f"Sections/{project}"
    said = keyed("POST", path, section("B") if other == "body" else section(), key=key)
    assert (said.status, "Idempotency-Key" in said.message) == (409, True)
    assert len(api.get(f"Sections/{project}").json) == 1


def test_a_refused_request_leaves_its_key_free(api, project, keyed):
    key = str(uuid.uuid4())
    assert keyed("POST", f"Sections/{project}", {"name": 3}, key=key).status == 400
    assert rows_of(api.user) == []
    assert keyed("POST", f"Sections/{project}", section(), key=key).status == 201


@pytest.mark.parametrize("key", ["short", "x" * 129, "spaces are not allowed"])
def test_a_malformed_key_is_refused(project, keyed, key):
    said = keyed("POST", f"Sections/{project}", section(), key=key)
    assert (said.status, "Idempotency-Key" in said.message) == (400, True)


def test_the_key_of_one_user_is_nothing_to_another(api, project, keyed):
    key, other = str(uuid.uuid4()), new_user()
    assert keyed("POST", f"Sections/{project}", section(), key=key).status == 201
    assert keyed("POST", f"Sections/{project}", section(), key=key, user=other).status == 404


def test_reads_take_no_key(api, project, keyed):
    assert keyed("GET", f"Sections/{project}").status == 200
    assert rows_of(api.user) == []


def test_tokens_in_kept_answers_cannot_be_read_from_the_table(api, keyed):
    key = str(uuid.uuid4())
    body = {"name": "t", "scopes": ["read"]}
    said = keyed("POST", "AccessTokens", body, key=key)
    if said.status != 201:
        said = keyed("POST", "AccessTokens", {"name": "t"}, key=key)
    assert said.status == 201, said.body
    token = said.json["token"]
    [row] = rows_of(api.user)
    assert token.encode() not in row.doc
    assert key not in str(row.attribute_values)
    assert keyed("POST", "AccessTokens", {"name": "t"} if "scopes" not in said.json else body, key=key).status in (
        201,
        409,
    )


def test_of_concurrent_requests_with_one_key_one_is_carried_out(api, project, keyed):
    key, said, start = str(uuid.uuid4()), [], threading.Barrier(6)

    def send(user):
        start.wait()
        said.append(keyed("POST", f"Sections/{project}", section(), key=key, user=user))

    from tests.service import Api

    users = [Api(api.user, api.token) for _ in range(6)]
    threads = [threading.Thread(target=send, args=(user,)) for user in users]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {each.status for each in said} <= {201, 503}
    assert all(each.headers.get("Retry-After") == "1" for each in said if each.status == 503)
    assert len(api.get(f"Sections/{project}").json) == 1
    assert keyed("POST", f"Sections/{project}", section(), key=key).status == 201


def test_a_request_that_was_given_up_cannot_change_anything_after_its_key_was_taken_again(api, project, move_clock):
    from chalicelib.errors import Conflict
    from chalicelib.storage.dynamodb.transactions import Transaction

    late = idempotency.claim(api.user.id, "k", "same")
    move_clock(idempotency.HELD_SECONDS + 1)
    assert isinstance(idempotency.claim(api.user.id, "k", "same"), idempotency.Hold)
    change = Transaction()
    change.put(RecordRow("given-up", "@", n=1))
    with idempotency.marking(late), pytest.raises(Conflict):
        change.run()
    assert RecordRow.find("given-up", "@") is None


def creations(api, project):
    kind = api.made(f"MediaTypes/{project}", {"name": "Picture", "dtype": "image"})
    sheet = {"name": "a.png", "type": kind, "md5": "0" * 32, "url": "https://example.org/a.png"}
    return {
        "a section": (f"Sections/{project}", section(), f"Sections/{project}"),
        "a record": (f"Versions/{project}", {"name": "v"}, f"Versions/{project}"),
        "media": (f"Medias/{project}", [{**sheet, "name": f"{n}.png"} for n in range(12)], f"Medias/{project}"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("what", ["a section", "a record"])
@pytest.mark.parametrize("mode", ["before", "after", "lost", "cut"])
def test_a_creation_that_dies_at_any_call_is_made_once_by_its_repetition(api, project, keyed, what, mode):
    path, body, listed = creations(api, project)[what]
    with crasher() as hook:
        for at in range(1, 40):
            named = {**body, **{name: f"{body[name]}{at}" for name in ("name", "path") if name in body}}
            before = len(api.get(listed).json)
            key = str(uuid.uuid4())
            hook.arm(at, mode)
            try:
                said = keyed("POST", path, named, key=key)
            except Killed:
                said = None
            fired = hook.fired
            hook.revive()
            with clock.ahead_by(idempotency.HELD_SECONDS + 1):
                again = keyed("POST", path, named, key=key)
            made = len(api.get(listed).json) - before
            assert made == 1, (at, fired, said, again)
            assert again.status == 201 or (again.status == 409 and "was lost" in again.message), (at, fired, again)
            if said is not None and said.status == 201:
                assert again.status in (201, 409)
            if not fired:
                break
        else:
            pytest.fail("a creation takes more calls than were tried")
