"""Snapshots: the view of a project at a commit as Parquet in S3, from which a cold container starts.

    begin(project)     the view of the current snapshot, an empty one where there is none; the log goes on from there
    save(view, …)      writes a snapshot and makes it the current one
    sweep(project)     removes files that no current snapshot refers to

Every snapshot has a folder of its own and is never changed; what makes it the current one is the pointer, moved when
all is written. Until then, and after a death on the way, nobody knows of it but `sweep`.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from chalicelib.core.commits import Commit
from chalicelib.core.resource import now
from chalicelib.errors import NotFound
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import retired
from chalicelib.storage.log import log
from chalicelib.storage.objects import objects
from chalicelib.storage.view import files as view_files
from chalicelib.storage.view.deleted_definitions import Lost
from chalicelib.storage.view.files import Part
from chalicelib.storage.view.snapshot_records import (
    Manifest,
    Pointer,
    Segment,
    advance,
    folder,
    made_at,
    manifest_of,
    pointer,
    stamp,
)
from chalicelib.storage.view.view import View

KEPT_SECONDS = 24 * 3600
"""For how long files stay that the current snapshot does not refer to: somebody may be reading or writing them."""
AT_ONCE = 256
"""How many commits are applied in one transaction."""
_AHEAD = 3
"""How many files are fetched while one is loaded; bounds what lies on the disk."""
_encode = msgspec.json.Encoder().encode
_logger = logging.getLogger(__name__)


def begin(project: int) -> View:
    """The view of the current snapshot, an empty one where there is none.

    Raises:
        NotFound: a file of it is missing; `maintenance/rebuild.py` makes another.
    """
    found = pointer(project)
    while found is not None:
        try:
            return read(project, manifest_of(project, found))
        except NotFound:
            newer = pointer(project)
            if newer == found:
                if log.first(project) == 1:
                    _logger.exception("snapshot of project %d is incomplete, reading its whole log", project)
                    break
                raise
            found = newer
    return View(project)


def read(project: int, manifest: Manifest) -> View:
    """The view of a snapshot. Raises NotFound where a file of it is missing."""
    definitions = view_files.definitions_of(
        project, objects.get_view_object(project, f"{folder(project)}{manifest.definitions}")
    )
    make = view_files.load if manifest.shape == view_files.SHAPE else view_files.replay
    with tempfile.TemporaryDirectory(prefix="limn-") as place:
        view = make(definitions, manifest.seq, _fetched(project, manifest.parts, Path(place)))
    view.lost = manifest.lost
    return view


def _fetched(project: int, parts: list[Part], place: Path) -> Iterator[tuple[Part, Path]]:
    """The files of a snapshot in order, each there until the next is asked for."""

    def fetch(number: int) -> Path:
        path = place / f"{number}.parquet"
        objects.download(folder(project) + parts[number].key, path, bucket=settings().views_bucket)
        return path

    with ThreadPoolExecutor(_AHEAD, thread_name_prefix="snapshot") as pool:
        under_way = [pool.submit(fetch, number) for number in range(min(_AHEAD, len(parts)))]
        for number, part in enumerate(parts):
            path = under_way[number].result()
            if len(under_way) < len(parts):
                under_way.append(pool.submit(fetch, len(under_way)))
            yield part, path
            path.unlink()


def save(view: View, segments: list[Segment], *, replace: bool = False) -> Pointer | None:
    """Write the snapshot of a view to which nothing is applied meanwhile, and make it the current one.

    Args:
        view: the view.
        segments: the archive of all commits up to it.
        replace: also where the current one is as of the same commit.

    Returns:
        The new pointer, None where there is a newer snapshot by now.
    """
    project, bucket = view.project, settings().views_bucket
    where = f"snapshots/{view.seq:012d}-{stamp()}"
    parts: list[Part] = []
    with tempfile.TemporaryDirectory(prefix="limn-") as place:
        for part, path in view_files.write(view, Path(place)):
            placed = msgspec.structs.replace(part, key=f"{where}/{part.key}")
            with path.open("rb") as file:
                objects.write(folder(project) + placed.key, file, "application/vnd.apache.parquet", bucket)
            path.unlink()
            parts.append(placed)
    definitions = f"{where}/definitions.json"
    body = view_files.definitions_json(view.definitions)
    objects.write(folder(project) + definitions, body, "application/json", bucket)
    manifest = Manifest(
        format=view_files.FORMAT,
        shape=view_files.SHAPE,
        project=project,
        seq=view.seq,
        at=now(),
        rows=view.rows,
        definitions=definitions,
        parts=parts,
        archive=segments,
        lost=view.lost if retired.of(project).entries else Lost(),
    )
    objects.write(folder(project) + f"{where}/manifest.json", _encode(manifest), "application/json", bucket)
    return advance(manifest, where, replace=replace)


def sweep(project: int) -> None:
    """Remove what neither the current snapshot refers to nor anybody can still be reading or writing."""
    found = pointer(project)
    if found is None:
        return
    kept = {segment.key for segment in manifest_of(project, found).archive}
    whole = folder(project)
    oldest = log.first(project)
    gone = []
    for key in objects.under(whole, bucket=settings().views_bucket):
        kind, own, *rest = key.path.removeprefix(whole.path).split("/")
        if kind == "snapshots":
            stale = bool(rest) and f"{kind}/{own}" != found.folder and _is_old(own)
        elif kind == "archive":
            stale = f"{kind}/{own}" not in kept and _is_old(own)
        else:  # the body of a commit that has expired, or that lost the race for a number that has
            stale = kind == "commits" and own.isdigit() and int(own) < oldest
        if stale:
            gone.append(key)
    if gone:
        objects.remove(gone, bucket=settings().views_bucket)


def _is_old(name: str) -> bool:
    return made_at(name) < time.time() - KEPT_SECONDS


def follow(view: View, upto: int) -> Iterator[Commit]:
    """Bring a view up to a commit, yielding the commits on the way once they are part of it."""
    waiting: list[Commit] = []
    for commit in log.read_after(view.project, view.seq):
        if commit.seq > upto:
            break
        waiting.append(commit)
        if len(waiting) >= AT_ONCE:
            view.apply(waiting)
            yield from waiting
            waiting = []
    view.apply(waiting)
    yield from waiting
