"""Erasures: a person's data is found in every place that may hold it, and afterwards nowhere."""

from __future__ import annotations

import base64
import time
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from chalicelib.access import passwords
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, TOKEN, USER
from chalicelib.core.models.credentials import Credential
from chalicelib.core.personal_data import Person, holds_personal, without
from chalicelib.core.records import KINDS, RecordKind
from chalicelib.core.resource import now
from chalicelib.maintenance import compaction
from chalicelib.resources.access_tokens.schemas import ACCESS_TOKEN
from chalicelib.resources.accounts.invitations import INVITATION
from chalicelib.resources.erasures import service, work
from chalicelib.resources.jobs import runs
from chalicelib.storage.audit import chain
from chalicelib.storage.dynamodb import credentials, ids, records
from chalicelib.storage.dynamodb.transactions import Transaction
from infra.client.cli.audit_commands import verify
from tests import everywhere
from tests.contract.examples import required_of
from tests.resources.accounts import unasked
from tests.service import Api, affiliate, join, new_user

CANARY = "Qanary7f3a"
ADDRESS = f"{CANARY}@example.org"
PASSWORD = "correct horse 7"
TIMES = ("created_datetime", "modified_datetime", "expires_datetime", "created", "start_time")
PICTURE = b"\xff\xd8\xff picture"


pytestmark = pytest.mark.usefixtures("no_delays")


@pytest.fixture
def person(organization, project):
    """Somebody whose every name is the canary, and who may edit the project."""
    found = new_user()
    records.edit(
        USER,
        found.user.id,
        lambda user: msgspec.structs.replace(
            user,
            username=CANARY,
            first_name=CANARY,
            last_name=CANARY,
            email=ADDRESS,
            pending_email=f"new.{ADDRESS}",
            profile={"phone": CANARY},
            password_hash=passwords.hash_password(PASSWORD),
        ),
    )
    affiliate(found, organization)
    join(found, project, "Can Execute")
    found.client = "203.0.113.77"
    signed = found.post("Token", {"username": CANARY, "password": PASSWORD})
    assert signed.status == 201
    found.token = signed.json["token"]
    yield found
    if records.get(USER, found.user.id).username == CANARY:  # for the next test
        records.edit(USER, found.user.id, lambda user: msgspec.structs.replace(user, username=f"gone {user.id}"))


@pytest.fixture
def media(api, project):
    kind = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    return api.made(f"Medias/{project}", {"type": kind, "name": "a.jpg", "md5": ""})


def erase(api: Api, organization: int, person: Api) -> dict[str, Any]:
    """The report of an erasure that is completed."""
    said = api.post(f"Erasures/{organization}", {"user": person.user.id})
    assert said.status == 201, said.body
    assert said.json["object"]["status"] == "Running"
    api.drain()
    report = api.get(f"Erasure/{said.json['id']}").json
    assert report["status"] == "Completed"
    return report


def planted(struct: type, name: str) -> dict[str, Any]:
    """The members of a stored Struct with the canary in each that may hold something of a person."""
    members = required_of(struct)
    for field in msgspec.structs.fields(struct):
        if field.name in getattr(struct, "personal", ()):
            members[field.name] = [f"{CANARY} <{ADDRESS}>"] if "list" in str(field.type) else name
        elif field.name in getattr(struct, "mentioning", ()):
            members[field.name] = f"ask @{CANARY}, please"
        elif inner := _personal_struct(field.type):
            members[field.name] = planted(inner, name)
    return members


def _personal_struct(hint: Any) -> type | None:
    from chalicelib.core.personal_data import _structs_in

    return next((each for each in _structs_in(hint) if holds_personal(each)), None)


def plant(kind: RecordKind[Any], things: dict[str, Any]) -> None:
    members = planted(kind.struct, ADDRESS if kind is INVITATION else CANARY)
    members |= {name: things[name] for name in ("project", "organization", "user", "media_id") if name in members}
    times = [name for name, value in members.items() if name in TIMES and isinstance(value, str)]
    members |= dict.fromkeys(times, now())
    members |= {"networks": ["203.0.113.77/32"]} if kind is ACCESS_TOKEN else {}
    members |= {"token_hash": "canary"} if kind is INVITATION else {}
    number = f"canary {kind.name}" if isinstance(members[kind.identity], str) else ids.reserve(kind.name)[0]
    members[kind.identity] = number
    records.create(kind, msgspec.convert(members, kind.struct))


@pytest.mark.slow
def test_a_canary_in_every_member_that_may_hold_one_is_found_nowhere_afterwards(
    api, organization, project, media, person
):
    things = {"organization": organization, "project": project, "user": person.user.id, "media_id": media}
    holders = [kind for kind in KINDS.values() if holds_personal(kind.struct)]
    there = {USER.name, MEMBERSHIP.name, AFFILIATION.name}  # of which the last two store no names
    for kind in holders:
        if kind.name not in there:
            plant(kind, things)
    records.edit(
        USER, person.user.id, lambda user: msgspec.structs.replace(user, tokens=[*user.tokens, f"canary {TOKEN.name}"])
    )
    other = new_user()
    join(other, project, "Can Edit")
    assert other.post(f"Comments/{project}", {"text": f"see @{CANARY.upper()}!", "media_id": media}).status == 201
    assert person.patch(f"User/{person.user.id}", {"new_avatar": base64.b64encode(PICTURE).decode()}).status == 200
    person.headers["Idempotency-Key"] = "0123456789abcdef"
    assert person.post("AccessTokens", {"name": CANARY, "networks": ["203.0.113.77/32"]}).status == 201
    del person.headers["Idempotency-Key"]
    assert Api(None, client=person.client).post("Token", {"username": CANARY, "password": "no"}).status == 400
    api.drain()
    [run] = [each for each in records.list_children(runs.RUN, project) if each.user == person.user.id]
    key = "job#0123"
    records.edit(runs.RUN, run.uid, lambda current: msgspec.structs.replace(current, credential=key))
    change = Transaction()
    made = Credential(id=key, kind="job", user=run.user, username=CANARY, created_datetime=now())
    credentials.put(change, made, int(time.time()) + 60)
    change.run()
    compaction.compact(project, force=True)
    assert len(holders) > 10
    assert {kind.name for kind in holders} - _kinds_with(CANARY) == {MEMBERSHIP.name, AFFILIATION.name}

    report = erase(api, organization, person)
    assert everywhere.find(CANARY) == []
    assert everywhere.find(ADDRESS) == []
    assert everywhere.find("203.0.113.77") == []
    found = {each["place"]: each["number"] for each in report["found"]}
    assert found["account"] == 6
    assert found["audit log"] >= 2
    assert found["comments"] == 2
    assert found["commits"] == 1
    assert {"access tokens", "identities", "invitations", "jobs", "pictures", "password resets"} <= found.keys()
    assert report["copies_end_datetime"] > report["completed_datetime"]
    assert verify(api.get(f"AuditLog/{organization}").json).fault == ""


def _kinds_with(text: str) -> set[str]:
    """The kinds of records of which a row has a text."""
    found = [place for place in everywhere.find(text) if "-records " in place]
    return {kind for kind in KINDS for place in found if f" {kind}#" in place or f" {kind}|" in place}


def test_every_text_that_may_be_a_name_is_declared_personal_or_is_content():
    """A new member with such a name is decided upon: `personal`, or one of these, which users write for all to read."""
    content = {"name", "names", "algorithm_name", "bucket_name", "address", "namespace", "mail_due", "usernames"}
    words = ("name", "mail", "address", "network", "recipient", "author")
    stored = [kind.struct for kind in KINDS.values()]
    undecided = [
        f"{struct.__name__}.{field.name}"
        for struct in stored
        for field in msgspec.structs.fields(struct)
        if any(word in field.name for word in words)
        and "str" in str(field.type)
        and field.name not in content | getattr(struct, "personal", frozenset()) | {"email_standing"}
    ]
    assert undecided == []


def test_an_erased_user_is_signed_out_and_cannot_sign_in(api, organization, person):
    job = person.made("AccessTokens", {"name": "script"})
    assert job
    erase(api, organization, person)
    assert person.get("User/GetCurrent").status == 401
    assert Api(None).post("Token", {"username": CANARY, "password": PASSWORD}).status == 400
    assert Api(None).post("Token", {"username": f"erased-{person.user.id}", "password": PASSWORD}).status == 400
    user = records.get(USER, person.user.id)
    assert (user.id, user.username, user.email, user.is_active) == (person.user.id, f"erased-{user.id}", "", False)


def test_a_repeated_erasure_does_no_harm(api, organization, person):
    first = erase(api, organization, person)
    assert {"account", "audit log"} <= {each["place"] for each in first["found"]}
    assert erase(api, organization, person)["found"] == []
    assert [each["status"] for each in api.get(f"Erasures/{organization}").json] == ["Completed", "Completed"]


def test_an_erasure_that_is_out_of_time_after_every_place_goes_on_until_it_is_completed(
    api, organization, project, media, person, monkeypatch
):
    api.made(f"Comments/{project}", {"text": f"@{CANARY}", "media_id": media})
    sent = []
    monkeypatch.setattr(service, "send", lambda _url, message, delay=0: sent.append(message))
    clock = iter(range(10_000))
    monkeypatch.setattr(work, "time", SimpleNamespace(monotonic=lambda: float(next(clock))))
    number = api.made(f"Erasures/{organization}", {"user": person.user.id})
    deliveries = 0
    while sent:
        deliveries += 1
        assert deliveries < 50
        work.erase(sent.pop(0), 1.5)
    report = api.get(f"Erasure/{number}").json
    assert report["status"] == "Completed"
    assert deliveries > 3
    assert {each["place"]: each["number"] for each in report["found"]}["comments"] == 1
    assert everywhere.find(CANARY) == []


def test_the_erasure_is_in_the_audit_log_without_the_name(api, organization, person):
    erase(api, organization, person)
    [entry] = [each for each in api.get(f"AuditLog/{organization}").json if each["operation"] == "CreateErasure"]
    assert (entry["user"], entry["values"]) == (api.user.id, {"user": person.user.id})


def test_a_name_in_content_stays(api, organization, project, media, person):
    assert api.patch(f"Media/{media}", {"name": f"{CANARY}.jpg"}).status == 200
    other = api.made(f"Comments/{project}", {"text": f"{CANARY} and @{CANARY}x", "media_id": media})
    erase(api, organization, person)
    assert api.get(f"Media/{media}").json["name"] == f"{CANARY}.jpg"
    assert api.get(f"Comment/{other}").json["text"] == f"{CANARY} and @{CANARY}x"


def test_only_who_answers_for_all_that_a_user_reaches_erases(api, organization, project, person):
    member = new_user()
    affiliate(member, organization)
    body = {"user": person.user.id}
    assert member.post(f"Erasures/{organization}", body).status == 403
    assert new_user().post(f"Erasures/{organization}", body).status in (403, 404)
    assert api.post(f"Erasures/{organization}", {"user": new_user().user.id}).status == 404
    assert api.post(f"Erasures/{organization}", {"user": api.user.id}).status == 403
    records.edit(USER, api.user.id, lambda user: msgspec.structs.replace(user, is_staff=False))
    plain = Api(api.user, passwords.issue_token(records.get(USER, api.user.id), refresh=False))
    owner = new_user(is_staff=True)
    elsewhere = owner.made("Organizations", {"name": f"elsewhere {person.user.id}"})
    affiliate(person, elsewhere)
    assert plain.post(f"Erasures/{organization}", body).status == 403
    assert records.get(USER, person.user.id).username == CANARY
    assert owner.get(f"Erasures/{organization}").status in (403, 404)


def test_an_entry_whose_name_was_only_removed_shows(api, organization, person):
    api.patch(f"Organization/{organization}", {"access_token_days": 30})
    told = list(chain.entries(organization))
    last = told.pop()

    def fault(changed):
        return verify([msgspec.to_builtins(each) for each in (*told, changed)]).fault

    assert fault(last) == ""
    for changed in (
        msgspec.structs.replace(last, username=None),
        msgspec.structs.replace(last, username="another"),
        msgspec.structs.replace(last, salt=None),
        msgspec.structs.replace(last, digests={}),
        msgspec.structs.replace(last.erased(now()), user=1),
    ):
        assert fault(changed) == f"Entry {last.number} was changed.", changed
    assert fault(last.erased(now())) == ""


def test_mentions_and_addresses_are_found_in_their_forms():
    person = Person(id=7, username="ada", addresses=["ada@example.org"])
    assert person.without_mentions("@ada, @Ada. x@ada @adam @ada.b mail ada@example.org") == (
        "@erased-7, @erased-7. x@ada @adam @ada.b mail ada@example.org"
    )
    spec = {"recipients": ["Ada <ADA@example.org>", "ada@example.org"], "subject": "s", "text": "t"}
    run = msgspec.convert(required_of(runs.Run) | {"success_email": spec}, runs.Run)
    assert without(run, person).success_email is None
    spec["recipients"].append("bob@example.org")
    run = msgspec.convert(required_of(runs.Run) | {"success_email": spec}, runs.Run)
    assert without(run, person).success_email.recipients == ["bob@example.org"]
    assert without(run, Person(id=8, username="", addresses=[])) is run


@pytest.mark.parametrize("way", unasked.WAYS)
def test_whom_an_administrator_added_unasked_is_not_theirs_to_erase(way):
    owner, victim = new_user(), new_user()
    organization, _ = way(owner, victim)
    assert owner.post(f"Erasures/{organization}", {"user": victim.user.id}).status == 403
    assert owner.delete(f"SecondFactor/{victim.user.id}").status == 403
    affiliate(victim, organization)  # as an invitation that was accepted does
    assert owner.post(f"Erasures/{organization}", {"user": victim.user.id}).status == 201
