"""What is made of something carries of what, and is as open as that: it cannot be stored without."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import chalicelib
from chalicelib.access.masks import EXIST, READ, mask_of
from chalicelib.core.permissions import Level
from chalicelib.resources.temporary_files import service as temporary_files
from chalicelib.resources.temporary_files.schemas import (
    TEMPORARY_FILE,
    ClipOrder,
    Entities,
    Outside,
    TemporaryFile,
    Unknown,
)
from chalicelib.resources.uploads import fetching
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import owners
from tests import objects

VIEW = mask_of(Level.VIEW)


@pytest.fixture
def guest(api, project, colleague, fine_grained):
    """A user who sees the project, and nothing in it."""
    api.made("RowProtections", {"project": project, "user": colleague.user.id, "permission": EXIST | READ})
    return colleague


def stored(api, project, made_of) -> TemporaryFile:
    file = temporary_files.new(project, api.user.id, "a.txt", "x", 1, made_of)
    return records.create(TEMPORARY_FILE, file)


def listed(user, project) -> list[int]:
    return [file["id"] for file in user.get(f"TemporaryFiles/{project}").json]


def copied(api, project, key) -> int:
    """The id of a temporary file that is a copy of an object."""
    spec = {"url": objects.presign_get(key, 60), "name": "a.txt", "lookup": "x"}
    return api.made(f"TemporaryFiles/{project}", spec)


def test_a_copy_is_as_open_as_the_file_that_it_copies(api, project, guest):
    type_ = api.made(f"FileTypes/{project}", {"name": "f"})
    hidden, shown = (api.made(f"Files/{project}", {"type": type_, "name": name, "description": ""}) for name in "ab")
    api.made("RowProtections", {"file": shown, "user": guest.user.id, "permission": VIEW})
    copies = []
    for file in (hidden, shown):
        key = f"{owners.organization_of(project)}/{project}/files/{file}/a.txt"
        objects.write(key, b"secret")
        copies.append(copied(api, project, key))
    assert listed(api, project) == copies
    assert listed(guest, project) == copies[1:]
    assert [guest.get(f"TemporaryFile/{each}").status for each in copies] == [404, 200]


def test_a_copy_of_an_object_that_does_not_say_what_it_shows_is_for_those_who_see_everything(
    api, project, guest, monkeypatch
):
    first = stored(api, project, Entities(files=[1]))
    objects.write(temporary_files.key_of(first).path, b"secret")
    monkeypatch.setattr(fetching, "fetch", lambda *_: b"secret")
    copy = copied(api, project, temporary_files.key_of(first).path)
    assert records.get(TEMPORARY_FILE, copy).made_of == Unknown()
    assert copy in listed(api, project)
    assert listed(guest, project) == []


def test_what_is_made_of_nothing_in_the_project_is_as_open_as_the_project(api, project, guest):
    file = stored(api, project, Outside())
    assert listed(guest, project) == [file.id]


def test_what_older_releases_stored_without_is_closed_to_those_who_see_a_part(api, project, guest):
    older = [stored(api, project, Unknown()) for _ in range(2)]
    order = ClipOrder(media=7, path="x", segment_info="y", ranges=[(0, 1)])
    records.edit(TEMPORARY_FILE, older[1].id, lambda row: setattr(row, "clip", order) or row)
    assert listed(api, project) == [each.id for each in older]
    assert listed(guest, project) == []


def test_nothing_is_stored_without_what_it_was_made_of():
    with pytest.raises(TypeError):
        temporary_files.new(1, 1, "a", "x", 1)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="at least one id"):
        Entities()
    with pytest.raises(ValueError, match="at least one id"):
        Entities(media=[])


def test_temporary_files_are_made_in_one_place():
    root = Path(chalicelib.__file__).parent
    made = [
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if "TemporaryFile(" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "TemporaryFile"
    ]
    assert made == ["resources/temporary_files/service.py"]
