"""Our own parsers given anything: they understand it, or say in words what is wrong with it. Nothing else escapes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from tests.faults import figures
from tests.faults.parsers import PARSERS, only_our_errors

EXAMPLES = 80

words = st.sampled_from(
    ["attribute", "operation", "value", "inverse", "method", "operations", "object_list", "and", "or", "eq", "in"]
) | st.text(max_size=6)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
search_words = st.lists(
    st.sampled_from(
        [
            "a:b",
            "AND",
            "OR",
            "NOT",
            "(",
            ")",
            "[1 TO 2]",
            "{* TO 5}",
            '"x y"',
            "\\",
            "*",
            "?",
            "~",
            "^2",
            "~.",
            '"x"~2.5',
            ":",
            "/a/",
            "$x",
            "é",
        ]
    )
    | st.text(max_size=4),
    max_size=8,
).map(" ".join)
filter_texts = st.lists(st.sampled_from(["a", "::", ":", ",", "10", "-1e400", "nan", "true", "é"]), max_size=6).map(
    "".join
)
segment_files = st.fixed_dictionaries(
    {},
    optional={
        "file": st.one_of(json_values, st.dictionaries(words, json_values, max_size=3)),
        "segments": st.lists(
            st.dictionaries(
                st.sampled_from(["name", "offset", "size", "frame_start", "frame_samples", "startTime"]),
                st.sampled_from(["moof", "mdat", "ftyp", 0, 1, -1, 2**70, 1.5, None]),
            ),
            max_size=4,
        ),
    },
) | json_values  # fmt: skip
_box = st.tuples(
    st.sampled_from(
        [b"moov", b"moof", b"traf", b"trun", b"tfhd", b"tfdt", b"mvex", b"trex", b"mdhd", b"trak", b"mdia"]
    ),
    st.binary(max_size=40),
    st.sampled_from([None, 0, 1, 7, 2**31]),
).map(lambda made: (len(made[1]) + 8 if made[2] is None else made[2]).to_bytes(4, "big") + made[0] + made[1])
mp4 = st.lists(_box | st.binary(max_size=16), max_size=5).map(b"".join) | st.recursive(
    _box, lambda inner: inner.map(lambda data: (len(data) + 8).to_bytes(4, "big") + b"moof" + data), max_leaves=4
)
texts = st.text(max_size=60)
_header = st.lists(
    st.sampled_from(["project", "MQ==", " ", ",", "sha256", "crc32", "1.0.0", "0", "-1", "9" * 16, "\u0661", "\x00"])
    | st.text(max_size=6),
    max_size=6,
).map("".join)  # fmt: skip
tus_headers = st.dictionaries(
    st.sampled_from(
        [
            "tus-resumable",
            "upload-length",
            "upload-offset",
            "upload-metadata",
            "upload-checksum",
            "upload-defer-length",
        ]
    ),
    _header,
    max_size=5,
)
store_answers = st.lists(
    st.sampled_from(
        [b"<a>", b"</a>", b"<UploadId>", b"x", b"</UploadId>", b"<?xml version='1.0'?>", b"<!DOCTYPE a>", b"&b;"]
    )
    | st.binary(max_size=8),
    max_size=8,
).map(b"".join)


part = st.dictionaries(st.sampled_from(["PartNumber", "ETag", "x"]), json_values, max_size=3)
uploads = st.fixed_dictionaries(
    {"key": texts, "upload_id": texts, "parts": st.lists(part | json_values, max_size=3)}
) | json_values  # fmt: skip
MADE = {
    "tus headers": tus_headers,
    "answers of a store": store_answers,
    "private keys": texts,
    "filters": filter_texts,
    "search strings": search_words,
    "object search": json_values,
    "encoded search": json_values,
    "encoded search of anything": texts,
    "segment files": segment_files,
    "MP4 boxes": mp4,
    "email addresses": texts,
    "frame ranges": filter_texts,
    "parts of an upload": uploads,
}


def _throw(name, examples):
    @bounds(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(MADE[name])
    def run(value):
        only_our_errors(lambda: PARSERS[name].parse(value))

    run()


@pytest.mark.slow
@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_says_what_is_wrong(name):
    _throw(name, EXAMPLES)


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_takes_what_it_is_for_as_bytes_too(name):
    for example in PARSERS[name].examples:
        PARSERS[name].parse(example)


@pytest.mark.nightly
@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_says_what_is_wrong_with_very_much(name):
    _throw(name, 100 * EXAMPLES)
    figures.note("values thrown at parsers", name, 100 * EXAMPLES)
