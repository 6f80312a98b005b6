"""Wrong requests of all kinds: the right status, a message that names the field, and the service goes on."""

from __future__ import annotations

import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.permissions import Permission
from chalicelib.http.encoding import encode
from chalicelib.http.operation import Answer
from infra.local.http.gateway import LARGEST_REQUEST
from tests.contract.world import World, build
from tests.resources.uploads import tus_client
from tests.service import Api
from tests.sweeps import sweep

WITH_BODY = [each for each in OPERATIONS if each.body is not None and each.needs is not Permission.ANYONE]


@pytest.fixture(scope="module")
def world() -> World:
    return build()


@sweep("operation", WITH_BODY, ids=lambda operation: operation.id)
def test_what_is_of_the_wrong_shape_is_never_our_fault(operation, world):
    path = operation.path
    for name, value in world.variables(operation).items():
        path = path.replace("{" + name + "}", str(value))
    nulls = dict.fromkeys(("name", "type", "media_id", "attributes", "url", "path", "x", "version", "file", "query"))
    for body in (7, "text", True, [7, "x"], {"name": {"deep": [1]}, "type": [], "ids": "x"}, nulls, [nulls]):
        said = world.owner.ask(operation.method, path, body)
        assert said.status < 500, said.body
        assert said.status < 400 or "None" not in said.body.decode(), said.body


def test_a_form_is_no_json(api):
    form = Api(api.user, api.token, {"Content-Type": "application/x-www-form-urlencoded"})
    assert form.post("Organizations", {"a": 1}).status == 400


@pytest.mark.parametrize(
    ("headers", "refusal"),
    [
        ({"Content-Encoding": "gzip"}, "Content-Encoding: 'gzip' is not supported. Send the body uncompressed"),
        ({"Content-Encoding": "identity, br"}, "Content-Encoding: 'identity, br' is not supported."),
        ({"Content-Type": "application/json; charset=iso-8859-1"}, "charset 'iso-8859-1' is not supported. Send"),
        ({"Content-Type": 'application/json; a=1;CHARSET="utf-16"'}, "charset 'utf-16' is not supported. Send"),
        ({"Content-Encoding": "Identity"}, None),
        ({"Content-Type": 'application/json;charset="UTF-8"'}, None),
    ],
)
def test_a_body_in_another_encoding_is_415(api, project, headers, refusal):
    given = Api(api.user, api.token, headers)
    said = given.patch(f"Project/{project}", {"summary": "new"})
    assert (said.status, api.get(f"Project/{project}").json["summary"] == "new") == (
        (415, False) if refusal else (200, True)
    )
    assert refusal is None or refusal in said.message
    assert given.get(f"Project/{project}").status == 200


def test_a_part_of_an_upload_in_another_encoding_is_415(api, project):
    path = tus_client.begun(api, project, 1)
    assert tus_client.sent(api, path, 0, b"x", Content_Encoding="gzip").status == 415
    assert tus_client.sent(api, path, 0, b"x", Content_Encoding="identity").status == 204


def test_a_body_above_the_limit_is_413_and_the_next_request_is_served(api, project):
    assert api.ask("POST", f"Localizations/{project}", raw=b" " * (LARGEST_REQUEST + 1)).status == 413
    assert api.ask("POST", f"Localizations/{project}", raw=b'[{"x": "' + b"a" * 6_300_000 + b'"}]').status == 413
    assert api.get(f"Project/{project}").status == 200


@pytest.mark.parametrize("bad", ["abc", "-1", "0", "1.5", "9" * 30, "%2e%2e", "%00", "1;DROP"])
def test_an_id_that_is_none_is_404(api, bad):
    for word in ("Project", "Localization", "Media", "Version"):
        assert api.get(f"{word}/{bad}").status == 404


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("media_id", "x"),
        ("media_id", "0"),
        ("start", "-1"),
        ("stop", "a"),
        ("frame", "-1"),
        ("version", ""),
        ("merge", "7"),
    ],
)
def test_a_bad_parameter_is_named(api, project, parameter, value):
    said = api.get(f"Localizations/{project}", **{parameter: value})
    assert said.status == 400
    assert parameter in said.body.decode()


def test_unknown_paths_and_methods_are_told_apart(api, project):
    assert api.get("Nonsense").status == 404
    assert api.ask("GET", "/nowhere/at/all").status == 404
    said = api.put(f"Project/{project}", {})
    assert said.status == 405
    assert "GET" in said.headers["Allow"]


def test_every_answer_tells_browsers_to_be_careful(api, project, nobody):
    refused = (api.get("Project/999999999"), api.patch(f"Project/{project}", {}), nobody.get("Projects"))
    assert [said.status for said in refused] == [404, 400, 401]
    for said in (api.get(f"Project/{project}"), *refused):
        assert said.headers["X-Content-Type-Options"] == "nosniff"
        assert said.headers["Strict-Transport-Security"].startswith("max-age=")
        assert said.headers["Referrer-Policy"] == "no-referrer"
        assert said.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(status=302, headers={"Location": "https://store.example/signed"}), "no-store"),
        (Answer(content_type="image/svg+xml", body=b"<svg/>"), "no-store"),
        (Answer(content_type="text/html", body=b"", headers={"Cache-Control": "no-cache"}), "no-cache"),
        (Answer(status=304, headers={"ETag": '"1"'}), None),
    ],
)
def test_an_answer_that_says_nothing_of_caches_is_not_kept(answer, expected):
    assert encode(OPERATIONS[0], answer, {}, {}).headers.get("Cache-Control") == expected


@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_a_misspelt_filter_is_refused_before_anything_happens(api, project, method):
    said = api.ask(method, f"Localizations/{project}", {} if method in ("PUT", "PATCH") else None, attributes="S::a")
    assert said.status == 400
    assert "Did you mean 'attribute'?" in said.json["details"]


def test_unknown_parameters_and_members_are_refused_by_name(api, project):
    assert "nonsense" in api.get(f"Versions/{project}", nonsense=1).message
    said = api.patch(f"Project/{project}", {"sumary": "s"})
    assert (said.status, said.json["details"]) == (400, "ProjectUpdate has no member 'sumary'. Did you mean 'summary'?")
    assert api.get(f"Project/{project}").json["summary"] != "s"


@pytest.mark.parametrize("wanted", ["json", "jsonl", "csv"])
def test_lists_come_in_every_format(api, project, wanted):
    said = api.get(f"Versions/{project}", format=wanted)
    assert said.status == 200
    assert b"Baseline" in said.body
    assert api.get(f"Versions/{project}", format="xml").status == 404
