"""The level of an operation on several kinds is that of the kind, and none is left where a project was deleted."""

from __future__ import annotations

import pytest

from chalicelib.access.masks import mask_of
from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.resources.entities.service import LEVEL_TO_CHANGE
from infra.emulator.dynamodb.metering import metering
from tests.resources.permissions.test_references import Place, allow, guest

__all__ = ["allow", "guest"]  # fixtures


@pytest.mark.parametrize("kind", list(Kind))
def test_the_level_to_change_a_kind_is_that_of_its_operation(kind):
    [operation] = [each for each in OPERATIONS if each.id == f"Update{kind.capitalize()}"]
    assert operation.needs.level is LEVEL_TO_CHANGE[kind]


class Labels:
    """A leaf and a File with an attribute."""

    def __init__(self, api, project):
        self.api, self.project = api, project
        numbers = {word: api.made(f"{word}Types/{project}", {"name": word}) for word in ("Leaf", "File")}
        for word, number in numbers.items():
            addition = {"name": "note", "dtype": "string"}
            body = {"entity_type": f"{word}Type", "addition": addition}
            assert api.post(f"AttributeType/{number}", body).status == 201
        self.leaf = api.made(f"Leaves/{project}", [{"type": numbers["Leaf"], "name": "cod"}])[0]
        self.file = api.made(f"Files/{project}", {"type": numbers["File"], "name": "model", "description": "of fish"})

    def assign(self, who, kind):
        csv = f"id,note\n{getattr(self, kind)},mine\n".encode()
        who.headers["Content-Type"] = "text/csv"
        return who.ask("PATCH", f"AttributeValues/{self.project}", raw=csv, kind=kind)

    def notes(self):
        found = (self.api.get(f"Leaf/{self.leaf}").json, self.api.get(f"File/{self.file}").json)
        return [each["attributes"].get("note") for each in found]


def test_values_are_assigned_at_the_level_that_changes_the_kind(api, project, member):
    labels = Labels(api, project)
    who = {level: member(level) for level in ("Can Edit", "Can Execute", "Full Control")}
    assert [labels.assign(who["Can Edit"], kind).status for kind in ("leaf", "file")] == [403, 403]
    assert "needs 'Full Control'" in labels.assign(who["Can Execute"], "leaf").message
    assert labels.notes() == [None, None]
    assert labels.assign(who["Can Execute"], "file").status == 200
    assert labels.assign(who["Full Control"], "leaf").status == 200
    assert labels.notes() == ["mine", "mine"]


def test_values_are_assigned_where_the_mask_of_each_row_allows_it(api, project, guest, allow):
    labels = Labels(api, project)
    section = api.made(f"Sections/{project}", {"name": "open"})
    allow(mask_of(Level.FULL), section=section)
    assert [labels.assign(guest, kind).status for kind in ("leaf", "file")] == [400, 400]
    allow(mask_of(Level.EXECUTE), file=labels.file)
    assert [labels.assign(guest, kind).status for kind in ("leaf", "file")] == [400, 200]
    allow(0xFF, project=project)
    assert labels.assign(guest, "leaf").status == 200


def test_row_protections_open_nothing_of_a_deleted_project(api, project, guest, allow):
    place = Place(api, project)
    section = api.made(f"Sections/{project}", {"name": "open"})
    allow(mask_of(Level.FULL), section=section)
    allow(mask_of(Level.FULL), media=place.media[0])
    paths = [
        f"Media/{place.media[0]}",
        f"Localization/{place.boxes[0]}",
        f"Section/{section}",
        f"LocalizationType/{place.box}",
        f"Medias/{project}",
    ]
    assert {guest.get(path).status for path in paths} == {200}
    assert api.delete(f"Project/{project}").status == 200
    assert {guest.get(path).status for path in paths} == {404}
    assert guest.patch(f"Media/{place.media[0]}", {"name": "mine"}).status == 404


def test_many_groups_are_read_together(api, project, organization, guest, allow):
    """A request reads all row protections of its project; the groups that they name cost no call each."""
    groups = [api.made(f"Groups/{organization}", {"name": f"group {number}"}) for number in range(12)]
    section = api.made(f"Sections/{project}", {"name": "open"})
    for number in groups:
        api.made("RowProtections", {"section": section, "group": number, "permission": mask_of(Level.VIEW)})
    with metering() as before:
        assert guest.get(f"Section/{section}").status == 404
    assert sum(usage.calls for usage in before.operations.values()) < len(groups)
    assert api.patch(f"Group/{groups[7]}", {"add_members": [guest.user.id]}).status == 200
    assert guest.get(f"Section/{section}").status == 200
