"""The DuckDB of a container: one instance for the views of all projects, with bounded memory and threads.

Every view has a database of its own, attached under a name; its file is a `Device`, which DuckDB reads and writes
through a registered filesystem. So a snapshot in S3 is a usable database: blocks are fetched when a query needs them,
DuckDB caches recently used ones within its memory limit, and changes stay in this container.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import io
import itertools
import os
import shutil
import tempfile
import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from chalicelib.settings import settings
from chalicelib.storage.view.database.devices import Cache, Device, Fetch
from chalicelib.storage.view.database.documents import Documents, PackCache
from chalicelib.storage.view.database.shares import MOST_STATEMENTS, Turns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from chalicelib.storage.view.database.devices import Extent

HEADERS = 12_288
"""Bytes before the first block of a DuckDB file: chunks of a device are aligned to it, which only saves time."""
_SCHEME = "limn"
_WITHOUT_LOG = "RECOVERY_MODE no_wal_writes"
"""A database that is cut off is never opened again, so a write-ahead log is never read."""
_PARSED = 256
"""The most parsed statements that are kept."""
_PROCESS = 0.2
"""The share of the memory for views that Python, its libraries and running queries take."""
_SHARE, _LEAST = 0.5, 0.2
"""The share that DuckDB may take where no vectors are held, and in any case."""
_SHRUNK = 0.05
"""The share that it keeps where other views need memory."""
_SPILL = 4
"""The share of the disk for views that sorts and joins larger than memory take in addition."""
_DOCUMENTS, _FEWEST = 0.15, 0.03
"""The share that recently read documents may take where no vectors are held, and in any case."""
_QUARTER = 4
"""Documents take one in this many bytes that DuckDB and documents may take together."""


def budgets(held: int) -> tuple[int, int]:
    """The most bytes that DuckDB and recently read documents may take.

    Args:
        held: bytes that vectors take.
    """
    whole = settings().view_memory
    left = whole * (1 - _PROCESS) - held
    documents = max(whole * _FEWEST, min(whole * _DOCUMENTS, left / _QUARTER))
    return int(max(whole * _LEAST, min(whole * _SHARE, left - documents))), int(documents)


class Engine:
    """One DuckDB instance and the disk cache below it."""

    def __init__(self) -> None:
        import duckdb  # noqa: PLC0415 83 ms that only readers of views pay

        self.cache = Cache(settings().view_disk)
        limit, documents = budgets(0)
        self.packs = PackCache(documents)
        self.turns = Turns(MOST_STATEMENTS)
        self._folder = tempfile.mkdtemp(prefix="limn-spill-")
        self._devices: dict[str, Device] = {}
        self._abandoned: deque[tuple[str, Documents]] = deque()
        self._names = itertools.count(1)
        self._held: dict[str, int] = {}
        self._is_fitted = True
        self._lock = threading.Lock()
        self._parsed: dict[str, duckdb.Statement] = {}
        self._root = duckdb.connect(
            ":memory:",
            config={
                "autoinstall_known_extensions": "false",
                "autoload_known_extensions": "false",
                "memory_limit": f"{limit}B",
                "threads": str(min(4, os.cpu_count() or 1)),
                "async_threads": "1",
                # its jemalloc keeps what was freed until somebody allocates again, which at rest nobody does
                "allocator_background_threads": "true",
                "temp_directory": self._folder,
                "max_temp_directory_size": f"{settings().view_disk // _SPILL}B",
                "preserve_insertion_order": "false",
                "checkpoint_threshold": "1TB",  # View decides when to: by itself DuckDB does at the worst moment
            },
        )
        self._root.execute("PRAGMA disable_checkpoint_on_shutdown")
        # Measurements hardly compress: in this form they are as large as they are, and take twice as long to read.
        self._root.execute("SET disabled_compression_methods = 'alprd'")
        self._root.register_filesystem(_filesystem(self._devices))

    def device(self, fetch: Fetch | None = None, extents: Sequence[Extent] = (), size: int = 0) -> Device:
        """A file for a database, a local one or one over a snapshot's."""
        return Device(self.cache, fetch, extents, size, first=HEADERS)

    def attach(self, device: Device) -> str:
        """Attach the database in a file, a new one where it is empty; returns its name."""
        self.collect()
        name = f"v{next(self._names)}"
        self._devices[name] = device
        try:
            with self._lock:
                self._root.execute(f"ATTACH '{_SCHEME}://{name}' AS {name} ({_WITHOUT_LOG})")
        except BaseException:
            del self._devices[name]
            raise
        return name

    def cursor(self, name: str) -> duckdb.DuckDBPyConnection:
        """A connection that uses a database."""
        with self._lock:
            cursor = self._root.cursor()
        cursor.execute(f"USE {name}")
        return cursor

    def statement(self, text: str, cursor: duckdb.DuckDBPyConnection) -> duckdb.Statement:
        """A statement, parsed once: parsing takes a third of the time of a short one.

        It knows no names yet, so that all connections and databases can run it, several threads at once.
        """
        found = self._parsed.get(text)
        if found is None:
            [found] = cursor.extract_statements(text)
            if len(self._parsed) >= _PARSED:
                self._parsed.clear()
            self._parsed[text] = found
        return found

    def abandon(self, name: str, documents: Documents) -> None:
        """Mark a database and its documents as unused. Safe in finalizers: `collect` releases them."""
        self._abandoned.append((name, documents))

    def collect(self) -> None:
        """Detach the databases marked by `abandon`."""
        while self._abandoned:
            try:
                name, documents = self._abandoned.popleft()
            except IndexError:
                return
            with self._lock:
                self._root.execute(f"DETACH {name}")
            if self._held.pop(name, 0):
                self._fit()
            self._devices.pop(name).close()
            documents.close()

    def record_vectors(self, name: str, size: int) -> None:
        """Record the bytes of vectors of a view, by which the limits of DuckDB and documents shrink."""
        if size != self._held.get(name, 0) or not self._is_fitted:
            self._held[name] = size
            self._fit()

    def shrink(self) -> None:
        """Drop what can be read again from the disk: blocks that DuckDB caches, and documents."""
        self.packs.shrink()
        with contextlib.suppress(Exception), self._lock:  # running statements may need more
            self._root.execute(f"SET memory_limit = '{int(settings().view_memory * _SHRUNK)}B'")
        self._fit()
        trim()

    def _fit(self) -> None:
        limit, documents = budgets(sum(list(self._held.values())))
        self.packs.resize(documents)
        self._is_fitted = False
        with contextlib.suppress(Exception), self._lock:  # running statements may need more: tried again later
            self._root.execute(f"SET memory_limit = '{limit}B'")
            self._is_fitted = True

    @property
    def memory(self) -> int:
        """The memory of DuckDB in bytes."""
        with self._lock:
            ((used,),) = self._root.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchall()
        return int(used or 0)

    def is_disk_short(self, share: float) -> bool:
        """Whether local writes take more than a share of the disk for views."""
        return self.cache.written > share * settings().view_disk

    def close(self) -> None:
        """Close the instance and delete its files."""
        self._root.close()
        self.cache.close()
        shutil.rmtree(self._folder, ignore_errors=True)


_engine: Engine | None = None
_engine_lock = threading.Lock()


def engine() -> Engine:
    """The engine of this container."""
    global _engine  # noqa: PLW0603 one per container
    with _engine_lock:
        if _engine is None:
            _engine = Engine()
            atexit.register(_engine.close)
        return _engine


def renew(broken: Engine) -> None:
    """Replace the engine: DuckDB refuses all work of an instance after a fatal error."""
    global _engine  # noqa: PLW0603 one per container
    with _engine_lock:
        if _engine is broken:
            _engine = None


def trim() -> None:
    """Have the C library return freed memory to the system, where it supports that."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _filesystem(devices: dict[str, Device]) -> Any:
    from fsspec import AbstractFileSystem  # noqa: PLC0415 only readers of views need it

    def device(path: str) -> Device | None:
        return devices.get(path.removeprefix(f"{_SCHEME}://"))

    class Files(AbstractFileSystem):  # type: ignore[misc]
        """Devices by name. Writes to all other files, such as the marks of a checkpoint, are discarded."""

        protocol = _SCHEME
        cachable = False

        def open(self, path: str, mode: str = "rb", **_: Any) -> io.RawIOBase:
            """Open a file to read and write."""
            found = device(path)
            return _Handle(found, mode) if found is not None else _Nowhere()

        def isfile(self, path: str) -> bool:
            """Whether there is a file with the name."""
            found = device(path)
            return found is not None and found.size > 0

        exists = isfile

        def isdir(self, path: str) -> bool:  # noqa: ARG002
            """Whether there is a folder with the name: there are none."""
            return False

        def info(self, path: str, **_: Any) -> dict[str, Any]:
            """The size of a file."""
            found = device(path)
            return {"name": path, "size": found.size if found else 0, "type": "file"}

        def rm(self, path: str, **_: Any) -> None:
            """Do nothing: the engine closes devices."""

        rm_file = rm

        def glob(self, path: str, **_: Any) -> list[str]:
            """The name without the protocol."""
            return [path]

    return Files()


class _Nowhere(io.RawIOBase):
    """A file that discards writes."""

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:  # noqa: ARG002
        return offset

    def truncate(self, size: int | None = None) -> int:
        return size or 0

    def write(self, data: Any) -> int:
        return len(data)


class _Handle(io.RawIOBase):
    """An open device. DuckDB's threads share it: each has its own place, or one would read where another sought."""

    def __init__(self, device: Device, mode: str) -> None:
        self._device = device
        self._mode = mode
        self._own = threading.local()

    @property
    def _place(self) -> int:
        return getattr(self._own, "place", 0)

    @_place.setter
    def _place(self, place: int) -> None:
        self._own.place = place

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return "r" not in self._mode or "+" in self._mode

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._device.size}[whence]
        self._place = start + offset
        return self._place

    def tell(self) -> int:
        return self._place

    def read(self, size: int = -1) -> bytes:
        data = self._device.read(self._place, self._device.size - self._place if size < 0 else size)
        self._place += len(data)
        return data

    def write(self, data: Any) -> int:
        self._device.write(self._place, data)
        self._place += len(data)
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        size = self._place if size is None else size
        self._device.truncate(size)
        return size
