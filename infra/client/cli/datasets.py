"""Exports and imports of datasets, and the feed of events."""

from __future__ import annotations

import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from .. import failures, uploads
from ..client import Client
from ..failures import Failure

OPEN = ("pending", "checking", "running", "planning", "writing", "joining")
"""States of exports and imports that are not over."""
FORMATS = {".json": "coco", ".csv": "csv", ".jsonl": "jsonl", ".parquet": "parquet"}
"""Formats of single files by suffix."""
_BLOCK = 1024 * 1024
_TRIES = 5
PAUSE, LONGEST_PAUSE = 0.5, 15.0
"""Seconds between two attempts to reach a service that restarts: of the first, and at most."""


def is_over(work: dict[str, Any]) -> bool:
    """Whether an export or import has ended."""
    return work["status"] not in OPEN


def download(client: Client, read: Callable[[], dict[str, Any]], target: Path, advance: uploads.Advance) -> int:
    """Download the archive of an export; a download that breaks off continues. Returns its bytes.

    Args:
        client: the service.
        read: reads the export; a new presigned URL for each attempt.
        target: the file, which appears when it is whole.
        advance: gets the bytes received.

    Raises:
        Failure: it breaks off each time, or has another size than the service says.
    """
    part = target.with_name(f".{target.name}.part")
    try:
        for attempt in range(_TRIES):
            export = read()
            have = part.stat().st_size if part.exists() else 0
            try:
                with client.stream(export["url"], have) as answer, part.open("ab") as file:
                    answer.raise_for_status()
                    for block in answer.iter_bytes(_BLOCK):
                        failures.check_room(part.parent)
                        file.write(block)
                        advance(len(block))
                        if file.tell() > export["size"]:
                            break
                break
            except failures.NoRoom:
                raise
            except (httpx.HTTPError, Failure) as error:
                if attempt == _TRIES - 1:
                    raise Failure(f"The download broke off: {type(error).__name__}", failures.NO_CONNECTION) from None
        size = part.stat().st_size
        if size != export["size"]:
            raise Failure(f"The download has {size} bytes, and the export {export['size']}.", failures.SERVICE_ERROR)
        part.replace(target)
        return size
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def archive_of(path: Path) -> Iterator[Path]:
    """The file to upload: the file itself, or a zip of a folder."""
    if path.is_file():
        yield path
        return
    if not path.is_dir():
        raise Failure(f"{path} does not exist.")
    with tempfile.TemporaryDirectory(prefix="limn-") as folder:
        made = Path(folder) / f"{path.resolve().name}.zip"
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(path.rglob("*")):
                if file.is_file() and not file.is_symlink():
                    archive.write(file, file.relative_to(path).as_posix())
        yield made


def members(path: Path | None) -> dict[str, Any]:
    """The JSON object of a file of further members."""
    if path is None:
        return {}
    found = failures.read_json(path)
    if not isinstance(found, dict):
        raise Failure(f"{path} is not a JSON object.")
    return found


def summary(report: dict[str, Any]) -> str:
    """The report of an import as text."""
    lines = []
    for name in ("media", "localizations", "states"):
        tally = report[name]
        new = tally["accepted"] - tally["present"]
        lines.append(
            f"{name + ':':15}{tally['read']} read, {new} new, {tally['present']} present, {tally['refused']} refused, "
            f"{tally['skipped']} skipped"
        )
    for each in report.get("types", ()):
        attributes = ", ".join(f"{name} ({dtype})" for name, dtype in each["attributes"].items())
        word = "new type" if each.get("type") is None else "attributes of"
        lines.append(f"{word} {each['name']!r} ({each['dtype']}){': ' if attributes else ''}{attributes}")
    lines += [f"class {each['name']!r}: {each['reason']}" for each in report["classes"] if each.get("reason")]
    lines += [f"{each['place']}: {each['reason']}" for each in report["refusals"][:20]]
    if (more := sum(report[name]["refused"] for name in ("media", "localizations", "states")) - 20) > 0:
        lines.append(f"and {more} more; --json has the first 200")
    lines += [f"dropped: {each['name']} of {each['rows']} rows" for each in report.get("dropped", ())]
    lines += [f"note: {each['place']}: {each['reason']}" for each in report["notes"][:10]]
    return "\n".join(lines)


def refused(report: dict[str, Any] | None) -> int:
    """How many rows an import refuses."""
    return sum(report[name]["refused"] for name in ("media", "localizations", "states")) if report else 0


def events(client: Client, project: int, after: str, kinds: str | None, *, follow: bool) -> Iterator[Any]:
    """Pages of events; with `follow` without end. A page holds `next`, where the following one begins.

    A follower that has read a page lives through a restart of the service: it asks for the same page until it gets it.
    """
    is_known, pause = False, PAUSE
    given = {"kinds": kinds, "limit": 1000, "wait": 20 if follow else None}
    asked: Any = {name: value for name, value in given.items() if value is not None}
    while True:
        try:
            page = client.get_event_list(project, **asked, after=after)
        except Failure as failure:
            if not (follow and is_known and failure.status in (failures.NO_CONNECTION, failures.SERVICE_ERROR)):
                raise
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
            continue
        is_known, pause = True, PAUSE
        yield page
        if not follow and not page["events"] and not page["behind"]:
            return
        after = page["next"]
