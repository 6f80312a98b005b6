"""Files that cannot be written end a command with a reason, before the service is asked."""

from __future__ import annotations

import pytest

from infra.client import failures

COMMANDS = {
    "query": ("query", "media", "--format", "csv", "--output"),
    "export": ("export", "--format", "coco", "--output"),
    "events": ("events", "--state"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_in_no_folder_is_refused_before_a_request(limn, api, signed_in, tmp_path, name):
    (tmp_path / "file").write_text("")
    for target, word in (
        (tmp_path / "none" / "out", "there is no folder"),
        (tmp_path / "file" / "out", "there is no folder"),
        (tmp_path, "is a folder"),
    ):
        ran = limn(*COMMANDS[name], target)
        assert (ran.status, ran.out) == (failures.USAGE, "")
        assert word in ran.err
        assert len(ran.err.splitlines()) == 1
    assert api.get(f"Exports/{signed_in}").json == []


def test_a_file_that_fails_while_it_is_written_is_no_broken_connection(limn, signed_in, tmp_path, monkeypatch):
    from pathlib import Path

    def full(self, *_, **__):
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "replace", full)
    ran = limn("query", "media", "--output", tmp_path / "out.jsonl")
    assert ran.status == failures.USAGE
    assert "No space left on device" in ran.err
    assert list(tmp_path.glob(".*.part")) == []
