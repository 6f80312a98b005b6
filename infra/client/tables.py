"""Objects as Arrow tables, and tables as changes: `pip install '.[tables]'` (pyarrow).

Rows come from the service as Arrow streams (`format=arrow`), a page at a time. Columns are the members, then
`attributes.<name>`; members that are no numbers, texts, flags or lists of numbers are JSON.
"""

from __future__ import annotations

import json
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from math import isnan
from typing import TYPE_CHECKING, Any

from . import failures
from .failures import Failure, library

if TYPE_CHECKING:
    from .client import Client

PAGE = 50_000
"""Rows of one answer."""
ROWS_PER_CREATION = 500
"""Rows of one creation, which are made all or none, and of one comparison."""
KINDS = ("localization", "state", "leaf")
"""The kinds of object that the rows of a table may be."""
ATTRIBUTE = "attributes."
MOST_EXACT = 2**53
"""Floats below it hold every whole number."""
DELETE = "delete"
"""The column of flags by which `write` deletes rows."""
JSON_MEMBERS = frozenset({"points", "mask", "holes", "segments"})
_KEYS = frozenset({"id", "elemental_id", "version", DELETE})
Row = dict[str, Any]


def pages(client: Client, kind: str, project: int, windows: Any) -> Iterator[Any]:
    """The record batches of a list, as they come."""
    ipc = library("pyarrow.ipc")
    seen: Sequence[Any] | None = None
    while True:
        try:
            asked = windows.send(seen)
        except StopIteration:
            return
        stream = getattr(client, f"get_{kind}_list")(project, **{**asked, "format": "arrow"})
        with ipc.open_stream(stream) as reader:
            batches = reader.read_all()
        seen = _Seen(batches)
        yield batches


class _Seen(Sequence[Any]):
    """As many rows as a table has, of which the last has its id."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, place: Any) -> Any:
        return {"id": self._table["id"][place].as_py()}


@dataclass
class Written:
    """What a table changed, or with a dry run would change."""

    created: list[int] = field(default_factory=list)
    """Ids, in the order of the rows; in a dry run 0 for each."""
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)
    """The number of each row that the service refused, from 0, and why."""
    before: list[tuple[int, Row, Row]] = field(default_factory=list)
    """For each changed object: its id, the values written, and the values before."""
    commits: list[int] = field(default_factory=list)
    """The numbers of the commits of deletions, by which they are restored."""


def write(client: Client, kind: str, project: int, table: Any, *, is_dry: bool, parallel: int) -> Written:
    """Create, change and delete what a table says; see `Project.write`."""
    failures.check_choice("kind", kind, KINDS)
    failures.check_parallel(parallel)
    done = Written()
    rows = enumerate(rows_of(table))
    with ThreadPoolExecutor(parallel) as pool:
        creations = _Creations(partial(getattr(client, f"create_{kind}_list"), project), pool, parallel, done)
        while some := list(islice(rows, ROWS_PER_CREATION)):
            creations.wait_for({row.get("elemental_id") for _, row in some})
            plan = _Plan(_known(client, kind, project, [row for _, row in some]))
            for number, row in some:
                plan.add(number, row, done)
            if is_dry:
                done.created += [0] * len(plan.new)
                done.updated, done.deleted = done.updated + len(plan.changes), done.deleted + len(plan.gone)
            else:
                creations.begin(plan.new)
                plan.carry_out(client, kind, done, pool)
        creations.end()
    done.refused.sort()
    return done


def undo(client: Client, kind: str, project: int, done: Written) -> Written:
    """Undo what a table changed; what was changed again since stays, and is told in `refused` by its id."""
    undone = Written()

    def attempt(target: int, action: Callable[[], None]) -> None:
        try:
            action()
        except Failure as failure:
            undone.refused.append((target, failure.message))

    def delete(target: int) -> None:
        getattr(client, f"delete_{kind}")(target)
        undone.deleted += 1

    def change_back(target: int, written: Row, former: Row) -> None:
        if _former(getattr(client, f"get_{kind}")(target), written) != written:
            raise Failure("It was changed since.")
        held = former.get("attributes", {})
        without = [name for name, value in held.items() if value is None]
        given = {name: value for name, value in held.items() if value is not None}
        attributes = {"attributes": given, "null_attributes": without} if held else {}
        getattr(client, f"update_{kind}")(target, {**former, **attributes})
        undone.updated += 1

    def restore(commit: int) -> None:
        undone.created += [0] * sum(client.restore(project, {"changes": [commit]})["restored"].values())

    for target in done.created:
        attempt(target, partial(delete, target))
    for target, written, former in done.before:
        attempt(target, partial(change_back, target, written, former))
    for commit in done.commits:
        attempt(commit, partial(restore, commit))
    return undone


def _former(before: Row, body: Row) -> Row:
    """The members of an object that a body changes, as a body: attributes without a value become null."""
    former = {name: before.get(name) for name in body if name != "attributes"}
    if "attributes" in body:
        held = before.get("attributes") or {}
        former["attributes"] = {name: held.get(name) for name in body["attributes"]}
    return former


class _Creations:
    """Creations of up to `ROWS_PER_CREATION` objects each, in parallel; their results come in the order of the rows."""

    def __init__(self, create: Callable[[list[Row]], Any], pool: Executor, most: int, done: Written) -> None:
        self._create, self._pool, self._most, self._done = create, pool, most, done
        self._running: deque[tuple[list[tuple[int, Row]], Future[Any]]] = deque()

    def begin(self, new: list[tuple[int, Row]]) -> None:
        """Send the specs of some rows, given with their numbers."""
        if new:
            self.end(self._most - 1)
            self._running.append((new, self._pool.submit(self._create, [spec for _, spec in new])))

    def wait_for(self, elements: set[Any]) -> None:
        """Wait until the creations that name one of these elemental ids have ended."""
        elements.discard(None)
        while elements and any(spec.get("elemental_id") in elements for new, _ in self._running for _, spec in new):
            self.end(len(self._running) - 1)

    def end(self, left: int = 0) -> None:
        """Wait until no more than `left` creations are running, and record what the others made."""
        while len(self._running) > left:
            new, answer = self._running.popleft()
            try:
                made = answer.result()["id"]
            except Failure as failure:
                self._done.refused += [(number, failure.message) for number, _ in new]
            else:
                self._done.created += made if isinstance(made, list) else [made]


class _Plan:
    """What some rows are to do."""

    def __init__(self, known: Mapping[Any, Row]) -> None:
        self.known = known
        self.new: list[tuple[int, Row]] = []
        self.changes: list[tuple[int, Row, Row]] = []
        """Number of the row, object as it is, and the body of its change."""
        self.gone: list[tuple[int, int]] = []

    def add(self, number: int, row: Row, done: Written) -> None:
        key, is_gone = _key(row), bool(row.get(DELETE))
        try:
            body = _body({name: value for name, value in row.items() if name not in (DELETE, "id")})
        except Failure as failure:
            done.refused.append((number, failure.message))
            return
        if is_gone and key is None:
            done.refused.append((number, f"{DELETE}: give the id or the elemental_id of the object."))
            return
        if key is None or (key not in self.known and row.get("id") is None and not is_gone):
            self.new.append((number, body))
            return
        before = self.known.get(key)
        if before is None:
            done.refused.append((number, f"There is no object {key} that you may see."))
        elif is_gone:
            self.gone.append((number, before["id"]))
        elif changed := _changes(body, before):
            self.changes.append((number, before, changed))
        else:
            done.unchanged += 1

    def carry_out(self, client: Client, kind: str, done: Written, pool: Executor) -> None:
        """Change and delete."""

        def update(each: tuple[int, Row, Row]) -> None:
            number, before, body = each
            try:
                change(before["id"], body)
            except Failure as failure:
                done.refused.append((number, failure.message))
            else:
                done.before.append((before["id"], body, _former(before, body)))

        def delete(each: tuple[int, int]) -> None:
            number, target = each
            try:
                made = remove(target)
            except Failure as failure:
                done.refused.append((number, failure.message))
            else:
                done.deleted += 1
                done.commits += [made["change"]] if made.get("change") else []

        change, remove = getattr(client, f"update_{kind}"), getattr(client, f"delete_{kind}")
        list(pool.map(update, self.changes))
        list(pool.map(delete, self.gone))
        done.updated = len(done.before)


def rows_of(table: Any) -> Iterator[Row]:
    """The rows of anything that is a table: pyarrow, polars, pandas, DuckDB, or dicts."""
    if isinstance(table, Sequence):
        for number, row in enumerate(table):
            if not isinstance(row, Mapping):
                raise Failure(f"Row {number} is no object with members, but a {type(row).__name__}.")
            yield _with_values(row)
        return
    pa = library("pyarrow")
    if type(table).__module__.partition(".")[0] == "pandas":
        made = pa.Table.from_pandas(table, preserve_index=False)
    elif hasattr(table, "__arrow_c_stream__"):
        made = pa.RecordBatchReader.from_stream(table).read_all()
    else:
        raise Failure(
            f"{type(table).__name__} is not a table: give one of pyarrow, polars or pandas, or a list of dicts."
        )
    for batch in made.to_batches(ROWS_PER_CREATION):
        yield from map(_with_values, batch.to_pylist())


def _with_values(row: Mapping[str, Any]) -> Row:
    """A row without the columns that have no value: in data frames these are NaN, and make floats of whole numbers."""
    return {name: _whole(value) for name, value in row.items() if value is not None and not _is_nan(value)}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < MOST_EXACT else value


def _key(row: Row) -> Any:
    if row.get("id") is not None:
        return row["id"]
    return (row["elemental_id"], row.get("version")) if row.get("elemental_id") else None


def _known(client: Client, kind: str, project: int, rows: list[Row]) -> dict[Any, Row]:
    """The objects that rows name, by id, and by elemental id with the version that the row gives."""
    by_id = [row["id"] for row in rows if type(row.get("id")) is int and row["id"] > 0]
    by_element = [row["elemental_id"] for row in rows if row.get("id") is None and _is_uuid(row.get("elemental_id"))]
    found: dict[Any, Row] = {}
    for names, values in (("ids", by_id), ("elemental_ids", by_element)):
        if values:
            listed = getattr(client, f"get_{kind}_list_by_id")(project, {names: list(dict.fromkeys(values))})
            for each in listed:
                if names == "ids":
                    found[each["id"]] = each
                else:
                    found[each["elemental_id"], None] = found[each["elemental_id"], each.get("version")] = each
    return found


def _is_uuid(value: Any) -> bool:
    try:
        return bool(uuid.UUID(value))
    except (AttributeError, TypeError, ValueError):
        return False


def _changes(body: Row, before: Row) -> Row:
    """The body that makes an object what a row says; what the row leaves out, or has no value for, stays."""
    body = {name: value for name, value in body.items() if name not in _KEYS}
    attributes = body.pop("attributes", {})
    held = before.get("attributes") or {}
    changed = {name: value for name, value in body.items() if not _is_same(value, before.get(name))}
    if differing := {name: value for name, value in attributes.items() if not _is_same(value, held.get(name))}:
        changed["attributes"] = differing
    return changed


def _is_same(value: Any, before: Any) -> bool:
    if isinstance(before, str) and before != value and len(before) >= len("2026-01-01") and "T" in before:
        return bool(_instant(value) == _instant(before))
    return bool(value == before)


def _instant(text: Any) -> Any:
    from datetime import datetime, timezone

    try:
        found = datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return text
    return found if found.tzinfo else found.replace(tzinfo=timezone.utc)


def _body(row: Row) -> Row:
    """A row as a body: attributes together, JSON read, times as text."""
    body: Row = {}
    for name, value in row.items():
        if name.startswith(ATTRIBUTE):
            body.setdefault("attributes", {})[name[len(ATTRIBUTE) :]] = _plain(value)
        elif name in JSON_MEMBERS and isinstance(value, str):
            try:
                body[name] = json.loads(value)
            except ValueError as error:
                raise Failure(f"{name} is not JSON: {error}") from None
        else:
            body[name] = _plain(value)
    return body


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value
