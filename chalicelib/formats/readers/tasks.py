"""Functions that read the archives of imports in a child process (`video.process.isolation`).

Each takes the bytes of the archive first and yields frames:

    read_rows     the encoded `Listing`; then for each pass arrays of encoded `Placed`, and an empty frame
    read_files    for each file its content in blocks, and an empty frame

`decode_rows` is what the parent makes of an array. It trusts nothing of it: a row of the wrong shape is a refusal.
"""

from __future__ import annotations

import hashlib
import io
import tempfile
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Protocol, cast

import msgspec
from msgspec import Struct

from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive
from chalicelib.formats.readers import (
    read_coco,
    read_cvat,
    read_dota,
    read_masks,
    read_mot,
    read_mots,
    read_table,
    read_voc,
    read_yolo,
)
from chalicelib.formats.readers.picture_video import PictureVideo, in_order, numbered_pictures
from chalicelib.formats.readers.reading import Placed, Reader, Rows, refusal
from chalicelib.formats.readers.science import (
    read_biigle,
    read_camtrapdp,
    read_coralnet,
    read_dive,
    read_eventmeasure,
    read_ifdo,
    read_vars,
    read_viame,
)
from chalicelib.formats.readers.unzip import SingleFile, ZipArchive, is_zip

_BLOCK = 4 * 1024 * 1024
_BLOCKS = 6
"""Blocks that are kept: the end of a zip is read while its begin is."""
_FRAME = 128 * 1024
"""Bytes of rows after which they are sent."""
_ARRAY = b"\xdd"
"""The first byte of an array in MessagePack whose length has four bytes."""
_SINGLE = {
    "coco": "instances.json",
    "kwcoco": "data.kwcoco.json",
    "dive": "annotations.json",
    "coralnet": "annotations.csv",
    "voc": "annotation.xml",
    "cvat": "annotations.xml",
    "viame": "annotations.csv",
    "ifdo": "ifdo.json",
    "biigle": "annotations.csv",
    "vars": "vars.json",
    "eventmeasure": "points.txt",
    "csv": "localizations.csv",
    "jsonl": "localizations.jsonl",
    "parquet": "localizations.parquet",
}
"""The name that a single file has as an archive."""


class ArchiveBytes(Protocol):
    """The bytes of an archive."""

    @property
    def size(self) -> int:
        """Length in bytes."""
        ...

    def read(self, offset: int, length: int) -> bytes:
        """The `length` bytes from `offset`, fewer only at the end."""
        ...


class ArchiveOptions(Struct, frozen=True, kw_only=True):
    """How an archive is read."""

    format: str
    """A name of `formats.registry`."""
    first_pixel: int = 1
    """The number of the first pixel in Pascal VOC."""
    folder: str = ""
    """Where temporary files go, which the parent removes."""


class Listing(Struct, frozen=True):
    """The files of an archive; implements `model.Files`."""

    sizes: dict[str, int]
    digest: bytes
    """32 bytes, the same for the same files in another zip."""

    def names(self) -> list[str]:
        """The paths of all files."""
        return list(self.sizes)

    def size(self, name: str) -> int:
        """Bytes of a file, unpacked."""
        return self.sizes[name]


def warm_up() -> None:
    """Load the modules that readers import on first use, so that children find them loaded."""
    import duckdb  # noqa: F401, PLC0415
    import yaml  # noqa: F401, PLC0415


def read_rows(source: ArchiveBytes, wanted: ArchiveOptions, passes: int) -> Iterator[bytes]:
    """Yield the list of files of an archive, then its rows as often as `passes` says.

    Raises:
        BadInput: the archive cannot be read.
    """
    tempfile.tempdir = wanted.folder or None
    archive = open_archive(source, wanted.format)
    digest = hashlib.sha256(wanted.format.encode() + b"\0" + archive.digest()).digest()
    yield msgspec.msgpack.encode(Listing({name: archive.size(name) for name in archive.names()}, digest))
    for _ in range(passes):
        yield from _encode(reader_of(wanted)(archive))
        yield b""


def read_files(
    source: ArchiveBytes, wanted: ArchiveOptions, files: Sequence[tuple[str, float | None]], block: int
) -> Iterator[bytes]:
    """Yield the contents of files of an archive, in blocks that are full except for the last of a file.

    Args:
        source: the archive.
        wanted: how it is read.
        files: paths; a folder of pictures, with `/` at the end and pictures a second, has its video.
        block: bytes of a block.

    Raises:
        BadInput: a file is missing or damaged.
    """
    archive = open_archive(source, wanted.format)
    folders = numbered_pictures(archive)
    paths = {*archive.names(), *folders}
    for path, rate in files:
        if path not in paths:
            raise BadInput(f"The archive was replaced: it has no file {path} any more.")
        with _open(archive, folders, path, rate) as file:
            while data := file.read(block):
                yield data
        yield b""


def decode_listing(frame: bytes) -> Listing:
    """The first frame of `read_rows`. Raises BadInput where it cannot be read."""
    try:
        return _listing(frame)
    except msgspec.DecodeError:
        raise BadInput(_UNREADABLE) from None


def decode_rows(frame: bytes) -> list[Placed]:
    """The rows of another frame of `read_rows`. Raises BadInput where it cannot be read."""
    try:
        return _rows(frame)
    except (msgspec.DecodeError, RecursionError):
        pass  # which row it is, is found out below
    try:
        return [_read_row(raw) for raw in _raws(frame)]
    except (msgspec.DecodeError, RecursionError):
        raise BadInput(_UNREADABLE) from None


def open_archive(source: ArchiveBytes, format_: str) -> ZipArchive | SingleFile:
    """The archive that some bytes are. Raises BadInput."""
    file = cast("BinaryIO", io.BufferedReader(RangeFile(source), 64 * 1024))
    if is_zip(file):
        return ZipArchive(file)
    if format_ not in _SINGLE:
        raise BadInput(f"key: a {format_} dataset has several files; upload them as one zip.")
    return SingleFile(_SINGLE[format_], file, source.size)


def reader_of(wanted: ArchiveOptions) -> Reader:
    """The reader of a format."""
    readers: dict[str, Reader] = {
        "coco": read_coco.read,
        "kwcoco": read_coco.read,
        "yolo": read_yolo.read,
        "voc": read_voc.read if wanted.first_pixel else read_voc.read_from_zero,
        "mot": read_mot.read,
        "mots": read_mots.read,
        "dota": read_dota.read,
        "masks": read_masks.read,
        "cvat": read_cvat.read,
        "viame": read_viame.read,
        "dive": read_dive.read,
        "coralnet": read_coralnet.read,
        "camtrapdp": read_camtrapdp.read,
        "ifdo": read_ifdo.read,
        "biigle": read_biigle.read,
        "vars": read_vars.read,
        "eventmeasure": read_eventmeasure.read,
        "csv": read_table.read_csv,
        "jsonl": read_table.read_jsonl,
        "parquet": read_table.read_parquet,
    }
    return readers[wanted.format]


class RangeFile(io.RawIOBase):
    """A source as a seekable file."""

    def __init__(self, source: ArchiveBytes) -> None:
        """Take a source."""
        self._source, self._at = source, 0
        self._blocks: OrderedDict[int, bytes] = OrderedDict()

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def seekable(self) -> bool:
        """Whether its position can be set: always."""
        return True

    def tell(self) -> int:
        """The position."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position."""
        self._at = max(0, offset + (0, self._at, self._source.size)[whence])
        return self._at

    def readinto(self, target: object) -> int:
        """Read up to the end of a block."""
        view = memoryview(cast("bytearray", target))
        number, start = divmod(self._at, _BLOCK)
        data = self._block(number)[start : start + len(view)] if self._at < self._source.size else b""
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            length = min(_BLOCK, self._source.size - number * _BLOCK)
            self._blocks[number] = self._source.read(number * _BLOCK, length)
            if len(self._blocks) > _BLOCKS:
                self._blocks.popitem(last=False)
        self._blocks.move_to_end(number)
        return self._blocks[number]


class _Place(Struct):
    place: str


_UNREADABLE = "The program that reads the archive gave no answer that can be read."
_listing = msgspec.msgpack.Decoder(Listing).decode
_rows = msgspec.msgpack.Decoder(list[Placed]).decode
_row = msgspec.msgpack.Decoder(Placed).decode
_raws = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode
_place = msgspec.msgpack.Decoder(_Place).decode
_encoder = msgspec.msgpack.Encoder()


def _read_row(raw: msgspec.Raw) -> Placed:
    """A row; a refusal where it has the wrong shape. Raises DecodeError."""
    try:
        return _row(raw)
    except (msgspec.ValidationError, RecursionError) as error:
        return refusal(_place(raw).place, str(error)[:300])


def _encode(rows: Rows) -> Iterator[bytes]:
    """The rows in arrays. One that no MessagePack holds, such as an integer of 20 digits, is a refusal."""
    frame, count = bytearray(5), 0
    for placed in rows:
        size = len(frame)
        try:
            _encoder.encode_into(placed, frame, size)
        except (OverflowError, UnicodeEncodeError, RecursionError, TypeError, ValueError) as error:
            del frame[size:]
            place = placed.place.encode(errors="replace").decode()
            _encoder.encode_into(refusal(place, _reason(error)), frame, size)
        count += 1
        if len(frame) > _FRAME:
            yield _finish(frame, count)
            frame, count = bytearray(5), 0
    if count:
        yield _finish(frame, count)


def _finish(frame: bytearray, count: int) -> bytes:
    frame[:5] = _ARRAY + count.to_bytes(4, "big")
    return bytes(frame)


def _reason(error: Exception) -> str:
    if isinstance(error, OverflowError):
        return "it has an integer of more than 64 bits"
    if isinstance(error, UnicodeEncodeError):
        return "it has a text that is not Unicode"
    return f"it has a value that is not JSON: {str(error)[:200]}"


def _open(archive: Archive, folders: dict[str, list[str]], path: str, rate: float | None) -> BinaryIO:
    """A file, or the video of a folder of pictures."""
    if not path.endswith("/"):
        return archive.open(path)
    try:
        video = PictureVideo(archive, in_order(path, folders[path]), rate)
    except ValueError as error:
        raise BadInput(f"{path}: {error}.") from None
    return cast("BinaryIO", io.BufferedReader(video))
