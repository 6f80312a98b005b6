"""Members of bodies, answers and queries are described in the schema, and no description is left over."""

from __future__ import annotations

import pytest

from chalicelib.http import members
from tests.served import document

SHARE = 0.98
"""Of all members; the rest is room for those of a change that is under way."""


@pytest.fixture(scope="module")
def schema():
    return document()


@pytest.fixture(scope="module")
def described(schema):
    """The descriptions of members by `Struct.member`, and of parameters by `operation?parameter`; empty for none."""
    components = schema["components"]["schemas"]
    found = {}
    for name, component in components.items():
        for member, of in component.get("properties", {}).items():
            target = components.get(of.get("$ref", "").rpartition("/")[2], {})
            found[f"{name}.{member}"] = of.get("description") or target.get("description") or ""
    for path in schema["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", []) if isinstance(operation, dict) else []:
                if parameter.get("in") == "query":
                    found[f"{operation['operationId']}?{parameter['name']}"] = parameter.get("description", "")
    return found


def test_members_of_bodies_answers_and_queries_are_described(described):
    bare = sorted(name for name, text in described.items() if not text)
    assert len(described) > 2000
    assert 1 - len(bare) / len(described) >= SHARE, bare


def test_every_description_of_the_tables_is_shown(described):
    texts = {(name.replace("?", ".").partition(".")[2], text) for name, text in described.items()}
    for table in (members.SHARED, members.FILTERS):
        assert not [item for item in table.items() if item not in texts]


def test_descriptions_are_sentences():
    for table in (members.SHARED, members.FILTERS):
        assert not [text for text in table.values() if not text.endswith(".") or len(text) > 120]
