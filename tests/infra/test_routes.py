"""Routes under the greedy resources of API Gateway: what the gateway hands over, and what the app makes of it."""

from __future__ import annotations

import base64
import json
import re

import pytest

from app import app
from chalicelib.api.router import GREEDY_PREFIXES, Router, resource_of
from chalicelib.api.routes import functions, routes
from chalicelib.errors import NotFound
from chalicelib.http.encoding import SAFE_IN_BROWSERS, HttpAnswer
from infra.local.http.gateway import CORS, LambdaContext, event_of
from infra.stack.app_template import whole
from infra.stack.merging import _greedy
from tests.service import Api


@pytest.fixture(scope="module")
def paths():
    return whole()["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]


def call(method, resource, variables, path, **headers):
    event = event_of(method, path, "", resource, variables, {"Host": "api.example.org", **headers}, b"", "10.0.0.1")
    said = app(event, LambdaContext())
    body = base64.b64decode(said["body"]) if said.get("isBase64Encoded") else said["body"]
    return said["statusCode"], said["headers"], json.loads(body)


def test_every_route_is_found_behind_its_resource(paths):
    gateway, inside = Router(paths), Router(app.routes)
    assert set(app.routes) == set(routes())
    for route in routes():
        path = re.sub("{(.*?)}", r"~\1", route)
        expected = {name: f"~{name}" for name in re.findall("{(.*?)}", route)}
        resource, variables = gateway.find(path)
        assert resource == (resource_of(route) if functions()[route] == "api" else route)
        if resource != route:
            path = resource.replace("{proxy+}", variables.pop("proxy"))
            assert variables == {}
            variables = inside.find(path)[1]
        assert inside.find(path)[0] == route
        assert variables == expected


def test_a_greedy_resource_takes_any_method_and_answers_preflights_itself(paths):
    for prefix in GREEDY_PREFIXES:
        methods = paths[f"{prefix}{{proxy+}}"]
        assert set(methods) == {"x-amazon-apigateway-any-method", "options"}
        handled = methods["x-amazon-apigateway-any-method"]
        assert handled["x-amazon-apigateway-integration"]["type"] == "aws_proxy"
        assert [parameter["name"] for parameter in handled["parameters"]] == ["proxy"]
        preflight = methods["options"]["x-amazon-apigateway-integration"]
        sent = preflight["responses"]["default"]["responseParameters"]
        assert preflight["type"] == "mock"
        methods = sent["method.response.header.Access-Control-Allow-Methods"].strip("'").split(",")
        assert set(methods) == set(CORS["Access-Control-Allow-Methods"].split(","))
        assert sent["method.response.header.Access-Control-Allow-Origin"] == {"Fn::Sub": "'${CorsOrigin}'"}


def test_operations_that_decode_media_go_to_the_function_with_ffmpeg(paths):
    """The declaration says it: `Operations(function="media")`, or the member of one operation."""
    serving = {
        route: methods["x-amazon-apigateway-any-method"]["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
        for route, methods in paths.items()
        if "x-amazon-apigateway-any-method" in methods
    }
    decoding = {route for route, function in functions().items() if function == "media"}
    assert {route for route, uri in serving.items() if "/${MediaHandlerAliaslive}/" in uri} == decoding
    assert all("/${APIHandlerAliaslive}/" in uri for route, uri in serving.items() if route not in decoding)
    assert {"/rest/GetFrame/{p1}", "/rest/GetClip/{p1}", "/rest/Prediction/{p1}"} <= decoding


def test_a_route_that_answers_preflights_itself_may_not_be_behind_a_greedy_resource(paths):
    with pytest.raises(ValueError, match="/rest/files declares OPTIONS"):
        _greedy({"/rest/files": paths["/files"]}, {"/rest/files": "api"})


@pytest.mark.parametrize(
    ("resource", "variables"),
    [("/rest/{proxy+}", {"proxy": "Project/999999"}), ("/rest/Project/{p1}", {"p1": "999999"})],
    ids=["greedy", "of the release before"],
)
def test_the_app_takes_events_of_both_forms_so_an_update_needs_no_pause(api, resource, variables):
    """CloudFormation updates the function before the gateway's resources."""
    token = {"Authorization": f"Token {api.token}"}
    status, _, said = call("GET", resource, variables, "/rest/Project/999999", **token)
    assert (status, said["message"]) == (404, "No project 999999 for this user.")


def test_an_unknown_path_is_refused_as_the_gateway_refuses_it():
    status, headers, said = call("GET", "/rest/{proxy+}", {"proxy": "Nothing/5"}, "/dev/rest/Nothing/5")
    assert (status, said) == (404, {"message": "There is no /rest/Nothing/5 here.", "details": ""})
    assert headers.items() >= {**SAFE_IN_BROWSERS, "Access-Control-Allow-Origin": "*"}.items()


@pytest.mark.parametrize("method", ["POST", "HEAD", "BREW"])
def test_an_unknown_method_is_refused_with_the_allowed_ones(method):
    status, headers, _ = call(method, "/rest/{proxy+}", {"proxy": "Project/5"}, "/rest/Project/5")
    assert status == 405
    assert set(headers["Allow"].split(", ")) == set(routes()["/rest/Project/{p1}"])


def test_the_local_gateway_answers_as_the_deployed_one():
    anyone = Api(None)
    assert anyone.ask("OPTIONS", "/rest/Project/5").status == 200
    assert anyone.ask("PATCH", "/rest/Token").status == anyone.ask("PATCH", "/schema").status == 405
    assert [anyone.get(path).status for path in ("/rest", "/rest/", "/rest/Nothing", "/nothing")] == [404] * 4
    assert anyone.get("/console/build/a/b/c/d.js").status == 404


def test_a_path_of_the_rest_interface_with_a_slash_at_its_end_is_not_found(api):
    said = api.get("/rest/Projects/")
    assert said.status == 404
    assert "without a slash" in said.message


@pytest.mark.parametrize("path", ["/rest//Project/5", "/rest/Project//", "/rest/%50roject/5", "/rest/Project/5/6", "/"])
def test_a_path_is_matched_part_by_part_as_it_was_sent(path):
    with pytest.raises(NotFound):
        Router(["/rest/Project/{p1}", "/rest/Projects"]).find(path)


def test_a_quoted_slash_stays_in_its_part():
    router = Router(["/rest/{proxy+}", "/media/{p1}/{p2}", "/media/{p1}"])
    assert router.find("/media/a%2Fb/c") == ("/media/{p1}/{p2}", {"p1": "a%2Fb", "p2": "c"})
    assert router.find("/rest/Media/a%2Fb") == ("/rest/{proxy+}", {"proxy": "Media/a%2Fb"})


def test_a_function_gets_and_gives_bodies_in_base64(monkeypatch):
    monkeypatch.setattr(app.api, "binary_types", ["*/*"])
    sent = json.dumps({"username": "nobody", "password": "wrong", "colour": 5})
    event = event_of("POST", "/rest/Token", "", "/rest/{proxy+}", {"proxy": "Token"}, {}, b"", "10.0.0.1")
    event |= {"body": base64.b64encode(sent.encode()).decode(), "isBase64Encoded": True}
    said = app(event, LambdaContext())
    assert (said["statusCode"], said["isBase64Encoded"]) == (400, True)
    assert "colour" in json.loads(base64.b64decode(said["body"]))["details"]


def test_a_header_of_an_answer_has_one_line(monkeypatch):
    answer = HttpAnswer(status=200, headers={"Location": "/a\r\nSet-Cookie: b"})
    monkeypatch.setattr(app.routes["/rest/Projects"]["GET"], "view_function", lambda *_: answer)
    assert Api(None).get("Projects").status == 502
