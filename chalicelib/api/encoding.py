"""From what a handler returns to an answer: JSON, JSON lines, CSV, or the bytes a handler made itself.

A thing with an id shows every member, null where unset; the parts within it show only what is set. Members that are
hidden stay hidden at any depth, and old names stand beside new ones. Errors are always JSON.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_origin

import msgspec
from msgspec import Struct

from chalicelib.domain.resource import Resource, answer
from chalicelib.errors import BadInput, LimnError, NotFound, NotSignedIn, WrongMethod
from chalicelib.operations.operation import Answer, Documents, Operation

MEDIA_TYPES: dict[str, tuple[str, ...]] = {
    "json": ("application/json",),
    "jsonl": ("application/jsonl", "application/x-ndjson", "application/x-jsonlines"),
    "csv": ("text/plain", "text/csv"),
    "png": ("image/png",),
    "jpg": ("image/jpeg", "image/jpg"),
    "gif": ("image/gif",),
    "mp4": ("video/mp4",),
    "webp": ("image/webp",),
}
"""Format → what asks for it in an Accept header; the first is what it is sent as."""

SHORTEST_ZIPPED = 1024
"""Bytes; what is shorter gains nothing from gzip."""
_GZIP_LEVEL = 1  # Three times as fast as the usual 6 and a tenth larger: answers are read once.
_TEXT = re.compile(r"(text/|application/(json|jsonl|javascript|yaml|vnd\.oai\.openapi|[\w.-]+\+json)|image/svg\+xml)")
_NUMERIC = re.compile(r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NO_RECORDS = "No Records found.\n"

Present = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class HttpAnswer:
    """An answer as it goes out. The headers' names are in their usual capitals; the body may be zipped already."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


def encode(operation: Operation, result: Any, query: Mapping[str, list[str]], headers: Mapping[str, str]) -> HttpAnswer:
    """A handler's result as an answer in the format that was asked for.

    Args:
        operation: what was done.
        result: what its handler returned: a Struct, a list, a mapping, a scalar, `Documents` or an `Answer`.
        query: the query parameters, for `?format=`.
        headers: the request's headers, lower-case names, for Accept and Accept-Encoding.

    Raises:
        NotFound: the format is none of the operation's.
        BadInput: the Accept header allows none of them.
    """
    if isinstance(result, Answer):
        sent = {"Content-Type": result.content_type, **result.headers}
        return _finished(result.status, sent, result.body, headers)
    format_ = negotiate(operation, query, headers)
    if format_ == "csv":
        body = csv_of(_plain_documents(result), _columns(result))
    elif format_ == "jsonl":
        body = b"".join(document + b"\n" for document in _json_documents(result))
    elif isinstance(result, Documents):
        body = b"[" + b",".join(result.documents) + b"]"
    else:
        body = msgspec.json.encode(plain(result))
    media_type = MEDIA_TYPES.get(format_, MEDIA_TYPES["json"])[0]
    content_type = f"{media_type}; charset=utf-8" if media_type.startswith("text/") else media_type
    sent = {"Content-Type": content_type, "Cache-Control": "no-store"}
    return _finished(operation.success, sent, body, headers)


def encode_error(error: LimnError) -> HttpAnswer:
    """An error as an answer: its status and `{message, details}`, whatever format was asked for."""
    sent = {"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    if isinstance(error, WrongMethod):
        sent["Allow"] = ", ".join(error.allowed)
    if isinstance(error, NotSignedIn):
        sent["WWW-Authenticate"] = "Token"
    body = msgspec.json.encode({"message": error.message, "details": error.details})
    return HttpAnswer(status=error.status, headers=sent, body=body)


# Formats -------------------------------------------------------------------------------------------------------------


def formats_of(operation: Operation) -> tuple[str, ...]:
    """The formats of an operation's answer, the default first: every list also comes as jsonl and csv."""
    if isinstance(operation.returns, str):
        return operation.formats
    lists = ("jsonl", "csv") if get_origin(operation.returns) is list else ()
    return tuple(dict.fromkeys(("json", *lists, *operation.formats)))


def negotiate(operation: Operation, query: Mapping[str, list[str]], headers: Mapping[str, str]) -> str:
    """The format of the answer: what `?format=` says, else the best that Accept allows, else the default.

    An operation whose answer has no formats (its returns are a content type) has the format `""`.

    Raises:
        NotFound: `?format=` names none of the operation's formats.
        BadInput: Accept allows none of them.
    """
    formats = formats_of(operation)
    if not formats:
        return ""
    if wanted := query.get("format"):
        if wanted[0] not in formats:
            raise NotFound(f"There is no format '{wanted[0]}' here.", f"Formats: {', '.join(formats)}")
        return wanted[0]
    ranges = sorted(_accepted(headers.get("accept", "")), key=lambda accepted: -accepted[1])
    if not ranges:
        return formats[0]
    for media_range, quality in ranges:
        for format_ in formats:
            if quality > 0 and any(_matches(media_range, type_) for type_ in MEDIA_TYPES.get(format_, ())):
                return format_
    raise BadInput("Could not satisfy the request Accept header.", f"Formats: {', '.join(formats)}")


def _accepted(header: str) -> Iterable[tuple[str, float]]:
    """The items of an Accept or Accept-Encoding header with their qualities, 0 to 1."""
    for item in header.split(","):
        name, *parameters = (part.strip().lower() for part in item.split(";"))
        quality = next((parameter[2:] for parameter in parameters if parameter.startswith("q=")), "1")
        if name:
            yield name, float(quality) if re.fullmatch(r"[01](\.[0-9]{0,3})?", quality) else 0.0


def _matches(media_range: str, media_type: str) -> bool:
    return media_range in ("*/*", "*", media_type, media_type.partition("/")[0] + "/*")


def _finished(status: int, sent: dict[str, str], body: bytes, headers: Mapping[str, str]) -> HttpAnswer:
    """The answer with its last headers, zipped where that helps and the client can unzip it."""
    sent.setdefault("X-Content-Type-Options", "nosniff")
    if "Content-Encoding" not in sent and _TEXT.match(sent["Content-Type"]):
        sent.setdefault("Vary", "Accept, Accept-Encoding")
        if len(body) > SHORTEST_ZIPPED and _takes_gzip(headers.get("accept-encoding", "")):
            body = gzip.compress(body, compresslevel=_GZIP_LEVEL, mtime=0)
            sent["Content-Encoding"] = "gzip"
    return HttpAnswer(status=status, headers=sent, body=body)


def _takes_gzip(header: str) -> bool:
    qualities = dict(_accepted(header))
    return qualities.get("gzip", qualities.get("*", 0.0)) > 0


# Values --------------------------------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """A value as callers see it: Structs as mappings under old and new names, without what is hidden."""
    if isinstance(value, Struct):
        whole = isinstance(value, Resource)
        seen = answer(value) if isinstance(value, Resource) else msgspec.structs.asdict(value)
        return {name: plain(item) for name, item in seen.items() if item is not None or (whole and "id" in seen)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value


def _json_documents(result: Any) -> Iterable[bytes]:
    if isinstance(result, Documents):
        return result.documents
    return map(msgspec.json.encode, map(plain, _listed(result)))


def _plain_documents(result: Any) -> Iterable[Any]:
    if isinstance(result, Documents):
        return map(msgspec.json.decode, result.documents)
    return map(plain, _listed(result))


def _listed(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def _columns(result: Any) -> tuple[str, ...]:
    return result.columns if isinstance(result, Documents) else ()


# CSV -----------------------------------------------------------------------------------------------------------------


def csv_of(documents: Iterable[Any], columns: Iterable[str] = (), present: Present | None = None) -> bytes:
    """Documents as CSV in UTF-8 (RFC 4180): a line of names, then one line each; a sentence where there are none.

    Attributes become columns of their own, after all other members; one that is called like a member is
    `attributes.<name>`. Whatever else is nested is JSON text. A text that a spreadsheet would run as a formula
    gets an apostrophe before it.

    Args:
        documents: mappings, or scalars that become the one column `value`.
        columns: the attributes that have a column even where no document carries them, in order.
        present: what a document looks like in CSV, such as with a user's address in place of an id.
    """
    rows = [document if isinstance(document, dict) else {"value": document} for document in documents]
    if present is not None:
        rows = [present(row) for row in rows]
    if not rows:
        return _NO_RECORDS.encode()
    attributes = [held if isinstance(held := row.get("attributes"), dict) else {} for row in rows]
    members = dict.fromkeys(name for row in rows for name in row if name != "attributes")
    names = dict.fromkeys((*columns, *(name for held in attributes for name in held)))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in (*members, *(f"attributes.{n}" if n in members else n for n in names))])
    for row, held in zip(rows, attributes, strict=True):
        cells = [_cell(row.get(name)) for name in members]
        writer.writerow([*cells, *(_cell(held.get(name)) for name in names)])
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) and not _NUMERIC.fullmatch(value) else value
    return msgspec.json.encode(value).decode()
