"""A mirror in a folder: `media/<id>_<name>`. What a run did is recorded in `.limn-mirror.sqlite`."""

from __future__ import annotations

import filecmp
import re
import shutil
import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import httpx

from .. import failures
from ..client import Client
from ..failures import Failure
from .mirror import BASE, MEDIA, TRIES, Advance, Row, mark_of, name_of, url_of

STATE = ".limn-mirror.sqlite"
_BLOCK = 1024 * 1024
_LINES = 1000
"""Rows that are written before the room on the disk is looked at again."""
_OURS = re.compile(r"(\d+)_")


class Folder:
    """A folder, which is made if it is not there."""

    holds = 1000

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    @contextmanager
    def open(self, owner: str) -> Iterator[None]:
        """Open the record of what was stored."""
        (self._path / MEDIA).mkdir(parents=True, exist_ok=True)
        self._state = sqlite3.connect(self._path / STATE, check_same_thread=False, isolation_level=None, timeout=30)
        try:
            self._state.execute(
                "CREATE TABLE IF NOT EXISTS files (media INTEGER PRIMARY KEY, path TEXT, key TEXT, size INTEGER)"
            )
            self._state.execute("CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT)")
            known = self._state.execute("SELECT value FROM facts WHERE name = 'project'").fetchone()
            if known and known[0] != owner:
                raise Failure(f"{self._path} mirrors {known[0]}. Give another folder.")
            self._state.execute("REPLACE INTO facts VALUES ('project', ?)", (owner,))
            rows = self._state.execute("SELECT media, path, key, size FROM files")
            self._known: dict[int, tuple[str, str, int]] = {media: tuple(rest) for media, *rest in rows}
            yield
        finally:
            self._state.close()

    def held(self) -> set[int]:
        """See `MirrorStore`."""
        return set(self._known)

    def has(self, media: int, key: str) -> bool:
        """See `MirrorStore`."""
        path, known, size = self._known.get(media, ("", "", 0))
        place = self._path / path
        return known == key and place.is_file() and place.stat().st_size == size

    def store(self, client: Client, row: Row, key: str, advance: Advance) -> None:
        """See `MirrorStore`."""
        media = row["id"]
        path = f"{MEDIA}/{media}_{name_of(row)}"
        # The part is of one object: another file of the media begins anew.
        part = self._path / MEDIA / f".{media}-{mark_of(key)}.part"
        for attempt in range(TRIES):
            have = part.stat().st_size if part.exists() else 0
            try:
                size = _stream(client, url_of(client, media), part, have, advance)
                break
            except httpx.HTTPError as error:
                if attempt == TRIES - 1:
                    message = f"The download broke off: {type(error).__name__}"
                    raise Failure(message, failures.NO_CONNECTION) from None
            except failures.NoRoom:
                part.unlink(missing_ok=True)
                raise
        part.replace(self._path / path)
        with self._lock:
            self._state.execute("REPLACE INTO files VALUES (?, ?, ?, ?)", (media, path, key, size))
        former = self._known.get(media, (path,))[0]
        if former != path:
            (self._path / former).unlink(missing_ok=True)

    def remove(self, media: int) -> None:
        """See `MirrorStore`."""
        (self._path / self._known[media][0]).unlink(missing_ok=True)
        self._state.execute("DELETE FROM files WHERE media = ?", (media,))

    def write(self, name: str, lines: Iterator[str]) -> None:
        """See `MirrorStore`. Raises Failure where the file was changed here: its changes would be lost."""
        place, base = self._path / name, self._path / BASE / name
        part, next_base = self._path / f".{name}.part", self._path / BASE / f"{name}.part"
        base.parent.mkdir(exist_ok=True)
        # A run that died before its last step wrote the file, and not the base yet.
        if place.exists() and base.exists() and not any(_is_same(place, each) for each in (base, next_base)):
            raise Failure(f"{place} was changed. Send it by --back --apply, or delete it to leave its changes.")
        with part.open("w", encoding="utf-8") as file:
            for some in iter(lambda: list(islice(lines, _LINES)), []):
                failures.check_room(self._path)
                file.writelines(some)
        shutil.copyfile(part, next_base)
        part.replace(place)
        next_base.replace(base)

    def accept(self, names: Iterable[str]) -> None:
        """See `Returning`."""
        for name in names:
            (self._path / name).unlink(missing_ok=True)

    def others(self, known: set[int]) -> list[str]:
        """See `Returning`. A mirror that died after a download has a file of a media that is not in its record yet."""
        ours = {path for path, *_ in self._known.values()}
        found = sorted(each.name for each in (self._path / MEDIA).iterdir() if each.is_file())
        free = (name for name in found if name[0] != "." and f"{MEDIA}/{name}" not in ours)
        return [name for name in free if not ((media := _OURS.match(name)) and int(media[1]) in known)]

    def fetch(self, name: str) -> Path:
        """See `Returning`."""
        return self._path / MEDIA / name

    def settle(self, name: str, media: int) -> None:
        """See `Returning`."""
        self.fetch(name).rename(self._path / MEDIA / f"{media}_{name_of({'name': name})}")

    def read(self, name: str) -> Iterator[str]:
        """See `Returning`."""
        return self._lines(self._path / name)

    def base(self, name: str) -> Iterator[str]:
        """See `Returning`."""
        return self._lines(self._path / BASE / name)

    def _lines(self, path: Path) -> Iterator[str]:
        try:
            with path.open(encoding="utf-8") as file:
                yield from file
        except FileNotFoundError:
            raise Failure(f"{path} does not exist. Run this first: limn mirror {self._path}") from None


def _is_same(one: Path, other: Path) -> bool:
    return other.exists() and filecmp.cmp(one, other, shallow=False)


def _stream(client: Client, url: str, part: Path, have: int, advance: Advance) -> int:
    """Append what is missing to a part: the bytes it then has. Raises httpx.HTTPError where it breaks off."""
    with client.stream(url, have) as answer:
        if answer.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:  # it was whole already
            return have
        answer.raise_for_status()
        mode = "ab" if answer.status_code == httpx.codes.PARTIAL_CONTENT else "wb"
        with part.open(mode) as file:
            for block in answer.iter_bytes(_BLOCK):
                failures.check_room(part.parent)
                file.write(block)
                advance(len(block))
    return part.stat().st_size
