"""What every object store can do, whoever runs it: the one interface of `objects` to S3 and Google Cloud Storage.

Errors are ours already: NotFound where there is no object, Conflict where it was replaced, BadInput where the store
refuses to complete an upload, Unavailable for everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

PART = 16 * 1024 * 1024
"""Bytes of a part where we cut uploads and downloads ourselves."""
Parts = list[dict[str, Any]]
"""Of a multipart upload: `{"ETag": …, "PartNumber": …}`, in order."""


class ObjectStore(Protocol):
    """One bucket."""

    def presign_get(self, key: str, seconds: int, headers: dict[str, str]) -> str:
        """A URL to read an object by; `headers` are those of the answer, named as S3's parameters are."""
        ...

    def presign_put(self, key: str, seconds: int) -> str:
        """A URL to write an object to."""
        ...

    def presign_part(self, key: str, upload: str, number: int, seconds: int) -> str:
        """A URL to write a part of a multipart upload to."""
        ...

    def begin(self, key: str, content_type: str) -> str:
        """Begin a multipart upload; its id."""
        ...

    def put_part(self, key: str, upload: str, number: int, body: bytes) -> str:
        """Store a part; its ETag."""
        ...

    def copy_part(self, key: str, upload: str, number: int, home: ObjectStore, source: str) -> str | None:
        """Make a whole object, of 5 MB at least, a part inside the store; its ETag, None where the store cannot."""
        ...

    def complete(self, key: str, upload: str, parts: Parts) -> None:
        """Make one object of the parts. To complete again what is complete is no error."""
        ...

    def abort(self, key: str, upload: str) -> None:
        """Give a multipart upload up; one that is over already is no error."""
        ...

    def head(self, key: str) -> tuple[int, str] | None:
        """The size in bytes and the ETag of an object; None where there is none."""
        ...

    def read(self, key: str) -> bytes:
        """A whole object."""
        ...

    def read_range(self, key: str, offset: int, length: int, etag: str | None) -> bytes:
        """`length` bytes from `offset`, fewer at the end; of the object with this ETag, where one is given."""
        ...

    def download(self, key: str, path: Path) -> None:
        """A whole object into a file."""
        ...

    def write(self, key: str, body: bytes, content_type: str, encoding: str = "") -> None:
        """Store an object in one piece."""
        ...

    def upload(self, key: str, body: BinaryIO, content_type: str) -> None:
        """Store what a file holds, in parts where it is large."""
        ...

    def copy(self, home: ObjectStore, source: str, key: str, content_type: str) -> bool:
        """Copy an object from `home` inside the store; False where it has to pass through us."""
        ...

    def remove(self, keys: Iterable[str]) -> None:
        """Remove objects; those that are not there are no error."""
        ...

    def freeze(self, key: str) -> None:
        """Have an object archived, as its bucket says how. One that is not there is no error."""
        ...

    def thaw(self, key: str) -> bool:
        """Have an object brought back from the archive; whether it can be read. Ask again until it can."""
        ...

    def under(self, prefix: str) -> Iterator[str]:
        """The keys that begin with a prefix, in order."""
        ...

    def key_of(self, url: str) -> str | None:
        """The key of the object that a URL names, its query aside; None where it is none of this bucket."""
        ...
