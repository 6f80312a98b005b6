"""`media.csv`, in every archive: the media by key, with what the format cannot hold."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.core.text import csv_cells
from chalicelib.formats.model import MANIFEST, Group, Layout, Media, Section, Sink

COLUMNS = (
    *("key", "name", "id", "elemental_id", "type", "is_video", "width", "height", "frames", "fps"),
    *("md5", "split", "section", "path", "attributes"),
)


def line(values: Iterable[Any]) -> bytes:
    """A line of CSV (RFC 4180, UTF-8): None is empty, true and false are words, lists and objects are JSON.

    A text that a spreadsheet would run as a formula gets an apostrophe before it, which readers take away.
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([cell(value) for value in values])
    return out.getvalue().encode()


def cell(value: Any) -> Any:
    """A value as it stands in CSV; None and numbers are left to the writer."""
    if isinstance(value, str):
        return csv_cells.disarm(value)
    return as_text(value) if isinstance(value, bool | list | tuple | dict) else value


def as_text(value: Any) -> str:
    """A value in text that spreadsheets do not open: as in CSV, but formulas stay as they are."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple | dict):
        return msgspec.json.encode(value).decode()
    return str(value)


LAYOUT: Layout = (line(COLUMNS), Section("media"))


def row(media: Media) -> bytes:
    """The line of a media."""
    return line(getattr(media, name) or None if name == "attributes" else getattr(media, name) for name in COLUMNS)


def write(group: Group, sink: Sink) -> None:
    """Write the line of a group's media, once."""
    if group.is_first:
        sink.append(MANIFEST, "media", row(group.media))
