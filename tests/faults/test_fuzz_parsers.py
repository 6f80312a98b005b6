"""Our own parsers given anything: they understand it, or say in words what is wrong with it. Nothing else escapes."""

from __future__ import annotations

import base64
import json

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as bounds
from hypothesis import strategies as st

from chalicelib.domain import addresses, resumable
from chalicelib.domain.kinds import Kind
from chalicelib.errors import LimnError
from chalicelib.query import filters, object_search, search_string
from chalicelib.query.parameters import LocalizationQuery, MediaQuery
from chalicelib.storage import gcs_store
from chalicelib.video import boxes, clip, segments

MANY = pytest.mark.nightly
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


def _filters(text):
    for name in ("attribute", "attribute_gt", "attribute_in", "attribute_range", "attribute_distance", "sort_by"):
        _only_our_errors(
            lambda name=name: filters.parse(Kind.LOCALIZATION, msgspec.convert({name: [text]}, LocalizationQuery))
        )
    _only_our_errors(lambda: filters.parse(Kind.MEDIA, MediaQuery(encoded_search=text, search=text)))


def _encoded(value):
    return object_search.decode(base64.b64encode(json.dumps(value).encode()).decode(), "encoded_search")


def _boxes(data):
    for read in (
        boxes.timescale,
        boxes.default_duration,
        boxes.sample_durations,
        boxes.sample_count,
        lambda given: boxes.renumber(given, 1, 2),
        lambda given: boxes.with_duration(given, 5),
        lambda given: list(boxes.top_level(lambda at, size: given[at : at + size], len(given))),
    ):
        _only_our_errors(lambda read=read: read(data))


def _segments(document):
    _only_our_errors(lambda: segments.spans(segments.parse_segment_info(document)))
    _only_our_errors(lambda: segments.spans_of(segments.parse_segment_info(document), 0, 5))


def _tus(headers):
    for read in (
        resumable.check_version,
        resumable.length_of,
        resumable.offset_of,
        lambda given: resumable.project_of(resumable.metadata_of(given)),
        lambda given: resumable.check_chunk({**given, "content-type": resumable.CONTENT_TYPE}, b"x"),
    ):
        _only_our_errors(lambda read=read: read(headers))


PARSERS = {
    "tus headers": (tus_headers, _tus),
    "answers of a store": (store_answers, lambda body: gcs_store._text(body, "UploadId")),
    "private keys": (texts, gcs_store.private_key),
    "filters": (filter_texts, _filters),
    "search strings": (search_words, lambda text: search_string.parse(text, "search")),
    "object search": (json_values, lambda value: object_search.parse(Kind.MEDIA, value)),
    "encoded search": (json_values, _encoded),
    "encoded search of anything": (texts, lambda text: object_search.decode(text, "encoded_search")),
    "segment files": (segment_files, _segments),
    "MP4 boxes": (mp4, _boxes),
    "email addresses": (texts, addresses.parse),
    "frame ranges": (filter_texts, lambda text: clip.parse_ranges([text], 100)),
}


def _only_our_errors(do):
    try:
        do()
    except (LimnError, msgspec.ValidationError):
        return


def _throw(name, examples):
    made, parse = PARSERS[name]

    @bounds(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(made)
    def run(value):
        _only_our_errors(lambda: parse(value))

    run()


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_says_what_is_wrong(name):
    _throw(name, EXAMPLES)


@pytest.mark.nightly
@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_says_what_is_wrong_with_very_much(name):
    _throw(name, 100 * EXAMPLES)
