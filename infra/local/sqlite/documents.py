"""What other parts of the local stack keep in its database: documents by key, in spaces of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from infra.local.sqlite.integrity import checksum

if TYPE_CHECKING:
    from infra.local.sqlite.database import Database

PUT = "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)"
pack = msgspec.msgpack.Encoder().encode
unpack: Callable[[bytes], Any] = msgspec.msgpack.Decoder().decode


class Documents:
    """Documents (any value that MessagePack takes) by key, in one space of the database."""

    def __init__(self, database: Database, space: str) -> None:
        self._database, self._space = database, space.encode()

    def get(self, key: str) -> Any:
        """The document with this key; None where there is none."""
        found = self._database.one("SELECT doc, crc FROM documents WHERE space = ? AND key = ?", self._space, _raw(key))
        return None if found is None else self._intact(_raw(key), *found)

    def put(self, key: str, value: Any) -> None:
        """Store a document, in the place of the one with the same key."""
        self._database.write(PUT, *self.row(key, value))

    def row(self, key: str, value: Any) -> tuple[bytes, bytes, bytes, int]:
        """The values of `PUT` for a document."""
        raw, doc = _raw(key), pack(value)
        return self._space, raw, doc, checksum(0, self._space, raw, doc)

    def delete(self, key: str) -> None:
        """Remove a document; one that is not there is no error."""
        self._database.write("DELETE FROM documents WHERE space = ? AND key = ?", self._space, _raw(key))

    def items(self) -> list[tuple[str, Any]]:
        """All documents with their keys, in order of the keys."""
        found = self._database.read("SELECT key, doc, crc FROM documents WHERE space = ? ORDER BY key", self._space)
        return [(key.decode("utf-8", "surrogatepass"), self._intact(key, doc, crc)) for key, doc, crc in found]

    def clear(self) -> None:
        """Remove all documents of the space."""
        sql, values = self.clearing
        self._database.write(sql, *values)

    @property
    def clearing(self) -> tuple[str, tuple[bytes]]:
        """The statement that removes them, and its values."""
        return "DELETE FROM documents WHERE space = ?", (self._space,)

    def __len__(self) -> int:
        return int(self._database.one("SELECT count(*) FROM documents WHERE space = ?", self._space)[0])

    def _intact(self, key: bytes, doc: bytes, crc: int) -> Any:
        if checksum(0, self._space, key, doc) != crc:
            raise self._database.found_damaged(f"the document {key!r} differs from its checksum")
        return unpack(doc)


def _raw(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")
