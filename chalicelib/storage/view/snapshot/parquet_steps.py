"""The Parquet files of a large project, written in steps: ten million rows take minutes, and a function has fifteen.

    write_step(project, end)    continues until all files are written, or the time is over

The files are those of one snapshot, whose objects stay for a day. Which of them are written is noted after each, so a
step that is cut off loses one file. When all are written, the current snapshot refers to them.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import msgspec

from chalicelib.core.keys.object_keys import view_prefix
from chalicelib.core.time import clock
from chalicelib.errors import NotFound
from chalicelib.storage.objects import objects, view_objects
from chalicelib.storage.view.snapshot import files, snapshots
from chalicelib.storage.view.snapshot.files import Part
from chalicelib.storage.view.snapshot.snapshot_records import Manifest, current, stamp, time_of

EXPORT_SHARE = 10
"""Share of changed rows from which on the files are rewritten."""
_PATIENCE = snapshots.KEPT_SECONDS / 2
"""Seconds after which files under way are begun anew: the objects of their snapshot stay for a day."""
_KEY = "snapshots/export.json"


class Export(msgspec.Struct, frozen=True, kw_only=True):
    """Files under way."""

    source: Manifest
    """The snapshot whose rows they hold."""
    where: str
    """Their folder."""
    parts: list[Part] = []
    """Those that are written."""
    last: int = 0
    """The last id in the last of them."""


def write_step(project: int, end: float) -> bool | None:
    """Write Parquet files of a large project where they are due.

    Args:
        project: the project.
        end: the value of `time.monotonic()` after which no other file is begun.

    Returns:
        Whether all are written now; None where there is no need.
    """
    manifest = current(project)
    if manifest is None or manifest.rows <= snapshots.ROWS_EXPORTED or snapshots.is_other(manifest):
        return None
    export = _under_way(project)
    if export is None:
        if manifest.parts and manifest.unexported <= manifest.rows // EXPORT_SHARE:
            return None
        export = Export(source=manifest, where=f"snapshots/{manifest.seq:012d}-{stamp()}")
    view = snapshots.read(project, export.source)
    try:
        with tempfile.TemporaryDirectory(prefix="limn-") as place:
            for part, last, path in files.write(view, Path(place), export.parts, export.last):
                stored = snapshots.store_part(project, part, path, export.where)
                export = msgspec.structs.replace(export, parts=[*export.parts, stored], last=last)
                body = msgspec.json.encode(export)
                objects.write(view_prefix(project) + _KEY, body, "application/json")
                if time.monotonic() > end:
                    return False
    finally:
        view.close()
    snapshots.replace_parts(project, export.parts, export.source.seq, export.source.unexported)
    objects.remove([view_prefix(project) + _KEY])
    return True


def _under_way(project: int) -> Export | None:
    """The files under way, None where there are none, or their snapshot may be deleted before they are written."""
    try:
        body = view_objects.get(project, f"{view_prefix(project)}{_KEY}")
    except NotFound:
        return None
    export = msgspec.json.decode(body, type=Export)
    is_usable = not snapshots.is_other(export.source) and time_of(export.where) > clock.seconds() - _PATIENCE
    return export if is_usable else None
