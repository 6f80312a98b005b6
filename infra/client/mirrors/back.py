"""What was done in a mirror's place, carried back to its project: new files, and changed rows of annotations.

A run compares each row with the one that the mirror wrote (`.limn-base`), so that only what was changed here is sent. A
row that the project has changed, too, is told as a conflict and stays as it is there. A run that died is repeated: an
upload continues where it was, a new row has an elemental id that is made of its text, and what was sent is found equal.
"""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from ..client import Client
from ..failures import Failure
from ..uploads import Journal, Target, Uploader, UploadFile, is_media
from .mirror import Advance, Row

ROWS_PER_REQUEST = 500
KINDS = {"localizations": "localization", "states": "state"}


class Returning(Protocol):
    """A mirror's place as the way back reads it."""

    holds: int
    """How many files `fetch` may have on this machine at once."""

    def open(self, owner: str) -> AbstractContextManager[object]:
        """See `MirrorStore`."""

    def others(self, known: set[int]) -> list[str]:
        """The names of the files that the mirror did not store, sorted; `known` are the media of the project."""

    def fetch(self, name: str) -> Path:
        """Such a file on this machine, under the same path and time of change at each call."""

    def settle(self, name: str, media: int) -> None:
        """Give a file that became a media the name of the mirror's own."""

    def read(self, name: str) -> Iterator[str]:
        """The lines of a file of rows."""

    def base(self, name: str) -> Iterator[str]:
        """The lines of a file of rows as the mirror wrote it. Raises Failure where it did not."""

    def accept(self, names: Iterable[str]) -> None:
        """Let files of rows be written again that were changed here, after their changes were sent."""


@dataclass
class Returned:
    """What one run sent, or would send."""

    files: list[str] = field(default_factory=list)
    """The names of new files."""
    created: Counter[str] = field(default_factory=Counter)
    updated: Counter[str] = field(default_factory=Counter)
    deleted: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    """Rows that are in the project and no more in the place, which stay without `delete`."""
    refused: list[tuple[str, str]] = field(default_factory=list)
    """A file, or the kind and id or line of a row, and why it was not sent."""


class Back:
    """The way back from one place."""

    def __init__(
        self,
        client: Client,
        project: int,
        place: Returning,
        journal: Journal,
        *,
        version: int | None = None,
        parallel: int = 4,
    ) -> None:
        self._client, self._project, self._place, self._journal = client, project, place, journal
        self._parallel = parallel
        self._given = {} if version is None else {"version": version}
        """What new rows have that do not say otherwise."""

    def run(self, *, apply: bool, delete: bool = False, advance: Advance = lambda _: None) -> Returned:
        """Send what was changed.

        Args:
            apply: whether to do it, or only to tell what would be done.
            delete: whether rows that are no more in the place are deleted.
            advance: gets the bytes sent.

        Raises:
            Failure: the place is not a mirror of the project, a row is malformed, or the service does not answer.
        """
        done = Returned()
        with self._place.open(f"{self._client.profile.url} project {self._project}"):
            plans = [(kind, self._plan(kind, done, delete=delete)) for kind in KINDS]
            self._send_files(done, advance, apply=apply)
            if apply:
                for kind, plan in plans:
                    plan.carry_out(self._client, self._project, KINDS[kind], self._parallel, done)
        for kind, plan in plans:
            done.created[kind], done.updated[kind] = len(plan.new), len(plan.changes)
            done.deleted[kind] = len(plan.gone)
        return done

    def _send_files(self, done: Returned, advance: Advance, *, apply: bool) -> None:
        """Upload new files, and name them as the mirror does."""
        ids = {row["id"] for row in self._client.project(self._project).media(archive_lifecycle="all", fields="id")}
        done.files = [name for name in self._place.others(ids) if is_media(Path(name))]
        for names in _parts(done.files if apply else (), self._place.holds):
            with ThreadPoolExecutor(self._parallel) as pool:
                sources = [UploadFile(path, path.name) for path in pool.map(self._place.fetch, names)]
            uploader = Uploader(self._client, Target(self._project), self._journal, parallel=self._parallel)
            for name, outcome in zip(names, uploader.run(sources, advance), strict=True):
                if outcome.media is None:
                    done.refused.append((name, outcome.reason or ""))
                else:
                    self._place.settle(name, outcome.media)

    def _plan(self, kind: str, done: Returned, *, delete: bool) -> _Plan:
        """Compare the rows of a kind with those that the mirror last wrote."""
        name = f"{kind}.jsonl"
        base = {row["id"]: row for _, row in _rows(name, self._place.base(name))}
        plan, seen, texts = _Plan(kind), set[int](), Counter[str]()
        for number, row in _rows(name, self._place.read(name)):
            if (target := row.get("id")) is None:
                text = json.dumps(row, sort_keys=True)
                texts[text] += 1
                element = _element(self._project, f"{kind} {texts[text]} {text}")
                plan.new.append((number, {**self._given, "elemental_id": element, **row}))
            elif target not in base:
                done.refused.append((f"{kind}, line {number}", f"id {target} is not of this mirror; leave the id out."))
            elif target in seen:
                done.refused.append((f"{kind}, line {number}", f"id {target} is there twice."))
            else:
                seen.add(target)
                if body := _body(row, base[target]):
                    plan.changes[target] = body
        gone = base.keys() - seen
        if delete:
            plan.gone = gone
        else:
            done.missing[kind] = len(gone)
        plan.drop_conflicts(self._client, self._project, KINDS[kind], base, done)
        return plan


@dataclass
class _Plan:
    """What is to be done with the rows of a kind."""

    kind: str
    new: list[tuple[int, Row]] = field(default_factory=list)
    changes: dict[int, Row] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)

    def drop_conflicts(self, client: Client, project: int, word: str, base: dict[int, Row], done: Returned) -> None:
        """Leave out what was sent already, and what the project changed since the mirror wrote it."""
        ask: Callable[..., list[Row]] = getattr(client, f"get_{word}_list_by_id")
        now: dict[int, Row] = {}
        for some in _parts([*self.changes, *self.gone]):
            now |= {row["id"]: row for row in ask(project, {"ids": some})}
        for target in [*self.changes, *self.gone]:
            row, body = now.get(target), self.changes.get(target)
            is_changed = row is not None and row["modified_datetime"] != base[target]["modified_datetime"]
            is_sent = row is None if body is None else row is not None and not _body({**row, **_merged(row, body)}, row)
            if is_sent or row is None or is_changed:
                self.changes.pop(target, None)
                self.gone.discard(target)
                if not is_sent:
                    how = "changed" if row else "deleted"
                    done.refused.append((f"{self.kind} {target}", f"It was {how} in the project since the last run."))
        known: set[tuple[str, Any]] = set()
        for some in _parts({row["elemental_id"] for _, row in self.new}):
            for row in ask(project, {"elemental_ids": some}):
                known |= {(row["elemental_id"], None), (row["elemental_id"], row["version"])}
        self.new = [each for each in self.new if (each[1]["elemental_id"], each[1].get("version")) not in known]

    def carry_out(self, client: Client, project: int, word: str, parallel: int, done: Returned) -> None:
        """Create, change and delete; what the service refuses is told and no more of the plan."""
        update, remove = getattr(client, f"update_{word}"), getattr(client, f"delete_{word}")

        def attempt(target: int, action: Callable[[], Any]) -> tuple[int, str]:
            try:
                action()
            except Failure as failure:
                return target, failure.message
            return target, ""

        create = getattr(client, f"create_{word}_list")
        for some in _parts(self.new):
            first, reason = attempt(some[0][0], partial(create, project, [row for _, row in some]))
            if reason:
                done.refused.append((f"{self.kind}, lines {first} to {some[-1][0]}", reason))
                self.new = [each for each in self.new if each not in some]
        with ThreadPoolExecutor(parallel) as pool:
            changed = pool.map(lambda each: attempt(each[0], partial(update, *each)), [*self.changes.items()])
            gone = pool.map(lambda target: attempt(target, partial(remove, target)), [*self.gone])
            for target, reason in [*changed, *gone]:
                if reason:
                    done.refused.append((f"{self.kind} {target}", reason))
                    self.changes.pop(target, None)
                    self.gone.discard(target)


def _rows(name: str, lines: Iterable[str]) -> Iterator[tuple[int, Row]]:
    """The rows of a file with the numbers of their lines, from 1. Raises Failure where one is not a JSON object."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            raise Failure(f"{name}, line {number}: give one JSON object.")
        yield number, row


def _body(row: Row, base: Row) -> Row:
    """The change that makes one row another; members and attributes that a row leaves out stay."""
    body = {name: value for name, value in row.items() if name != "attributes" and value != base.get(name)}
    held = base.get("attributes") or {}
    changed = {name: value for name, value in (row.get("attributes") or {}).items() if value != held.get(name)}
    if given := {name: value for name, value in changed.items() if value is not None}:
        body["attributes"] = given
    if without := [name for name, value in changed.items() if value is None]:
        body["null_attributes"] = without
    return body


def _merged(row: Row, body: Row) -> Row:
    """The members of a row after a change, as far as the change names them."""
    rest = {name: value for name, value in body.items() if name not in ("attributes", "null_attributes")}
    given = {**body.get("attributes", {}), **dict.fromkeys(body.get("null_attributes", ()))}
    return {**rest, "attributes": {**(row.get("attributes") or {}), **given}}


def _element(project: int, text: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"limn-mirror:{project}:{text}"))


def _parts(every: Iterable[Any], most: int = ROWS_PER_REQUEST) -> Iterator[list[Any]]:
    left = iter(every)
    while some := list(islice(left, most)):
        yield some
