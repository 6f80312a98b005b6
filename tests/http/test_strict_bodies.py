"""What one request says twice, or says without effect, is refused by name: members, parameters in texts, marks."""

from __future__ import annotations

import base64
import json

import pytest


@pytest.fixture
def boxes(api, project):
    images = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    species = {"name": "Species", "dtype": "string"}
    spec = {"name": "box", "dtype": "box", "media_types": [images], "attribute_types": [species]}
    return api.made(f"LocalizationTypes/{project}", spec), images


def refusal(said):
    assert said.status == 400, said.body
    return f"{said.message} {said.json['details']}"


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b'{"name": "a", "name": "b"}', '"name" is there twice'),
        (b'{"name": "a", "bases": [1], "na\\u006de": "a"}', '"name" is there twice'),
        (b'{"name": "a", "show_empty": NaN}', '"show_empty": NaN is no number'),
        (b'{"name": "a", "bases": [1e400]}', '"bases": 1e400 is too large'),
        (b'{"name": "a\\ud800"}', '"name": \\ud800 is half of a surrogate pair'),
        (b'\xef\xbb\xbf{"name": "a"}', "byte order mark"),
    ],
)
def test_a_body_that_json_readers_differ_about_is_refused(api, project, raw, rule):
    before = api.get(f"Versions/{project}").json
    assert rule in refusal(api.ask("POST", f"Versions/{project}", raw=raw))
    assert api.get(f"Versions/{project}").json == before


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_member_that_a_search_does_not_have_is_refused(api, project, boxes, method):
    box, _ = boxes
    term = {"attribute": "Species", "operation": "eq", "value": "Cod"}
    for search, named in (
        ({**term, "invers": True}, "Did you mean 'inverse'?"),
        ({"method": "and", "operations": [term], "inverse": True}, "`inverse`"),
        ({"method": "and", "operations": [{**term, "vlaue": 1}]}, "Did you mean 'value'?"),
        ({**term, "operation": "equals"}, "equals"),
        ({"attribute": "$section", "operation": "gt", "value": 1}, "eq"),
    ):
        encoded = base64.b64encode(json.dumps(search).encode()).decode()
        said = api.ask(method, f"Localizations/{project}", type=box, encoded_search=encoded)
        assert named in refusal(said), search
    twice = base64.b64encode(b'{"attribute": "$id", "operation": "eq", "value": 1, "value": 2}').decode()
    assert '"value" is there twice' in refusal(
        api.ask(method, f"Localizations/{project}", type=box, encoded_search=twice)
    )


def test_a_mark_is_true_or_false_and_stands_before_csv(api, project):
    assert "bom must be true or false" in refusal(api.get(f"Versions/{project}", format="csv", bom="1"))
    assert "format=csv" in refusal(api.get(f"Versions/{project}", bom="true"))
    assert api.get(f"Versions/{project}", format="csv", bom="True").body.startswith(b"\xef\xbb\xbf")
    assert api.get(f"Versions/{project}", format="json", bom="false").status == 200


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "2026-03-04x15:30", "2026-03-04T15.5", "03/04/2026"])
def test_every_date_of_a_request_is_iso_8601(api, project, boxes, moment):
    _, images = boxes
    media = api.made(f"Medias/{project}", {"type": images, "name": "a.png", "md5": ""})
    for member in ("last_edit_start", "last_edit_end"):
        assert member in refusal(api.patch(f"Media/{media}", {member: moment}))
    for parameter in ("since", "before"):
        assert parameter in refusal(api.get(f"ChangeLog/{project}", **{parameter: moment}))


def test_a_refusal_has_the_name_that_was_sent(api, project, boxes):
    _, images = boxes
    media = api.made(f"Medias/{project}", {"type": images, "name": "b.png", "md5": ""})
    assert "summaryLevel: null" in refusal(api.patch(f"Media/{media}", {"summaryLevel": None}))
    assert "summaryLevel: Expected int" in refusal(api.patch(f"Media/{media}", {"summaryLevel": "x"}))
    assert "svc_user_sections" in refusal(api.post(f"Sections/{project}", {"name": "s", "svc_user_sections": None}))
    for name, value in (("excludeParents", 2), ("exclude_parents", 2)):
        said = api.get(f"LocalizationCount/{project}", **{name: value})
        assert said.json["details"] == f"{name}: Expected int <= 1."


def test_a_bulk_change_without_a_change_is_refused(api, project, boxes):
    box, images = boxes
    leaves = api.made(f"LeafTypes/{project}", {"name": "leaf"})
    media = api.made(f"Medias/{project}", {"type": images, "name": "c.png", "md5": ""})
    spec = {"media_id": media, "type": box, "frame": 0}
    [number], [leaf] = (
        api.made(f"Localizations/{project}", spec),
        api.made(f"Leaves/{project}", {"type": leaves, "name": "a"}),
    )
    for path, ids in (
        (f"Localizations/{project}", [number]),
        (f"States/{project}", [1]),
        (f"Leaves/{project}", [leaf]),
    ):
        assert "attributes, reset_attributes, null_attributes" in refusal(api.patch(path, {"ids": ids}))
        assert api.patch(path, {"ids": ids, "attributes": {}}).status == 200
    assert "`null_attributes`" in refusal(api.patch(f"Localization/{number}", {"attributes": {"Species": None}}))


def test_a_media_in_no_section_has_no_member_section_or_an_empty_one(api, project, boxes):
    _, images = boxes
    spec = {"type": images, "name": "d.png", "md5": ""}
    assert "section" in refusal(api.post(f"Medias/{project}", {**spec, "section": None}))
    assert "[1].section" in refusal(api.post(f"Medias/{project}", [spec, {**spec, "section": None}]))
    for given in ({}, {"section": ""}):
        media = api.made(f"Medias/{project}", {**spec, **given})
        assert api.get(f"Media/{media}").json["primary_section"] is None
    transcode = {"type": images, "name": "d.mp4", "url": "https://a.example.org/d.mp4", "section": None}
    assert "section" in refusal(api.post(f"Transcodes/{project}", transcode))


def test_a_filter_that_a_dtype_lacks_names_those_that_it_takes(api, project, boxes):
    box, _ = boxes
    for name, dtype in (("Place", "geopos"), ("Note", "blob")):
        addition = {"entity_type": "LocalizationType", "addition": {"name": name, "dtype": dtype}}
        assert api.post(f"AttributeType/{box}", addition).status == 201
    path = f"LocalizationCount/{project}"
    assert "attribute_distance, attribute_null" in refusal(api.get(path, attribute="Place::1"))
    assert "attribute_distance, attribute_null" in refusal(api.get(path, search="Place:1"))
    search = {"object_search": {"attribute": "Place", "operation": "eq", "value": 1}}
    assert "isnull, distance_lte" in refusal(api.put(path, search))
    assert "'count'" in refusal(api.get(f"Localizations/{project}", operation="sum"))
