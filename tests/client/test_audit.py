"""`limn audit`: the chain of an organization's audit log, verified by who reads it."""

from __future__ import annotations

import json

import msgspec
import pytest

from chalicelib.core.log.audit import AuditEntry
from chalicelib.resources.erasures import work
from chalicelib.resources.erasures.messages import ErasePerson
from chalicelib.storage.audit import chain
from chalicelib.storage.audit.rows import AuditRow
from infra.client.cli import audit_commands
from tests.service import affiliate, new_user


@pytest.fixture
def audited(api, signed_in):
    """The organization of the project, with some entries."""
    organization = api.get(f"Project/{signed_in}").json["organization"]
    for _ in range(3):
        api.made(f"Memberships/{signed_in}", {"user": new_user().user.id, "permission": "View Only"})
    return organization


def test_a_whole_log_is_verified_and_written_as_json_lines(limn, audited, tmp_path, monkeypatch):
    monkeypatch.setattr(audit_commands, "PAGE", 2)
    ran = limn("--json", "audit", audited, "--output", tmp_path / "log.jsonl")
    assert ran.status == 0, ran.err
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert ran.json == {
        "organization": audited,
        "entries": len(lines),
        "erased": 0,
        "head": f"{lines[-1]['number']}:{lines[-1]['hash']}",
    }
    assert limn("audit", audited, "--head", ran.json["head"]).status == 0


def test_a_log_from_which_a_person_was_erased_is_whole_and_says_how_many_entries(api, limn, audited):
    """The head of a run before the erasure is still in it, though the entries no longer name the person."""
    person = new_user()
    affiliate(person, audited)
    for level in ("View Only", "Can Edit"):
        person.made("AccessTokens", {"name": level})
    before = limn("--json", "audit", audited)
    assert before.json["erased"] == 0
    erasure = api.made(f"Erasures/{audited}", {"user": person.user.id})
    work.erase(ErasePerson(id="1", erasure=erasure), 60)
    of_person = [each for each in api.get(f"AuditLog/{audited}").json if each.get("user") == person.user.id]
    assert len(of_person) == 2
    assert all(each["username"] is None and each["erased_datetime"] for each in of_person)
    assert limn("--json", "audit", audited, "--head", before.json["head"]).json["erased"] == 2
    ran = limn("audit", audited)
    assert "none changed or missing. 2 without name and network address, which were erased. Head:" in ran.out
    row = AuditRow.get(audited, of_person[0]["number"])
    AuditRow(audited, row.number, doc=row.doc.replace(b'"status":201', b'"status":200')).store()
    ran = limn("audit", audited)
    assert ran.status != 0
    assert f"Entry {row.number} was changed" in ran.err


def test_a_changed_entry_and_one_that_was_cut_off_are_found(limn, audited):
    head = limn("--json", "audit", audited).json["head"]
    last = int(head.partition(":")[0])
    rows = {row.number: row for row in AuditRow.select(audited)}
    rows[last].delete()
    chain._heads.clear()
    assert limn("audit", audited).status == 0, "nothing in the log itself tells"
    ran = limn("audit", audited, "--head", head)
    assert ran.status != 0
    assert f"does not contain {head}" in ran.err
    entry = msgspec.json.decode(rows[last - 1].doc, type=AuditEntry)
    changed = msgspec.structs.replace(entry, user=1)
    AuditRow(audited, last - 1, doc=msgspec.json.encode(changed)).store()
    ran = limn("audit", audited)
    assert ran.status != 0
    assert f"Entry {last - 1} was changed" in ran.err
    rows[last - 1].delete()
    rows[last - 2].delete()
    rows[last].store()
    assert f"Entry {last - 2} is missing" in limn("audit", audited).err
