"""One real call of each operation, for the pages of `docs/reference/`; `make docs` writes them.

A survey of a reef is set up, annotated, queried and taken down. `Recorder` keeps the first successful call of every
operation; `examples` puts names in place of what differs from run to run. `test_reference.py` holds the stored
examples to the calls: the same statuses, and answers of the same shape.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from chalicelib.api.routes import chosen, routes
from tests.contract import documented_survey
from tests.service import Api, Said, new_user

LONGEST_LIST = 2
"""Items of a list that an example shows."""
LONGEST_TEXT = 160
"""Characters of a text that an example shows."""
HIDDEN = {"token", "upload_id", "lookup", "hash", "previous", "credential", "salt"}
HIDDEN |= {"challenge", "client_data", "authenticator_data", "signature", "attestation"}
HIDDEN |= {"user_code", "access_token"}
_HASH = re.compile("[0-9a-f]{64}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_URL = re.compile(r"https?://[\w.:-]+(?P<path>/[^\s\"?]*)(?P<query>\?[^\s\"]*)?")
_RANDOM = re.compile(
    r"(?<=grace)[0-9a-f]{6}|_[A-Za-z0-9]{10,16}(?=\.\w)|(?<=user)\d+-\d+-\d+|(?<=user)\d+\.\d+(?=@)|(?<=code=)[A-Z]{4}-[A-Z]{4}"
)
"""Parts of names that differ from run to run."""
_ROUTES = {
    re.compile("^" + re.sub(r"{\w+}", "[^/]+", route) + "$"): operations for route, operations in routes().items()
}
Example = dict[str, Any]


def operation_of(method: str, path: str, body: bytes | None) -> str | None:
    """The id of the operation that a request is for."""
    found = [
        (pattern.pattern.count("[^/]+"), operations) for pattern, operations in _ROUTES.items() if pattern.match(path)
    ]
    operations = min(found, key=lambda each: each[0], default=(0, {}))[1]
    return chosen(operations, method, body).id if method in operations else None


@dataclass
class Recorder(Api):
    """A caller whose successful calls are kept, the first of each operation."""

    calls: dict[str, Example] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **query: Any) -> Said:
        """Make a request that must succeed, and keep it."""
        said = super().ask(method, path, body, raw=raw, **query)
        address = path if path.startswith("/") else f"/rest/{path}"
        assert said.status < 400, f"{method} {address} {query or ''} {body}: {said.status} {said.body[:500]!r}"
        operation = operation_of(method, address, None if body is None else b"{}")
        if operation is not None and operation not in self.calls:
            words = {
                name: value if isinstance(value, str | int | float) else json.dumps(value)
                for name, value in query.items()
            }
            line = f"{method} {address}" + (f"?{urlencode(words, safe=':,$-')}" if words else "")
            self.calls[operation] = {"request": line, "body": body, "status": said.status, "answer": _answer(said)}
        return said


def _answer(said: Said) -> Any:
    kind = said.headers.get("Content-Type", "")
    if "json" in kind and said.body:
        return json.loads(said.body)
    return {"Content-Type": kind, "bytes": len(said.body)} if said.body else None


def record() -> dict[str, Example]:
    """Make the calls of the survey; operation id → its first call, in full."""
    owner = Recorder(**vars(new_user(is_staff=True)))
    documented_survey.run(owner, owner.calls)
    return owner.calls


def examples(calls: Mapping[str, Example]) -> dict[str, Example]:
    """Calls made short and equal from run to run: UUIDs, times, hosts and signatures are replaced."""
    known: dict[str, str] = {}
    return {name: {key: _plain(value, known) for key, value in call.items()} for name, call in sorted(calls.items())}


def _plain(value: Any, known: dict[str, str], name: str = "") -> Any:
    match value:
        case dict():
            return {key: _plain(each, known, key) for key, each in value.items()}
        case list():
            return [_plain(each, known, name) for each in value[:LONGEST_LIST]]
        case str() if name in HIDDEN or _HASH.fullmatch(value):
            return "…"
        case str():
            text = _URL.sub(
                lambda found: f"https://limn.example.org{found['path']}" + "?…" * bool(found["query"]), value
            )
            text = _RANDOM.sub("", text)
            text = _TIME.sub("2026-05-04T09:00:00.000000Z", text)
            text = _UUID.sub(lambda found: known.setdefault(found[0], str(uuid.UUID(int=len(known) + 1))), text)
            return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"
        case _:
            return value


def shape(value: Any) -> Any:
    """The names and types of a JSON value; lists are as their first item."""
    match value:
        case dict():
            return {name: shape(each) for name, each in sorted(value.items())}
        case list():
            return [shape(each) for each in value[:1]]
        case int() | float() if not isinstance(value, bool):
            return "number"
        case _:
            return type(value).__name__
