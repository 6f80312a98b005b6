"""Upload files in parallel, and continue where an earlier run stopped.

A journal (SQLite, beside the configuration) records for each file: the multipart upload, the parts that were
acknowledged, and the media. A file is known by address, project, path, size and time of change. A second run sends the
missing parts only, and no media is created twice: before a creation is repeated, the media of its `uid` is looked up.
"""

from __future__ import annotations

import hashlib
import json
import mimetypes
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from . import configuration, failures
from .client import Client
from .exchange import FilePart
from .failures import NOT_FOUND, REFUSED, Failure

PART = 16 * 1024 * 1024
MOST_PARTS = 10_000
URL_SECONDS = 86_400
KEPT_SECONDS = 20 * 86_400
"""The service removes an upload that is not used for 30 days; an older one is sent again."""
MEDIA_PER_REQUEST = 200
"""Media of one request while they are waited for."""
MARGIN_SECONDS = 3_600
"""URLs that end sooner are not started with."""
OTHER_MEDIA = frozenset(
    {
        *(".heic", ".heif", ".avif", ".webp", ".bmp", ".jp2", ".tif", ".tiff"),
        *(".mxf", ".ts", ".mts", ".m2ts", ".mkv", ".webm", ".mov", ".mp4", ".avi", ".wmv"),
    }
)
"""Suffixes of media that `mimetypes` may not know."""
Advance = Callable[[int], None]
_TABLES = """
CREATE TABLE IF NOT EXISTS uploads (name TEXT PRIMARY KEY, state TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS parts (name TEXT, number INTEGER, tag TEXT NOT NULL, PRIMARY KEY (name, number));
"""


@dataclass
class UploadState:
    """How far one file is."""

    uid: str = field(default_factory=lambda: str(uuid.uuid4()))
    key: str = ""
    upload_id: str = ""
    part_size: int = PART
    urls: list[str] = field(default_factory=list)
    until: float = 0
    """Seconds since 1970 at which the URLs end."""
    parts: dict[str, str] = field(default_factory=dict)
    """ETag of each part that was acknowledged, by its number."""
    is_stored: bool = False
    """Whether the object is complete."""
    is_requested: bool = False
    """Whether the creation of the media was sent."""
    media: int | None = None


class Journal:
    """The states of files, on disk."""

    def __init__(self, place: Path | None = None) -> None:
        place = place or configuration.path().parent / "uploads.sqlite"
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        place.touch(mode=0o600)  # presigned URLs are secrets
        self._lock = threading.Lock()
        self._rows = sqlite3.connect(place, check_same_thread=False, isolation_level=None, timeout=30)
        self._rows.executescript(_TABLES)

    def get(self, name: str) -> UploadState:
        """The state of a file; a new one where it is unknown."""
        with self._lock:
            row = self._rows.execute("SELECT state FROM uploads WHERE name = ?", (name,)).fetchone()
            parts = self._rows.execute("SELECT number, tag FROM parts WHERE name = ?", (name,)).fetchall()
        state = UploadState(**json.loads(row[0])) if row else UploadState()
        state.parts.update((str(number), tag) for number, tag in parts)
        return state

    def put(self, name: str, state: UploadState) -> None:
        """Store the state of a file."""
        with self._lock, self._rows:
            self._rows.execute("BEGIN")
            self._rows.execute("DELETE FROM parts WHERE name = ?", (name,))
            self._rows.execute("REPLACE INTO uploads VALUES (?, ?)", (name, json.dumps(asdict(state))))

    def add_part(self, name: str, state: UploadState, number: int, tag: str) -> None:
        """Store the ETag of a part: alone, as the state has a URL for each of up to 10,000."""
        with self._lock:
            state.parts[str(number)] = tag
            self._rows.execute("REPLACE INTO parts VALUES (?, ?, ?)", (name, number, tag))

    def close(self) -> None:
        """Close the database."""
        self._rows.close()


@dataclass(frozen=True)
class Target:
    """What becomes of the files of one run."""

    project: int
    media_type: int = -1
    """-1: the service chooses by the name of the file."""
    section: str | None = None
    by_folder: bool = False
    """Whether each file's section is the folder that it is in, below the given one."""


@dataclass(frozen=True)
class UploadFile:
    """A file to upload, and its path below the folder that was given."""

    path: Path
    relative: str


@dataclass(frozen=True)
class Outcome:
    """What became of one file: `uploaded`, `present` or `failed`."""

    path: str
    status: str
    media: int | None = None
    reason: str | None = None


def sources(paths: Sequence[Path]) -> Iterator[UploadFile]:
    """The files given, and the media in the folders given, in the order of their names. Links to folders stay out.

    Raises:
        Failure: a path does not exist.
    """
    for path in paths:
        if path.is_dir():
            for found in sorted(path.rglob("*")):
                relative = found.relative_to(path)
                hidden = any(part.startswith(".") for part in relative.parts)
                if found.is_file() and not hidden and is_media(found):
                    yield UploadFile(found, relative.as_posix())
        elif path.is_file():
            yield UploadFile(path, path.name)
        else:
            raise Failure(f"{path} does not exist.")


def is_media(path: Path) -> bool:
    """Whether the name of a file is that of an image or a video."""
    kind = mimetypes.guess_type(path.name)[0] or ""
    return kind.startswith(("image/", "video/")) or path.suffix.lower() in OTHER_MEDIA


class Uploader:
    """Uploads files of one run."""

    def __init__(
        self, client: Client, target: Target, journal: Journal, *, parallel: int, part_size: int = PART
    ) -> None:
        failures.check_parallel(parallel)
        self._client, self._target, self._journal = client, target, journal
        self._parallel, self._part_size = parallel, part_size
        self._gid = str(uuid.uuid4())
        self._parts = ThreadPoolExecutor(parallel, thread_name_prefix="part")
        self._sums = ThreadPoolExecutor(parallel, thread_name_prefix="sum")

    def run(self, files: Sequence[UploadFile], advance: Advance = lambda _: None) -> Iterator[Outcome]:
        """Upload files; yields what became of each as it ends. `advance` gets the bytes sent, or found to be sent."""
        with ThreadPoolExecutor(self._parallel, thread_name_prefix="file") as pool:
            try:
                yield from pool.map(lambda source: self._outcome(source, advance), files)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            finally:
                self._parts.shutdown(cancel_futures=True)
                self._sums.shutdown(cancel_futures=True)

    def store(self, source: UploadFile, advance: Advance = lambda _: None) -> str:
        """Upload a file that becomes no media; its key. An upload of the same file is found again for some days."""
        size = source.path.stat().st_size
        name = f"{self._client.profile.url}|{self._target.project}|{_stamp(source)}|file"
        state = self._journal.get(name)
        if state.is_stored and state.until + KEPT_SECONDS > time.time():
            advance(size)
            return state.key
        try:
            return self._send(source, size, name, UploadState() if state.is_stored else state, advance).key
        finally:
            self._parts.shutdown(cancel_futures=True)

    def _outcome(self, source: UploadFile, advance: Advance) -> Outcome:
        try:
            status, media = self._upload(source, advance)
            return Outcome(str(source.path), status, media)
        except Failure as failure:
            return Outcome(str(source.path), "failed", reason=failure.message)
        except OSError as error:
            return Outcome(str(source.path), "failed", reason=error.strerror or str(error))

    def _upload(self, source: UploadFile, advance: Advance) -> tuple[str, int]:
        before = source.path.stat()
        if not before.st_size:
            raise Failure("The file is empty.")
        name = f"{self._client.profile.url}|{self._target.project}|{_stamp(source)}"
        state = self._journal.get(name)
        if state.is_requested:
            media = self._existing(state)
            if media is not None:
                advance(before.st_size)
                return "present", media
            if state.media is not None:  # it was created, and deleted since
                state = UploadState()
        if state.is_stored and state.until + KEPT_SECONDS < time.time():
            state = UploadState(uid=state.uid)
        is_over = threading.Event()
        md5 = self._sums.submit(_md5, source.path, is_over)  # while the parts are sent
        try:
            if not state.is_stored:
                state = self._send(source, before.st_size, name, state, advance)
            else:
                advance(before.st_size)
            digest = md5.result()
        finally:
            is_over.set()
        after = source.path.stat()
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            raise Failure("The file changed while it was read; upload it again.")
        return "uploaded", self._create(source, name, state, digest)

    def _existing(self, state: UploadState) -> int | None:
        found = self._client.get_media_list(
            self._target.project, uid=state.uid, archive_lifecycle="all", fields="id", stop=1
        )
        return found[0]["id"] if found else None

    # --- bytes -----------------------------------------------------------------------------------------------------

    def _send(self, source: UploadFile, size: int, name: str, state: UploadState, advance: Advance) -> UploadState:
        if not state.urls or state.until - MARGIN_SECONDS < time.time():
            state = self._begin(source, size, name, state.uid)
        try:
            self._send_parts(source, size, name, state, advance)
            if state.upload_id:
                parts = [{"PartNumber": int(number), "ETag": tag} for number, tag in state.parts.items()]
                body: Any = {"key": state.key, "upload_id": state.upload_id, "parts": parts}
                self._client.complete_upload(self._target.project, body)
        except Failure as failure:
            if failure.status in (REFUSED, NOT_FOUND):  # of an upload that expired: the next run begins again
                self._journal.put(name, UploadState(uid=state.uid))
            raise
        state.is_stored = True
        state.urls = []
        self._journal.put(name, state)
        return state

    def _begin(self, source: UploadFile, size: int, name: str, uid: str) -> UploadState:
        part_size = max(self._part_size, -(-size // MOST_PARTS))
        count = -(-size // part_size)
        made = self._client.get_upload_info(
            self._target.project, num_parts=count, expiration=URL_SECONDS, filename=source.path.name
        )
        state = UploadState(
            uid=uid,
            key=made["key"],
            upload_id=made.get("upload_id") or "",
            part_size=part_size,
            urls=made["urls"],
            until=time.time() + URL_SECONDS,
        )
        self._journal.put(name, state)
        return state

    def _send_parts(self, source: UploadFile, size: int, name: str, state: UploadState, advance: Advance) -> None:
        def send(number: int) -> None:
            start = (number - 1) * state.part_size
            part = FilePart(source.path, start, min(state.part_size, size - start))
            tag = self._client.put_bytes(state.urls[number - 1], part).headers.get("ETag", "")
            self._journal.add_part(name, state, number, tag)
            advance(len(part))

        waiting = [number for number in range(1, len(state.urls) + 1) if str(number) not in state.parts]
        advance(size - sum(min(state.part_size, size - (number - 1) * state.part_size) for number in waiting))
        for sent in [self._parts.submit(send, number) for number in waiting]:
            sent.result()

    # --- media -----------------------------------------------------------------------------------------------------

    def _create(self, source: UploadFile, name: str, state: UploadState, md5: str) -> int:
        project, target = self._target.project, self._target
        [link] = self._client.get_download_info(project, {"keys": [state.key]})
        spec: dict[str, Any] = {
            "type": target.media_type,
            "name": source.path.name,
            "md5": md5,
            "url": link["url"],
            "uid": state.uid,
            "gid": self._gid,
        }
        folder = source.relative.rpartition("/")[0]
        section = folder if target.by_folder and folder else target.section
        if section:
            spec["section"] = section
        state.is_requested = True
        self._journal.put(name, state)
        made = self._client.create_media_list(project, [cast("Any", spec)])["id"]
        state.media = int(made[0] if isinstance(made, list) else made)
        self._journal.put(name, state)
        return state.media


def _stamp(source: UploadFile) -> str:
    found = source.path.stat()
    return f"{source.path.resolve()}|{found.st_size}|{found.st_mtime_ns}"


def _md5(path: Path, is_over: threading.Event) -> str:
    """The MD5 of a file; of a part of it once nobody waits for it."""
    with path.open("rb") as file:
        digest = hashlib.md5(usedforsecurity=False)
        while not is_over.is_set() and (block := file.read(1024 * 1024)):
            digest.update(block)
        return digest.hexdigest()
