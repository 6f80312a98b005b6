"""The audit logs of organizations: entries that are only ever added, each with the hash of the one before.

    audit    organization, number

The draft of a request's entry waits while its handler works. The first transaction that the handler runs writes it
along, so that nothing is changed without its entry; where there is none, the dispatcher appends it before it answers.
Entries compete for the next number by a condition. A process remembers the last entry that it knows of each
organization: an entry costs one conditional write, and a read where another process was faster. No role may
delete a row of this table, and only that of erasures may change one (`erase`); after a year they expire.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
from botocore.exceptions import ClientError

from chalicelib.core.context import holding
from chalicelib.core.log.audit import FIRST, AuditEntry, AuditKind
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.core.time.retry import LOG
from chalicelib.errors import Unavailable
from chalicelib.storage.audit.rows import AuditRow
from chalicelib.storage.dynamodb.conditions import Absent
from chalicelib.storage.dynamodb.tables import connection

KEPT_SECONDS = 366 * 24 * 3600
RESTING = timedelta(days=180)
"""A chain without an entry for so long gets a checkpoint, before its last entry expires."""
_FREE = Absent("organization")
_TAKEN = ("ConditionalCheckFailedException", "TransactionCanceledException")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(AuditEntry).decode
_heads: dict[int, tuple[int, str]] = {}
"""The number and hash of the last known entry, by organization."""
_MOST_HEADS = 10_000
lock = threading.RLock()
"""Held from the choice of a number to its write: threads of a process do not compete."""


@dataclass
class Draft:
    """What is known of a request for its entry.

    Attributes:
        members: those of the entry, but its number and hashes.
        kind: None where the request is not audited.
        organizations: in whose logs it will be.
        place: the organization and the project that the path names, 0 for none.
        is_written: whether it is there.
    """

    members: dict[str, Any] = field(default_factory=dict)
    kind: AuditKind | None = None
    organizations: tuple[int, ...] = ()
    place: tuple[int, int] = (0, 0)
    is_written: bool = False


_DRAFT: ContextVar[Draft | None] = ContextVar("audit_draft", default=None)


def drafting(draft: Draft) -> AbstractContextManager[None]:
    """Inside, the draft of a request waits for its first transaction."""
    return holding(_DRAFT, draft)


def current() -> Draft:
    """The draft of this request; one that nobody writes where there is no request."""
    return _DRAFT.get() or Draft()


def find_waiting() -> Draft | None:
    """The draft of the entry that the next transaction writes."""
    draft = _DRAFT.get()
    return draft if draft and draft.kind and draft.organizations and not draft.is_written else None


def next_rows(draft: Draft) -> list[AuditRow]:
    """The rows of a draft: one in each organization's chain. The caller holds the lock."""
    rows = []
    for organization in draft.organizations:
        number, previous = _heads.get(organization) or _read_head(organization)
        made = AuditEntry(
            number=number + 1, created_datetime=now(), kind=draft.kind or "refusal", previous=previous, **draft.members
        )
        expires = int(clock.seconds()) + KEPT_SECONDS
        doc, writer = _encode(made.sealed()), uuid.uuid4().hex
        rows.append(AuditRow(organization, number + 1, doc=doc, expires=expires, writer=writer))
    return rows


def puts(rows: list[AuditRow]) -> list[dict[str, Any]]:
    """The rows as items of a transaction."""
    return [{"Put": row.get_save_kwargs_from_instance(_FREE)} for row in rows]


def remember_heads(draft: Draft, rows: list[AuditRow]) -> None:
    """Record that the rows of a draft are written, and remember the last one of each organization."""
    draft.is_written = True
    if len(_heads) > _MOST_HEADS:
        _heads.clear()
    for row in rows:
        if row.number > _heads.get(row.organization, (0, ""))[0]:
            _heads[row.organization] = (row.number, _decode(row.doc).hash)


def forget(rows: list[AuditRow]) -> None:
    """Forget the last entries of the organizations of some rows: another process was faster."""
    for row in rows:
        _heads.pop(row.organization, None)


def append(draft: Draft) -> None:
    """Write the entry of a draft by itself. Raises Unavailable: it could not be written."""
    with lock:
        for _ in LOG.attempts():
            rows = next_rows(draft)
            try:
                if len(rows) == 1:
                    connection().call("PutItem", **rows[0].get_save_kwargs_from_instance(_FREE))
                else:
                    connection().call("TransactWriteItems", TransactItems=puts(rows))
            except ClientError as failure:
                if failure.response["Error"].get("Code") not in _TAKEN:
                    raise Unavailable("The audit log does not take the entry; try again.", str(failure)) from failure
                are_ours = [_follow(row) for row in rows]
                if not all(are_ours):
                    continue  # another's; ours would be there where its answer was lost
            remember_heads(draft, rows)
            return
    raise Unavailable("Too many writers on this audit log; try again.")


def entries(organization: int, after: int = 0, *, backwards: bool = False) -> Iterator[AuditEntry]:
    """The entries after one with a number, in order; backwards those before it, or from the last one for 0."""
    bound = () if not after else ("#r < :0" if backwards else "#r > :0", after)
    return (_decode(row.doc) for row in AuditRow.select(organization, *bound, backwards=backwards))


def entries_of(organization: int, user: int) -> Iterator[AuditEntry]:
    """The entries that still hold the name or a network address of a user.

    Those whose caller was the user, and refused attempts to sign in as the user.
    """
    for entry in entries(organization):
        is_theirs = entry.user == user or (entry.user is None and entry.target == f"user {user}")
        if is_theirs and any(getattr(entry, name) is not None for name in AuditEntry.personal):
            yield entry


def erase(organization: int, entry: AuditEntry) -> None:
    """Take name and network address out of an entry; its hash and its place in the chain stay.

    Raises:
        Unavailable: DynamoDB does not take it.
    """
    try:
        connection().call(
            "UpdateItem",
            TableName=AuditRow.Meta.table_name,
            Key={"organization": {"N": str(organization)}, "number": {"N": str(entry.number)}},
            UpdateExpression="SET doc = :doc",
            ConditionExpression="attribute_exists(doc)",
            ExpressionAttributeValues={":doc": {"B": _encode(entry.erased(now()))}},
        )
    except ClientError as failure:
        if failure.response["Error"].get("Code") != "ConditionalCheckFailedException":  # it expired meanwhile
            raise Unavailable("The audit log does not take the change; try again.", str(failure)) from failure


def number_at(organization: int, when: str) -> int:
    """The number of the last entry before a time, by bisection: numbers and times have the same order."""
    low, high = 0, _read_head(organization)[0]
    while low < high:
        middle = (low + high) // 2
        found = next(entries(organization, middle), None)
        if found is None or found.created_datetime >= when:
            high = middle
        else:
            low = found.number
    return low


def check_in(organization: int) -> None:
    """Continue a chain that is at rest with a checkpoint, so that its last entry does not expire."""
    last = next(entries(organization, backwards=True), None)
    if last is not None and clock.utc_now() - datetime.fromisoformat(last.created_datetime) > RESTING:
        append(Draft({"operation": "Upkeep", "status": 200}, "checkpoint", (organization,)))


def _follow(row: AuditRow) -> bool:
    """Read the chain from a row's number on, and remember its end; whether the row of that number is of this write."""
    found = list(AuditRow.select(row.organization, "#r > :0", row.number - 1))
    if found:
        _heads[row.organization] = (found[-1].number, _decode(found[-1].doc).hash)
    return bool(found) and found[0].writer == row.writer


def _read_head(organization: int) -> tuple[int, str]:
    for row in AuditRow.select(organization, most=1, backwards=True):
        return row.number, _decode(row.doc).hash
    return 0, FIRST
