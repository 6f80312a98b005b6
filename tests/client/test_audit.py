"""`limn audit`: the chain of an organization's audit log, verified by who reads it."""

from __future__ import annotations

import json

import msgspec
import pytest

from chalicelib.core.log.audit import AuditEntry
from chalicelib.storage.audit import chain
from chalicelib.storage.audit.rows import AuditRow
from infra.client.cli import audit_commands
from tests.service import new_user


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
        "head": f"{lines[-1]['number']}:{lines[-1]['hash']}",
    }
    assert limn("audit", audited, "--head", ran.json["head"]).status == 0


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
