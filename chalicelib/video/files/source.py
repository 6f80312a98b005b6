"""Sources of bytes, and their file interface for FFmpeg.

A `Source` has a size and can be read at any offset: bytes, a file, an object behind HTTP ranges. `SourceFile` turns it
into the seekable file that PyAV needs, in blocks, so that probing or decoding a piece of a large object fetches only
the required blocks.
"""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import Protocol

BLOCK = 256 * 1024
# Reading ahead doubles from one block to this while reading is sequential.
LARGEST_FETCH = 16
CACHED_BLOCKS = 64


class Source(Protocol):
    """Bytes that can be read at any offset."""

    @property
    def size(self) -> int:
        """Length in bytes."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        ...


class BytesSource:
    """A source in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)

    @property
    def size(self) -> int:
        """Length in bytes."""
        return len(self._data)

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        return bytes(self._data[offset : offset + length])


class SourceFile:
    """A source as a seekable, read-only binary file that counts its fetches.

    `bytes_read` and `requests` count fetches from the source. `hollow` holds half-open byte ranges that are answered
    with zeros without fetching them: a demuxer that has its index needs the packets' headers, not their payload.
    `patches` holds (offset, bytes) that are read instead of what the source has there, and `is_checked` is true once
    they are known. `error` is the error that the source raised; FFmpeg may swallow it, so callers check it afterwards.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._blocks: OrderedDict[int, bytes] = OrderedDict()
        self._position = 0
        self._ahead = 1
        self._next_block = -1
        self.size = source.size
        self.bytes_read = 0
        self.requests = 0
        self.hollow: list[tuple[int, int]] = []
        self.patches: list[tuple[int, bytes]] = []
        self.is_checked = False
        self.error: Exception | None = None

    def read(self, length: int = -1) -> bytes:
        """At most `length` bytes from the current position, empty at the end; may be fewer than asked."""
        start = self._position
        stop = self.size if length < 0 else min(start + length, self.size)
        if start >= stop:
            return b""
        for low, high in self.hollow:
            if low <= start < high:
                self._position = min(stop, high)
                return bytes(self._position - start)
            if start < low < stop:
                stop = low
        parts = []
        while start < stop:
            block, skip = divmod(start, BLOCK)
            part = self._block(block)[skip : skip + stop - start]
            if not part:
                break
            parts.append(part)
            start += len(part)
        begin, self._position = self._position, start
        data = b"".join(parts)
        for at, patch in self.patches:
            low, high = max(at, begin), min(at + len(patch), start)
            if low < high:
                data = data[: low - begin] + patch[low - at : high - at] + data[high - begin :]
        return data

    def read_at(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        self.seek(offset)
        found = bytearray()
        while len(found) < length and (part := self.read(length - len(found))):
            found += part
        return bytes(found)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move the position as a file does and return it."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        self._position = max(0, origin + offset)
        return self._position

    def tell(self) -> int:
        """The position of the next read."""
        return self._position

    def close(self) -> None:
        """Does nothing: no resource is held open."""

    def _block(self, number: int) -> bytes:
        """One block, from the cache or fetched together with the next blocks of a sequential read."""
        if number in self._blocks:
            self._blocks.move_to_end(number)
            return self._blocks[number]
        self._ahead = min(self._ahead * 2, LARGEST_FETCH) if number == self._next_block else 1
        offset = number * BLOCK
        length = min(self._ahead * BLOCK, self.size - offset)
        try:
            data = self._source.read(offset, length)
        except Exception as error:
            self.error = error
            raise
        self.bytes_read += len(data)
        self.requests += 1
        self._next_block = number + self._ahead
        for start in range(0, len(data), BLOCK):
            self._blocks[number + start // BLOCK] = data[start : start + BLOCK]
        while len(self._blocks) > CACHED_BLOCKS:
            self._blocks.popitem(last=False)
        return data[:BLOCK]
