"""The audit log of an organization: fetched as JSON lines, and its chain verified."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer

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
    lines: list[bytes] = []
    fault, last, found = check(_fetch(session.client(), organization, lines), head)
    if output is not None:
        output.write_bytes(b"".join(line + b"\n" for line in lines))
    if fault:
        raise Failure(f"The audit log of organization {organization} is damaged. {fault}")
    if head is not None and not found:
        raise Failure(f"The audit log of organization {organization} is damaged. It does not contain {head}.")
    document = {"organization": organization, "entries": len(lines), "head": last}
    session.output.result(document, f"{len(lines)} entries, none changed or missing. Head: {last}")


def check(entries: Iterable[dict[str, Any]], head: str | None = None) -> tuple[str, str, bool]:
    """The first fault of a chain (empty without one), its last `NUMBER:HASH`, and whether it contains `head`."""
    before: dict[str, Any] | None = None
    found = False
    for entry in entries:
        number = entry["number"]
        if not _is_unchanged(entry):
            return f"Entry {number} was changed.", "", False
        if before is not None and number != before["number"] + 1:
            return f"Entry {before['number'] + 1} is missing.", "", False
        if entry["previous"] != (before["hash"] if before else entry["previous"] if number > 1 else _FIRST):
            return f"Entry {number} does not follow entry {number - 1}.", "", False
        before = entry
        found = found or f"{number}:{entry['hash']}" == head
    return "", f"{before['number']}:{before['hash']}" if before else "", found


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
