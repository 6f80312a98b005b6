from __future__ import annotations

import pytest

from chalicelib.resources.types import attributes


def numbered(count, prefix="a"):
    return [{"name": f"{prefix}{number}", "dtype": "bool"} for number in range(count)]


@pytest.fixture
def small(monkeypatch):
    """Room for 3 attributes a type, 5 a project and 4 types, in place of the real bounds."""
    monkeypatch.setattr(attributes, "MOST_ATTRIBUTES", 3)
    monkeypatch.setattr(attributes, "MOST_IN_PROJECT", 5)
    monkeypatch.setattr(attributes, "MOST_TYPES", 4)


def create(api, project, count, name="m"):
    return api.post(f"MediaTypes/{project}", {"name": name, "dtype": "image", "attribute_types": numbered(count)})


def test_a_type_of_more_attributes_than_a_view_can_hold_is_refused_at_creation(api, project):
    said = create(api, project, 5_000)
    assert (said.status, said.message) == (400, "attribute_types: a type may have at most 500 attributes, not 5000.")
    assert create(api, project, 500).status == 201


def test_creation_and_addition_have_the_same_bound(api, project, small):
    assert create(api, project, 4).status == 400
    number = create(api, project, 3).json["id"]
    addition = {"entity_type": "MediaType", "addition": {"name": "more", "dtype": "bool"}}
    said = api.post(f"AttributeType/{number}", addition)
    assert (said.status, said.message) == (400, "addition: a type may have at most 3 attributes, not 4.")


def test_the_types_of_a_project_share_a_bound(api, project, small):
    assert create(api, project, 3).status == 201
    assert create(api, project, 3).status == 400
    number = create(api, project, 2).json["id"]
    addition = {"entity_type": "MediaType", "addition": {"name": "more", "dtype": "bool"}}
    assert "may have at most 5 attributes in all" in api.post(f"AttributeType/{number}", addition).message


def test_a_project_has_a_bounded_number_of_types(api, project, small):
    assert [create(api, project, 0, name=f"m{number}").status for number in range(5)] == [201] * 4 + [400]
