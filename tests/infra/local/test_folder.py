"""What keeps the local stack from starting is one sentence, and its folder belongs to one process."""

import itertools
import json
import os
import socket
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from infra.emulator.batch.store import JobStore
from infra.emulator.sqlite.integrity import Damaged, OfNewerRelease
from infra.emulator.sqlite.sqlite_file import VERSION, begin
from infra.local.folder import PLACE, CannotStart, Folder, demand_ports, read_place, read_port
from tests.faults import figures
from tests.journeys.stack import two_free_ports

ROOT = Path(__file__).parents[3]


def start(home, **environment):
    """A start that must fail: what it says."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LIMN_", "AWS_"))}
    ran = subprocess.run(
        [sys.executable, "-m", "infra.local"],
        cwd=ROOT, env={**clean, "LIMN_HOME": str(home), "PORT": str(two_free_ports()), **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    (line,) = ran.stderr.splitlines()
    return line


@pytest.mark.slow
def test_a_second_process_is_refused_and_hears_who_holds_the_folder(tmp_path):
    folder = Folder(tmp_path / ".limn")
    folder.lock("make run on port 8000")
    line = start(tmp_path, FRESH="1")
    assert f"in use by process {os.getpid()} (make run on port 8000)" in line
    assert (tmp_path / ".limn" / "lock").exists()


def test_other_users_of_the_machine_cannot_enter_it(tmp_path):
    home = tmp_path / ".limn"
    home.mkdir(mode=0o755)
    Folder(home).lock("make run on port 8000")
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_start_removes_the_temporary_files_of_a_run_that_was_killed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def begun(name):
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        Folder(tmp_path / name / ".limn").hold_temporary()
        return Path(tempfile.mkdtemp())

    left, other = begun("one"), begun("two")
    again = begun("one")
    assert [left.exists(), other.exists(), again.exists()] == [False, True, True]
    assert (again.parent, os.environ["TMPDIR"]) == (left.parent, str(left.parent))
    assert again.parent.stat().st_mode & 0o777 == 0o700
    kept = again.parent.rename(tmp_path / "kept")
    left.parent.symlink_to(kept)
    with pytest.raises(CannotStart, match="made by somebody else"):
        begun("one")
    assert list(kept.iterdir())


@pytest.mark.slow
def test_data_that_cannot_be_read_is_left_alone(tmp_path):
    data = tmp_path / ".limn" / "data"
    data.mkdir(parents=True)
    (data / "limn.sqlite").write_bytes(b"this is no database" * 100)
    line = start(tmp_path)
    assert "limn.sqlite is damaged" in line
    assert "FRESH=1" in line
    assert (data / "limn.sqlite").read_bytes() == b"this is no database" * 100


def test_data_of_an_earlier_release_is_left_alone(tmp_path):
    folder = Folder(tmp_path)
    folder.data.mkdir()
    (folder.data / "dynamodb.log").touch()
    with pytest.raises(CannotStart, match="earlier release"):
        folder.refuse_previous()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CannotStart, match=r"file/\.limn cannot be written"):
        Folder(tmp_path / "file" / ".limn").lock("a test")


def test_emptying_keeps_the_lock(tmp_path):
    folder = Folder(tmp_path)
    folder.lock("a test")
    (folder.data / "objects").mkdir(parents=True)
    (tmp_path / "local.json").touch()
    folder.empty()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def test_a_port_in_use_is_named():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(CannotStart, match=f"port {taken.getsockname()[1]} of 127.0.0.1 cannot be used"):
            demand_ports("127.0.0.1", taken.getsockname()[1])


@pytest.mark.parametrize("text", ["", "abc", "0", "65535", "-1", "²", "8000.0"])
def test_a_port_is_a_number_with_another_after_it(text):
    with pytest.raises(CannotStart, match="1 to 65534"):
        read_port(text)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff{}", b"[]", b"7", b'{"token": 7}', b'{"url": "\xc3"}', b"null"])
def test_a_damaged_local_json_is_as_a_missing_one(tmp_path, text):
    (tmp_path / PLACE).write_bytes(text)
    assert read_place(tmp_path) == {}


def test_any_flipped_bit_of_local_json_ends_nothing(tmp_path):
    whole = json.dumps({"url": "http://127.0.0.1:8000", "token": "a", "password": "b"}).encode()
    for place, bit in itertools.product(range(len(whole)), range(8)):
        changed = bytearray(whole)
        changed[place] ^= 1 << bit
        (tmp_path / PLACE).write_bytes(changed)
        assert all(isinstance(value, str) for value in read_place(tmp_path).values())
    figures.note("flipped bits of files", PLACE, 8 * len(whole))


def test_any_flipped_byte_in_the_header_of_the_jobs_is_opened_or_named(tmp_path):
    path = tmp_path / "jobs.sqlite"
    JobStore(path).close()
    whole, damaged = path.read_bytes(), []
    for place in range(100):
        for each in tmp_path.iterdir():
            each.unlink()
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            JobStore(path).close()
        except Damaged as reason:
            damaged.append(f"{reason} {reason.remedy}")
    figures.note("flipped bits of files", "the header of jobs.sqlite", 100)
    figures.note("flipped bits that were named", "the header of jobs.sqlite", len(damaged))
    assert len(damaged) > 10
    assert all(str(path) in said and "Move it away" in said and "FRESH" not in said for said in damaged)


def test_data_of_a_newer_release_is_never_to_be_deleted(tmp_path):
    path = tmp_path / "limn.sqlite"
    with closing(sqlite3.connect(path)) as file:
        file.execute(f"PRAGMA user_version = {VERSION + 1}")
        with pytest.raises(OfNewerRelease, match="Its data is whole") as caught:
            begin(file, path)
    said = f"{caught.value} {caught.value.remedy}"
    assert str(path) in said
    assert not {"FRESH", "delete", "remove", "damaged"} & set(said.replace("=", " ").split())
