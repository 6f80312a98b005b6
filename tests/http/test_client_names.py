"""The names in `/schema` from which the published clients build methods, keywords and classes.

`tests/data/client_names.json` lists, by route, what client 1.6.0 calls the operation, its body and its answer.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.served import document

CLIENT = json.loads((Path(__file__).parents[1] / "data" / "client_names.json").read_text())
NOT_OFFERED = {
    "get_anonymous_gateway_schema": "a gateway of an older deployment, not of this interface",
}
"""Operations of the client that this service has not, with the reason."""
OTHER_BODIES = {"update_algorithm": "AlgorithmUpdateSpec"}
"""Bodies of which the clients that read `/schema` know a newer class than the generated ones."""
OTHER_ANSWERS = {
    "create_invitation": "a class of its own name in place of a generated one, of the same members",
    "create_media_list": "one id for one media, a list for several, as the client of each generation reads it",
    "delete_localization": "a class of its own name in place of a generated one, of the same members",
    "delete_localization_by_elemental_id": "the same",
    "trim_state_end": "the client's class has no members; a message says what was done",
    "update_localization": "a class of its own name in place of a generated one, of the same members",
    "update_localization_by_elemental_id": "the same",
    "update_state": "the same",
    "update_state_by_elemental_id": "the same",
    "health_check": "the items have a declared class",
    "health_check_full": "the items have a declared class",
}
"""Answers whose class differs, with the reason."""


@pytest.fixture(scope="module")
def routes():
    paths = document()["paths"]
    return {
        f"{method.upper()} {re.sub(r'{.*?}', '{}', path)}": operation
        for path, methods in paths.items()
        for method, operation in methods.items()
    }


def named(schema):
    """The class that a client makes of a schema; None where it makes none."""
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if schema.get("type") == "array":
        inner = named(schema["items"])
        return inner and f"list[{inner}]"
    return None


def is_class(name):
    return name is not None and (name[0].isupper() or (name.startswith("list[") and name[5].isupper()))


def snake(identifier):
    return "_".join(word.lower() for word in re.findall(r"[A-Z][a-z0-9]*", identifier))


@pytest.mark.parametrize("route", sorted(CLIENT))
def test_operations_bodies_and_answers_have_the_names_that_clients_use(routes, route):
    wanted = CLIENT[route]
    if wanted["name"] in NOT_OFFERED:
        assert route not in routes
        return
    operation = routes[route]
    assert snake(operation["operationId"]) == wanted["name"]
    if is_class(wanted["body"]):
        body = OTHER_BODIES.get(wanted["name"], wanted["body"])
        assert named(operation["requestBody"]["content"]["application/json"]["schema"]) == body
    if is_class(wanted["answer"]) and wanted["name"] not in OTHER_ANSWERS:
        answer = next(each for status, each in operation["responses"].items() if status.startswith("2"))
        assert named(answer["content"]["application/json"]["schema"]) == wanted["answer"]
