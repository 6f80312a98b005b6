"""What other parts of the local stack keep in its database: documents by key, in spaces of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from infra.emulator.sqlite.integrity import checksum

if TYPE_CHECKING:
    from infra.emulator.sqlite.database import Database

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
        raw, doc = _raw(key), pack(value)
        sql = "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?)"
        self._database.write(sql, self._space, raw, doc, checksum(0, self._space, raw, doc))

    def delete(self, key: str) -> None:
        """Remove a document; one that is not there is no error."""
        self._database.write("DELETE FROM documents WHERE space = ? AND key = ?", self._space, _raw(key))

    def items(self) -> list[tuple[str, Any]]:
        """All documents with their keys, in order of the keys."""
        found = self._database.read("SELECT key, doc, crc FROM documents WHERE space = ? ORDER BY key", self._space)
        return [(key.decode("utf-8", "surrogatepass"), self._intact(key, doc, crc)) for key, doc, crc in found]

    def clear(self) -> None:
        """Remove all documents of the space."""
        self._database.write("DELETE FROM documents WHERE space = ?", self._space)

    def __len__(self) -> int:
        return int(self._database.one("SELECT count(*) FROM documents WHERE space = ?", self._space)[0])

    def _intact(self, key: bytes, doc: bytes, crc: int) -> Any:
        if checksum(0, self._space, key, doc) != crc:
            raise self._database.found_damaged(f"the document {key!r} differs from its checksum")
        return unpack(doc)


def _raw(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")
