"""moto's S3 objects, taken and given as files instead of byte strings, and listed while others delete.

moto holds an object in a temporary file already, but takes and returns it whole. `Body` lets a stream that has been
written to a file become an object (or a part) without being read again, completing an upload copies from file to file,
and `opened` lets a reader have its own handle that outlives the object's replacement.
"""

# ruff: noqa: SLF001 -- what is kept here has no public name in moto
from __future__ import annotations

import hashlib
import io
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from moto.core.common_models import BaseModel
from moto.s3.exceptions import EntityTooSmall, InvalidPart, MalformedXML, NoSuchUpload
from moto.s3.models import FakeKey, FakeMultipart, MultipartDict
from moto.s3.utils import _VersionedKeyStore
from moto.settings import S3_UPLOAD_PART_MIN_SIZE

IN_MEMORY = 512 * 1024
"""Bodies up to this many bytes stay in memory."""
BLOCK = 1024 * 1024

_originals: list[tuple[Any, str, Any]] = []


class Body:
    """The content of an object while it arrives: written block by block, then handed to moto as a value."""

    def __init__(self) -> None:
        self.file: Any = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 -- the object closes it
        self.size = 0
        self._md5 = hashlib.md5(usedforsecurity=False)

    def write(self, block: bytes) -> None:
        """Append a block."""
        self.file.write(block)
        self._md5.update(block)
        self.size += len(block)

    @property
    def md5(self) -> bytes:
        """The MD5 of what was written."""
        return self._md5.digest()

    def close(self) -> None:
        """Throw the content away, unless an object has it."""
        self.file.close()


class Kept:
    """The content of an object that has been put into a file for good (`infra.local.state`), opened when it is read.

    Stands where moto has a temporary file: thousands of those would be thousands of open files.
    """

    _rolled = True

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = 0

    def seek(self, position: int) -> None:
        """Read from here next time."""
        self._position = position

    def read(self, size: int = -1) -> bytes:
        """As from a file."""
        with self.path.open("rb") as file:
            file.seek(self._position)
            content = file.read(size)
        self._position += len(content)
        return content

    def close(self) -> None:
        """Nothing is open; the file is its keeper's to remove."""


class _Descriptor(io.RawIOBase):
    """A file by a descriptor of its own. Its position is its own too, which a duplicated descriptor's is not."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._position = descriptor, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._position}.get(whence)
        self._position = offset + (os.fstat(self._descriptor).st_size if base is None else base)
        return self._position

    def readinto(self, buffer: Any, /) -> int:
        read = os.preadv(self._descriptor, [buffer], self._position)
        self._position += read
        return read

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


def opened(key: FakeKey) -> BinaryIO:
    """An own handle on an object's content, good even after the object is deleted or replaced.

    Raises:
        ValueError: the object is gone already.
    """
    with key.lock:
        buffer = key._value_buffer
        if isinstance(buffer, Kept):
            return buffer.path.open("rb")
        if buffer._rolled:
            buffer.flush()
            return io.BufferedReader(_Descriptor(os.dup(buffer.fileno())), BLOCK)
        buffer.seek(0)
        return io.BytesIO(buffer.read())


def install() -> None:
    """Change moto's S3 objects, and have no model keep a list of all its instances."""
    if _originals:
        return
    _replace(BaseModel, "__new__", staticmethod(_untracked))
    value: property = FakeKey.__dict__["value"]
    _replace(FakeKey, "value", value.setter(_set_value(value.fset)))
    etag: property = FakeKey.__dict__["etag"]
    _replace(FakeKey, "etag", property(_etag(etag.fget)))
    _replace(FakeKey, "__del__", FakeKey.dispose)
    _replace(FakeMultipart, "complete", _complete(FakeMultipart.complete))
    for name, listed in (("items", _items), ("values", lambda keys: (key for _, key in _items(keys)))):
        _replace(_VersionedKeyStore, name, listed)
    _replace(MultipartDict, "__missing__", _no_such_upload)


def uninstall() -> None:
    """Put moto back as it was."""
    while _originals:
        target, name, original = _originals.pop()
        if original is None:
            delattr(target, name)
        else:
            setattr(target, name, original)


def _replace(target: Any, name: str, replacement: Any) -> None:
    _originals.append((target, name, target.__dict__.get(name)))
    setattr(target, name, replacement)


def _untracked(cls: type, *_: Any, **__: Any) -> Any:
    """Stock models append every message, object and item to a list: not in a server that runs for days."""
    return object.__new__(cls)


def _set_value(original: Any) -> Callable[[FakeKey, Any], None]:
    def set_value(self: FakeKey, value: Any) -> None:
        if not isinstance(value, Body):
            original(self, value)
            return
        self._value_buffer.close()
        self._value_buffer = value.file
        self.contentsize = value.size
        if self._etag is None:
            self._etag = value.md5.hex()

    return set_value


def _no_such_upload(_: MultipartDict, upload: str) -> None:
    """Stock moto fails where S3 says that it knows no such upload."""
    raise NoSuchUpload(upload)


def _items(keys: _VersionedKeyStore) -> Iterator[tuple[str, Any]]:
    """What is listed, without what another thread deletes on the way."""
    for name, versions in dict(keys).items():
        if name in keys and versions:
            yield name, versions[-1]


def _etag(original: Any) -> Callable[[FakeKey], str]:
    def etag(self: FakeKey) -> str:
        # moto moves the file's position while it reckons; another thread may be reading
        with self.lock:
            found: str = original(self)
            return found

    return etag


def _complete(original: Any) -> Callable[..., Any]:
    def complete(self: FakeMultipart, body: Iterator[tuple[int, str]]) -> Any:
        if self.metadata.get("x-amz-checksum-algorithm"):
            return original(self, body)
        whole, digests, last, count = Body(), bytearray(), None, 0
        for number, etag in body:
            part = self.parts.get(number)
            if part is None or part.etag.strip('"') != etag.strip('"'):
                whole.close()
                raise InvalidPart
            if last is not None and last.contentsize < S3_UPLOAD_PART_MIN_SIZE:
                whole.close()
                raise EntityTooSmall
            digests.extend(bytes.fromhex(part.etag.strip('"')))
            with opened(part) as content:
                shutil.copyfileobj(content, whole.file, BLOCK)
            whole.size += part.contentsize
            last, count = part, count + 1
        if not count:
            whole.close()
            raise MalformedXML
        return whole, f"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{count}", None

    return complete


def blocks(content: BinaryIO, start: int, length: int) -> Iterator[bytes]:
    """A stretch of a file, block by block."""
    content.seek(start, os.SEEK_SET)
    while length > 0:
        block = content.read(min(BLOCK, length))
        if not block:
            raise EOFError("The object is shorter than it says")
        length -= len(block)
        yield block
