"""Two releases side by side read what either stored: while a canary runs, and after a rollback (decision 206)."""

from __future__ import annotations

import json

import pytest

from tests.storage.stored_schemas import FILE, schemas

PREVIOUS = json.loads(FILE.read_text())
ACCEPTED = {
    "ImportSpec.format": "imports of new formats fail in the release before, by name, and are begun again later",
    "Rule.disabled_reason": "the release before made no `algorithm_changed` and `launches_itself`; it is off in both",
    "Rule.algorithm": "the release before cannot read rules of annotators: delete them before a rollback",
    "Webhook.disabled_reason": "the type is shared with rules; webhooks never have the new value",
}
"""Members whose new values the release before does not know, and why that does no harm."""


@pytest.fixture(scope="module")
def current():
    return schemas()


def both(current):
    return [(name, PREVIOUS[name], current[name]) for name in PREVIOUS.keys() & current.keys()]


def test_rows_of_the_release_before_have_all_that_this_one_requires(current):
    missing = [
        f"{name}.{member}"
        for name, before, now in both(current)
        for member, held in now.items()
        if held.endswith("!") and member not in before
    ]
    assert missing == [], "give these members a default"


def test_rows_of_this_release_have_all_that_the_one_before_requires(current):
    gone = [
        f"{name}.{member}"
        for name, before, now in both(current)
        for member, held in before.items()
        if held.endswith("!") and member not in now
    ]
    assert gone == [], "keep writing these members for one release"


def test_members_keep_their_types_for_one_release(current):
    changed = {
        f"{name}.{member}": f"{held} → {now[member]}"
        for name, before, now in both(current)
        for member, held in before.items()
        if member in now and held.removesuffix("!") != now[member].removesuffix("!")
    }
    assert changed.keys() == ACCEPTED.keys(), changed


def test_a_member_that_readers_required_is_always_written(current):
    optional = [
        f"{name}.{member}"
        for name, before, now in both(current)
        for member, held in before.items()
        if held.endswith("!") and member in now and not now[member].endswith("!") and f"{name}.{member}" not in ACCEPTED
    ]
    assert optional == [], "encode these members even where they have their defaults"


def test_nothing_that_the_release_before_stored_is_gone(current):
    assert PREVIOUS.keys() - current.keys() == set()


def test_readers_ignore_members_that_they_do_not_know(current):
    from chalicelib.core.records import KINDS

    assert current
    assert [name for name, kind in KINDS.items() if kind.struct.__struct_config__.forbid_unknown_fields] == []
