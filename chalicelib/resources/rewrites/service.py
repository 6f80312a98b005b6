"""Checked bulk changes: every entity is checked before any is changed, and a dry run stops there.

A change always has an intent, however small: a shift that a caller repeats after a crash would shift twice.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.access.view_queries import all_rows
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import media_of
from chalicelib.core.permissions import Level
from chalicelib.core.text import csv_cells
from chalicelib.core.text.names import nearest
from chalicelib.core.time import deadline
from chalicelib.errors import BadInput, Forbidden
from chalicelib.query.operators import Op
from chalicelib.query.parsers import entities as entity_queries
from chalicelib.query.parsers import filters
from chalicelib.query.parsers.parameters import MediaQuery
from chalicelib.query.tree import Test
from chalicelib.resources.annotations.bulk_edits import find_ids
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.bulk.changes import BulkChange
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.media import service as media_service
from chalicelib.resources.rewrites.bulk import HANDLERS, new_frame, with_urls, with_values
from chalicelib.resources.rewrites.schemas import (
    FileUrlsQuery,
    FileUrlsUpdate,
    FramesQuery,
    FramesUpdate,
    Refusal,
    RewriteAnswer,
    ValuesQuery,
)
from chalicelib.storage.dynamodb import entities, records

MOST_CSV_ROWS = 50_000
_ID = re.compile(r"[1-9][0-9]{0,17}")
MOST_REFUSALS = 100
"""How many refused entities an answer names."""


@dataclass
class Checked:
    """The outcome of the check: the ids that change, and why others cannot."""

    matched: int
    changing: list[int] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    def answer(self, *, is_dry: bool) -> RewriteAnswer:
        """The response of a rewrite."""
        return RewriteAnswer(
            message=f"{'Would change' if is_dry else 'Changed'} {len(self.changing)} of {self.matched}.",
            matched=self.matched,
            changed=len(self.changing),
            refused=len(self.refusals),
            refusals=self.refusals[:MOST_REFUSALS],
        )


def finish(checked: Checked, writer: Writer, *changes: BulkChange, is_dry: bool) -> RewriteAnswer:
    """Run the changes of what was checked, unless any entity is refused or it is a dry run."""
    if is_dry:
        return checked.answer(is_dry=True)
    if checked.refusals:
        first = checked.refusals[0]
        raise BadInput(
            f"{len(checked.refusals)} of {checked.matched} cannot be changed like that; nothing was changed.",
            f"{first.id}: {first.reason} A dry run (dry_run=true) names the others.",
        )
    bulk_service.run(*changes, handlers=HANDLERS, scope=writer.scope, rows=bulk_service.SOON_DONE + 1)
    return checked.answer(is_dry=False)


def check_entities(kind: Kind, writer: Writer, numbers: list[int], after: Callable[[Any], Any]) -> Checked:
    """Check entities a few at a time: `after` gives the changed copy, None for no change, or raises BadInput."""
    checked = Checked(matched=len(numbers))
    for start in range(0, len(numbers), entities.ROWS_A_READ):
        part = numbers[start : start + entities.ROWS_A_READ]
        deadline.check()
        rows = entities.many(kind, part)
        own = [row.entity for row in rows.values() if row.entity.project == writer.project]
        seen = {row.id for row in writer.scope.for_level(Level.VIEW).visible(kind.value, own)}
        for number in part:
            if number not in seen:
                checked.refusals.append(Refusal(id=number, reason=f"The project has no {kind} with this id."))
                continue
            before = rows[number].entity
            try:
                writer.scope.check(kind, [before])
                changed = after(before)
                if changed is not None:
                    writer.scope.check(kind, [changed])
            except (BadInput, Forbidden) as refusal:
                checked.refusals.append(Refusal(id=number, reason=refusal.message))
                continue
            if changed is not None and entities.differs(before, changed):
                checked.changing.append(number)
    return checked


# --- frames ----------------------------------------------------------------------------------------------------------


def move_frames(writer: Writer, query: FramesQuery, body: FramesUpdate) -> RewriteAnswer:
    """Shift the frames of all annotations that match, or map them by a table; tracks get new segments.

    Raises:
        BadInput: neither or both of shift and frames, or an annotation whose new frame is before the first, behind the
            last of its media, or not in the table.
    """
    if (body.shift is None) == (body.frames is None):
        raise BadInput("shift, frames: give one of them.")
    table = {pair[0]: pair[1] for pair in body.frames or ()}
    if len(table) != len(body.frames or ()):
        raise BadInput("frames: a frame is in the table more than once.")
    kind = Kind(query.kind)
    view = view_queries.current(writer.project)
    numbers = find_ids(view, entity_queries.parse(query, body), writer.scope, query.count)
    change = writer.bulk_change(kind, "reframe", [], shift=body.shift or 0, frames=table, fixed=writer.authorship())
    lengths = _Lengths()

    def after(row: Any) -> Any:
        if row.frame is None:
            return None
        frame = new_frame(change, row.frame)
        if frame is None:
            raise BadInput(f"frames: frame {row.frame} is not in the table.")
        if frame < 0:
            raise BadInput(f"frame: {row.frame} would become {frame}, before the first frame.")
        for number in media_of(row):
            if frame >= (length := lengths.frames(number)):
                raise BadInput(f"frame: {row.frame} would become {frame}, and media {number} has {length:.0f} frames.")
        return msgspec.structs.replace(row, frame=frame)

    checked = check_entities(kind, writer, numbers, after)
    change.numbers = checked.changing
    changes = [change]
    if kind is Kind.LOCALIZATION and checked.changing:
        holding = all_rows(Kind.STATE, Test("localizations", Op.OVERLAPS, tuple(checked.changing)))
        tracks = view_queries.ids(view, holding, UNRESTRICTED)
        changes.append(writer.bulk_change(Kind.STATE, "resegment", tracks))
    return finish(checked, writer, *changes, is_dry=query.dry_run)


class _Lengths:
    """The number of frames of media, infinite where it is not known."""

    def __init__(self) -> None:
        self._known: dict[int, float] = {}

    def frames(self, number: int) -> float:
        """The frames of one media."""
        if number not in self._known:
            row = entities.many(Kind.MEDIA, [number]).get(number)
            self._known[number] = (row and row.entity.num_frames) or float("inf")
        return self._known[number]


# --- attributes from CSV ---------------------------------------------------------------------------------------------


def assign_values(writer: Writer, query: ValuesQuery, body: bytes) -> RewriteAnswer:
    """Set attributes from the rows of a CSV: a column `id`, then one for each attribute. Empty cells change nothing.

    Raises:
        BadInput: the CSV is malformed, an id is unknown or twice, or a value is not allowed.
        Forbidden: the caller's level is too low for entities of the kind.
    """
    kind = Kind(query.kind)
    writer = writer.to_change(kind)
    definitions = records.definitions(writer.project)
    values = dict(_read_csv(body, definitions, kind))
    checked = check_entities(
        kind, writer, list(values), lambda row: with_values(definitions, kind, row, values[row.id])
    )
    return finish_assignment(checked, writer, kind, values, is_dry=query.dry_run)


def finish_assignment(
    checked: Checked, writer: Writer, kind: Kind, values: Mapping[int, dict[str, Any]], *, is_dry: bool
) -> RewriteAnswer:
    """`finish` with the attributes that each checked entity gets."""
    change = writer.bulk_change(
        kind,
        "assign",
        checked.changing,
        values={number: values[number] for number in checked.changing},
        fixed=writer.authorship(),
    )
    return finish(checked, writer, change, is_dry=is_dry)


def dtypes_of(definitions: Definitions, kind: Kind, names: Iterable[str]) -> dict[str, str]:
    """The dtypes of attributes. Raises BadInput for a name that no type has."""
    dtypes: dict[str, str] = {
        attribute.name: attribute.dtype
        for type_ in definitions.types(kind).values()
        for attribute in type_.attribute_types
    }
    for name in names:
        if name not in dtypes:
            raise BadInput(f"{name[:100]}: no type has this attribute.{nearest(name, dtypes)}")
    return dtypes


def _read_csv(body: bytes, definitions: Definitions, kind: Kind) -> Iterator[tuple[int, dict[str, Any]]]:
    """The ids and values of a CSV."""
    rows = _rows(body)
    names = _columns(next(rows, []))
    dtypes = dtypes_of(definitions, kind, names)
    seen: set[int] = set()
    for line, row in enumerate(rows, 2):
        if line - 1 > MOST_CSV_ROWS:
            raise BadInput(f"A CSV may have at most {MOST_CSV_ROWS} rows, and this one has more.")
        if not row:
            continue
        if len(row) != len(names) + 1 or not _ID.fullmatch(row[0]):
            raise BadInput(f"Row {line}: {len(names) + 1} cells are needed, the first a positive integer.")
        number = int(row[0])
        if number in seen:
            raise BadInput(f"Row {line}: id {number} is in the CSV more than once.")
        seen.add(number)
        yield number, {name: value_of(dtypes[name], cell) for name, cell in zip(names, row[1:], strict=True) if cell}


def _rows(body: bytes) -> Iterator[list[str]]:
    """The rows of a CSV, one after the other: a body of line ends alone would be millions of rows."""
    try:
        yield from csv.reader(io.TextIOWrapper(io.BytesIO(body), "utf-8-sig", newline=""), strict=True)
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"The body is not CSV in UTF-8: {error}.") from None


def _columns(first: list[str]) -> list[str]:
    """The names of the attributes in the first line of a CSV."""
    if first[:1] != ["id"]:
        raise BadInput("The first line of the CSV must begin with the column id, followed by names of attributes.")
    names = [csv_cells.restore(name) for name in first[1:]]
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BadInput(f"{name[:100]}: the CSV has this column more than once.")
        seen.add(name)
    return names


def value_of(dtype: str, cell: str) -> Any:
    """The value of a cell: JSON for places and vectors, else its text, which the attribute's definition converts."""
    if dtype not in ("geopos", "float_array", "blob"):
        return csv_cells.restore(cell)
    try:
        return msgspec.json.decode(cell)
    except (msgspec.DecodeError, RecursionError):
        return csv_cells.restore(cell)


# --- URLs of files ---------------------------------------------------------------------------------------------------


def replace_urls(writer: Writer, query: FileUrlsQuery, body: FileUrlsUpdate) -> RewriteAnswer:
    """Replace the beginning of the URLs of files by reference, of all media that match.

    Objects have keys, not URLs, and stay as they are: no other media's object can be named like this.

    Raises:
        BadInput: a prefix is not the beginning of an http or https URL, or a new URL is not allowed.
    """
    for name in ("old", "new"):
        if not getattr(body, name).startswith(("https://", "http://")):
            raise BadInput(f"{name}: {getattr(body, name)!r} does not begin with https:// or http://.")
    view = view_queries.current(writer.project)
    own = {each.name: getattr(query, each.name) for each in msgspec.structs.fields(MediaQuery)}
    selected = filters.parse(Kind.MEDIA, MediaQuery(**own))
    numbers = find_ids(view, selected, writer.scope, query.count)
    project = media_service.project_with(writer.project)

    def after(row: Any) -> Any:
        files = with_urls(row, body.old, body.new)
        if files is None:
            return None
        media_service.check_files(project, row.id, files)
        return msgspec.structs.replace(row, media_files=files)

    checked = check_entities(Kind.MEDIA, writer, numbers, after)
    change = writer.bulk_change(
        Kind.MEDIA, "replace_urls", checked.changing, prefixes=(body.old, body.new), fixed=writer.authorship()
    )
    return finish(checked, writer, change, is_dry=query.dry_run)
