"""The frozen rows of versions of datasets, read from their Parquet files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from chalicelib.core.models.datasets import StoredVersion
from chalicelib.errors import BadInput, TooLarge
from chalicelib.formats.writers import table
from chalicelib.resources.datasets.schemas import DatasetRow
from chalicelib.resources.exports import places
from chalicelib.storage.objects import objects

Table = Literal["localizations", "states"]
MOST_ROWS = 100_000
"""Rows of one media and table in one answer."""
_MEMBERS = frozenset(DatasetRow.__struct_fields__)


def list_media(version: StoredVersion) -> list[int]:
    """The ids of the media that a version holds, in ascending order."""
    return sorted({number for _, keys in _media_of_parts(version) for number in keys})


def list_rows(version: StoredVersion, name: Table, media: int) -> list[DatasetRow]:
    """The rows of a table on one media, as they were frozen, by id.

    Raises:
        BadInput: the version is not finished, or does not hold the media.
        TooLarge: the media has too many rows.
    """
    if version.status != "succeeded":
        raise BadInput(f"The version is {version.status}; its rows can be read once it has succeeded.")
    parts = [(part, keys[media]) for part, keys in _media_of_parts(version) if media in keys]
    if not parts:
        raise BadInput(f"media_id: the version does not hold media {media}.")
    found: dict[Any, DatasetRow] = {}
    for part, key in parts:
        for row in _rows(version, part, name):
            if row["media"] == key and row.get("keyed") is not False:
                found[row["id"]] = _as_row(row, media)
                if len(found) > MOST_ROWS:
                    message = f"Media {media} has more than {MOST_ROWS:,} rows in the version; export it as parquet."
                    raise TooLarge(message)
    return sorted(found.values(), key=lambda row: row.id)


def _media_of_parts(version: StoredVersion) -> Iterator[tuple[int, dict[int, str]]]:
    """By part, the ids of its media and their keys in the other tables."""
    for key in objects.under(places.rows_prefix(version)):
        part, _, name = key.path.rpartition("/")[2].partition(".")
        if name == "media.parquet":
            yield int(part), {row["id"]: row["key"] for row in _rows(version, int(part), "media")}


def _rows(version: StoredVersion, part: int, name: str) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="limn-") as folder:
        path = Path(folder) / "rows.parquet"
        objects.download(places.rows_key(version, part, name), path)
        if path.stat().st_size:
            yield from table.read_parquet(path)


def _as_row(row: dict[str, Any], media: int) -> DatasetRow:
    known = {name: value for name, value in row.items() if name in _MEMBERS and value is not None}
    refined = row.get("refined")
    attributes = {
        name.removeprefix(table.PREFIX): value
        for name, value in row.items()
        if name.startswith(table.PREFIX) and value is not None
    }
    shown = {**known, "media": media, "refined": msgspec.json.decode(refined) if refined else None}
    return DatasetRow(**shown, attributes=attributes)
