"""Archives that are written in parts."""

import io
import json
import os
import shutil
import subprocess
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.formats.model import Section
from chalicelib.formats.writers import archive
from chalicelib.formats.writers.archive import (
    Content,
    Directory,
    Fragment,
    PartArchive,
    Range,
    crc_of_both,
    length_of,
    plan,
)
from tests.formats.worlds import joined


class Module:
    """A format of one document and whole members."""

    LAYOUT = (b'{"x":[', Section("x", b","), b'],"y":[', Section("y", b","), b"]}")

    def layout(self, _, path):
        return self.LAYOUT if path == "a.json" else (Section("rows"),)

    def always(self, _):
        return ["a.json", "empty.txt"]


def made(parts):
    contents, files = [], []
    for rows, members in parts:
        out = io.BytesIO()
        part = PartArchive(out, lambda path: Module().layout(None, path))
        for path, data in members:
            part.add(path, data, stored=len(data) % 2 == 0)
        for row in rows:
            part.append("a.json", "x", json.dumps(row).encode())
        contents.append(part.finish())
        files.append(out.getvalue())
    return joined(contents, files, Module().always(None), lambda path: Module().layout(None, path))


@given(
    st.lists(
        st.tuples(st.lists(st.text(max_size=20), max_size=4), st.lists(st.binary(max_size=50), max_size=3)), max_size=5
    )
)
def test_parts_are_joined_to_one_zip_that_holds_all_of_them(parts):
    named = [
        (rows, [(f"é{number}/{n}.bin", data) for n, data in enumerate(members)])
        for number, (rows, members) in enumerate(parts)
    ]
    with zipfile.ZipFile(io.BytesIO(made(named))) as found:
        assert found.testzip() is None
        assert json.loads(found.read("a.json")) == {"x": [row for rows, _ in named for row in rows], "y": []}
        assert found.read("empty.txt") == b""
        for path, data in (each for _, members in named for each in members):
            assert found.read(path) == data


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_the_crc_of_a_whole_is_that_of_its_parts(first, second):
    assert crc_of_both(zlib.crc32(first), zlib.crc32(second), len(second)) == zlib.crc32(first + second)


def test_a_section_larger_than_its_buffer_is_whole(monkeypatch):
    monkeypatch.setattr(archive, "BUFFERED", 100)
    rows = [os.urandom(40).hex() for _ in range(200)]
    with zipfile.ZipFile(io.BytesIO(made([(rows, []), (rows, [])]))) as found:
        assert json.loads(found.read("a.json"))["x"] == rows * 2


def test_members_above_4_gb_and_offsets_above_it_are_zip64(tmp_path):
    """The archive has a hole of 5 GB, which the file system does not store."""
    hole, zeros = 5 * 2**20, zlib.crc32(bytes(5 * 2**20))
    for _ in range(10):
        hole, zeros = 2 * hole, crc_of_both(zeros, zeros, hole)
    member = archive._Member(b"hole.bin", 0, zeros, hole, hole)
    small = archive._Member(b"after.txt", 0, zlib.crc32(b"x"), 1, 1)
    size = len(member.header()) + hole
    content = Content(members=size, directory=len(member.entry(0)), count=1)
    after = Content(members=len(small.header()) + 1, directory=len(small.entry(0)), count=1)
    path = tmp_path / "a.zip"
    with path.open("wb") as out:
        for piece in plan([content, after], {}):
            match piece:
                case Range(part=0):
                    out.write(member.header())
                    out.seek(hole, os.SEEK_CUR)
                case Range():
                    out.write(small.header() + b"x")
                case Directory():
                    out.write(archive.move_directory((member, small)[piece.part].entry(0), piece.base))
                case _:
                    out.write(piece)
    with zipfile.ZipFile(path) as found:
        assert found.getinfo("hole.bin").file_size == hole
        assert found.read("after.txt") == b"x"
    if shutil.which("unzip"):
        done = subprocess.run(["unzip", "-p", str(path), "after.txt"], capture_output=True, check=False)
        assert done.stdout == b"x"


def test_a_joined_member_above_4_gb_has_its_sizes_in_zip64_fields():
    fragments = [Fragment("a.txt", "rows", 0, 2**31, 1, 2**32) for _ in range(3)]
    pieces = plan([Content(fragments=[each]) for each in fragments], {"a.txt": (Section("rows"),)})
    assert pieces[0][4:6] == b"\x2d\x00"
    assert sum(length_of(piece) for piece in pieces[1:4]) == 3 * 2**31
    assert (3 * 2**32).to_bytes(8, "little") in pieces[0]


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 65_536])
def test_no_members_and_more_than_65535_are_fine(count):
    with zipfile.ZipFile(io.BytesIO(made([([], [(f"{n}", b"") for n in range(count)])]))) as found:
        assert len(found.namelist()) == count + 2
