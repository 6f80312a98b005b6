"""The archive of an import: an object that is read by ranges, and the reader of its format."""

from __future__ import annotations

import hashlib
import io
import uuid
from collections import OrderedDict
from typing import BinaryIO, cast

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive
from chalicelib.formats.readers.reading import Reader
from chalicelib.formats.readers.unzip import SingleFile, ZipArchive, is_zip
from chalicelib.resources.imports.schemas import ImportSpec
from chalicelib.storage.objects import objects

_BLOCK = 4 * 1024 * 1024
_BLOCKS = 6
"""Blocks that are kept: the end of a zip is read while its begin is."""
_SINGLE = {
    "coco": "instances.json",
    "voc": "annotation.xml",
    "cvat": "annotations.xml",
    "csv": "localizations.csv",
    "jsonl": "localizations.jsonl",
    "parquet": "localizations.parquet",
}
"""The name that a single file has as an archive."""


class RangeFile(io.RawIOBase):
    """An object as a seekable file. Reading fails with Conflict after the object was replaced."""

    def __init__(self, key: ObjectKey) -> None:
        """Look up an object.

        Raises:
            BadInput: it does not exist.
        """
        found = objects.head(key)
        if found is None:
            message = f"key: there is no object {key.path}."
            raise BadInput(message)
        self.size, self._etag = found
        self._key = key
        self._at = 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position."""
        self._at = max(0, offset + (0, self._at, self.size)[whence])
        return self._at

    def readinto(self, target: object) -> int:
        """Read up to the end of a block."""
        view = memoryview(cast("bytearray", target))
        number, start = divmod(self._at, _BLOCK)
        data = self._block(number)[start : start + len(view)] if self._at < self.size else b""
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            length = min(_BLOCK, self.size - number * _BLOCK)
            self._blocks[number] = objects.read_range(self._key, number * _BLOCK, length, etag=self._etag)
            if len(self._blocks) > _BLOCKS:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return self._blocks[number]


def open_archive(spec: ImportSpec, key: ObjectKey) -> ZipArchive | SingleFile:
    """The archive of an import. Raises BadInput or TooLarge."""
    raw = RangeFile(key)
    file = cast("BinaryIO", io.BufferedReader(raw, 64 * 1024))
    if is_zip(file):
        return ZipArchive(file)
    if spec.format not in _SINGLE:
        message = f"key: a {spec.format} dataset has several files; upload them as one zip."
        raise BadInput(message)
    return SingleFile(_SINGLE[spec.format], file, raw.size)


def namespace(archive: ZipArchive | SingleFile, spec: ImportSpec) -> uuid.UUID:
    """The namespace of the elemental ids of rows without one: the same for the same files in another zip."""
    digest = hashlib.sha256(spec.format.encode() + b"\0" + archive.digest()).digest()
    return uuid.UUID(bytes=digest[:16], version=5)


def reader_of(spec: ImportSpec) -> Reader:
    """The reader of a format."""
    from chalicelib.formats.readers import read_coco, read_cvat, read_mot, read_table, read_voc, read_yolo  # noqa: PLC0415 kept off the API's cold start

    readers: dict[str, Reader] = {
        "coco": read_coco.read,
        "yolo": read_yolo.read,
        "voc": read_voc.read if spec.first_pixel else read_voc.read_from_zero,
        "mot": read_mot.read,
        "cvat": read_cvat.read,
        "csv": read_table.read_csv,
        "jsonl": read_table.read_jsonl,
        "parquet": read_table.read_parquet,
    }
    return readers[spec.format]


__all__ = ["Archive", "RangeFile", "namespace", "open_archive", "reader_of"]
