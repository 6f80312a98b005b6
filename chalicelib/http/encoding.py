"""Encoding of responses: JSON, JSON lines, CSV, or bytes made by a handler.

An object with an id shows every member, null where unset; nested objects show only set members. Hidden members are left
out at any depth, and old names are emitted beside new ones. Errors are always JSON.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from itertools import chain
from typing import Any, get_args

import msgspec
from isal import isal_zlib
from msgspec import Struct

from chalicelib.core.batches import batched
from chalicelib.core.resource import Resource, answer
from chalicelib.core.text import csv_cells
from chalicelib.errors import BadInput, LimnError, NotFound, TooMany, Unauthenticated, Unavailable, WrongMethod
from chalicelib.http.operation import Answer, Documents, Operation, Present
from chalicelib.settings import settings

MEDIA_TYPES: dict[str, tuple[str, ...]] = {
    "json": ("application/json",),
    "jsonl": ("application/jsonl", "application/x-ndjson", "application/x-jsonlines"),
    "csv": ("text/csv", "text/plain"),
    "pprint": ("application/json",),
    "arrow": ("application/vnd.apache.arrow.stream",),
    "svg": ("image/svg+xml",),
    "png": ("image/png",),
    "jpg": ("image/jpeg", "image/jpg"),
    "gif": ("image/gif",),
    "mp4": ("video/mp4",),
    "webp": ("image/webp",),
}
"""Format → media types of an Accept header; the response has the first."""

SHORTEST_ZIPPED = 1024
"""Bytes; shorter responses gain nothing from gzip."""
SAFE_IN_BROWSERS = {
    "Referrer-Policy": "no-referrer",
    "Strict-Transport-Security": "max-age=31536000",
    "X-Content-Type-Options": "nosniff",
}
"""Default headers of all responses; browsers apply the second over HTTPS only."""
LONGEST_SENTENCE = 4000
"""Most characters of an error's message or details, which may repeat parts of the request."""
_GZIP_WINDOW = 31  # zlib's value for the largest window and gzip's frame
_GZIP_LEVEL = 1  # ISA-L's: a quarter of the time of zlib's own fastest, and 7 % smaller results
_TEXT = re.compile(r"(text/|application/(json|jsonl|javascript|yaml|vnd\.oai\.openapi|[\w.-]+\+json)|image/svg\+xml)")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_INDENT = 4
"""Blanks of each level of `?format=pprint`."""
_DOCUMENTS_PER_CHUNK = 500
"""The number of documents that are joined, or written as CSV, before they are compressed."""


@dataclass(frozen=True, kw_only=True)
class HttpAnswer:
    """An encoded response. Names of headers have their usual capitals; the body may be compressed."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def encode(operation: Operation, result: Any, query: Mapping[str, list[str]], headers: Mapping[str, str]) -> HttpAnswer:
    """A handler's result as a response in the requested format.

    Args:
        operation: the operation.
        result: the handler's result: a Struct, a list, a mapping, a scalar, `Documents` or an `Answer`.
        query: the query parameters, for `?format=`.
        headers: the request's headers, lower-case names, for Accept and Accept-Encoding.

    Raises:
        NotFound: the operation does not have the format.
        BadInput: the Accept header allows none of them, or the format does not fit the result.
    """
    if isinstance(result, Answer):
        sent = {"Content-Type": result.content_type, **result.headers}
        if result.status != HTTPStatus.NOT_MODIFIED:  # its headers replace those of the answer that a cache has
            sent.setdefault("Cache-Control", "no-store")
        return _finished(result.status, sent, (result.body,), headers)
    format_ = negotiate(operation, query, headers)
    chunks: Iterable[bytes]
    if format_ == "csv":
        chunks = _csv_chunks(operation, result)
        if _has_mark(query):
            chunks = chain((_BYTE_ORDER_MARK,), chunks)
    elif format_ == "jsonl":
        chunks = (b"\n".join(some) + b"\n" for some in batched(_json_documents(result), _DOCUMENTS_PER_CHUNK))
    elif format_ == "arrow":
        chunks = _arrow_chunks(operation, result)
    elif isinstance(result, Documents):
        chunks = _array(result.documents)
    else:
        chunks = (msgspec.json.encode(plain(result)),)
    if format_ == "pprint":
        chunks = (msgspec.json.format(b"".join(chunks), indent=_INDENT),)
    media_type = MEDIA_TYPES.get(format_, MEDIA_TYPES["json"])[0]
    content_type = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
    sent = {"Content-Type": content_type, "Cache-Control": "no-store"}
    sent |= result.headers if isinstance(result, Documents) else {}
    if format_ == "csv":
        sent["Content-Disposition"] = f'attachment; filename="{operation.path.split("/")[2].lower()}.csv"'
    return _finished(operation.success, sent, chunks, headers)


def encode_error(error: LimnError) -> HttpAnswer:
    """An error as a response: its status and `{message, details}`, whatever the requested format."""
    sent = {"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if isinstance(error, WrongMethod):
        sent["Allow"] = ", ".join(error.allowed)
    if isinstance(error, Unauthenticated):
        sent["WWW-Authenticate"] = "Token"
    if isinstance(error, TooMany | Unavailable) and error.retry_after:
        sent["Retry-After"] = str(error.retry_after)
    said = {"message": shortened(error.message), "details": shortened(error.details), **error.more}
    body = msgspec.json.encode(said)
    return HttpAnswer(status=error.status, headers=sent, body=body)


def encode_refusal(operation: Operation, error: LimnError, headers: Mapping[str, str]) -> HttpAnswer:
    """As `encode_error`, but a picture for an operation that answers pictures, if Accept prefers them.

    Its status and the other headers are the same.
    """
    answer = encode_error(error)
    best = next((name for name, quality in _preferred(headers) if quality > 0), "")
    if operation.returns != "image/*" or not best.startswith("image/"):
        return answer
    from chalicelib.video.pictures.messages import draw_message  # noqa: PLC0415 - of no use to other functions

    body = draw_message(str(error.status), shortened(error.message))
    sent = {**answer.headers, "Content-Type": "image/png", "Vary": "Accept"}
    return HttpAnswer(status=answer.status, headers=sent, body=body)


def shortened(text: str) -> str:
    """A sentence of an error, cut where it repeats too much of the request."""
    return text if len(text) <= LONGEST_SENTENCE else f"{text[:LONGEST_SENTENCE]}…"


# Formats -------------------------------------------------------------------------------------------------------------


def negotiate(operation: Operation, query: Mapping[str, list[str]], headers: Mapping[str, str]) -> str:
    """The format of the response: that of `?format=`, else the best that Accept allows, else the default.

    An operation without formats (its `returns` is a content type) has the format `""`.

    Raises:
        NotFound: the operation does not have the format of `?format=`.
        BadInput: Accept allows none of them, or `?bom=` asks for a mark before another format than CSV.
    """
    format_ = _negotiated(operation, query, headers)
    if "csv" in operation.all_formats and _has_mark(query) and format_ != "csv":
        raise BadInput("Invalid query parameter: bom", "bom=true goes with format=csv only.")
    return format_


def _has_mark(query: Mapping[str, list[str]]) -> bool:
    """Whether `?bom=true` asks for a byte-order mark. Raises BadInput for what is neither true nor false."""
    text = (query.get("bom") or ["false"])[0].lower()
    if text not in ("true", "false"):
        raise BadInput("Invalid query parameter: bom", "bom must be true or false.")
    return text == "true"


def _negotiated(operation: Operation, query: Mapping[str, list[str]], headers: Mapping[str, str]) -> str:
    formats = operation.all_formats
    if not formats:
        return ""
    if wanted := query.get("format"):
        if wanted[0] not in formats:
            raise NotFound(f"There is no format '{wanted[0]}' here.", f"Formats: {', '.join(formats)}")
        return wanted[0]
    ranges = _preferred(headers)
    if not ranges:
        return formats[0]
    for media_range, quality in ranges:
        for format_ in formats:
            if quality > 0 and any(_matches(media_range, type_) for type_ in MEDIA_TYPES.get(format_, ())):
                return format_
    raise BadInput("Could not satisfy the request Accept header.", f"Formats: {', '.join(formats)}")


def _preferred(headers: Mapping[str, str]) -> list[tuple[str, float]]:
    """The media ranges of Accept with their qualities, the best first."""
    return sorted(_accepted(headers.get("accept", "")), key=lambda accepted: -accepted[1])


@lru_cache(maxsize=256)  # of 64 KB at most, as API Gateway has it
def _accepted(header: str) -> tuple[tuple[str, float], ...]:
    """The items of an Accept or Accept-Encoding header with their qualities, 0 to 1."""
    found = []
    for item in header.split(","):
        name, *parameters = (part.strip().lower() for part in item.split(";"))
        quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
        if name:
            found.append((name, float(quality) if re.fullmatch(r"[01](\.[0-9]{0,3})?", quality) else 0.0))
    return tuple(found)


def _matches(media_range: str, media_type: str) -> bool:
    return media_range in ("*/*", "*", media_type, media_type.partition("/")[0] + "/*")


def _finished(status: int, sent: dict[str, str], chunks: Iterable[bytes], headers: Mapping[str, str]) -> HttpAnswer:
    """The response with its last headers, compressed where that helps and the client accepts gzip.

    The uncompressed body is never whole in memory: a list of 100,000 is 60 MB, and a tenth of that compressed. Older
        generated clients send `identity`, as their library does, but decompress anyway: for them a body that does not
        fit into a response is compressed as well (decision 50).
    """
    sent.setdefault("X-Content-Type-Options", "nosniff")
    pieces, begun, length = iter(chunks), list[bytes](), 0
    if "Content-Encoding" not in sent and _TEXT.match(sent["Content-Type"]):
        sent.setdefault("Vary", "Accept, Accept-Encoding")
        largest = _largest_plain(headers.get("accept-encoding", ""))
        while largest is not None and length <= largest and (piece := next(pieces, b"")):
            begun.append(piece)
            length += len(piece)
        if largest is not None and length > largest:
            sent["Content-Encoding"] = "gzip"
            return HttpAnswer(status=status, headers=sent, body=_zipped(chain((b"".join(begun),), pieces)))
    return HttpAnswer(status=status, headers=sent, body=b"".join((*begun, *pieces)))


def _largest_plain(accept_encoding: str) -> int | None:
    """The bytes of text above which it is compressed for a client; None where it never is."""
    if takes_gzip(accept_encoding):
        return SHORTEST_ZIPPED
    return fitting() if dict(_accepted(accept_encoding)).keys() == {"identity"} else None


def fitting() -> int:
    """The bytes of a body that fit into a response of the function, in base64."""
    return settings().largest_answer * 3 // 4


def _zipped(chunks: Iterable[bytes]) -> bytes:
    zipper = isal_zlib.compressobj(_GZIP_LEVEL, isal_zlib.DEFLATED, _GZIP_WINDOW)
    return b"".join((*map(zipper.compress, chunks), zipper.flush()))


def takes_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header allows gzip."""
    qualities = dict(_accepted(header))
    return qualities.get("gzip", qualities.get("*", 0.0)) > 0


_SCALARS = frozenset((str, int, float, bool, type(None)))

# Values --------------------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value in responses: Structs as mappings under old and new names, without hidden members."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, Struct):
        whole = isinstance(value, Resource)
        seen = answer(value) if isinstance(value, Resource) else msgspec.structs.asdict(value)
        if not (whole and "id" in seen):
            seen = {name: item for name, item in seen.items() if item is not None}
        return _plain_members(seen)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return _plain_members(value) if isinstance(value, dict) else value


def _plain_members(members: dict[Any, Any]) -> dict[Any, Any]:
    return {name: item if type(item) in _SCALARS else plain(item) for name, item in members.items()}


def _json_documents(result: Any) -> Iterable[bytes]:
    if isinstance(result, Documents):
        return result.documents
    return map(msgspec.json.encode, map(plain, _listed(result)))


def _listed(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def _array(documents: Iterable[bytes]) -> Iterator[bytes]:
    """Documents as one JSON array, in chunks."""
    before = b"["
    for some in batched(documents, _DOCUMENTS_PER_CHUNK):
        yield before + b",".join(some)
        before = b","
    yield b"]" if before == b"," else b"[]"


def _arrow_chunks(operation: Operation, result: Any) -> Iterable[bytes]:
    if not isinstance(result, Documents):
        raise BadInput("Invalid query parameter: format", "format=arrow goes with rows, not with operation=count.")
    from chalicelib.storage.view.database import arrow_stream  # noqa: PLC0415 of no use to most requests

    members = arrow_stream.members_of(get_args(operation.returns)[0], result.members)
    return arrow_stream.stream(result.documents, members, result.columns)


# CSV -----------------------------------------------------------------------------------------------------------------


def _csv_chunks(operation: Operation, result: Any) -> Iterable[bytes]:
    if not isinstance(result, Documents):
        return csv_of([plain(each) for each in _listed(result)], members=_members(operation))
    documents = list(result.documents)
    members = result.members or _members(operation)
    return csv_of(_Decoded(documents), result.columns, result.present, members)


def _members(operation: Operation) -> tuple[str, ...]:
    """The members of each item of a list response."""
    [struct] = get_args(operation.returns) or (None,)
    if not (isinstance(struct, type) and issubclass(struct, Resource)):
        return ()
    own = (name for name in struct.__struct_encode_fields__ if name not in struct.hidden)
    return (*own, *struct.also)


class _Decoded:
    """JSON documents that each iteration decodes again: decoded, they take ten times the memory."""

    def __init__(self, documents: list[bytes]) -> None:
        self._documents = documents

    def __iter__(self) -> Iterator[Any]:
        return map(msgspec.json.decode, self._documents)


def csv_of(
    documents: Iterable[Any], columns: Iterable[str] = (), present: Present | None = None, members: Iterable[str] = ()
) -> Iterator[bytes]:
    """Documents as CSV in UTF-8 (RFC 4180): a line of names, then one line each.

    Attributes become columns of their own, after all other members; one with the name of a member is
    `attributes.<name>`. Other nested values are JSON text. A text that a spreadsheet would run as a formula gets an
    apostrophe before it.

    Args:
        documents: mappings, or scalars that become the one column `value`; iterated twice.
        columns: the attributes that have a column even where no document carries them, in order.
        present: converts a document for CSV, such as an id to a user's address. It may change
            the values of members, not their names.
        members: the line of names where there are no documents.
    """
    found: dict[str, None] = {}
    names = dict.fromkeys(columns)
    for row in map(_row, documents):
        found |= dict.fromkeys(row)
        names |= dict.fromkeys(_held(row))
    found = found or dict.fromkeys(members)
    found.pop("attributes", None)
    yield _lines([[*found, *(f"attributes.{name}" if name in found else name for name in names)]])
    for some in batched(map(_row, documents), _DOCUMENTS_PER_CHUNK):
        rows = map(present, some) if present else some
        yield _lines(
            [*(row.get(name) for name in found), *(held.get(name) for name in names)]
            for row in rows
            for held in (_held(row),)
        )


def _row(document: Any) -> dict[str, Any]:
    return document if isinstance(document, dict) else {"value": document}


def _held(row: dict[str, Any]) -> dict[str, Any]:
    held = row.get("attributes")
    return held if isinstance(held, dict) else {}


def _lines(rows: Iterable[Iterable[Any]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(map(_cell, row) for row in rows)
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return csv_cells.disarm(value)
    return msgspec.json.encode(value).decode()
