"""Requests that the served schema allows are decoded; what is refused all the same is of a named class.

The decoding of parameters and bodies checks what the declarations say, and so does the schema that is made from them.
Rules of handlers, such as that an id exists, are not tried here.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from urllib.parse import parse_qs, urlencode

import pytest
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as bounds
from msgspec.structs import fields

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.errors import LimnError
from chalicelib.http.decoding import decode_body, decode_query
from chalicelib.http.parameters import MOST_WHOLE
from tests.faults import figures
from tests.faults.fuzz_requests import DECLARED, cases, query_of, raw_of
from tests.served import document

ALLOWED = {
    r"name one (member|parameter); send one": "two names of one member, with different values",
    r"null is not allowed here": "null is taken where the object has none: clients send back what they read",
    r"integers may have at most … bits": "the schema says format int64, which generators of random values do not know",
    r"[\w.…\[\]]+ has no member": "answers have objects of the kind too, and may come to have more members",
    r"is the older name of": "two names of one member, again",
    r"after(_id)? must not be empty": "an id or an older text: OpenAPI's clients build no union, so it has no type",
    r"skeleton.edges: .* does not join two of": "numbers of points, which are another member",
    r"preset: … is not (known|a preset of)": "its names are those of the encoder, which the schema does not list",
    r"crf: .* accepts … to …": "its bounds are those of the codec, which is another member",
    r"types: Input should be one of": "names of members are of a list, which OpenAPI cannot say",
    r"media_files: Expected object, got null|Missing required request body": "null where the member is an object",
}
"""Refusals that the schema cannot express, by their text, and why."""
SHARE = 12


def refusals(name: str, examples: int) -> Counter[str]:
    """What decoding refuses of random requests that the schema allows: the rule without values → how often."""
    found: Counter[str] = Counter()
    operation = DECLARED[name]

    def decode(case):
        try:
            query = urlencode(_texts(query_of(case)), errors="replace")
            decode_query(operation, parse_qs(query, keep_blank_values=True))
            decode_body(operation, raw_of(case.body), "application/json")
        except LimnError as refusal:
            found[re.sub(r"'[^']*'|\d+", "…", f"{refusal.message} {refusal.details}")] += 1

    run = bounds(
        max_examples=examples,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )(given(case=cases(name))(decode))
    seed(zlib.crc32(name.encode()))(run)()
    return found


def _texts(query):
    """Parameters without those that the dispatcher reads."""
    return {key: value for key, value in query.items() if key not in ("format", "bom")}


def unexplained(found: Counter[str]) -> list[str]:
    return [rule for rule in found if not any(re.search(each, rule) for each in ALLOWED)]


def count_refusals(name: str, examples: int) -> None:
    found = refusals(name, examples)
    figures.note("valid requests refused by decoding", name, found.total())
    assert unexplained(found) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in DECLARED if zlib.crc32(name.encode()) % SHARE == 0])
def test_a_few_requests_that_the_schema_allows_are_decoded(name):
    count_refusals(name, 4)


@pytest.mark.nightly
@pytest.mark.parametrize("name", DECLARED)
def test_requests_that_the_schema_allows_are_decoded(name):
    count_refusals(name, 25)


def test_the_schema_says_what_decoding_asks():
    made = document()
    paths, schemas = made["paths"], made["components"]["schemas"]
    query = {each["name"]: each["schema"] for each in paths["/rest/Localizations/{project}"]["get"]["parameters"]}
    assert query["attribute"]["items"] == {"minLength": 1, "type": "string", "pattern": "^:?[^,:][^,]*::[^,]*$"}
    assert (query["attribute"]["minItems"], query["search"]["minLength"]) == (1, 1)
    assert query["type"]["maximum"] == MOST_WHOLE
    assert schemas["BookmarkSpec"]["additionalProperties"] is False
    assert "additionalProperties" not in schemas["Bookmark"]  # answers may come to have more members
    assert "additionalProperties" not in schemas["LocalizationSpec"]  # attributes may stand beside its members
    assert schemas["Bookmark"]["properties"]["id"]["format"] == "int64"


def test_no_default_of_a_parameter_is_empty_text_that_nobody_may_send():
    empty = [(each.id, field.name) for each in OPERATIONS for field in fields(each.query) if field.default == ""]
    assert empty == []
