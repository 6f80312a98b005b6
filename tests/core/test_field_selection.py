"""Answers with only the members that were asked for."""

from __future__ import annotations

import json

import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import LocalizationType
from chalicelib.core.values.attributes import AttributeType
from chalicelib.core.web.field_selection import shaper
from chalicelib.errors import BadInput

ATTRIBUTES = [AttributeType(name=name, dtype="int") for name in ("a", "b.c", "d")]
TYPES = [LocalizationType(id=3, project=1, name="b", dtype="box", attribute_types=ATTRIBUTES, elemental_id="")]
BOX = {"id": 1, "type": 3, "meta": 3, "attributes": {"a": 0, "b.c": [], "d": None}, "points": None}


def shaped(kind, document, fields):
    return json.loads(shaper(kind, fields, TYPES)(json.dumps(document).encode()))


def test_members_come_in_the_order_they_were_named():
    assert list(shaped(Kind.LOCALIZATION, BOX, "type, id")) == ["type", "id"]


def test_parts_of_members_come_alone_and_null_where_there_is_none():
    fields = "id,attributes.a,attributes.b.c,attributes._own,points"
    assert shaped(Kind.LOCALIZATION, BOX, fields) == {
        "id": 1,
        "attributes": {"a": 0, "b.c": [], "_own": None},
        "points": None,
    }


def test_old_names_are_members_too():
    assert shaped(Kind.LOCALIZATION, BOX, "meta") == {"meta": 3}


def test_states_keep_their_media_and_localizations():
    state = {"id": 1, "media": [2], "localizations": []}
    assert shaped(Kind.STATE, state, "id") == {"id": 1, "media": [2], "localizations": []}


@pytest.mark.parametrize("fields", ["nothing", "id,", "latest", "id" + ",frame" * 300, "points.y", "attributes.A"])
def test_what_there_is_not_is_refused(fields):
    with pytest.raises(BadInput, match="fields: "):
        shaper(Kind.LOCALIZATION, fields, TYPES)
