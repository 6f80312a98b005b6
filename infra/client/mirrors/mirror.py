"""A folder or bucket kept in step with a project: files of its media, and annotations of a version as JSON lines.

    media/…        of each media the picture, the archived video, or the largest rendition
    media.jsonl  localizations.jsonl  states.jsonl

A file appears when it is whole. A run fetches what is new or has another file, and removes what the project deleted;
what it did not write stays. What broke off is continued. The places are in `folder` and `bucket`.
"""

from __future__ import annotations

import json
import re
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..client import Client
from ..failures import NOT_FOUND, SERVICE_ERROR, Failure

MEDIA = "media"
BASE = ".limn-base"
"""Where each file of rows lies as the mirror wrote it."""
URL_SECONDS = 86_400
TRIES = 5
_NAME_CHARACTERS = 120
"""Characters of a media's name in that of its file."""
_UNSAFE = re.compile(r"[^\w.\- ]+")
Row = dict[str, Any]
Advance = Callable[[int], None]


class MirrorStore(Protocol):
    """Where files and rows lie. Threads share it while it is open."""

    def open(self, owner: str) -> AbstractContextManager[object]:
        """Make ready for a run, until the context ends.

        Args:
            owner: which project is mirrored.

        Raises:
            Failure: the place mirrors another project.
        """

    def held(self) -> set[int]:
        """The media whose files were stored."""

    def has(self, media: int, key: str) -> bool:
        """Whether the file of a media that has this key is there, whole."""

    def store(self, client: Client, row: Row, key: str, advance: Advance) -> None:
        """Store the file of a media, and remove a former one.

        Raises:
            Failure: it did not come; a later call continues.
        """

    def remove(self, media: int) -> None:
        """Remove the files of a media."""

    def write(self, name: str, lines: Iterator[str]) -> None:
        """Replace a file of rows in one step."""


@dataclass
class Mirrored:
    """What one run did."""

    fetched: int = 0
    present: int = 0
    removed: int = 0
    rows: dict[str, int] = field(default_factory=dict)
    """How many rows each file of annotations has."""
    failed: list[tuple[int, str]] = field(default_factory=list)
    """The ids of media whose file did not come, and why."""


class Mirror:
    """One place."""

    def __init__(
        self, client: Client, project: int, place: MirrorStore, *, version: int | None = None, parallel: int = 4
    ) -> None:
        self._client, self._project, self._place, self._version = client, project, place, version
        self._parallel = parallel
        self._lock = threading.Lock()

    def run(self, *, keep: bool = False, advance: Advance = lambda _: None) -> Mirrored:
        """Bring the place up to date.

        Args:
            keep: whether files of deleted media stay.
            advance: gets the bytes received.

        Raises:
            Failure: the place is that of another project, or the service does not answer.
        """
        done = Mirrored()
        project = self._client.project(self._project)
        with self._place.open(f"{self._client.profile.url} project {self._project}"):
            media = [_checked(row) for row in project.media(archive_lifecycle="all")]
            self._files(media, done, advance, keep=keep)
            done.rows["media"] = self._write("media", media)
            for kind in ("localizations", "states"):
                query: Any = {} if self._version is None else {"version": [self._version]}
                done.rows[kind] = self._write(kind, getattr(project, kind)(**query))
        return done

    def _files(self, media: list[Row], done: Mirrored, advance: Advance, *, keep: bool) -> None:
        waiting = []
        for row in media:
            entry = file_of(row)
            if entry and self._place.has(row["id"], entry["path"]):
                done.present += 1
            elif entry:
                waiting.append((row, entry["path"]))

        def fetch(each: tuple[Row, str]) -> None:
            row, key = each
            try:
                self._place.store(self._client, row, key, advance)
            except Failure as failure:
                with self._lock:
                    done.failed.append((row["id"], failure.message))
            else:
                with self._lock:
                    done.fetched += 1

        with ThreadPoolExecutor(self._parallel) as pool:
            list(pool.map(fetch, waiting))
        gone = set() if keep else self._place.held() - {row["id"] for row in media}
        for number in gone:
            self._place.remove(number)
        done.removed = len(gone)

    def _write(self, kind: str, rows: Iterable[Any]) -> int:
        """Write rows as JSON lines; their number."""
        count = 0

        def lines() -> Iterator[str]:
            nonlocal count
            for row in rows:
                count += 1
                yield json.dumps(row, ensure_ascii=False) + "\n"

        self._place.write(f"{kind}.jsonl", lines())
        return count


def _checked(row: Any) -> Row:
    """A media whose id is a number: it is part of the name of a file."""
    if not isinstance(row["id"], int):
        raise Failure(f"The service answers a media whose id is {row['id']!r}, not a number.", SERVICE_ERROR)
    return dict(row)


def name_of(row: Row) -> str:
    """The name of a media, as the end of that of its file."""
    return _UNSAFE.sub("_", row["name"]).strip(". ")[-_NAME_CHARACTERS:]


def mark_of(key: str) -> str:
    """Eight characters by which the names of two files of a media differ."""
    return f"{zlib.crc32(key.encode()):08x}"


def url_of(client: Client, media: int) -> str:
    """A URL from which the file of a media is read.

    Raises:
        Failure: it has none any more.
    """
    entry = file_of(client.get_media(media, presigned=URL_SECONDS))
    if entry is None:
        raise Failure("It has no file any more.", NOT_FOUND)
    return str(entry["path"])


def file_of(media: Any) -> Row | None:
    """The definition of the file of a media to keep: its picture, the archived video, or the largest rendition."""
    files = media.get("media_files") or {}
    for role in ("image", "archival", "streaming"):
        entries = [each for each in files.get(role) or () if each]
        if entries:
            return dict(max(entries, key=lambda each: each["resolution"][0] * each["resolution"][1]))
    return None
