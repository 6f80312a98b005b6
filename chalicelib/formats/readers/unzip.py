"""Archives to read from: a zip with bounds on all that it says, or a single file.

A zip is refused where it has more files or a larger directory than the limits, an encrypted file, a link, a path
outside of its folder, two files of one name, a compression other than deflate, or unpacks to more than the limits.
"""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from typing import BinaryIO, Self, cast

from chalicelib.errors import BadInput

MOST_FILES = 300_000
LARGEST_DIRECTORY = 64 * 1024 * 1024
"""Bytes of the list of files at the end of a zip."""
LARGEST_TOTAL = 200 * 1024**3
"""Bytes of all files, unpacked."""
LARGEST_FILE = 20 * 1024**3
HIGHEST_RATIO = 200
"""Unpacked bytes for each packed byte, of files above `SMALL_FILE`: deflate makes 1,032 of zeros, JSON some 30."""
SMALL_FILE = 64 * 1024 * 1024
SMALL_TOTAL = 1024**3
"""Bytes of all files, unpacked, above which `HIGHEST_RATIO` holds for the archive as well."""
LONGEST_PATH = 1024
_TAIL = 65_557
"""Bytes at the end that hold the end record: its 22 bytes and the longest comment, after the locator of zip64."""
_END = struct.Struct("<4s4H2LH")
_LARGE_END = struct.Struct("<4sQ2H2L4Q")
_LOCATOR = struct.Struct("<4sLQL")
_ENTRY = 46
"""Bytes of an entry of the directory, without its name, extra field and comment."""
_LENGTHS = struct.Struct("<3H")
_LENGTHS_AT = 28
_FLAG_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ZipArchive:
    """A zip; implements `model.Archive`."""

    def __init__(self, file: BinaryIO) -> None:
        """Read the list of files.

        Args:
            file: a seekable file.

        Raises:
            BadInput: it is no zip, or breaks a limit.
        """
        size = _check_directory(file)
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, struct.error, ValueError, UnicodeDecodeError, NotImplementedError) as error:
            raise BadInput(f"The archive is not a zip that can be read: {str(error)[:200]}") from None
        self._files: dict[str, zipfile.ZipInfo] = {}
        for entry in self._zip.infolist():
            if not entry.filename.endswith("/"):
                self._add(entry)
        total = sum(entry.file_size for entry in self._files.values())
        if total > LARGEST_TOTAL:
            raise BadInput(f"The archive unpacks to more than {LARGEST_TOTAL} bytes.")
        if total > SMALL_TOTAL and total > HIGHEST_RATIO * size:
            raise BadInput(f"The archive unpacks to more than {HIGHEST_RATIO} times its size.")

    def names(self) -> list[str]:
        """The paths of all files."""
        return list(self._files)

    def size(self, name: str) -> int:
        """Bytes of a file, unpacked."""
        return self._files[name].file_size

    def open(self, name: str) -> BinaryIO:
        """Open a file to read it once from start to end. Raises KeyError where it does not exist."""
        entry = self._files[name]
        try:
            return cast("BinaryIO", _Checked(cast("zipfile.ZipExtFile", self._zip.open(entry)), name))
        except (zipfile.BadZipFile, struct.error, NotImplementedError, RuntimeError) as error:
            raise BadInput(f"{name} cannot be read: {str(error)[:200]}") from None

    def digest(self) -> bytes:
        """What stays the same for archives of the same files: their names, sizes and checksums."""
        lines = (f"{name}\0{entry.file_size}\0{entry.CRC}\n" for name, entry in sorted(self._files.items()))
        return "".join(lines).encode(errors="surrogateescape")

    def _add(self, entry: zipfile.ZipInfo) -> None:
        name = entry.filename
        if reason := _refusal(entry):
            raise BadInput(f"The archive has a file that is not read: {name[:200]!r} {reason}.")
        if name in self._files:
            raise BadInput(f"The archive has two files of the name {name[:200]!r}.")
        self._files[name] = entry


class SingleFile:
    """A file that is not in a zip, under a name of its own; implements `model.Archive`."""

    def __init__(self, name: str, file: BinaryIO, size: int) -> None:
        """Take a seekable file."""
        self._name, self._file, self._size = name, file, size

    def names(self) -> list[str]:
        """Its name."""
        return [self._name]

    def size(self, name: str) -> int:
        """Its bytes. Raises KeyError for another name."""
        if name != self._name:
            raise KeyError(name)
        return self._size

    def open(self, name: str) -> BinaryIO:
        """The file from its begin. Raises KeyError for another name."""
        self.size(name)
        self._file.seek(0)
        return cast("BinaryIO", _Open(self._file))

    def digest(self) -> bytes:
        """A checksum of its content."""
        crc = 0
        with self.open(self._name) as file:
            while block := file.read(1024 * 1024):
                crc = zlib.crc32(block, crc)
        return f"{self._size}\0{crc}".encode()


def is_zip(file: BinaryIO) -> bool:
    """Whether a file begins as a zip does."""
    file.seek(0)
    return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


class _Open:
    """A file that is not closed with its reader."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def readinto(self, target: memoryview) -> int:
        data = self.read(len(target))
        target[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def flush(self) -> None:
        """Nothing is written."""

    def close(self) -> None:
        """The file stays open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Checked(_Open):
    """A file of a zip; what is wrong with it is BadInput."""

    def __init__(self, file: zipfile.ZipExtFile, name: str) -> None:
        super().__init__(cast("BinaryIO", file))
        self._name = name

    def read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except (zipfile.BadZipFile, zlib.error, EOFError, struct.error) as error:
            raise BadInput(f"{self._name} is damaged: {str(error)[:200]}") from None

    def close(self) -> None:
        self._file.close()


def _refusal(entry: zipfile.ZipInfo) -> str:
    """Why a file of a zip is not read; empty if it is."""
    name, mode = entry.orig_filename, entry.external_attr >> 16  # `filename` ends before a NUL
    parts = name.split("/")
    is_outside = name.startswith("/") or ".." in parts or "\\" in name or ":" in parts[0]
    is_bomb = entry.file_size > SMALL_FILE and entry.file_size > HIGHEST_RATIO * max(entry.compress_size, 1)
    rules = (
        (not entry.filename, "has no name"),
        (is_outside or len(name) > LONGEST_PATH, "has a path outside of the archive, or one that is too long"),
        (any(sign < " " or sign == "\x7f" for sign in name), "has a control character in its name"),
        (stat.S_IFMT(mode) not in (0, stat.S_IFREG), "is a link or a device"),
        (entry.flag_bits & _FLAG_ENCRYPTED, "is encrypted"),
        (entry.compress_type not in _METHODS, "is compressed by another method than deflate"),
        (entry.file_size > LARGEST_FILE, f"unpacks to more than {LARGEST_FILE} bytes"),
        (is_bomb, f"unpacks to more than {HIGHEST_RATIO} times its size"),
    )
    return next((reason for is_broken, reason in rules if is_broken), "")


def _check_directory(file: BinaryIO) -> int:
    """Refuse a zip whose directory is too large or has too many entries, before it is read; returns its size."""
    size = file.seek(0, 2)
    start = max(0, size - _TAIL - _LOCATOR.size)
    file.seek(start)
    tail = file.read(size - start)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise BadInput("The archive is not a zip, or is cut off: it has no end record.")
    length, stop = _END.unpack_from(tail, at)[5], start + at
    if at >= _LOCATOR.size and tail[at - _LOCATOR.size : at].startswith(b"PK\x06\x07"):
        # `zipfile` reads the record right before the locator, wherever the locator points; other programs follow it.
        place = stop - _LOCATOR.size - _LARGE_END.size
        if _LOCATOR.unpack_from(tail, at - _LOCATOR.size)[2] != place:
            raise BadInput("The archive has its large end record at another place than it says.")
        file.seek(place)
        large = file.read(_LARGE_END.size)
        if large.startswith(b"PK\x06\x06"):
            length, stop = _LARGE_END.unpack(large)[8], place
    if length > LARGEST_DIRECTORY:
        raise BadInput(f"The list of files in the archive has {length} bytes; at most {LARGEST_DIRECTORY} are read.")
    file.seek(max(0, stop - length))
    _check_entries(file.read(length))
    return size


def _check_entries(directory: bytes) -> None:
    """Refuse a directory of more entries than files may be: an entry takes ten times the memory of its 46 bytes."""
    at = count = 0
    while at + _ENTRY <= len(directory):
        at += _ENTRY + sum(_LENGTHS.unpack_from(directory, at + _LENGTHS_AT))
        count += 1
        if count > MOST_FILES:
            raise BadInput(f"The archive has more than {MOST_FILES} files.")
