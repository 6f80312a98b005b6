"""The audit log: what has an entry, what an entry says and never says, the chain, its pages and its limits."""

from __future__ import annotations

import csv
import io
import json
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import msgspec
import pytest

from chalicelib.access import passwords
from chalicelib.core.log.audit import FIRST, AuditEntry, digest
from chalicelib.core.models.accounts import USER
from chalicelib.core.time import clock
from chalicelib.core.time.retry import Retry
from chalicelib.http.reports import auditing
from chalicelib.storage.audit import chain
from chalicelib.storage.audit.chain import Draft
from chalicelib.storage.audit.rows import AuditRow
from chalicelib.storage.dynamodb import records
from infra.client.cli.audit_commands import verify
from infra.emulator.dynamodb import rows
from tests.service import Api, join, new_user


def entries(api, organization, **query) -> list[dict]:
    said = api.get(f"AuditLog/{organization}", **query)
    assert said.status == 200, said.body
    return said.json


def last(api, organization) -> dict:
    return entries(api, organization, sort_by="-number", stop=1)[0]


@pytest.fixture(autouse=True)
def _no_refusals_before():
    auditing._refused.clear()


@pytest.fixture
def written():
    """The rows of tables that are written, as they are."""
    found: list[str] = []

    def note(changes):
        found.extend(change[0].table for change in changes)

    rows.listeners.append(note)
    yield found
    rows.listeners.remove(note)


def test_a_membership_is_told_with_its_level_its_author_and_its_credential(api, project, organization):
    other = new_user()
    made = api.made(f"Memberships/{project}", {"user": other.user.id, "permission": "Can Edit"})
    entry = last(api, organization)
    assert (entry["kind"], entry["operation"], entry["status"]) == ("membership", "CreateMembership", 201)
    assert (entry["user"], entry["username"], entry["project"]) == (api.user.id, api.user.username, project)
    assert entry["values"] == {"user": other.user.id, "permission": "Can Edit"}
    assert entry["network_address"] == api.client
    [present] = [token for token in api.get("Token").json if token["is_present"]]
    assert entry["credential"] == f"session {present['id']}"
    api.patch(f"Membership/{made}", {"permission": "Full Control"})
    assert last(api, organization)["target"] == f"membership {made}"
    api.delete(f"Membership/{made}")
    assert last(api, organization)["operation"] == "DeleteMembership"


def test_a_sign_in_and_a_wrong_password_are_in_the_logs_of_the_users_organizations(api, organization):
    records.edit(
        USER,
        api.user.id,
        lambda user: msgspec.structs.replace(user, password_hash=passwords.hash_password("correct horse 7")),
    )
    nobody = Api(None)
    assert nobody.post("Token", {"username": api.user.username, "password": "wrong secret"}).status == 400
    entry = last(api, organization)
    assert (entry["kind"], entry["status"], entry["user"]) == ("refusal", 400, None)
    assert entry["target"] == f"user {api.user.id}"
    assert nobody.post("Token", {"username": api.user.username, "password": "correct horse 7"}).status == 201
    entry = last(api, organization)
    assert (entry["kind"], entry["user"], entry["network_address"]) == ("sign-in", api.user.id, nobody.client)
    assert entry["credential"].startswith("session ")
    assert "secret" not in json.dumps(entries(api, organization))
    assert "horse" not in json.dumps(entries(api, organization))


def test_tokens_shares_exports_downloads_deletions_and_policy_have_entries(api, project, organization):
    section = api.made(f"Sections/{project}", {"name": "to share"})
    token = api.made("AccessTokens", {"name": "hush", "networks": ["192.0.2.0/24"]})
    link = api.post(f"ShareLinks/{project}", {"section": section, "passphrase": "deep sea"}).json
    opened = Api(None).post("Guest", {"token": link["url"].rpartition("/")[2], "passphrase": "deep sea"})
    assert opened.status == 200
    Api(None).post("Guest", {"token": link["url"].rpartition("/")[2], "passphrase": "shallow"})
    api.post(f"DownloadInfo/{project}", {"keys": [f"{organization}/{project}/1/a.mp4"]})
    api.patch(f"Organization/{organization}", {"access_token_days": 30})
    api.delete(f"Section/{section}")
    told = [(e["kind"], e["operation"], e["target"]) for e in entries(api, organization)]
    assert told[-7:] == [
        ("token", "CreateAccessToken", f"access token {token}"),
        ("share", "CreateShareLink", f"share link {link['id']}"),
        ("share", "OpenShareLink", f"share link {link['id']}"),
        ("refusal", "OpenShareLink", f"share link {link['id']}"),
        ("download", "GetDownloadInfo", f"project {project}"),
        ("policy", "UpdateOrganization", f"organization {organization}"),
        ("deletion", "DeleteSection", f"section {section}"),
    ]
    text = json.dumps(entries(api, organization))
    for secret in ("deep sea", "shallow", link["url"].rpartition("/")[2], "hush", "192.0.2.0"):
        assert secret not in text


def test_a_caller_who_is_refused_has_an_entry_and_one_who_is_let_through_has_none(api, project, organization, written):
    viewer, stranger = new_user(), new_user()
    join(viewer, project, "View Only")
    before = len(entries(api, organization))
    written.clear()
    assert viewer.get(f"Sections/{project}").status == 200
    assert viewer.get(f"Project/{project}").status == 200
    assert written == []
    assert viewer.post(f"Sections/{project}", {"name": "x"}).status == 403
    assert written == [AuditRow.Meta.table_name]
    assert stranger.get(f"Sections/{project}").status == 404
    assert Api(None).get(f"Sections/{project}").status == 401
    told = entries(api, organization, after=before)
    assert [(e["kind"], e["status"], e["user"]) for e in told] == [
        ("refusal", 403, viewer.user.id),
        ("refusal", 404, stranger.user.id),
    ]


def test_a_token_from_another_network_is_told_with_its_id(api, project, organization):
    made = api.post("AccessTokens", {"name": "script", "networks": ["192.0.2.0/24"]}).json
    leaked = Api(api.user, made["token"])
    assert leaked.get(f"Sections/{project}").status == 403
    entry = last(api, organization)
    assert (entry["kind"], entry["credential"]) == ("refusal", f"access {made['id']}")
    assert entry["network_address"] == leaked.client


def test_refusals_that_come_fast_are_counted_and_not_all_written(api, project, organization, monkeypatch):
    viewer = new_user()
    join(viewer, project, "View Only")
    before = last(api, organization)["number"]
    for _ in range(auditing.REFUSALS + 5):
        assert viewer.post(f"Sections/{project}", {"name": "x"}).status == 403
    assert len(entries(api, organization, after=before)) == auditing.REFUSALS
    monkeypatch.setattr(auditing, "WINDOW_SECONDS", -1)
    viewer.post(f"Sections/{project}", {"name": "x"})
    assert last(api, organization)["repeats"] == 5


def test_an_audited_change_costs_one_more_row_in_its_own_transaction(api, project, organization, written, monkeypatch):
    appended: list[Draft] = []
    monkeypatch.setattr(chain, "append", appended.append)
    member = api.made(f"Memberships/{project}", {"user": new_user().user.id, "permission": "View Only"})
    written.clear()
    api.patch(f"Membership/{member}", {"permission": "Can Edit"})
    assert written.count(AuditRow.Meta.table_name) == 1
    assert appended == [], "it was written with the membership, not after it"


def test_a_change_that_is_refused_by_its_rule_has_no_entry(api, project, organization):
    before = last(api, organization)["number"]
    assert api.post(f"Memberships/{project}", {"user": api.user.id, "permission": "View Only"}).status == 400
    assert last(api, organization)["number"] == before


def test_without_its_entry_nothing_is_changed(api, project, organization, monkeypatch):
    """The entry is a part of the transaction: where the log takes none, the membership is not made."""
    other = new_user()
    number, _ = chain._read_head(organization)
    with monkeypatch.context() as broken:
        broken.setattr(chain, "forget", lambda rows: None)
        broken.setattr("chalicelib.storage.dynamodb.transactions.LOG", Retry(2, 0, 0))
        broken.setitem(chain._heads, organization, (number - 1, FIRST))
        said = api.post(f"Memberships/{project}", {"user": other.user.id, "permission": "Can Edit"})
    assert said.status == 503
    assert other.get(f"Project/{project}").status == 404


def test_the_entries_form_a_chain_in_which_every_change_shows(api, project, organization):
    for level in ("View Only", "Can Edit", "Can Transfer", "Full Control"):
        api.made(f"Memberships/{project}", {"user": new_user().user.id, "permission": level})
    told = entries(api, organization)
    assert (told[0]["number"], told[0]["previous"]) == (1, FIRST)
    assert verify(told).fault == ""
    assert verify(told[2:]).fault == "", "the older part may have expired"
    changed = told[1] | {"user": 1}
    sealed = msgspec.to_builtins(msgspec.convert(changed, AuditEntry).sealed())
    assert verify([told[0], changed, *told[2:]]).fault == "Entry 2 was changed."
    assert verify([told[0], sealed, *told[2:]]).fault == "Entry 3 does not follow entry 2."
    assert verify([told[0], *told[2:]]).fault == "Entry 2 is missing."
    assert verify([told[1], told[0]]).fault == "Entry 3 is missing."


def test_writers_of_several_processes_leave_no_gap(organization, api, monkeypatch):
    """Each thread forgets what it knew, as another process does not know it."""
    before = last(api, organization)["number"]
    monkeypatch.setattr(chain, "lock", nullcontext())

    def write(_):
        for _ in range(10):
            chain.append(Draft({"operation": "Test", "status": 200}, "policy", (organization,)))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    told = entries(api, organization)
    assert [each["number"] for each in told] == list(range(1, before + 41))
    assert verify(told).fault == ""


def test_equal_requests_of_two_processes_in_one_millisecond_are_two_entries(organization, monkeypatch):
    monkeypatch.setattr(chain, "now", lambda: "2026-11-23T12:00:00.000Z")
    members = {"operation": "Test", "status": 200}
    before = chain._read_head(organization)
    for _ in range(2):
        chain._heads[organization] = before  # as a process that knows nothing of the other's entry
        chain.append(Draft(members, "policy", (organization,)))
    assert chain._read_head(organization)[0] == before[0] + 2


def test_a_write_whose_answer_was_lost_is_not_repeated(api, organization, monkeypatch):
    draft = Draft({"operation": "Test", "status": 200}, "policy", (organization,))
    made = chain.next_rows(draft)
    made[0].store()
    monkeypatch.setattr(chain, "next_rows", lambda _: made)
    chain.append(draft)
    assert last(api, organization)["number"] == made[0].number


def test_pages_filters_and_orders(api, project, organization):
    for _ in range(5):
        api.made(f"Memberships/{project}", {"user": new_user().user.id, "permission": "View Only"})
    every = entries(api, organization)
    page = api.get(f"AuditLog/{organization}", stop=2)
    assert [e["number"] for e in page.json] == [1, 2]
    assert "after=2" in page.headers["Link"]
    newest = entries(api, organization, sort_by="-number", stop=3)
    assert [e["number"] for e in newest] == [e["number"] for e in every[::-1][:3]]
    following = entries(api, organization, sort_by="-number", stop=3, after=newest[-1]["number"])
    assert following[0]["number"] == newest[-1]["number"] - 1
    members = entries(api, organization, kind="membership")
    assert {e["kind"] for e in members} == {"membership"}
    assert entries(api, organization, user_id=10**9) == []
    middle = members[2]["created_datetime"]
    since, before = entries(api, organization, since=middle), entries(api, organization, before=middle)
    assert [e["number"] for e in before + since] == [e["number"] for e in every]
    assert entries(api, organization, sort_by="-number", since=middle) == since[::-1]
    assert entries(api, organization, sort_by="-number", before=middle) == before[::-1]
    assert api.get(f"AuditLog/{organization}", kind="gossip").status == 400


def test_it_is_also_csv_and_json_lines_and_the_lines_prove_the_chain(api, organization):
    lines = api.get(f"AuditLog/{organization}", format="jsonl").body.decode().splitlines()
    shown = [json.loads(line) for line in lines]
    assert all(digest(each) == each["hash"] for each in shown)
    text = api.get(f"AuditLog/{organization}", format="csv").body.decode("utf-8-sig")
    table = list(csv.DictReader(io.StringIO(text)))
    assert [row["number"] for row in table] == [str(each["number"]) for each in shown]
    assert {"kind", "user", "network_address", "hash"} <= table[0].keys()


def test_administrators_alone_read_it(api, project, organization):
    member = new_user()
    join(member, project, "Full Control")
    assert member.get(f"AuditLog/{organization}").status == 404
    api.made(f"Affiliations/{organization}", {"user": member.user.id, "permission": "Member"})
    assert member.get(f"AuditLog/{organization}").status == 403


def test_a_chain_at_rest_goes_on_before_its_last_entry_expires(organization, api):
    number = last(api, organization)["number"]
    chain.check_in(organization)
    assert last(api, organization)["number"] == number
    with clock.ahead_by(chain.RESTING.total_seconds() + 1):
        chain.check_in(organization)
    assert last(api, organization)["kind"] == "checkpoint"


def test_entries_expire_after_a_year(organization):
    row = next(AuditRow.select(organization, most=1))
    assert 0 < row.expires - time.time() - 365 * 24 * 3600 < 2 * 24 * 3600
