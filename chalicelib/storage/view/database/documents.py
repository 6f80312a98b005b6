"""The JSON documents of a view: in packs, compressed, on disk or in S3; recently read ones in memory.

`add` returns the place of a document, which its row stores; `get` takes places. The file is append-only: documents
without a row are dropped when a compaction rewrites the file. A pack holds neighbours, which are usually read together.

    pack     length of the rest (4 bytes), the rest deflated:
             count (2 bytes), then for each document its length (4), its type (8), the revisions applied to it (4)
             then the documents
    place    offset of the pack × 64 + number of the document in it
"""

from __future__ import annotations

import itertools
import struct
import threading
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import accumulate

import msgspec
from isal import isal_zlib

from chalicelib.storage.view.database.devices import CHUNK, Device
from chalicelib.storage.view.database.shares import SHARE, Shares

PACK = 32
"""Most documents of a pack."""
PACK_BYTES = 48_000
"""Bytes from which on a pack is full."""
_SLOTS = 64
_LEVEL = 1
_BYTES_PER_READ = 4_000_000
"""Bytes up to which neighbouring packs are read together."""
_LENGTH = struct.Struct("<I")
_COUNT = struct.Struct("<H")
_ENTRY = struct.Struct("<IQI")


class Document(msgspec.Struct, frozen=True, gc=False):
    """A document as it was written."""

    body: bytes
    type: int
    seen: int
    """The number of its type's revisions that were applied to it."""


class Pack(msgspec.Struct, frozen=True, gc=False):
    """Neighbouring documents, unpacked: a document is cut out when it is read, for most reads want few of a pack."""

    data: bytes = b""
    ends: list[int] = []
    """Where the first document begins in `data`, and where each ends."""
    revised: dict[int, Document] = {}
    """By number, documents that are not those in `data`."""

    def body(self, slot: int) -> bytes:
        """The body of the document with a number."""
        if slot in self.revised:
            return self.revised[slot].body
        return self.data[self.ends[slot] : self.ends[slot + 1]]

    def document(self, slot: int) -> Document:
        """The document with a number."""
        if slot in self.revised:
            return self.revised[slot]
        _, type_, seen = _ENTRY.unpack_from(self.data, _COUNT.size + slot * _ENTRY.size)
        return Document(self.body(slot), type_, seen)

    @property
    def memory(self) -> int:
        """The memory of the documents in bytes, including Python's overhead."""
        return 200 + len(self.data) + 8 * len(self.ends) + sum([200 + len(each.body) for each in self.revised.values()])


class PackCache:
    """Unpacked packs of all views, the least recently used dropped first (`shares.py`)."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._packs = Shares[Pack]()
        self._memory: Counter[int] = Counter()
        """Bytes by file."""
        self._lock = threading.Lock()
        self.memory = 0

    def get(self, owner: int, starts: Iterable[int]) -> dict[int, Pack]:
        """The cached packs of a file among those at some offsets."""
        with self._lock:
            return self._packs.use_all(owner, starts)

    def put(self, key: tuple[int, int], pack: Pack) -> None:
        """Keep a pack."""
        owner = key[0]
        with self._lock:
            if key not in self._packs:
                self._packs.put(*key, pack)
                self._count(owner, pack.memory)
            while self.memory > self._budget and self._packs:
                self._count(*self._drop(owner))

    def replace(self, key: tuple[int, int], slot: int, document: Document) -> None:
        """Add a document to a cached pack."""
        with self._lock:
            pack = self._packs.use(*key)
            if pack is not None:
                self._count(key[0], -pack.memory)
                pack.revised[slot] = document
                self._count(key[0], pack.memory)

    def resize(self, budget: int) -> None:
        """Keep at most this many bytes."""
        with self._lock:
            self._budget = budget
            while self.memory > budget and self._packs:
                self._count(*self._drop(None))

    def forget(self, owner: int) -> None:
        """Drop the packs of a file that nobody reads any more."""
        with self._lock:
            while self._packs.number_of(owner):
                self._count(*self._subtract(self._packs.drop(owner)))

    def shrink(self) -> None:
        """Drop all packs."""
        with self._lock:
            self._packs = Shares[Pack]()
            self._memory.clear()
            self.memory = 0

    def _drop(self, owner: int | None) -> tuple[int, int]:
        """Drop a pack; returns its file and the bytes that were freed, as a negative number."""
        is_over = owner is not None and self._memory[owner] > SHARE * self._budget and self._packs.number_of(owner) > 1
        return self._subtract(self._packs.drop(owner if is_over else None))

    @staticmethod
    def _subtract(dropped: tuple[int, Pack]) -> tuple[int, int]:
        """The file of a dropped pack, and its bytes as a negative number."""
        return dropped[0], -dropped[1].memory

    def _count(self, owner: int, size: int) -> None:
        self.memory += size
        self._memory[owner] += size
        if not self._memory[owner]:
            del self._memory[owner]


_numbers = itertools.count()


class Documents:
    """The documents of one view. `add` and `seal` are called by one thread at a time, `get` by any."""

    def __init__(self, device: Device, cache: PackCache) -> None:
        self.device = device
        self.added = 0
        """The number of documents in the file, including those without a row."""
        self._cache = cache
        self._number = next(_numbers)
        self._open: list[Document] = []
        self._open_bytes = 0
        self._start = device.size
        self._lock = threading.Lock()

    def add(self, body: bytes, type_: int, seen: int) -> int:
        """Add a document; returns its place."""
        if len(self._open) >= PACK or self._open_bytes >= PACK_BYTES:
            self.seal()
        with self._lock:
            self._open.append(Document(body, type_, seen))
            self._open_bytes += len(body)
            self.added += 1
            return self._start * _SLOTS + len(self._open) - 1

    def add_all(self, bodies: Sequence[bytes], type_: int, seen: int) -> list[int]:
        """Add documents of one type; returns their places."""
        places: list[int] = []
        while len(places) < len(bodies):
            if len(self._open) >= PACK or self._open_bytes >= PACK_BYTES:
                self.seal()
            some, size = [], self._open_bytes
            for body in bodies[len(places) : len(places) + PACK - len(self._open)]:
                some.append(Document(body, type_, seen))
                size += len(body)
                if size >= PACK_BYTES:
                    break
            with self._lock:
                first = self._start * _SLOTS + len(self._open)
                self._open += some
                self._open_bytes = size
                self.added += len(some)
            places += range(first, first + len(some))
        return places

    def get(self, places: Sequence[int]) -> list[Document]:
        """The documents at places, in order."""
        packs = self._packs_of(places)
        return [packs[place // _SLOTS].document(place % _SLOTS) for place in places]

    def bodies(self, places: Sequence[int]) -> list[bytes]:
        """The bodies of the documents at places, in order."""
        packs = self._packs_of(places)
        return [packs[place // _SLOTS].body(place % _SLOTS) for place in places]

    def scan(self, places: Sequence[int]) -> list[bytes]:
        """The bodies of the documents at places, in order, for reads of all: packs are not kept in memory."""
        wanted = {place // _SLOTS for place in places}
        packs = self._open_pack(wanted)
        packs.update(self._unpack(sorted(wanted - packs.keys())))
        return [packs[place // _SLOTS].body(place % _SLOTS) for place in places]

    def _packs_of(self, places: Sequence[int]) -> dict[int, Pack]:
        """The packs with the documents at places, by their offsets."""
        wanted = dict.fromkeys([place // _SLOTS for place in places])
        packs = self._cache.get(self._number, wanted)
        if len(packs) < len(wanted):
            packs |= self._open_pack(wanted)
            for start, pack in self._unpack(sorted(wanted.keys() - packs.keys())):
                packs[start] = pack
                self._cache.put((self._number, start), pack)
        return packs

    def _open_pack(self, wanted: Container[int]) -> dict[int, Pack]:
        """The pack that waits to become full, if it is wanted."""
        with self._lock:
            return {self._start: Pack(revised=dict(enumerate(self._open)))} if self._start in wanted else {}

    def _unpack(self, starts: Sequence[int]) -> Iterator[tuple[int, Pack]]:
        """Packs of the file, by their offsets; neighbours are read together."""
        runs = [(run, run[-1] - run[0] + CHUNK // 4) for run in _runs(starts)]
        self.device.prefetch((run[0], whole) for run, whole in runs)
        for run, whole in runs:
            read = self.device.read(run[0], whole)
            for start in run:
                place = start - run[0]
                (size,) = _LENGTH.unpack_from(read, place)
                place += _LENGTH.size
                packed = read[place : place + size]
                if len(packed) < size:
                    packed = self.device.read(start + _LENGTH.size, size)
                data = isal_zlib.decompress(packed)
                yield start, Pack(data, _ends(data), {})

    def remember(self, place: int, document: Document) -> None:
        """Let `get` return the revised document while its pack is in memory."""
        start, slot = divmod(place, _SLOTS)
        with self._lock:
            if start == self._start:
                self._open[slot] = document
                return
        self._cache.replace((self._number, start), slot, document)

    def close(self) -> None:
        """Release the file and what is in memory of it; there must be no readers."""
        self._cache.forget(self._number)
        self.device.close()

    def seal(self) -> None:
        """Write the pack that is waiting in memory to become full. It is kept in memory when it is read."""
        if not self._open:
            return
        pack = tuple(self._open)
        heads = b"".join([_ENTRY.pack(len(each.body), each.type, each.seen) for each in pack])
        body = isal_zlib.compress(_COUNT.pack(len(pack)) + heads + b"".join([each.body for each in pack]), _LEVEL)
        self.device.append(_LENGTH.pack(len(body)) + body)
        with self._lock:
            self._open, self._open_bytes = [], 0
            self._start = self.device.size


def _ends(data: bytes) -> list[int]:
    """Where the first document of a pack begins, and where each ends."""
    (count,) = _COUNT.unpack_from(data)
    first = _COUNT.size + count * _ENTRY.size
    return [*accumulate([length for length, _, _ in _ENTRY.iter_unpack(data[_COUNT.size : first])], initial=first)]


def _runs(starts: Sequence[int]) -> Iterator[list[int]]:
    """Offsets of packs, each with those that follow it closely enough to be read with it."""
    run: list[int] = []
    for start in starts:
        if run and (start - run[-1] > CHUNK or start - run[0] > _BYTES_PER_READ):
            yield run
            run = []
        run.append(start)
    if run:
        yield run
