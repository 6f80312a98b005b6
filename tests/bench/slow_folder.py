"""An object store in a folder that answers as slowly as S3, for benchmarks of views."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any, BinaryIO
from unittest import mock

import msgspec

from chalicelib.errors import NotFound
from chalicelib.storage.objects import objects, view_objects
from chalicelib.storage.view.snapshot import snapshots
from chalicelib.storage.view.snapshot.snapshot_records import Manifest, Pointer

LATENCY, BANDWIDTH = 0.015, 80e6
"""Of the simulated S3: seconds a request, and bytes a second of all requests together."""


class Folder:
    """An object store in a folder, as slow as S3."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.requests, self.bytes = 0, 0
        self.is_slow = False
        self._free = 0.0
        self._lock = threading.Lock()

    def write(self, key: Any, body: bytes | BinaryIO, content_type: str = "", bucket: Any = None) -> None:
        """Store an object."""
        path = self.root / str(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            if isinstance(body, bytes):
                file.write(body)
            else:
                while data := body.read(1 << 22):
                    file.write(data)

    def read_range(self, key: Any, offset: int, length: int, *, bucket: Any = None) -> bytes:
        """A range of an object."""
        self._wait(length)
        with (self.root / str(key)).open("rb") as file:
            file.seek(offset)
            return file.read(length)

    def get_view_object(self, _project: int, key: str) -> bytes:
        """A whole object."""
        path = self.root / key
        if not path.exists():
            raise NotFound.of("object", key)
        self._wait(path.stat().st_size)
        return path.read_bytes()

    def size(self, key: Any, *, bucket: Any = None) -> int | None:
        """The size of an object."""
        self._wait(0)
        path = self.root / str(key)
        return path.stat().st_size if path.exists() else None

    def _wait(self, length: int) -> None:
        self.requests += 1
        self.bytes += length
        if not self.is_slow:
            return
        with self._lock:  # what is read at once shares the bandwidth
            self._free = max(self._free, time.monotonic()) + length / BANDWIDTH
            arrives = self._free + LATENCY
        time.sleep(max(0.0, arrives - time.monotonic()))


pointers: dict[int, Pointer] = {}


def stored(store: Folder) -> Any:
    """Inside, snapshots lie in a folder; their pointers too."""
    stack = mock.patch.multiple(objects, write=store.write, read_range=store.read_range, size=store.size)
    read = mock.patch.object(view_objects, "get", store.get_view_object)
    path = store.root / "pointer.json"

    def pointer(project: int) -> Pointer | None:
        return msgspec.json.decode(path.read_bytes(), type=Pointer) if path.exists() else None

    def advance(manifest: Manifest, where: str, **_: Any) -> Pointer:
        pointers[manifest.project] = Pointer(seq=manifest.seq, folder=where)
        path.write_bytes(msgspec.json.encode(pointers[manifest.project]))
        return pointers[manifest.project]

    def current(project: int) -> Manifest | None:
        found = pointer(project)
        return snapshots.manifest_of(project, found) if found else None

    class Both:
        def __enter__(self) -> None:
            stack.start()
            read.start()
            self.others = mock.patch.multiple(
                snapshots, pointer=pointer, advance=advance, current=current, retired=mock.MagicMock()
            )
            self.others.start()

        def __exit__(self, *_: object) -> None:
            self.others.stop()
            stack.stop()
            read.stop()

    return Both()
