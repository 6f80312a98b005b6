"""JSON from outside has each member once; a refusal says what is wrong, and at which member."""

from __future__ import annotations

import ast
import re
import time
from pathlib import Path

import pytest

from chalicelib.core.text.strict_json import NotJsonError, decode, explain

REFUSED = [
    (b'{"a":1,"a":2}', '"a" is there twice'),
    (b'[1, {"b":[{"a":1,"\\u0061" : 2}]}]', '"a" is there twice'),
    (b'{"t":"12:30","a" :1,"a"\r\n:2}', '"a" is there twice'),
    (b'{"t":"12:30","b\\\\":":x","b\\\\":1}', "is there twice"),
    (b'{"b":"x","a":NaN}', '"a": NaN is no number'),
    (b'{"a":{"b":[1,-Infinity]}}', '"b": -Infinity is no number'),
    (b'{"k":"1e400","a":-1e999}', '"a": -1e999 is too large'),
    (b'{"b":0.' + b"9" * 400 + b',"a":1e400}', '"a": 1e400 is too large'),
    (b'{"a":"x\\ud800y"}', '"a": \\ud800 is half of a surrogate pair'),
    (b'{"a":"\\udc00"}', "surrogate"),
    (b'\xef\xbb\xbf{"a":1}', "byte order mark"),
    (b"\x1f\x8b\x08\x00", "compressed"),
    (b'{"a":"\xff"}', "byte 6 is not UTF-8"),
    (b'{"a":1,}', "trailing comma"),
    (b"[" * 5000 + b"]" * 5000, "recursion"),
    (b"", "truncated"),
]
TAKEN = [
    (b'{"t":"12:30","b":":x","c\\":":{"t":1}}', {"t": "12:30", "b": ":x", 'c":': {"t": 1}}),
    (b'[1,{"a":":"},{"a":2}]', [1, {"a": ":"}, {"a": 2}]),
    (b'{"a":"\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    (b'"x:y"', "x:y"),
    (b"7", 7),
    (b"[[]]", [[]]),
]


@pytest.mark.parametrize(("raw", "rule"), REFUSED)
def test_a_refusal_names_the_member(raw, rule):
    with pytest.raises(NotJsonError) as refusal:
        decode(raw)
    assert rule in str(refusal.value)


@pytest.mark.parametrize(("raw", "value"), TAKEN)
def test_colons_in_texts_are_no_members(raw, value):
    assert decode(raw) == value


def test_an_explained_error_keeps_its_reason():
    raw = b'{"a":1,"p":"C:\\\\udaab","a":2}'  # \\u is a backslash and a letter, not half of a surrogate pair
    with pytest.raises(NotJsonError) as refusal:
        decode(raw)
    assert explain(raw, refusal.value) == str(refusal.value)


@pytest.mark.slow
def test_a_repeated_member_among_many_is_found_in_linear_time():
    raw = b"{%b}" % b",".join(b'"%d":0' % number for number in (*range(100_000), 99_999))
    began = time.process_time()
    with pytest.raises(NotJsonError, match="99999"):
        decode(raw)
    assert time.process_time() - began < 5


ROOT = Path(__file__).parents[2]
DECODERS = ("json.decode(", "json.loads(")


def test_whoever_refuses_what_is_no_json_refuses_what_is_nested_too_deeply_as_well():
    """Decoders raise RecursionError for it, which is neither a ValueError nor a DecodeError."""
    found = []
    for file in (*(ROOT / "chalicelib").rglob("*.py"), *(ROOT / "functions").rglob("*.py")):
        text = file.read_text()
        for each in ast.walk(ast.parse(text)) if any(word in text for word in DECODERS) else ():
            if isinstance(each, ast.Try) and any(word in ast.unparse(each.body) for word in DECODERS):
                caught = " ".join(ast.unparse(handler.type) for handler in each.handlers if handler.type)
                if re.search(r"\b(DecodeError|ValueError)\b", caught) and "RecursionError" not in caught:
                    found.append(f"{file.relative_to(ROOT)}:{each.lineno}")
    assert found == []
