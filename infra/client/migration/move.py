"""What all parts of a migration share: both services, the ledger, and how batches are sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from ..failures import NOT_FOUND, NOT_PERMITTED, REFUSED, Failure
from .ledger import Ledger
from .source import Row

ROWS_PER_CREATION = 500
"""Rows of one creation."""
_PLACE = re.compile(r"^\[(\d+)\]")


@dataclass(frozen=True)
class Options:
    """How a migration is done."""

    files: Literal["copy", "refer", "none"] = "copy"
    refer_to: str = ""
    """With `refer`: the address below which the keys of the source's files can be read."""
    page: int = 5_000
    parallel: int = 4
    people: dict[str, str] = field(default_factory=dict)
    """Names at the target by names at the source, where they differ."""
    members: bool = False
    """Whether people become members of the target's project."""


@dataclass
class Move:
    """One migration."""

    source: Any
    """A `GentleClient`. Rows are carried over as they are, so they are plain here, on either side."""
    source_project: int
    target: Any
    """A `Client`."""
    target_project: int
    ledger: Ledger
    options: Options
    advance: Callable[[str, int], None] = lambda _kind, _count: None
    """Gets the kind and number of what was done."""
    is_trial: bool = False
    authors: dict[int, str] = field(default_factory=dict)
    """Elemental ids of users at the target, by their ids at the source."""

    def author(self, row: Row) -> Row:
        """The member that names the author of a copy, if the author is known."""
        known = self.authors.get(row.get("created_by") or 0)
        return {"user_elemental_id": known} if known else {}

    def targets(self, kind: str, sources: Iterable[int | None]) -> dict[int, int]:
        """The ids of copies, by the ids of what was copied; in a trial, as if all had come."""
        if self.is_trial:
            return {each: each for each in sources if each is not None}
        return self.ledger.targets(kind, sources)

    def parallel(self, work: Callable[[Any], None], items: Sequence[Any]) -> None:
        """Do something with each of some items in threads; the first error ends it."""
        with ThreadPoolExecutor(self.options.parallel) as pool:
            try:
                for _ in pool.map(work, items):
                    pass
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def create(self, kind: str, batch: Sequence[tuple[Row, Row]]) -> None:
        """Create copies of rows in one request, and without those that the service refuses.

        Args:
            kind: such as `localization`.
            batch: each row of the source with the body of its copy.
        """
        waiting = list(batch)
        while waiting:
            try:
                made = getattr(self.target, f"create_{kind}_list")(self.target_project, [body for _, body in waiting])
            except Failure as failure:
                if failure.status not in (REFUSED, NOT_FOUND, NOT_PERMITTED):
                    raise
                if failure.status == NOT_PERMITTED and len(waiting) == 1 and not waiting[0][1].get("user_elemental_id"):
                    raise
                place = _PLACE.match(failure.message)
                if len(waiting) == 1 or (place and int(place[1]) < len(waiting)):
                    row, _ = waiting.pop(int(place[1]) if place and len(waiting) > 1 else 0)
                    self.ledger.refuse(kind, row["id"], failure.message)
                    continue
                half = len(waiting) // 2
                self.create(kind, waiting[:half])
                self.create(kind, waiting[half:])
                return
            ids = made["id"] if isinstance(made["id"], list) else [made["id"]]
            self.ledger.record(kind, dict(zip((row["id"] for row, _ in waiting), ids, strict=True)))
            self.advance(kind, len(waiting))
            return

    def attempt(self, kind: str, row: Row, work: Callable[..., int | None], *given: Any) -> int | None:
        """Copy one object by `work(*given)`: its id at the target. A refusal is noted as a problem."""
        known = self.ledger.target(kind, row["id"])
        if known is not None:
            return known
        try:
            made = work(*given)
        except Failure as failure:
            if failure.status not in (REFUSED, NOT_FOUND, NOT_PERMITTED):
                raise
            self.ledger.refuse(kind, row["id"], failure.message)
            return None
        if made is not None:
            self.ledger.record(kind, {row["id"]: made})
            self.advance(kind, 1)
        return made


def given(row: Row, members: Sequence[str]) -> Row:
    """Some members of a row, where they have a value."""
    return {name: row[name] for name in members if row.get(name) is not None}


def first_id(answer: Any) -> int:
    """The id in the answer to a creation."""
    found = answer["id"]
    return int(found[0] if isinstance(found, list) else found)
