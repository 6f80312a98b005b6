"""The parsers that are our own: what each is given, and how bytes become that for a fuzzer that makes bytes.

A parser may raise our own errors and msgspec's, which the dispatcher makes 400 of, and nothing else.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.text import email_addresses
from chalicelib.core.web import tus
from chalicelib.errors import LimnError
from chalicelib.query.parsers import filters, object_search, search_string
from chalicelib.query.parsers.parameters import LocalizationQuery, MediaQuery
from chalicelib.storage.objects import gcs
from chalicelib.video.encoding import clip
from chalicelib.video.mp4 import boxes, segments


@dataclass(frozen=True, kw_only=True)
class Parser:
    """A parser.

    Attributes:
        parse: takes what it parses, and may raise our errors.
        of_bytes: the same, of bytes.
        examples: what it takes in earnest, for a fuzzer to begin with.
    """

    parse: Callable[[Any], Any]
    of_bytes: Callable[[bytes], Any]
    examples: tuple[Any, ...] = ()


def only_our_errors(do):
    """Do something that may raise what the dispatcher makes a 4xx of."""
    try:
        do()
    except (LimnError, msgspec.ValidationError):
        return


def _filters(text):
    for name in ("attribute", "attribute_gt", "attribute_in", "attribute_range", "attribute_distance", "sort_by"):
        only_our_errors(
            lambda name=name: filters.parse(Kind.LOCALIZATION, msgspec.convert({name: [text]}, LocalizationQuery))
        )
    only_our_errors(lambda: filters.parse(Kind.MEDIA, MediaQuery(encoded_search=text, search=text)))


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
        only_our_errors(lambda read=read: read(data))


def _segments(document):
    only_our_errors(lambda: segments.parse_segment_info(document).spans)
    only_our_errors(lambda: segments.spans_of(segments.parse_segment_info(document), 0, 5))


def _tus(headers):
    for read in (
        tus.check_version,
        tus.length_of,
        tus.offset_of,
        lambda given: tus.project_of(tus.metadata_of(given)),
        lambda given: tus.check_chunk({**given, "content-type": tus.CONTENT_TYPE}, b"x"),
    ):
        only_our_errors(lambda read=read: read(headers))


def _text(parse, *examples):
    return Parser(parse=parse, of_bytes=lambda data: parse(data.decode(errors="replace")), examples=examples)


def _json(parse, *examples):
    def of_bytes(data):
        try:
            given = json.loads(data)
        except (ValueError, RecursionError):
            return
        parse(given)

    return Parser(parse=parse, of_bytes=of_bytes, examples=examples)


def _bytes(parse, *examples):
    return Parser(parse=parse, of_bytes=parse, examples=examples)


def _multipart(value):
    import tests.service  # noqa: F401 operations read their configuration when they are imported
    from chalicelib.resources.uploads.operations import UploadCompletionSpec

    msgspec.convert(value, UploadCompletionSpec)


SEARCH = {"attribute": "a", "operation": "eq", "value": 1}
PARSERS = {
    "tus headers": _json(
        lambda given: _tus({str(name): str(value) for name, value in given.items()} if isinstance(given, dict) else {}),
        {"tus-resumable": "1.0.0", "upload-length": "10", "upload-offset": "0", "upload-metadata": "project MQ=="},
    ),
    "answers of a store": _bytes(lambda body: gcs._text(body, "UploadId"), b"<a><UploadId>x</UploadId></a>"),
    "private keys": _text(gcs.private_key),
    "filters": _text(_filters, "a::1", "a::1::2", "a::10::1::2"),
    "search strings": _text(lambda text: search_string.parse(text, "search"), 'a:b AND NOT (c:[1 TO 2] OR "x y"~2)'),
    "object search": _json(
        lambda value: object_search.parse(Kind.MEDIA, value), {"method": "and", "operations": [SEARCH]}
    ),
    "encoded search": _json(_encoded, SEARCH),
    "encoded search of anything": _text(
        lambda text: object_search.decode(text, "encoded_search"),
        base64.b64encode(json.dumps(SEARCH).encode()).decode(),
    ),
    "segment files": _json(_segments, {"file": {"start": 0}, "segments": [{"name": "moof", "offset": 0, "size": 1}]}),
    "MP4 boxes": _bytes(_boxes, bytes.fromhex("0000001c6d6f6f66000000146d66686400000000"), b"\0\0\0\x08moov"),
    "email addresses": _text(email_addresses.parse, "Ada <ada@example.org>"),
    "frame ranges": _text(lambda text: clip.parse_ranges([text], 100), "0:4", "10:20"),
    "parts of an upload": _json(
        _multipart, {"key": "a", "upload_id": "b", "parts": [{"PartNumber": n, "ETag": "e"} for n in (1, 2)]}
    ),
}
