"""What is known of the locked packages, asked of a database on this machine."""

from __future__ import annotations

import json

import pytest

from infra import audit
from infra.package import ROOT
from tests.loopback import Handler, Server


@pytest.fixture
def database():
    """A database that knows what the test puts into `known`, by name and version."""

    class Database(Handler):
        def do_POST(self):
            asked = json.loads(self.read_body())["queries"]
            assert {query["package"]["ecosystem"] for query in asked} == {"PyPI"}
            results = [
                {"vulns": [{"id": each} for each in known]} if known else {}
                for query in asked
                for known in [server.known.get((query["package"]["name"], query["version"]))]
            ]
            self.answer(server.status, server.nonsense or {"results": results})

    with Server(Database) as server:
        server.known, server.status, server.nonsense = {}, 200, b""
        server.url += "/v1/querybatch"
        yield server


@pytest.fixture
def folder(tmp_path):
    """Two locks, with what theirs have: extras, markers, comments."""
    (tmp_path / "requirements.txt").write_text(
        "# made\nold[extra]==1.0 ; sys_platform == 'x'\n    # via limn\nnew==2.0\n"
    )
    (tmp_path / "requirements-dev.txt").write_text("new==2.0\ntool==3.0.post1\n")
    return tmp_path


def test_the_locks_of_the_project_are_read_whole():
    lines = {
        line.split("==")[0].split("[")[0]
        for lock in audit.LOCKS
        for line in (ROOT / lock).read_text().splitlines()
        if line[0] not in "# "
    }
    assert {name for name, _ in audit.pinned(ROOT)} == lines


def test_what_is_known_of_a_version_is_an_error_that_names_it(database, folder, capsys):
    assert audit.main([], folder=folder, database=database.url) == 0
    database.known = {("old", "1.0"): ["GHSA-1", "PYSEC-2"], ("new", "1.9"): ["GHSA-3"]}
    assert audit.main([], folder=folder, database=database.url) == 1
    told = capsys.readouterr().out
    assert "old 1.0: GHSA-1\nold 1.0: PYSEC-2\n" in told
    assert "GHSA-3" not in told


def test_what_is_accepted_may_stand_as_long_as_it_is_known(database, folder, capsys, monkeypatch):
    monkeypatch.setitem(audit.ACCEPTED, "GHSA-1", "we do not call it")
    assert audit.main([], folder=folder, database=database.url) == 1
    assert "GHSA-1 is accepted and not known any more" in capsys.readouterr().out
    database.known = {("old", "1.0"): ["GHSA-1"]}
    assert audit.main([], folder=folder, database=database.url) == 0
    assert "1 accepted" in capsys.readouterr().out


FAULTS = {
    "away": {"url": "http://127.0.0.1:9/"},
    "failing": {"status": 503},
    "no JSON": {"nonsense": b"<html>"},
    "a list": {"nonsense": b"[]"},
    "too short": {"nonsense": b'{"results":[{}]}'},
    "no ids": {"nonsense": b'{"results":[{"vulns":[1]},{},{}]}'},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_database_that_does_not_answer_fails_only_a_strict_audit(database, folder, capsys, fault):
    for name, value in fault.items():
        setattr(database, name, value)
    assert audit.main([], folder=folder, database=database.url) == 0
    assert "skipped: the database does not answer" in capsys.readouterr().err
    assert audit.main(["--strict"], folder=folder, database=database.url) == 1
