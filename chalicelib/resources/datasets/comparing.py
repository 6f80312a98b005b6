"""Comparison of two versions of datasets, by their Parquet files.

Rows are the same where their elemental id, version and media are: a new mark of a localization changes it. They are
compared by all columns but their ids. Labels between the localizations of a track are not compared.
"""

# ruff: noqa: S608 statements are made of our own words and quoted names

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chalicelib.access.scope import Scope
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.kinds import Kind
from chalicelib.core.models.datasets import StoredVersion
from chalicelib.core.permissions import Level
from chalicelib.errors import TooLarge
from chalicelib.formats.writers import table
from chalicelib.resources.datasets.schemas import Comparison, Difference
from chalicelib.resources.exports import places
from chalicelib.storage.objects import objects

if TYPE_CHECKING:
    import duckdb

MOST_BYTES = 400_000_000
"""Bytes of both versions together: some 10 million localizations, which a request has the time for."""
MOST_CHECKED = 20_000
"""Rows that differ, whose permissions are read one by one where levels differ within a project."""
_KEYS = {
    "media": ("elemental_id", "id"),
    "localizations": ("elemental_id", "version", "media"),
    "states": ("elemental_id", "version", "media"),
}
_KIND = {"media": Kind.MEDIA, "localizations": Kind.LOCALIZATION, "states": Kind.STATE}
_AUTOMATIC = ("id", "path", "split", "keyed", "track", "key")
"""Columns that differ between versions without a change of the row."""


def compare(base: StoredVersion, other: StoredVersion, most: int, scope: Scope) -> Comparison:
    """What was added, changed and removed from one version to another.

    Args:
        base: the earlier one.
        other: the later one.
        most: most ids of each list.
        scope: the reader's; rows that the reader may not see by now are left out.

    Raises:
        TooLarge: they are too large to be compared within a request.
    """
    if base.size + other.size > MOST_BYTES:
        message = f"The versions have {base.size + other.size:,} bytes; {MOST_BYTES:,} can be compared. "
        raise TooLarge(message + "Export both as parquet and compare them with DuckDB.")
    import duckdb  # noqa: PLC0415 kept off the API's cold start

    with tempfile.TemporaryDirectory(prefix="limn-") as folder, duckdb.connect(config={"threads": 2}) as database:
        for side, version in (("old", base), ("new", other)):
            for name in table.COLUMNS:
                _load(database, version, name, f"{side}_{name}", Path(folder))
        found = {name: _difference(database, base.project, name, most, scope) for name in table.COLUMNS}
    return Comparison(base=base.uid, other=other.uid, **found)


def _load(database: duckdb.DuckDBPyConnection, version: StoredVersion, name: str, into: str, folder: Path) -> None:
    """The rows of a table: their key, id, and a hash of all other columns."""
    database.execute(f"CREATE TABLE {into} (k VARCHAR, id BIGINT, h UBIGINT)")
    path = folder / "rows.parquet"
    for key in _files(version, name):
        objects.download(key, path)
        if not path.stat().st_size:
            continue
        described = database.execute("DESCRIBE SELECT * FROM read_parquet(?)", [str(path)]).fetchall()
        columns = sorted(row[0] for row in described if row[0] not in _AUTOMATIC)
        values = ", ".join(f"{table.identifier(column)} := {table.identifier(column)}" for column in columns)
        # The patch drops columns without a value: an attribute that a type got later changes no row.
        content = f"json_merge_patch('{{}}', to_json(struct_pack({values})))"
        key_of = " || '|' || ".join(
            f"coalesce(CAST({table.identifier(column)} AS VARCHAR), '')" for column in _KEYS[name]
        )
        where = " WHERE keyed" if name == "localizations" else ""
        database.execute(
            f"INSERT INTO {into} SELECT {key_of}, id, hash(CAST({content} AS VARCHAR)) FROM read_parquet(?){where}",
            [str(path)],
        )


def _files(version: StoredVersion, name: str) -> Iterator[ObjectKey]:
    """The files of a table."""
    return (key for key in objects.under(places.rows_prefix(version)) if key.path.endswith(f".{name}.parquet"))


def _difference(database: duckdb.DuckDBPyConnection, project: int, name: str, most: int, scope: Scope) -> Difference:
    reader = scope.for_level(Level.VIEW)
    is_restricted = bool(reader.terms(project))

    def side(word: str) -> str:
        # In parts of one media's frames, media and states stand again.
        return f"(SELECT k, any_value(id) AS id, any_value(h) AS h FROM {word}_{name} GROUP BY k)"

    def rows(where: str, column: str) -> tuple[int, list[int]]:
        number, ids = all_rows(where, column, MOST_CHECKED + 1 if is_restricted else most)
        if not is_restricted:
            return number, ids
        if number > MOST_CHECKED:
            message = (
                f"More than {MOST_CHECKED:,} {name} differ. Only users who see all of the project can compare these."
            )
            raise TooLarge(message)
        seen = reader.visible_ids(project, _KIND[name], ids)
        return len(seen), [each for each in ids if each in seen][:most]

    def all_rows(where: str, column: str, most: int) -> tuple[int, list[int]]:
        joined = f"{side('old')} o FULL JOIN {side('new')} n ON o.k = n.k WHERE {where}"
        number: Any = database.execute(f"SELECT count(*) FROM {joined}").fetchone()
        ids = database.execute(f"SELECT {column}.id FROM {joined} ORDER BY 1 LIMIT {most}").fetchall()
        return number[0], [each[0] for each in ids]

    added, removed, changed = rows("o.k IS NULL", "n"), rows("n.k IS NULL", "o"), rows("o.h <> n.h", "n")
    return Difference(
        added=added[0],
        changed=changed[0],
        removed=removed[0],
        added_ids=added[1],
        changed_ids=changed[1],
        removed_ids=removed[1],
    )
