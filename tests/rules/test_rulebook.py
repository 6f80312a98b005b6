"""The rules themselves."""

from __future__ import annotations

import importlib
from typing import Any, get_args

import msgspec
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http.operation import OneOf
from chalicelib.query.parsers.bodies import IdQuery
from chalicelib.query.parsers.parameters import ListQuery
from tests.rules import rulebook

RULES = rulebook.rules()
COVERED = frozenset(pair for each in RULES for pair in each.takes)


def members(body: Any) -> set[str]:
    """The names that a body may have, whichever of its shapes it takes."""
    if isinstance(body, OneOf):
        return set().union(*map(members, body.options))
    if isinstance(body, type) and issubclass(body, msgspec.Struct):
        return {each.name for each in msgspec.structs.fields(body)}
    return set().union(*map(members, get_args(body)))


def is_subject(struct: Any, tag: str) -> bool:
    """Whether parameters or a body are ours: of media those that choose, as what they are is another chapter."""
    return tag != rulebook.MEDIA or (isinstance(struct, type) and issubclass(struct, ListQuery | IdQuery))


def declared() -> set[tuple[str, str]]:
    """Every parameter and member of what is asked of annotations, leaves and files, and of media lists."""
    return {
        (each.tag, name)
        for each in OPERATIONS
        if each.tag in rulebook.EVERY
        for struct in (each.query, each.body)
        if struct and is_subject(struct, each.tag)
        for name in members(struct)
    }


def test_the_page_says_what_the_tests_say():
    assert rulebook.PAGE.read_text() == rulebook.page(RULES), "make docs writes it anew"


def test_every_test_of_this_folder_holds_a_rule():
    bare = []
    for name in {each.file for each in RULES}:
        module = importlib.import_module(f"tests.rules.{name}")
        held = {each.test for each in RULES if each.file == name}
        bare += [test for test in vars(module) if test.startswith("test_") and test not in held]
    assert bare == []


@pytest.mark.parametrize("pair", sorted(declared()), ids=" ".join)
def test_every_declared_parameter_and_member_has_a_rule(pair):
    assert pair in COVERED, f"no rule of tests/rules takes {pair[1]} of {pair[0]}"


def test_every_rule_is_about_something_declared():
    assert {pair for pair in COVERED if pair[0] in rulebook.EVERY} - declared() == set()
