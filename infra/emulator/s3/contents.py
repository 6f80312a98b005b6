"""The contents of stored objects: a file each, complete and on the disk before the database names it.

A file never changes. Every `BLOCK` of it has a checksum, kept with the object's row in the database, and is compared
when it is read; so a range costs the blocks that it touches, not the object. Without a directory contents are temporary
files, as moto has them.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Self

from isal.isal_zlib import crc32

from infra.emulator.sqlite import database

IN_MEMORY = 512 * 1024
"""Contents up to this many bytes stay in memory where there is no directory."""
BLOCK = 256 * 1024
"""Bytes with one checksum."""
SUFFIX, INCOMPLETE = ".content", ".new"


class Files:
    """The directory of the contents; `directory` is None where they are temporary files."""

    def __init__(self) -> None:
        self.directory: Path | None = None

    def open(self, directory: Path) -> None:
        """Keep contents in a directory from now on."""
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory

    def remove(self, name: str) -> None:
        """Remove a content that no row names any more. Readers that have it open read on."""
        if self.directory is not None:
            (self.directory / name).unlink(missing_ok=True)

    def sizes(self) -> dict[str, int]:
        """The size of every file by its name."""
        if self.directory is None:
            return {}
        with os.scandir(self.directory) as found:
            return {entry.name: entry.stat().st_size for entry in found}


FILES = Files()


class Body:
    """A content while it arrives: written block by block, then handed to moto as the value of an object."""

    def __init__(self) -> None:
        self.size = 0
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._sums = bytearray()
        self._sum = self._filled = 0
        self._path: Path | None = None
        self._file: Any
        if FILES.directory is None:
            self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 -- the object closes it
        else:
            self._path = FILES.directory / f"{uuid.uuid4().hex}{INCOMPLETE}"
            with _storing(self._path):
                self._file = self._path.open("wb", 0)

    def write(self, block: bytes) -> None:
        """Append a block. Raises CannotStore where the disk does not take it."""
        if self._path is None:
            self._file.write(block)
        else:
            with _storing(self._path):
                rest = memoryview(block)
                while rest:
                    rest = rest[self._file.write(rest) :]
            self._add(block)
        self._md5.update(block)
        self.size += len(block)

    @property
    def md5(self) -> bytes:
        """The MD5 of what was written."""
        return self._md5.digest()

    def finish(self) -> Any:
        """The content as the buffer of an object; on the disk where there is a directory."""
        if self._path is None:
            return self._file
        if self._filled:
            self._sums += self._sum.to_bytes(4, "big")
        path = self._path.with_suffix(SUFFIX)
        with _storing(path):
            os.fsync(self._file.fileno())
            self._file.close()
            self._path.replace(path)
            _sync_directory(path.parent)
        self._path = None
        return Content(path.name, self.size, bytes(self._sums))

    def close(self) -> None:
        """Drop the content. Not after `finish`."""
        self._file.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _add(self, block: bytes) -> None:
        rest = memoryview(block)
        while rest:
            piece = rest[: BLOCK - self._filled]
            self._sum = crc32(piece, self._sum)
            self._filled += len(piece)
            rest = rest[len(piece) :]
            if self._filled == BLOCK:
                self._sums += self._sum.to_bytes(4, "big")
                self._sum = self._filled = 0


class Content:
    """A content that lies in the directory, in the place of moto's temporary file."""

    _rolled = True

    def __init__(self, name: str, size: int, sums: bytes) -> None:
        self.name, self.size, self.sums = name, size, sums
        self._position = 0

    def open(self) -> Reader:
        """A reader of its own. Raises FileNotFoundError where the object was replaced or removed meanwhile."""
        if FILES.directory is None:
            raise FileNotFoundError(self.name)
        return Reader((FILES.directory / self.name).open("rb", 0), self.size, self.sums)

    def copied(self) -> Content:
        """The same content under another name: a hard link, because contents never change."""
        name = f"{uuid.uuid4().hex}{SUFFIX}"
        if FILES.directory is None:
            raise FileNotFoundError(self.name)
        with _storing(FILES.directory / name):
            os.link(FILES.directory / self.name, FILES.directory / name)
            _sync_directory(FILES.directory)
        return Content(name, self.size, self.sums)

    def seek(self, position: int) -> None:
        """Read from here next time."""
        self._position = position

    def read(self, size: int = -1) -> bytes:
        """As from a file."""
        length = self.size - self._position if size < 0 else min(size, self.size - self._position)
        with self.open() as reader:
            content = b"".join(reader.blocks(self._position, length))
        self._position += len(content)
        return content

    def close(self) -> None:
        """Do nothing: the file goes when no row names it any more."""


class Reader:
    """An open content."""

    def __init__(self, file: BinaryIO, size: int, sums: bytes | None = None) -> None:
        self._file, self.size, self._sums = file, size, sums

    def blocks(self, start: int, length: int) -> Iterator[bytes]:
        """A stretch of the content, block by block. Raises Damaged: a block differs from its checksum."""
        end = min(start + length, self.size)
        while start < end:
            number, skipped = divmod(start, BLOCK)
            self._file.seek(start - skipped)
            block = self._read(min(BLOCK, self.size - number * BLOCK))
            if self._sums is not None:
                expected = int.from_bytes(self._sums[4 * number : 4 * number + 4], "big")
                if crc32(block) != expected:
                    raise self._damaged()
            piece = block[skipped : skipped + end - start]
            if not piece:
                raise self._damaged()
            start += len(piece)
            yield piece

    def _read(self, length: int) -> bytes:
        block = self._file.read(length)
        while len(block) < length and (more := self._file.read(length - len(block))):
            block += more
        return block

    def _damaged(self) -> Exception:
        path = getattr(self._file, "name", "")
        return database.current().found_damaged("it differs from its checksum", Path(str(path)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


class _Shared(io.RawIOBase):
    """A temporary file by a descriptor with a position of its own, which a duplicated descriptor has not."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._position = descriptor, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if whence != os.SEEK_SET:
            raise io.UnsupportedOperation
        self._position = offset
        return offset

    def readinto(self, buffer: Any, /) -> int:
        read = os.preadv(self._descriptor, [buffer], self._position)
        self._position += read
        return read

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def open_buffer(buffer: Any, size: int) -> Reader:
    """A reader of an object's buffer, good even after the object is deleted or replaced."""
    if isinstance(buffer, Content):
        return buffer.open()
    if buffer._rolled:  # noqa: SLF001 -- so is it called in the standard library
        buffer.flush()
        return Reader(io.BufferedReader(_Shared(os.dup(buffer.fileno()))), size)
    buffer.seek(0)
    return Reader(io.BytesIO(buffer.read()), size)


def copy_of(buffer: Any, size: int, start: int, length: int) -> Body:
    """A stretch of an object's buffer as the content of another object."""
    body = Body()
    try:
        with open_buffer(buffer, size) as reader:
            for block in reader.blocks(start, length):
                body.write(block)
    except BaseException:
        body.close()
        raise
    return body


def _sync_directory(path: Path) -> None:
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


@contextlib.contextmanager
def _storing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as failure:
        raise database.current().found_full(f"{path}: {failure.strerror}") from failure
