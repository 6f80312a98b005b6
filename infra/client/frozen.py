"""The rows of a frozen version of a dataset as Parquet, read by range: `pip install '.[tables]'` (pyarrow).

    version = limn.frozen.Frozen.of(client, project=3, uid="5a0c…")
    for batch in version.scan("localizations", columns=["media", "frame", "x", "y"]):
        …

The service writes a version once as an archive in which Parquet files lie as they are. Of it only the columns asked
for are fetched; nothing is kept on this machine.
"""

from __future__ import annotations

import io
import struct
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from . import failures
from .cli import datasets
from .failures import INCOMPLETE, Failure, library

if TYPE_CHECKING:
    from .client import Client

Kind = Literal["media", "localizations", "states"]
BLOCK = 1024 * 1024
"""Bytes that are fetched at least: a request costs more than they do."""
_LOCAL_HEADER = struct.Struct("<26xHH")
"""The lengths of name and further fields at the end of a local header of a zip."""


class Ranges(io.RawIOBase):
    """Bytes that a function reads from one offset up to another, as a file."""

    def __init__(self, read: Callable[[int, int], bytes], size: int, start: int = 0) -> None:
        super().__init__()
        self._read, self._size, self._start, self._place = read, size, start, 0

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def seekable(self) -> bool:
        """Whether it can be read from any place."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set where the next read begins."""
        self._place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        return self._place

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer from here on; how many bytes there were."""
        end = min(self._place + len(buffer), self._size)
        if end <= self._place:
            return 0
        data = self._read(self._start + self._place, self._start + end)
        buffer[: len(data)] = data
        self._place += len(data)
        return len(data)

    def part(self, start: int, size: int) -> Ranges:
        """Some of the bytes, as a file of their own."""
        return Ranges(self._read, size, self._start + start)


class Frozen:
    """The Parquet archive of one version."""

    def __init__(self, client: Client, export: str, size: int) -> None:
        self._client, self._export = client, export
        self._url, self._until = "", 0.0
        self.fetched = 0
        """How many bytes came."""
        self._file = Ranges(self._read, size)
        with zipfile.ZipFile(io.BufferedReader(self._file, BLOCK)) as archive:
            self._members = archive.infolist()

    @classmethod
    def of(cls, client: Client, project: int, uid: str) -> Frozen:
        """The archive of a version; an earlier one is used again, else the service writes one.

        Raises:
            Failure: there is no such version, or it cannot be exported.
        """
        asked: Any = {"format": "parquet", "dataset": uid, "frames": "none", "name": f"parquet {uid}"}
        found: Any = next((each for each in client.get_export_list(project) if _is_of(each, asked)), None)
        number = found["uid"] if found else client.create_export(project, asked)["uid"]
        pause = 0.1
        while not datasets.is_over(found := cast("dict[str, Any]", client.get_export(number))):
            time.sleep(pause)
            pause = min(pause * 1.5, 5)
        if found["status"] != "succeeded":
            raise Failure(found.get("message") or f"The export {found['status']}.", INCOMPLETE)
        return cls(client, number, found["size"])

    def parts(self, kind: Kind) -> Iterator[io.BufferedReader]:
        """The Parquet files of a kind, in order."""
        failures.check_choice("kind", kind, get_args(Kind))
        members = [each for each in self._members if each.filename.startswith(f"{kind}/")]
        for each in sorted(members, key=lambda each: each.filename):
            if each.compress_type != zipfile.ZIP_STORED:
                raise Failure(f"{each.filename} is compressed: an older release wrote this archive. Export it again.")
            header = self._read(each.header_offset, each.header_offset + _LOCAL_HEADER.size)
            start = each.header_offset + _LOCAL_HEADER.size + sum(_LOCAL_HEADER.unpack(header))
            yield io.BufferedReader(self._file.part(start, each.file_size), BLOCK)

    def scan(
        self, kind: Kind = "localizations", columns: Sequence[str] | None = None, rows: int = 50_000
    ) -> Iterator[Any]:
        """The rows as `pyarrow.RecordBatch`es.

        Args:
            kind: which rows.
            columns: those to fetch; all by default.
            rows: of one batch, at most.
        """
        parquet = library("pyarrow.parquet")
        for part in self.parts(kind):
            with parquet.ParquetFile(part) as file:
                for column in columns or ():
                    failures.check_choice("columns", column, file.schema_arrow.names)
                yield from file.iter_batches(rows, columns=None if columns is None else list(columns))

    def to_arrow(self, kind: Kind = "localizations", columns: Sequence[str] | None = None) -> Any:
        """All rows as a `pyarrow.Table`; where a version has none of a kind, its columns have no type."""
        pa = library("pyarrow")
        batches = list(self.scan(kind, columns))
        return pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in columns or ()})

    def _read(self, start: int, end: int) -> bytes:
        if self._until < time.monotonic():
            self._url, self._until = str(self._client.get_export(self._export)["url"]), time.monotonic() + 600
        data = self._client.read_bytes(self._url, start, end)
        self.fetched += len(data)
        return data


def _is_of(export: Any, asked: dict[str, Any]) -> bool:
    """Whether an export that is done, or will be, is of the same version and format."""
    return export["status"] in (*datasets.OPEN, "succeeded") and all(
        export.get(name) == asked[name] for name in ("name", "format")
    )
