"""Intents that release 1.0.0 stored are read and finished by this release."""

from __future__ import annotations

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.maintenance.bulk_changes import HANDLERS
from chalicelib.resources.bulk.changes import BulkChange

STORED = {
    "edit": "edit",
    "move": "move",
    "copy": "copy",
    "bury": "tombstone",
    "prune": "prune",
    "delete": "delete",
    "clear": "clear",
    "archive": "archive",
    "hang": "reparent",
    "settle": "rebuild_paths",
    "fell": "delete_subtree",
    "dissolve": "unlink_section",
    "repath": "rename_paths",
}
"""The verbs of release 1.0.0, as its intents have them, and what they are called now."""
KINDS = {
    "localization": {"edit", "move", "copy", "bury", "prune"},
    "state": {"edit", "move", "copy", "bury", "prune"},
    "media": {"edit", "archive", "delete", "clear", "dissolve", "repath"},
    "leaf": {"edit", "delete", "hang", "settle", "fell"},
}


def stored(verb, kind):
    told = '[{"a":1},{"a":2}]'
    return (
        f'{{"kind":"{kind}","project":1,"user":2,"verb":"{verb}","numbers":[3],"type":4,"attributes":{{"a":2}},'
        f'"reset":null,"nulls":null,"fixed":{{}},"section":null,"wish":"","paths":{{"3":["a","b"]}},'
        f'"told":{told},"children":"bury"}}'
    )


@pytest.mark.parametrize(("kind", "verb"), [(kind, verb) for kind, verbs in KINDS.items() for verb in sorted(verbs)])
def test_every_stored_verb_has_a_handler(kind, verb):
    change = msgspec.json.decode(stored(verb, kind), type=BulkChange)
    assert change.verb == STORED[verb]
    assert (change.logged, change.children) == (({"a": 1}, {"a": 2}), "tombstone")
    assert (change.verb, Kind(kind)) in HANDLERS


def test_a_change_is_stored_under_the_names_that_were_read():
    change = msgspec.json.decode(stored("bury", "state"), type=BulkChange)
    assert msgspec.json.decode(msgspec.json.encode(change), type=BulkChange) == change
