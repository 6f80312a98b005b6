"""Files stored in S3 that are read and changed locally: what was read or written is kept on the local disk.

    device = Device(cache, extents, size)     a file of `size` bytes whose ranges are stored in objects
    device.read(offset, length)               fetches missing ranges
    device.write(offset, data)                changes the file locally; the objects stay as they are
    device.written_ranges()                          the ranges that were written locally, for the next snapshot

All devices of a container share one `Cache`: a file of fixed chunks in the temporary folder. Chunks that can be fetched
again are dropped, the least recently used first, when the cache is full (`shares.py`); chunks that were written locally
stay.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import threading
import weakref
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec

from chalicelib.storage.view.database.shares import SHARE, Shares

CHUNK = 64 * 1024
"""Bytes that are fetched and kept together."""
LONGEST_RANGE = 2 * 1024 * 1024
"""Most bytes of one request: longer ranges are fetched in parallel."""
FETCHERS = 16
"""Parallel requests."""
FETCHERS_EACH = 8
"""Parallel requests of one read: the others' reads need not wait for all of a long one."""
Fetch = Callable[[str, int, int], bytes]
"""From key, offset and length to bytes of an object: `objects.read_range` of the views bucket."""

_numbers = itertools.count()
pool = ThreadPoolExecutor(FETCHERS, thread_name_prefix="blocks")
"""The threads of parallel requests to S3."""


class Extent(msgspec.Struct, frozen=True, array_like=True):
    """`length` bytes of a file from `start` on are stored in an object from `at` on."""

    start: int
    length: int
    key: str
    at: int


class Cache:
    """Chunks of all devices on the local disk."""

    def __init__(self, budget: int) -> None:
        """Begin empty.

        Args:
            budget: most bytes of fetched and written chunks; written chunks may exceed it.
        """
        self._file, path = tempfile.mkstemp(prefix="limn-view-")
        Path(path).unlink()  # deleted with the process, however it ends
        self._finalizer = weakref.finalize(self, os.close, self._file)
        self._most = max(1, budget // CHUNK)
        self._fetched = Shares[int]()
        self._written: dict[tuple[int, int], int] = {}
        self._free: list[int] = []
        self._slots = 0
        self._lock = threading.Lock()

    def get(self, device: int, chunk: int, start: int = 0, end: int = CHUNK) -> bytes | None:
        """A chunk of a device, or its bytes from `start` to `end`; None where it is not cached."""
        key = (device, chunk)
        with self._lock:
            slot = self._written.get(key)
            if slot is None:
                slot = self._fetched.use(*key)
                if slot is None:
                    return None
            # Under the lock: once it is released another chunk may take the slot.
            return os.pread(self._file, end - start, slot * CHUNK + start)

    def has(self, device: int, chunk: int) -> bool:
        """Whether a chunk is cached."""
        return (device, chunk) in self._written or (device, chunk) in self._fetched

    def put(self, device: int, chunk: int, data: bytes, *, written: bool) -> None:
        """Keep a chunk: a fetched one unless it is cached already, a written one in any case."""
        key = (device, chunk)
        with self._lock:
            if not written and (key in self._written or key in self._fetched):
                return
            slot = self._written.get(key)
            if slot is None:
                slot = self._fetched.pop(*key)
            if slot is None:
                slot = self._slot(device)
            if written:
                self._written[key] = slot
            else:
                self._fetched.put(*key, slot)
            os.pwrite(self._file, data, slot * CHUNK)

    def drop(self, device: int, chunks: Iterable[int]) -> None:
        """Drop chunks of a device."""
        with self._lock:
            for chunk in chunks:
                for slot in (self._written.pop((device, chunk), None), self._fetched.pop(device, chunk)):
                    if slot is not None:
                        self._free.append(slot)

    @property
    def written(self) -> int:
        """Bytes of chunks that cannot be dropped."""
        return len(self._written) * CHUNK

    def close(self) -> None:
        """Delete the cache's file."""
        with self._lock:
            self._finalizer()

    def _slot(self, device: int) -> int:
        if self._free:
            return self._free.pop()
        if self._slots >= self._most and self._fetched:
            over = self._fetched.number_of(device) > SHARE * self._most
            return self._fetched.drop(device if over else None)[1]
        self._slots += 1
        return self._slots - 1


class Device:
    """A file whose ranges are stored in objects, except those written locally.

    Its methods may be called from any thread.
    """

    def __init__(
        self, cache: Cache, fetch: Fetch | None = None, extents: Sequence[Extent] = (), size: int = 0, first: int = 0
    ) -> None:
        """Open a file.

        Args:
            cache: keeps its chunks.
            fetch: reads its objects.
            extents: where its bytes are stored; bytes outside of all extents are zero.
            size: its length in bytes.
            first: the offset that chunks are aligned to, so that a written block fills whole chunks.
        """
        self.size = size
        self.failure: Exception | None = None
        """The last error of a fetch, for callers that see only the database's error."""
        self.fetched = 0
        """Bytes that were fetched."""
        self._cache = cache
        self._fetch = fetch
        self._number = next(_numbers)
        self._extents = sorted(extents, key=lambda extent: extent.start)
        self._starts = [extent.start for extent in self._extents]
        self._shift = -first % CHUNK
        self._own: set[int] = set()
        self._chunks: set[int] = set()
        self._lock = threading.RLock()

    @property
    def extents(self) -> list[Extent]:
        """Where the bytes that were not written locally are stored, and where the overwritten ones are."""
        return self._extents

    @property
    def written(self) -> int:
        """Bytes that were written locally."""
        return len(self._own) * CHUNK

    @property
    def is_local(self) -> bool:
        """Whether no part of it is stored in objects."""
        return not self._extents

    def read(self, offset: int, length: int) -> bytes:
        """`length` bytes from `offset`, fewer at the end."""
        length = min(length, self.size - offset)
        if length <= 0:
            return b""
        stretches: dict[int, tuple[int, int]] = {}
        for chunk in range(self._chunk(offset), self._chunk(offset + length - 1) + 1):
            start = self._start(chunk)
            stretches[chunk] = max(offset - start, 0), min(offset + length - start, CHUNK)
        found = {chunk: self._cache.get(self._number, chunk, *stretch) for chunk, stretch in stretches.items()}
        missing = [chunk for chunk, data in found.items() if data is None]
        if missing:
            found |= {chunk: data[slice(*stretches[chunk])] for chunk, data in self._load(missing).items()}
        return b"".join([data or b"" for data in found.values()])

    def write(self, offset: int, data: bytes) -> None:
        """Change the file locally."""
        view = memoryview(data)
        with self._lock:
            end = offset + len(view)
            for chunk in range(self._chunk(offset), self._chunk(end - 1) + 1 if view else 0):
                start = self._start(chunk)
                low, high = max(offset, start), min(end, start + CHUNK)
                piece: bytes = bytes(view[low - offset : high - offset])
                if high - low < CHUNK:
                    whole = bytearray(self._whole(chunk))
                    whole[low - start : high - start] = piece
                    piece = bytes(whole)
                self._cache.put(self._number, chunk, piece, written=True)
                self._own.add(chunk)
                self._chunks.add(chunk)
            self.size = max(self.size, end)

    def append(self, data: bytes) -> int:
        """Append; returns the offset of the bytes."""
        with self._lock:
            offset = self.size
            self.write(offset, data)
            return offset

    def truncate(self, size: int) -> None:
        """Truncate it, or extend it by zeros."""
        with self._lock:
            if size < self.size:
                tail = bytes(min(CHUNK - (size + self._shift) % CHUNK, self.size - size))
                self.write(size, tail)
            self.size = size

    def prefetch(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Fetch the missing chunks of ranges, each an offset and a length, in parallel."""
        if self.is_local:
            return
        chunks = {
            chunk
            for offset, length in ranges
            if offset < self.size
            for chunk in range(self._chunk(offset), self._chunk(min(offset + length, self.size) - 1) + 1)
        }
        self._load(sorted(chunk for chunk in chunks if not self._cache.has(self._number, chunk)))

    def written_ranges(self) -> list[tuple[int, int]]:
        """The ranges that were written locally, in order: offset and length."""
        with self._lock:
            found: list[tuple[int, int]] = []
            for chunk in sorted(self._own):
                start, end = max(0, self._start(chunk)), min(self._start(chunk) + CHUNK, self.size)
                if start >= end:
                    continue
                if found and sum(found[-1]) == start:
                    found[-1] = (found[-1][0], end - found[-1][0])
                else:
                    found.append((start, end - start))
            return found

    def close(self) -> None:
        """Drop its chunks."""
        self._cache.drop(self._number, list(self._chunks))

    def _chunk(self, offset: int) -> int:
        return (offset + self._shift) // CHUNK

    def _start(self, chunk: int) -> int:
        return chunk * CHUNK - self._shift

    def _whole(self, chunk: int) -> bytes:
        data = self._cache.get(self._number, chunk)
        return data if data is not None else self._load([chunk])[chunk]

    def _load(self, chunks: Sequence[int]) -> dict[int, bytes]:
        """Fetch chunks, keep them, and return them: each of full length, padded by zeros."""
        try:
            runs = list(self._runs(chunks))
            if len(runs) == 1:
                bodies: Iterable[bytes] = [self._fetch_range(*runs[0])]
            else:
                bodies = self._fetch_ranges(runs)
            found: dict[int, bytes] = {}
            for (start, _), body in zip(runs, bodies, strict=True):
                chunk = self._chunk(max(start, 0))
                for place in range(0, len(body), CHUNK):
                    data = body[place : place + CHUNK]
                    found[chunk] = data
                    # Before it is kept: `close` drops what is listed here.
                    self._chunks.add(chunk)
                    self._cache.put(self._number, chunk, data, written=False)
                    chunk += 1
        except Exception as failure:
            self.failure = failure
            raise
        return found

    def _fetch_ranges(self, runs: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        waiting: deque[Future[bytes]] = deque()
        try:
            for run in runs:
                if len(waiting) >= FETCHERS_EACH:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(self._fetch_range, *run))
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def _runs(self, chunks: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Ranges of neighbouring chunks: the offset of the first and the length."""
        begin = 0
        for place in range(1, len(chunks) + 1):
            ends = place == len(chunks) or chunks[place] != chunks[place - 1] + 1
            if ends or (place - begin) * CHUNK >= LONGEST_RANGE:
                yield self._start(chunks[begin]), (place - begin) * CHUNK
                begin = place

    def _fetch_range(self, start: int, length: int) -> bytes:
        """Bytes of the objects, zeros outside of all extents."""
        data = bytearray(length)
        place = max(0, bisect_right(self._starts, start) - 1)
        for extent in itertools.islice(self._extents, place, None):
            if extent.start >= start + length:
                break
            low, high = max(start, extent.start), min(start + length, extent.start + extent.length)
            if low < high:
                assert self._fetch is not None  # noqa: S101 for mypy: who gives extents gives it
                body = self._fetch(extent.key, extent.at + low - extent.start, high - low)
                if len(body) != high - low:
                    raise OSError(f"{extent.key} has {len(body)} bytes from {low}, {high - low} were expected")
                data[low - start : high - start] = body
                self.fetched += len(body)
        return bytes(data)


def overlaid(before: Sequence[Extent], after: Sequence[Extent], size: int) -> list[Extent]:
    """The extents of a file of `size` bytes of which `after` was written over `before`; neither overlaps itself."""
    found = list(after)
    newer = sorted(after, key=lambda extent: extent.start)
    starts = [extent.start for extent in newer]
    for old in before:
        start, end = old.start, min(old.start + old.length, size)
        for new in itertools.islice(newer, max(0, bisect_right(starts, start) - 1), None):
            if new.start >= end:
                break
            if new.start + new.length <= start:
                continue
            if new.start > start:
                found.append(Extent(start, new.start - start, old.key, old.at + start - old.start))
            start = new.start + new.length
        if start < end:
            found.append(Extent(start, end - start, old.key, old.at + start - old.start))
    return sorted(found, key=lambda extent: extent.start)
