"""What refusals say, and that nothing that is named is dropped."""

from __future__ import annotations

import pytest

from chalicelib.core.resource import ONE_LINE
from tests.served import document
from tests.service import new_user

CHECKED_BY_HAND = {
    "LeafSpec": "a name is part of a path",
    "LeafUpdate": "the same",
    "NextTaskSpec": "it names tasks that exist",
    "EmailAttachmentSpec": "encoded as the header of a mail needs it",
}


@pytest.fixture
def boxes(api, project):
    media_type = api.made(f"MediaTypes/{project}", {"name": "v", "dtype": "video"})
    attributes = [{"name": "Depth", "dtype": "int"}]
    spec = {"name": "b", "dtype": "box", "media_types": [media_type], "attribute_types": attributes}
    type_ = api.made(f"LocalizationTypes/{project}", spec)
    media = api.made(f"Medias/{project}", {"type": media_type, "name": "a.mp4", "md5": ""})
    box = {"media_id": media, "type": type_, "frame": 0, "x": 0, "y": 0, "width": 0.1, "height": 0.1}
    api.made(f"Localizations/{project}", [box])
    return f"Localizations/{project}", box


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({"fields": "id,attributes.Dept"}, "Did you mean 'Depth'?"),
        ({"fields": "id,widht"}, "Did you mean 'width'?"),
        ({"fields": "frame.x"}, "frame has no parts"),
        ({"sort_by": "-Deepth"}, "Did you mean 'Depth'?"),
        ({"sort_by": "$framme"}, "Did you mean '$frame'?"),
        ({"attribute": "Deptth::3"}, "Did you mean 'Depth'?"),
        ({"group_by": "Depth"}, "group_by"),
    ],
)
def test_a_misspelt_name_in_a_query_is_refused_with_the_nearest(api, boxes, query, word):
    said = api.get(boxes[0], **query)
    assert (said.status, word in said.body.decode()) == (400, True), said.body


def test_an_attribute_that_was_removed_may_still_be_named(api, boxes):
    many, box = boxes
    removal = {"entity_type": "LocalizationType", "name": "Depth"}
    assert api.delete(f"AttributeType/{box['type']}", removal).status == 200
    said = api.get(many, sort_by="Depth", fields="attributes.Depth")
    assert (said.status, said.json) == (200, [{"attributes": {"Depth": None}}])


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"x": 320}, "a fraction of the width or height of the media, not pixels"),
        ({"points": [[0.1, 2]]}, "not pixels"),
        ({"elemental_id": "7"}, "must be a UUID"),
    ],
)
def test_a_rule_is_said_in_words(api, boxes, change, word):
    said = api.post(boxes[0], [{**boxes[1], **change}])
    assert (said.status, word in said.body.decode(), "regex" in said.body.decode()) == (400, True, False), said.body


def test_what_is_missing_and_what_may_not_be_seen_answer_alike(api, project, boxes):
    stranger = new_user()
    for path, there in (("Project/{}", project), ("Medias/{}", project), ("Media/{}", boxes[1]["media_id"])):
        foreign, missing = (stranger.get(path.format(number)) for number in (there, 10**12))
        assert foreign.status == missing.status == 404
        assert foreign.message.replace(str(there), "…") == missing.message.replace(str(10**12), "…")
        assert str(there) in foreign.message


def test_a_refused_origin_says_how_else(api, project, boxes):
    type_ = api.get(f"MediaTypes/{project}").json[0]["id"]
    said = api.post(f"Medias/{project}", {"type": type_, "name": "a", "md5": "", "url": "https://x.example/a.mp4"})
    assert (said.status, "Upload the file first" in said.message) == (403, True)


@pytest.mark.slow
def test_names_in_bodies_are_one_line():
    schemas = document()["components"]["schemas"]
    loose = {
        name
        for name, schema in schemas.items()
        if name.endswith(("Spec", "Update"))
        and (told := schema.get("properties", {}).get("name", {})).get("type") == "string"
        and told.get("pattern") != ONE_LINE
    }
    assert loose <= CHECKED_BY_HAND.keys()


def test_an_attribute_has_no_line_end_or_tab_in_its_name(api, project):
    for name in ("a\tb", "a\nb", "a\x0bb"):
        attributes = [{"name": name, "dtype": "int"}]
        spec = {"name": "x", "dtype": "video", "attribute_types": attributes}
        assert api.post(f"MediaTypes/{project}", spec).status == 400
