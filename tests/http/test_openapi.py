import inspect
import json
from typing import ClassVar

import msgspec
import pytest
import yaml
from msgspec import Struct

from chalicelib.access.authentication import Caller
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.api import catalogue
from chalicelib.api.docs import ASSETS, asset, page
from chalicelib.api.reference import reference
from chalicelib.core.permissions import Level
from chalicelib.errors import NotFound
from chalicelib.http.openapi import described, document, etag
from chalicelib.http.operation import Call
from chalicelib.http.parameters import MOST_WHOLE
from tests import served
from tests.http.toys import OPERATIONS, operation
from tests.loopback import Handler, Server


@pytest.fixture(scope="module")
def made():
    return document(OPERATIONS)


@pytest.fixture(scope="module")
def schemas(made):
    return made["components"]["schemas"]


def parameters(made, path, method):
    return {parameter["name"]: parameter for parameter in made["paths"][path][method]["parameters"]}


def success(made, path, method, status="200", media_type="application/json"):
    return made["paths"][path][method]["responses"][status]["content"][media_type]["schema"]


class TestDocument:
    @pytest.mark.slow
    def test_it_is_valid(self, made):
        validator = pytest.importorskip("openapi_spec_validator")
        validator.validate(made)

    def test_it_loads_from_its_bytes_as_it_is(self, made):
        body = msgspec.json.encode(made)
        assert yaml.safe_load(body.decode()) == made
        assert json.loads(body) == made
        assert etag(body) == etag(msgspec.json.encode(document(OPERATIONS)))
        assert etag(body)[0] == etag(body)[-1] == '"'

    def test_no_word_of_newer_json_schema_is_left(self, made):
        text = msgspec.json.encode(made).decode()
        for word in ('"const"', '"null"', '"prefixItems"', '"exclusiveMinimum":0', '"title":"Toy"'):
            assert word not in text

    def test_without_what_is_deprecated_nothing_has_two_names_or_shapes(self):
        made = document(catalogue.OPERATIONS, legacy=False)
        whole = served.document()
        text = msgspec.json.encode(made)
        assert [word for word in (b"anyOf", b"oneOf", b'"deprecated"') if word in text] == []
        assert whole["components"]["schemas"]["Media"]["properties"].keys() >= {"summary_level", "summaryLevel"}
        for name, schema in made["components"]["schemas"].items():
            camel = [member.replace("_", "").lower() for member in schema.get("properties", ())]
            assert len(camel) == len(set(camel)), name

    def test_patterns_that_handlers_check_are_of_what_is_sent(self):
        schemas = served.document()["components"]["schemas"]
        assert "pattern" in schemas["WebhookSpec"]["properties"]["url"]
        assert "pattern" not in schemas["Webhook"]["properties"]["url"]

    def test_the_server_is_where_it_is_said(self):
        assert document(OPERATIONS, server="https://x/api")["servers"] == [{"url": "https://x/api"}]

    def test_structs_of_one_name_are_refused(self):
        other = type("Toy", (Struct,), {"__annotations__": {"a": int}})
        clash = operation("Other", "GET", "/rest/Other", returns=other)
        with pytest.raises(ValueError, match="Toy"):
            document((*OPERATIONS, clash))


class TestOperations:
    def test_paths_methods_ids_and_tags(self, made):
        assert made["paths"]["/rest/Toys/{project}"].keys() == {"get", "post", "patch", "delete"}
        assert made["paths"]["/rest/Toy/{id}"]["get"]["operationId"] == "GetToy"
        assert made["tags"] == [{"name": "Toys"}, {"name": "Old"}]
        assert made["paths"]["/rest/Toy/{id}/{uid}"]["get"]["deprecated"] is True
        assert "View Only" in made["paths"]["/rest/Toy/{id}"]["get"]["description"]

    def test_path_variables(self, made):
        found = parameters(made, "/rest/Toy/{id}/{uid}", "get")
        assert found["id"]["schema"] == {"type": "integer", "minimum": 1}
        assert found["uid"]["schema"]["type"] == "string"
        assert found["id"]["required"] is True

    def test_query_parameters(self, made):
        found = parameters(made, "/rest/Toys/{project}", "get")
        assert found["type"] == {
            "name": "type",
            "in": "query",
            "description": "The type of the toys.",
            "schema": {"type": "integer", "format": "int64", "minimum": 1, "maximum": MOST_WHOLE},
        }
        assert found["meta"]["deprecated"] is True
        assert found["media_id"]["explode"] is False
        assert found["media_id"]["style"] == "form"
        assert found["media_id"]["schema"] == {
            "type": "array",
            "minItems": 1,
            "items": {"type": "integer", "format": "int64", "minimum": 1, "maximum": MOST_WHOLE},
        }
        assert found["dtype"]["schema"] == {"type": "string", "enum": ["box", "line"]}
        assert found["no_cache"]["schema"] == {"type": "boolean", "default": False}
        assert found["keys"]["required"] is True
        assert found["format"]["schema"]["enum"] == ["json", "jsonl", "csv", "pprint"]
        assert "ToyFilters" not in made["components"]["schemas"]

    def test_bodies(self, made):
        one = made["paths"]["/rest/Toys/{project}"]
        assert one["patch"]["requestBody"] == {
            "required": True,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ToyUpdate"}}},
        }
        assert one["delete"]["requestBody"]["required"] is False
        many, single = one["post"]["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
        assert many["items"] == single == {"$ref": "#/components/schemas/LocalizationSpec"}
        assert (many["minItems"], many["maxItems"]) == (1, 500)
        assert "requestBody" not in one["get"]

    def test_answers(self, made):
        assert success(made, "/rest/Toys/{project}", "get")["items"] == {"$ref": "#/components/schemas/Toy"}
        assert [option["$ref"][21:] for option in success(made, "/rest/Toys/{project}", "post", "201")["oneOf"]] == [
            "CreateListResponse",
            "CreateResponse",
        ]
        assert success(made, "/rest/ToyCount/{project}", "put") == {"type": "integer", "format": "int64"}
        assert success(made, "/rest/Toy/{id}", "post", "200")
        assert success(made, "/rest/GetFrame/{id}", "get", media_type="image/*")["format"] == "binary"
        assert success(made, "/rest/Toys/{project}", "delete") == {}
        assert "application/jsonl" in made["paths"]["/rest/Toys/{project}"]["get"]["responses"]["200"]["content"]

    def test_a_redirect_says_where_the_answer_is_and_has_none(self, made):
        found = made["paths"]["/rest/ToyLink/{id}"]["get"]["responses"]
        assert found["301"].keys() == {"description", "headers"}
        assert "200" not in found

    def test_what_may_be_larger_than_a_function_can_answer_may_be_elsewhere(self, made):
        def redirects(path, method):
            return "303" in made["paths"][path][method]["responses"]

        assert redirects("/rest/Toys/{project}", "get")
        assert redirects("/rest/GetFrame/{id}", "get")
        assert not redirects("/rest/Toy/{id}", "get")
        assert not redirects("/rest/ToyCount/{project}", "put")
        assert made["components"]["responses"]["Elsewhere"]["headers"].keys() == {"Location"}

    def test_a_creation_leads_to_what_can_be_done_with_what_it_made(self, made):
        found = made["paths"]["/rest/Toys/{project}"]["post"]["responses"]["201"]["links"]
        assert found == {
            f"{name}{ending}": {"operationId": name, "parameters": {"id": f"$response.body#/id{place}"}}
            for ending, place in ((".first", "/0"), ("", ""))
            for name in ("GetToy", "DeleteToy", "CreateToy")
        }
        assert "links" not in made["paths"]["/rest/Toys/{project}"]["patch"]["responses"]["200"]

    def test_errors(self, made):
        responses = made["paths"]["/rest/Toys/{project}"]["patch"]["responses"]
        assert responses.keys() == {"200", "400", "401", "403", "404", "409", "413", "429", "503"}
        shared = made["components"]["responses"]
        assert shared["BadRequest"]["content"]["application/json"]["schema"]["$ref"].endswith("BadRequestResponse")
        assert shared["NotFound"]["content"]["application/json"]["schema"]["$ref"].endswith("NotFoundResponse")
        assert "403" not in made["paths"]["/rest/Whoami"]["get"]["responses"]
        signing_out = served.document()["paths"]["/rest/Session"]["delete"]
        assert "403" in signing_out["responses"]  # pages of other origins, and credentials with limits

    def test_credentials(self, made):
        assert made["paths"]["/rest/Whoami"]["get"]["security"] == []
        assert made["paths"]["/rest/Toy/{id}"]["get"]["security"] == [{"TokenAuth": []}]
        assert made["components"]["securitySchemes"]["TokenAuth"]["name"] == "Authorization"


class TestSchemas:
    def test_names_emitted_accepted_and_hidden(self, schemas):
        toy = schemas["Toy"]["properties"]
        number = {"type": "integer", "format": "int64"}
        assert toy["meta"] == {**number, "deprecated": True, "description": "Older name of type."}
        assert "secret" not in toy
        assert schemas["Toy"]["required"] == ["id", "type"]
        assert schemas["ToyUpdate"]["properties"]["colorMap"]["deprecated"] is True

    def test_references_stand_where_the_client_sees_them(self, schemas):
        toy = schemas["Toy"]["properties"]
        assert toy["part"] == toy["first"] == {"$ref": "#/components/schemas/ToyPart"}
        assert schemas["ToyPart"]["nullable"] is True
        assert toy["parts"]["items"] == {"$ref": "#/components/schemas/ToyPart"}
        assert toy["parts"]["nullable"] is True
        assert toy["media_files"] == {"$ref": "#/components/schemas/MediaFiles"}
        assert schemas["MediaFiles"]["properties"]["streaming"]["items"]["$ref"].endswith("VideoDefinition")

    def test_nulls_enums_and_unions(self, schemas):
        toy = {
            name: {key: value for key, value in member.items() if key != "description"}
            for name, member in schemas["Toy"]["properties"].items()
        }
        assert toy["state"] == {"type": "string", "enum": ["new", "old", None], "nullable": True}
        assert toy["key"] == {"anyOf": [{"type": "integer", "format": "int64"}, {"type": "string"}], "nullable": True}
        assert toy["anything"] == {}
        assert toy["things"] == {"type": "array", "items": {}, "nullable": True}
        assert toy["pair"] == {"type": "array", "items": {}, "minItems": 2, "maxItems": 2, "nullable": True}

    def test_bounds_defaults_and_descriptions(self, schemas):
        assert schemas["ToyPart"]["properties"]["depth"] == {
            "type": "number",
            "minimum": 0,
            "exclusiveMinimum": True,
            "maximum": 1,
            "exclusiveMaximum": True,
            "nullable": True,
        }
        assert schemas["ToyUpdate"]["properties"]["name"]["maxLength"] == 64
        assert schemas["ToyUpdate"]["properties"]["name"]["description"] == "What it is called."
        assert schemas["ToyPart"]["properties"]["name"]["default"] == "wheel"
        assert schemas["Toy"]["properties"]["flag"]["default"] is False
        assert schemas["ToyUpdate"]["properties"]["in_place"]["default"] == 0
        assert schemas["Toy"]["description"] == "A toy, as it is shown.\n\nIt has parts."
        assert schemas["Toy"]["properties"]["type"]["description"] == "What kind of toy it is."

    def test_a_docstring_becomes_unwrapped_paragraphs(self):
        assert described("A\n  b.\n\n  C.") == "A b.\n\nC."


class _Handler(Handler):
    asked: ClassVar[list] = []
    answers: ClassVar[dict] = {
        ("GET", "/rest/Toys/7"): (200, [{"id": 1, "type": 2, "media_files": {"streaming": [{"path": "a"}]}}]),
        ("POST", "/rest/Toys/7"): (201, {"message": "m", "id": [1]}),
        ("PATCH", "/rest/Toys/7"): (200, {"message": "m"}),
        ("GET", "/rest/Toy/1"): (200, {"id": 1, "part": {"depth": 0.5}}),
        ("PUT", "/rest/ToyCount/7"): (200, 5),
        ("POST", "/rest/Toy/1"): (200, {"message": "m", "id": 1}),
    }

    def _serve(self):
        path, _, query = self.path.partition("?")
        raw = self.read_body()
        status, body = self.answers.get((self.command, path), (404, {"message": "no"}))
        content_type = "application/json"
        if path == "/schema":
            status, content_type, body = 200, "application/vnd.oai.openapi", msgspec.json.encode(document(OPERATIONS))
        elif status != 404:
            self.asked.append((self.command, path, query, json.loads(raw) if raw else None))
        self.answer(status, body, {"Content-Type": content_type})

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = _serve


@pytest.fixture(scope="module")
def client():
    openapi = pytest.importorskip("tator.openapi.client")
    with Server(_Handler) as server:
        made = openapi.OpenAPIClient(f"{server.url}/schema", server.url)
        yield made
        made.session.close()


class TestRealClient:
    def test_method_and_argument_names(self, client):
        def names(method):
            return list(inspect.signature(getattr(client, method)).parameters)

        assert names("get_toy_list")[0] == "project"
        assert set(names("get_toy_list")) >= {"type", "meta", "media_id", "dtype", "no_cache", "keys", "format"}
        assert names("create_toy_list") == ["project", "body"]
        assert names("update_toy_list") == ["project", "toy_update"]
        assert names("delete_toy_list") == ["project", "toy_update"]
        assert names("get_toy_by_elemental_id") == ["id", "uid"]
        assert names("whoami") == []
        with pytest.raises(AttributeError):
            _ = client.no_such_operation

    def test_classes_of_answers(self, client):
        def name(thing):
            return type(thing).__name__

        toys = client.get_toy_list(7, media_id=[1, 2], no_cache=True, type=None)
        assert _Handler.asked[-1][2] == "media_id=1%2C2&no_cache=True"
        assert name(toys[0]) == "Toy"
        assert name(toys[0].media_files) == "MediaFiles"
        assert name(toys[0].media_files.streaming[0]) == "VideoDefinition"
        assert name(client.create_toy_list(7, body=[{}])) == "CreateListResponse"
        assert name(client.update_toy_list(7, toy_update={"name": "a"})) == "MessageResponse"
        assert _Handler.asked[-1][3] == {"name": "a"}
        assert name(client.get_toy(1).part) == "ToyPart"
        assert client.get_toy_count_by_id(7, body=[1]) == 5
        assert name(client.create_toy(1, toy_update={})) == "CreateResponse"

    def test_missing_members_read_as_their_defaults(self, client):
        toy = client.get_toy(1)
        assert toy.flag is False
        assert toy.part.name == "wheel"
        assert toy.state is None


def call(**path):
    return Call(
        caller=Caller.anonymous(),
        target=None,
        project=0,
        organization=0,
        level=Level.NONE,
        scope=UNRESTRICTED,
        path=path,
        query=None,
        body=None,
    )


class TestDocs:
    def test_the_page_runs_only_our_own_files(self):
        shown = page(call())
        policy = shown.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        text = shown.body.decode()
        assert "http" not in text
        assert text.count("<script src=") == text.count("<script") == 2

    @pytest.mark.parametrize("name", ASSETS)
    def test_every_asset_is_there(self, name):
        given = asset(call(asset=name))
        assert given.status == 200
        assert len(given.body) > 50
        assert given.content_type == ASSETS[name]

    @pytest.mark.parametrize("name", ["swagger-ui.css.map", "../__init__.py", "index.html", ""])
    def test_nothing_else_is(self, name):
        with pytest.raises(NotFound):
            asset(call(asset=name))

    def test_what_did_not_change_is_not_sent_again(self):
        tag = asset(call(asset="start.js")).headers["ETag"]
        again = call(asset="start.js")
        again.headers["if-none-match"] = tag
        assert (asset(again).status, asset(again).body) == (304, b"")


def test_the_reference_tells_all_of_an_operation():
    example = {"request": "GET /rest/Toy/1", "status": 200, "answer": {"id": 1}}
    pages = reference(OPERATIONS, {"GetToy": example})
    assert list(pages)[:2] == ["README.md", "toys.md"]
    assert "- [GetToy](toys.md#gettoy): GetToy does it." in pages["README.md"]
    assert 'GET /rest/Toy/1\n```\n\nanswers 200:\n\n```json\n{"id": 1}\n```' in pages["toys.md"]
    text = "\n".join(pages.values())
    assert "# Toys" in text
    assert "`GET /rest/Toy/{id}/{uid}` (older clients only)" in text
    assert "- query `media_id`: array of integer ≥ 1" in text
    assert "- query `keys`: array of string, required" in text
    assert "- Body: [ToyUpdate](#toyupdate) (may be absent)" in text
    assert "- Answer: 201 `application/json` [CreateListResponse](#createlistresponse) or" in text
    assert "- Needs: View Only" in text
    assert "### ToyPart" in text
    assert all(f"### {operation.id}\n" in text for operation in OPERATIONS)
