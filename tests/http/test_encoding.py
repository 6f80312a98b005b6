import csv
import gzip
import io
import json
import tracemalloc
from typing import Any, ClassVar

import msgspec
import pytest

from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.responses import CreateResponse, MessageResponse
from chalicelib.errors import BadInput, NotFound, TooLarge, Unauthenticated, WrongMethod
from chalicelib.http.encoding import csv_of, encode, encode_error, negotiate
from chalicelib.http.operation import Answer, Documents, Operation


class Part(Resource, kw_only=True):
    hidden: ClassVar = frozenset({"secret"})
    also: ClassVar = {"summaryLevel": "level"}

    level: int = 0
    name: str | None = None
    secret: str = "s3cret"


class Thing(Resource, kw_only=True):
    also: ClassVar = {"meta": "type"}
    hidden: ClassVar = frozenset({"latest"})

    id: int
    type: int = 0
    parent: int | None = None
    flag: bool = False
    latest: bool = True
    parts: list[Part] | None = None
    attributes: dict[str, Any] | None = None


SHOWN = {"id": 1, "type": 0, "parent": None, "flag": False, "parts": None, "attributes": None, "meta": 0}


def operation(**more):
    declared = {
        "id": "Toy",
        "method": "GET",
        "path": "/rest/Toy",
        "summary": "",
        "needs": Permission.VIEW,
        "handler": lambda _: None,
    }
    return Operation(**(declared | more))


LIST = operation(returns=list[Thing])
PICTURE = operation(returns="image/*", formats=("png", "jpg", "gif", "mp4"))


def answer_of(result, declared=LIST, headers=None, **query):
    return encode(declared, result, {name: [value] for name, value in query.items()}, headers or {})


def rows_of(body):
    return list(csv.reader(io.StringIO(body.decode())))


def csv_body(*given, **more):
    return b"".join(csv_of(*given, **more))


class TestJson:
    def test_a_thing_shows_every_member_and_nothing_hidden(self):
        answer = answer_of(Thing(id=1))
        assert json.loads(answer.body) == SHOWN
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"

    def test_parts_show_what_is_set_and_nothing_hidden(self):
        seen = json.loads(answer_of([Thing(id=1, parts=[Part(), Part(name="")])]).body)
        assert seen[0]["parts"] == [{"level": 0, "summaryLevel": 0}, {"level": 0, "summaryLevel": 0, "name": ""}]

    @pytest.mark.parametrize("result", [0, 5, True, False, "x", None, [], {"a": [1]}])
    def test_scalars_and_mappings(self, result):
        assert json.loads(answer_of(result).body) == result

    def test_things_within_mappings_are_shown_the_same(self):
        assert json.loads(answer_of({"object": Thing(id=1), "pair": (Thing(id=1),)}).body) == {
            "object": SHOWN,
            "pair": [SHOWN],
        }

    def test_shared_answers_leave_out_what_is_not_there(self):
        created = operation(method="POST", returns=CreateResponse)
        answer = answer_of(CreateResponse(message="m", id=1), created)
        assert answer.status == 201
        assert json.loads(answer.body) == {"message": "m", "id": 1}
        assert json.loads(answer_of(MessageResponse(message="m")).body) == {"message": "m"}

    def test_documents_are_joined_in_order(self):
        assert answer_of(Documents(documents=iter([b'{"a":1}', b'{"a":2}']))).body == b'[{"a":1},{"a":2}]'
        assert answer_of(Documents(documents=[])).body == b"[]"


class TestLines:
    def test_one_line_each(self):
        answer = answer_of(Documents(documents=[b'{"a":1}', b'{"a":2}']), format="jsonl")
        assert answer.body == b'{"a":1}\n{"a":2}\n'
        assert answer.headers["Content-Type"] == "application/jsonl"

    def test_pprint_is_the_same_json_with_four_blanks_a_level(self):
        answer = answer_of(Documents(documents=[b'{"a":{"b":1}}']), format="pprint")
        assert answer.body == b'[\n    {\n        "a": {\n            "b": 1\n        }\n    }\n]'
        assert answer.headers["Content-Type"] == "application/json"

    def test_any_list_has_lines(self):
        assert [json.loads(line) for line in answer_of([Thing(id=1)], format="jsonl").body.splitlines()] == [SHOWN]


class TestCsv:
    def test_attributes_become_columns(self):
        documents = [
            {"id": 1, "attributes": {"Species": 'a "b", c\nd'}, "media": [1, 2]},
            {"id": 2, "attributes": {"Depth": 0}, "media": []},
        ]
        answer = answer_of(
            Documents(documents=[msgspec.json.encode(document) for document in documents], columns=("Empty",)),
            format="csv",
        )
        assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
        assert answer.headers["Content-Disposition"].startswith("attachment; filename=")
        assert rows_of(answer.body) == [
            ["id", "media", "Empty", "Species", "Depth"],
            ["1", "[1,2]", "", 'a "b", c\nd', ""],
            ["2", "[]", "", "", "0"],
        ]

    def test_a_name_shared_with_a_member_is_told_apart(self):
        assert rows_of(csv_body([{"name": "m", "attributes": {"name": "a"}}])) == [
            ["name", "attributes.name"],
            ["m", "a"],
        ]

    def test_values_are_written_as_json_but_texts_as_they_are(self):
        cells = rows_of(csv_body([{"a": None, "b": True, "c": -1.5, "d": {"x": 1}, "e": "ü"}]))[1]
        assert cells == ["", "true", "-1.5", '{"x":1}', "ü"]

    @pytest.mark.parametrize("text", ["=1+1", "+A1", "+1", "-A1", "@SUM(A1)", "|x", "\t=1", "\r=1", "\uff1d1"])
    def test_formulas_are_disarmed(self, text):
        assert rows_of(csv_body([{"a": text}]))[1] == ["'" + text]
        assert rows_of(csv_body([{"attributes": {text: 1}}]))[0] == ["'" + text]

    def test_texts_of_numbers_are_no_formulas(self):
        assert rows_of(csv_body([{"a": "-1.5e3"}]))[1] == ["-1.5e3"]

    def test_an_empty_list_has_its_header(self):
        [names] = rows_of(answer_of([], format="csv").body)
        assert set(names) == SHOWN.keys() - {"attributes"}

    def test_a_byte_order_mark_where_it_is_asked_for(self):
        assert answer_of([Thing(id=1)], format="csv", bom="true").body.startswith(b"\xef\xbb\xbf")
        assert answer_of([Thing(id=1)], format="csv").body[0] < 128

    def test_a_presentation_may_replace_members(self):
        assert rows_of(csv_body([{"user": 1}], present=lambda row: row | {"user": "a@b"}))[1] == ["a@b"]

    def test_scalars_have_a_column(self):
        assert rows_of(csv_body([1, "x"])) == [["value"], ["1"], ["x"]]


class TestNegotiation:
    @pytest.mark.parametrize(
        ("accept", "format_"),
        [
            ("", "json"),
            ("*/*", "json"),
            ("application/json", "json"),
            ("application/jsonl", "jsonl"),
            ("text/csv", "csv"),
            ("text/plain", "csv"),
            ("application/json;q=0.5, text/csv", "csv"),
            ("text/html, */*;q=0.1", "json"),
            ("application/*", "json"),
        ],
    )
    def test_accept(self, accept, format_):
        assert negotiate(LIST, {}, {"accept": accept}) == format_

    @pytest.mark.parametrize(("accept", "format_"), [("image/*", "png"), ("image/jpeg", "jpg"), ("video/mp4", "mp4")])
    def test_pictures(self, accept, format_):
        assert negotiate(PICTURE, {}, {"accept": accept}) == format_

    def test_the_parameter_wins(self):
        assert negotiate(LIST, {"format": ["csv"]}, {"accept": "application/json"}) == "csv"

    def test_an_unknown_format_is_not_found(self):
        for declared, format_ in ((LIST, "xml"), (LIST, ""), (operation(returns=Thing), "csv"), (PICTURE, "json")):
            with pytest.raises(NotFound):
                negotiate(declared, {"format": [format_]}, {})

    @pytest.mark.parametrize("accept", ["text/html", "application/json;q=0", "application/json;q=junk"])
    def test_what_cannot_be_satisfied_is_bad_input(self, accept):
        with pytest.raises(BadInput, match="Accept"):
            negotiate(LIST, {}, {"accept": accept})

    def test_bytes_without_formats_are_never_negotiated(self):
        assert negotiate(operation(returns="text/html"), {"format": ["x"]}, {"accept": "a/b"}) == ""

    def test_formats_of_declarations(self):
        assert LIST.all_formats == ("json", "jsonl", "csv", "pprint")
        assert operation(returns=Thing).all_formats == ("json", "pprint")
        assert operation(returns=Thing, method="POST").all_formats == ("json",)
        assert PICTURE.all_formats == ("png", "jpg", "gif", "mp4")


class TestGzip:
    LONG: ClassVar = ["x" * 100] * 100

    def test_long_texts_are_zipped_for_who_can_unzip(self):
        answer = answer_of(self.LONG, headers={"accept-encoding": "br, gzip;q=0.8"})
        assert answer.headers["Content-Encoding"] == "gzip"
        assert "Accept-Encoding" in answer.headers["Vary"]
        assert json.loads(gzip.decompress(answer.body)) == self.LONG

    @pytest.mark.parametrize("accept", ["", "br", "gzip;q=0", "identity, *;q=0"])
    def test_not_for_others(self, accept):
        assert "Content-Encoding" not in answer_of(self.LONG, headers={"accept-encoding": accept}).headers

    def test_neither_short_texts_nor_pictures(self):
        headers = {"accept-encoding": "gzip"}
        assert "Content-Encoding" not in answer_of([1], headers=headers).headers
        picture = Answer(content_type="image/png", body=b"x" * 5000)
        assert "Content-Encoding" not in answer_of(picture, PICTURE, headers).headers


def test_bytes_a_handler_made_go_out_as_they_are():
    made = Answer(status=304, content_type="image/png", body=b"", headers={"ETag": "x"})
    answer = answer_of(made, PICTURE)
    assert (answer.status, answer.body, answer.headers["ETag"]) == (304, b"", "x")
    assert "Cache-Control" not in answer.headers


class TestErrors:
    def test_message_and_details(self):
        answer = encode_error(TooLarge("Too much", "é"))
        assert answer.status == 413
        assert json.loads(answer.body) == {"message": "Too much", "details": "é"}
        assert answer.headers["Content-Type"] == "application/json"
        assert json.loads(encode_error(BadInput("x")).body)["details"] == ""

    def test_headers_of_their_kind(self):
        assert encode_error(WrongMethod("PUT", "/x", ("GET", "POST"))).headers["Allow"] == "GET, POST"
        assert encode_error(Unauthenticated()).headers["WWW-Authenticate"] == "Token"


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["json", "jsonl", "csv"])
def test_a_long_list_that_is_zipped_is_never_whole_in_memory(wanted):
    documents = [b'{"id":%d,"attributes":{"text":"%s"}}' % (number, b"t" * 500) for number in range(20_000)]
    tracemalloc.start()
    try:
        answer = answer_of(Documents(documents=documents), headers={"accept-encoding": "gzip"}, format=wanted)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(gzip.decompress(answer.body)) > 10_000_000
    assert peak < 4_000_000
