"""A folder kept in step with a project: the files of its media, and the annotations of a version as JSON lines.

    media/<id>_<name>        of each media the picture, the archived video, or the largest rendition
    media.jsonl  localizations.jsonl  states.jsonl

A file appears when it is whole. What a run did is recorded in `.limn-mirror.sqlite`, so the next one fetches what is
new or has another file, and removes what the project deleted; files that it did not write stay. A download that broke
off continues.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from .client import Client
from .failures import NO_CONNECTION, NOT_FOUND, Failure

STATE = ".limn-mirror.sqlite"
MEDIA = "media"
URL_SECONDS = 86_400
_BLOCK = 1024 * 1024
_TRIES = 5
_LONGEST = 120
"""Characters of a media's name in that of its file."""
_UNSAFE = re.compile(r"[^\w.\- ]+")
Row = dict[str, Any]


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
    """One folder."""

    def __init__(
        self, client: Client, project: int, folder: Path, *, version: int | None = None, parallel: int = 4
    ) -> None:
        self._client, self._project, self._folder, self._version = client, project, folder, version
        self._parallel = parallel
        self._lock = threading.Lock()

    def run(self, *, keep: bool = False, advance: Callable[[int], None] = lambda _: None) -> Mirrored:
        """Bring the folder up to date.

        Args:
            keep: whether files of deleted media stay.
            advance: gets the bytes received.

        Raises:
            Failure: the folder is that of another project, or the service does not answer.
        """
        (self._folder / MEDIA).mkdir(parents=True, exist_ok=True)
        done = Mirrored()
        state = sqlite3.connect(self._folder / STATE, check_same_thread=False, isolation_level=None, timeout=30)
        with closing(state):
            state.execute(
                "CREATE TABLE IF NOT EXISTS files (media INTEGER PRIMARY KEY, path TEXT, key TEXT, size INTEGER)"
            )
            state.execute("CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT)")
            self._claim(state)
            media = list(self._client.project(self._project).media(archive_lifecycle="all"))
            self._files(state, [dict(row) for row in media], done, advance, keep=keep)
        done.rows["media"] = self._write("media", media)
        for kind in ("localizations", "states"):
            query: Any = {} if self._version is None else {"version": [self._version]}
            done.rows[kind] = self._write(kind, getattr(self._client.project(self._project), kind)(**query))
        return done

    def _claim(self, state: sqlite3.Connection) -> None:
        own = f"{self._client.profile.url} project {self._project}"
        known = state.execute("SELECT value FROM facts WHERE name = 'project'").fetchone()
        if known and known[0] != own:
            raise Failure(f"{self._folder} mirrors {known[0]}. Give another folder.")
        state.execute("REPLACE INTO facts VALUES ('project', ?)", (own,))

    # --- files -----------------------------------------------------------------------------------------------------

    def _files(
        self, state: sqlite3.Connection, media: list[Row], done: Mirrored, advance: Callable[[int], None], *, keep: bool
    ) -> None:
        known = {row[0]: row[1:] for row in state.execute("SELECT media, path, key, size FROM files")}
        waiting = []
        for row in media:
            entry = file_of(row)
            if entry is None:
                continue
            path, key, size = known.get(row["id"], (None, None, None))
            place = self._folder / path if path else None
            if key == entry["path"] and place is not None and place.exists() and place.stat().st_size == size:
                done.present += 1
            else:
                waiting.append((row, entry, path))

        def fetch(each: tuple[Row, Row, str | None]) -> None:
            row, entry, former = each
            try:
                path, size = self._fetch(row, entry, advance)
            except Failure as failure:
                with self._lock:
                    done.failed.append((row["id"], failure.message))
                return
            with self._lock:
                state.execute("REPLACE INTO files VALUES (?, ?, ?, ?)", (row["id"], path, entry["path"], size))
                done.fetched += 1
            if former and former != path:
                (self._folder / former).unlink(missing_ok=True)

        with ThreadPoolExecutor(self._parallel) as pool:
            list(pool.map(fetch, waiting))
        here = {row["id"] for row in media}
        for number, (path, *_) in known.items():
            if number not in here and not keep:
                (self._folder / path).unlink(missing_ok=True)
                state.execute("DELETE FROM files WHERE media = ?", (number,))
                done.removed += 1

    def _fetch(self, row: Row, entry: Row, advance: Callable[[int], None]) -> tuple[str, int]:
        """Download the file of a media: its path below the folder, and its bytes."""
        name = _UNSAFE.sub("_", row["name"]).strip(". ")[-_LONGEST:]
        path = f"{MEDIA}/{row['id']}_{name}"
        # The part is of one object: another file of the media begins anew.
        part = self._folder / MEDIA / f".{row['id']}-{zlib.crc32(entry['path'].encode()):08x}.part"
        for attempt in range(_TRIES):
            found: Any = self._client.get_media(row["id"], presigned=URL_SECONDS)
            now = file_of(found)
            if now is None:
                raise Failure("It has no file any more.", NOT_FOUND)
            have = part.stat().st_size if part.exists() else 0
            try:
                size = self._stream(now["path"], part, have, advance)
                break
            except httpx.HTTPError as error:
                if attempt == _TRIES - 1:
                    raise Failure(f"The download broke off: {type(error).__name__}", NO_CONNECTION) from None
        part.replace(self._folder / path)
        return path, size

    def _stream(self, url: str, part: Path, have: int, advance: Callable[[int], None]) -> int:
        """Append what is missing to a part: the bytes it then has. Raises httpx.HTTPError where it breaks off."""
        with self._client.stream(url, have) as answer:
            if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:  # it was whole already
                return have
            answer.raise_for_status()
            mode = "ab" if answer.status_code == httpx.codes.PARTIAL_CONTENT else "wb"
            with part.open(mode) as file:
                for block in answer.iter_bytes(_BLOCK):
                    file.write(block)
                    advance(len(block))
        return part.stat().st_size

    # --- rows ------------------------------------------------------------------------------------------------------

    def _write(self, kind: str, rows: Iterable[Any]) -> int:
        """Write rows as JSON lines in one step; their number."""
        target = self._folder / f"{kind}.jsonl"
        part = target.with_name(f".{target.name}.part")
        count = 0
        with part.open("w", encoding="utf-8") as file:
            for line in _lines(rows):
                file.write(line)
                count += 1
        part.replace(target)
        return count


def _lines(rows: Iterable[Any]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False) + "\n"


def file_of(media: Any) -> Row | None:
    """The definition of the file of a media to keep: its picture, the archived video, or the largest rendition."""
    files = media.get("media_files") or {}
    for role in ("image", "archival", "streaming"):
        entries = [each for each in files.get(role) or () if each]
        if entries:
            return dict(max(entries, key=lambda each: each["resolution"][0] * each["resolution"][1]))
    return None
