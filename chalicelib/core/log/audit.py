"""The audit log of an organization: entries in a chain, each of which has the hash of the one before."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from hashlib import sha256
from typing import Annotated, Any, ClassVar, Literal

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

    personal: ClassVar = frozenset({"username", "network_address"})

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
    salt: Annotated[
        str | None,
        Meta(description="Random digits of this entry, with which its `digests` are made; null once erased."),
    ] = None
    digests: Annotated[
        dict[str, str] | None,
        Meta(
            description="What the hash has in place of `username` and `network_address`: the SHA-256 of the salt, the "
            "name and the value of each, with line ends between. An entry that was erased keeps them."
        ),
    ] = None
    erased_datetime: Annotated[
        Timestamp | None, Meta(description="When the name and the network address of its person were erased.")
    ] = None
    previous: Annotated[str, Meta(description="The hash of the entry before; 64 zeros in the first.")]
    hash: Annotated[
        str,
        Meta(
            description="The SHA-256 of the entry: of its members as JSON with sorted names and without spaces, but "
            "`hash`, `salt`, `erased_datetime`, those that have a digest, and those that are null."
        ),
    ] = ""

    def sealed(self) -> AuditEntry:
        """The same entry with a salt, its digests and its hash."""
        salt = secrets.token_hex(16)
        digests = {
            name: digest_of(salt, name, value) for name in sorted(self.personal) if (value := getattr(self, name))
        }
        made = msgspec.structs.replace(self, salt=salt, digests=digests) if digests else self
        return msgspec.structs.replace(made, hash=digest(answer(made)))

    def erased(self, when: Timestamp) -> AuditEntry:
        """The same entry without the name and network address. Its hash stays."""
        gone = dict.fromkeys(self.personal)
        return msgspec.structs.replace(self, **gone, salt=None, erased_datetime=when)


def digest_of(salt: str, name: str, value: str) -> str:
    """What the hash of an entry has in place of a member that holds something of a person."""
    return sha256(f"{salt}\n{name}\n{value}".encode()).hexdigest()


def digest(entry: Mapping[str, Any]) -> str:
    """The hash of an entry as answers show it."""
    apart = {"hash", "salt", "erased_datetime", *(entry.get("digests") or ())}
    known = {name: value for name, value in entry.items() if value is not None and name not in apart}
    return sha256(json.dumps(known, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest()
