"""What a restart, a clean one and a kill, leaves of the data."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("state_program.py")


@pytest.fixture
def run(tmp_path):
    """Runs actions of the program in a new process on the test's directory; gives what each of them printed."""

    def run(*actions, status=0):
        command = [sys.executable, "-W", "error::ResourceWarning", str(PROGRAM), str(tmp_path / "data"), *actions]
        root = PROGRAM.parents[3]
        ran = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=root, env={"PYTHONPATH": str(root), "PATH": ""}
        )
        assert ran.returncode == status, ran.stderr
        return [json.loads(line) for line in ran.stdout.splitlines()]

    return run


@pytest.mark.parametrize(("way", "status"), [("fill_and_stop", 0), ("fill_and_die", 9)])
def test_everything_is_there_again(run, tmp_path, way, status):
    [left] = run(way, status=status)
    first, finished = run("look", f"finish_upload:{left['upload']}:{left['etag']}")
    [second] = run("look")  # after a process that stopped
    assert finished == [6_000_000, "video/mp4"]
    assert second["objects"].pop("parts")[0] == 6_000_000
    for looked, found in enumerate((first, second)):
        assert len(found["words"]) == 29
        assert sum("changed" in item for item in found["words"]) == 1
        assert sum(repr(b"\x00\xff") in item for item in found["words"]) == 29
        assert found["flat"] == [repr({"pk": {"S": "one"}, "n": {"N": "1"}})]
        assert found["objects"]["a/ü"][:4] == [6, "second", "text/css", {"m": "w"}]
        assert found["objects"]["big"][:2] == [7_000_000, "x" * 10]
        assert set(found["objects"]) == {"a/ü", "big"}
        ((number, body, received, attributes),) = found["messages"]
        assert (number, body, received) == (left["sent"], "waiting", str(2 + looked))
        assert repr(b"\x00") in attributes
        assert [(mail["source"], mail["destinations"]) for mail in found["mails"]] == [
            ("a@example.org", ["b@example.org"])
        ]
        assert "there" in found["mails"][0]["raw_data"]
    assert len(list((tmp_path / "data" / "objects").iterdir())) == 3


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_many_rows_come_back(run, count):
    run(f"many:{count}")
    [found] = run("nothing")
    assert found["rows"] == count
