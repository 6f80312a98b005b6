"""What every object store can do, whoever runs it: the one interface of `objects` to S3 and Google Cloud Storage.

Keys are authorized ones (`core/object_keys.py`). Errors are ours already: NotFound where there is no object, Conflict
where it was replaced, BadInput where the store refuses to complete an upload, Unavailable for everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from chalicelib.core.object_keys import ObjectKey, ObjectPrefix

PART = 16 * 1024 * 1024
"""Bytes of a part where we cut uploads and downloads ourselves."""
Parts = list[dict[str, Any]]
"""Of a multipart upload: `{"ETag": …, "PartNumber": …}`, in order."""


class ObjectStore(Protocol):
    """One bucket."""

    def presign_get(self, key: ObjectKey, seconds: int, headers: dict[str, str]) -> str:
        """A URL to read an object by; `headers` are those of the answer, named as S3's parameters are."""
        ...

    def presign_put(self, key: ObjectKey, seconds: int) -> str:
        """A URL to write an object to."""
        ...

    def presign_part(self, key: ObjectKey, upload: str, number: int, seconds: int) -> str:
        """A URL to write a part of a multipart upload to."""
        ...

    def begin(self, key: ObjectKey, content_type: str) -> str:
        """Begin a multipart upload; its id."""
        ...

    def put_part(self, key: ObjectKey, upload: str, number: int, body: bytes) -> str:
        """Store a part; its ETag."""
        ...

    def copy_part(self, key: ObjectKey, upload: str, number: int, home: ObjectStore, source: ObjectKey) -> str | None:
        """Make a whole object, of 5 MB at least, a part inside the store; its ETag, None where the store cannot."""
        ...

    def complete(self, key: ObjectKey, upload: str, parts: Parts) -> None:
        """Make one object of the parts. To complete again what is complete is no error."""
        ...

    def abort(self, key: ObjectKey, upload: str) -> None:
        """Give a multipart upload up; one that is over already is no error."""
        ...

    def head(self, key: ObjectKey) -> tuple[int, str] | None:
        """The size in bytes and the ETag of an object; None where there is none."""
        ...

    def read(self, key: ObjectKey) -> bytes:
        """A whole object."""
        ...

    def read_range(self, key: ObjectKey, offset: int, length: int, etag: str | None) -> bytes:
        """`length` bytes from `offset`, fewer at the end; of the object with this ETag, where one is given."""
        ...

    def download(self, key: ObjectKey, path: Path) -> None:
        """A whole object into a file."""
        ...

    def write(self, key: ObjectKey, body: bytes, content_type: str, encoding: str = "") -> None:
        """Store an object in one piece."""
        ...

    def upload(self, key: ObjectKey, body: BinaryIO, content_type: str) -> None:
        """Store what a file holds, in parts where it is large."""
        ...

    def copy(self, home: ObjectStore, source: ObjectKey, key: ObjectKey, content_type: str) -> bool:
        """Copy an object from `home` inside the store; False where it has to pass through us."""
        ...

    def remove(self, keys: Iterable[ObjectKey]) -> None:
        """Remove objects; those that are not there are no error."""
        ...

    def freeze(self, key: ObjectKey) -> None:
        """Have an object archived, as its bucket says how. One that is not there is no error."""
        ...

    def thaw(self, key: ObjectKey) -> bool:
        """Have an object brought back from the archive; whether it can be read. Ask again until it can."""
        ...

    def under(self, prefix: ObjectPrefix) -> Iterator[ObjectKey]:
        """The keys that begin with a prefix, in order."""
        ...

    def key_of(self, url: str) -> str | None:
        """The key of the object that a URL names, its query aside; None where it is none of this bucket."""
        ...
