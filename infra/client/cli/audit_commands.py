"""The audit log of an organization: fetched as JSON lines, and its chain verified."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from .. import failures
from ..client import Client
from ..failures import Failure
from .sessions import Session

PAGE = 5_000
_FIRST = "0" * 64


def audit(
    context: typer.Context,
    organization: Annotated[int, typer.Argument(min=1, help="Id of the organization.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the entries here, as JSON lines.")
    ] = None,
    head: Annotated[
        str | None, typer.Option(help="NUMBER:HASH of an earlier run, which the log must still contain.")
    ] = None,
) -> None:
    """Read the audit log of an organization and verify that no entry was changed, removed or moved.

    Keep the number and hash that it prints: with `--head` the next run also finds entries that were cut off at the end.
    """
    session: Session = context.obj
    failures.check_target("--output", output)
    if head is not None and not re.fullmatch(r"\d+:[0-9a-f]{64}", head):
        raise Failure("--head: give NUMBER:HASH as an earlier run printed it.")
    lines: list[bytes] = []
    log = verify(_fetch(session.client(), organization, lines), head)
    if output is not None:
        output.write_bytes(b"".join(line + b"\n" for line in lines))
    if log.fault:
        raise Failure(f"The audit log of organization {organization} is damaged. {log.fault}", failures.INCOMPLETE)
    if head is not None and not log.has_head:
        reason = f"The audit log of organization {organization} is damaged. It does not contain {head}."
        raise Failure(reason, failures.INCOMPLETE)
    document = {"organization": organization, "entries": len(lines), "erased": log.erased, "head": log.last}
    erased = f" {log.erased} without name and network address, which were erased." if log.erased else ""
    session.output.result(document, f"{len(lines)} entries, none changed or missing.{erased} Head: {log.last}")


class Verified(NamedTuple):
    """What a chain of entries shows."""

    fault: str
    """Its first fault: an entry that was changed, removed or moved. Empty without one."""
    last: str = ""
    """`NUMBER:HASH` of its last entry. Empty without entries, or with a fault."""
    has_head: bool = False
    """Whether it contains the given head."""
    erased: int = 0
    """The number of entries from which the name and network address of a person were erased."""


def verify(entries: Iterable[dict[str, Any]], head: str | None = None) -> Verified:
    """Verify a chain, as answers show its entries. Its older part may have expired."""
    before: dict[str, Any] | None = None
    has_head = False
    erased = 0
    for entry in entries:
        number = entry["number"]
        if not _is_unchanged(entry):
            return Verified(f"Entry {number} was changed.")
        if before is not None and number != before["number"] + 1:
            return Verified(f"Entry {before['number'] + 1} is missing.")
        if entry["previous"] != (before["hash"] if before else entry["previous"] if number > 1 else _FIRST):
            return Verified(f"Entry {number} does not follow entry {number - 1}.")
        before = entry
        has_head = has_head or f"{number}:{entry['hash']}" == head
        erased += bool(entry.get("erased_datetime"))
    return Verified("", f"{before['number']}:{before['hash']}" if before else "", has_head, erased)


def _is_unchanged(entry: dict[str, Any]) -> bool:
    """Whether an entry has its hash, and its digests are of what it says of a person, unless that was erased."""
    digests = entry.get("digests") or {}
    apart = {"hash", "salt", "erased_datetime", *digests}
    known = {name: value for name, value in entry.items() if value is not None and name not in apart}
    text = json.dumps(known, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    given = {name: entry[name] for name in digests if entry.get(name) is not None}
    return (
        sha256(text.encode()).hexdigest() == entry["hash"]
        and all(
            sha256(f"{entry.get('salt')}\n{name}\n{value}".encode()).hexdigest() == digests[name]
            for name, value in given.items()
        )
        and (bool(entry.get("erased_datetime")) or given.keys() == digests.keys())
    )


def _fetch(client: Client, organization: int, lines: list[bytes]) -> Iterator[dict[str, Any]]:
    after = 0
    while page := client.get(f"AuditLog/{organization}", after=after, stop=PAGE).json():
        lines += [json.dumps(entry, ensure_ascii=False).encode() for entry in page]
        yield from page
        after = page[-1]["number"]
        if len(page) < PAGE:
            return
