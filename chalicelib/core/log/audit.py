"""The audit log of an organization: entries in a chain, each of which has the hash of the one before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from chalicelib.core.resource import Resource, Timestamp, answer

AuditKind = Literal[
    "sign-in",
    "account",
    "token",
    "membership",
    "policy",
    "share",
    "export",
    "download",
    "deletion",
    "refusal",
    "checkpoint",
]
"""What an entry is about. A checkpoint is of the service: it continues the chain of an organization that is at rest."""
PERSONAL: frozenset[AuditKind] = frozenset({"sign-in", "account", "token"})
"""Kinds about a person alone: they are in the log of each organization with which the person is affiliated."""
FIRST = "0" * 64
"""What the first entry has in place of the hash of the one before."""


class AuditEntry(Resource, kw_only=True):
    """One entry of the audit log of an organization."""

    number: Annotated[int, Meta(ge=1, description="Its number in the organization: one more than that before it.")]
    created_datetime: Timestamp
    kind: AuditKind
    operation: Annotated[str, Meta(description="The operation that was called, as the reference names it.")]
    status: Annotated[int, Meta(description="The status of the answer.")]
    user: Annotated[int | None, Meta(description="Who called; null for a guest, or nobody who signed in.")] = None
    username: str | None = None
    credential: Annotated[
        str | None,
        Meta(
            description="What the request proved its authority with: the kind, and the id of the sign-in (as "
            "`GET /rest/Token` lists it), the access token, the job or the share link."
        ),
    ] = None
    network_address: Annotated[str | None, Meta(description="Where the request came from.")] = None
    project: int | None = None
    target: Annotated[str | None, Meta(description="What the path names, such as `membership 12`.")] = None
    members: Annotated[list[str] | None, Meta(description="The members and parameters that the request gave.")] = None
    values: Annotated[
        dict[str, Any] | None,
        Meta(description="The values of those that are numbers, flags or named choices. No text: it may be a secret."),
    ] = None
    repeats: Annotated[
        int | None, Meta(description="How many refusals of the same caller and operation before it were not written.")
    ] = None
    previous: Annotated[str, Meta(description="The hash of the entry before; 64 zeros in the first.")]
    hash: Annotated[
        str,
        Meta(
            description="The SHA-256 of the entry: of its members but `hash` and those that are null, as JSON with "
            "sorted names and without spaces."
        ),
    ] = ""

    def sealed(self) -> AuditEntry:
        """The same entry with its hash."""
        return msgspec.structs.replace(self, hash=digest(answer(self)))


def digest(entry: Mapping[str, Any]) -> str:
    """The hash of an entry as answers show it."""
    known = {name: value for name, value in entry.items() if value is not None and name != "hash"}
    return sha256(json.dumps(known, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()


def fault_in(entries: Iterable[AuditEntry]) -> str:
    """The first fault of a chain, whose older part may have expired: a changed, missing or moved entry; else empty."""
    before: AuditEntry | None = None
    for entry in entries:
        if digest(answer(entry)) != entry.hash:
            return f"Entry {entry.number} was changed: its hash is another."
        if before is not None and entry.number != before.number + 1:
            return f"Entry {before.number + 1} is missing."
        if before is not None and entry.previous != before.hash:
            return f"Entry {entry.number} does not follow entry {before.number}: the hash that it names is another."
        if entry.number == 1 and entry.previous != FIRST:
            return "Entry 1 is not the first one."
        before = entry
    return ""
