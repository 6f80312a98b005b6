"""The interface of object stores: S3 and Google Cloud Storage implement it.

Keys are authorized ones (`core/keys/object_keys.py`). Errors are LimnErrors: NotFound where the object does not exist,
Conflict where it was replaced, BadInput where the store refuses to complete an upload, Unavailable for all other
failures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

from chalicelib.core.keys.object_keys import ObjectKey, ObjectPrefix

PART = 16 * 1024 * 1024
"""Bytes of a part where the service itself splits uploads and downloads."""
Parts = list[dict[str, Any]]
"""Parts of a multipart upload: `{"ETag": …, "PartNumber": …}`, in order."""


class Listed(NamedTuple):
    """An object as a listing shows it: its key in the bucket, its bytes, its ETag, and when it was written."""

    name: str
    size: int
    etag: str
    modified: str


class ObjectStore(Protocol):
    """One bucket."""

    def presign_get(self, key: ObjectKey, seconds: int, headers: dict[str, str]) -> str:
        """The presigned URL that reads an object; `headers` are those of the response, named as S3's parameters are."""
        ...

    def presign_put(self, key: ObjectKey, seconds: int) -> str:
        """The presigned URL that writes an object."""
        ...

    def presign_part(self, key: ObjectKey, upload: str, number: int, seconds: int) -> str:
        """The presigned URL that writes a part of a multipart upload."""
        ...

    def begin(self, key: ObjectKey, content_type: str) -> str:
        """Begin a multipart upload; returns its id."""
        ...

    def put_part(self, key: ObjectKey, upload: str, number: int, body: bytes) -> str:
        """Store a part; returns its ETag."""
        ...

    def copy_part(
        self,
        key: ObjectKey,
        upload: str,
        number: int,
        home: ObjectStore,
        source: ObjectKey,
        span: tuple[int, int] | None = None,
    ) -> str | None:
        """Copy an object into a part inside the store; its ETag, None where unsupported.

        `span` is the offset and the number of bytes, at least 5 MB except in the last part; None for the whole object.
        """
        ...

    def complete(self, key: ObjectKey, upload: str, parts: Parts) -> None:
        """Make one object of the parts. Idempotent."""
        ...

    def abort(self, key: ObjectKey, upload: str) -> None:
        """Abort a multipart upload; a finished one is no error."""
        ...

    def head(self, key: ObjectKey) -> tuple[int, str] | None:
        """The size in bytes and the ETag of an object; None where it does not exist."""
        ...

    def read(self, key: ObjectKey) -> bytes:
        """A whole object."""
        ...

    def read_range(self, key: ObjectKey, offset: int, length: int, etag: str | None) -> bytes:
        """`length` bytes from `offset`, fewer at the end; of the object with this ETag, where one is given."""
        ...

    def download(self, key: ObjectKey, path: Path) -> None:
        """Download a whole object into a file."""
        ...

    def write(self, key: ObjectKey, body: bytes, content_type: str, encoding: str = "") -> None:
        """Store an object in one piece."""
        ...

    def upload(self, key: ObjectKey, body: BinaryIO, content_type: str) -> None:
        """Store the contents of a file, in parts where it is large."""
        ...

    def copy(self, home: ObjectStore, source: ObjectKey, key: ObjectKey, content_type: str) -> bool:
        """Copy an object from `home` inside the store; False where the service has to copy the bytes itself."""
        ...

    def remove(self, keys: Iterable[ObjectKey]) -> None:
        """Delete objects; missing ones are no error."""
        ...

    def freeze(self, key: ObjectKey) -> None:
        """Archive an object, as its bucket is configured. A missing one is no error."""
        ...

    def thaw(self, key: ObjectKey) -> bool:
        """Restore an object from the archive; returns whether it can be read. Call again until it can."""
        ...

    def under(self, prefix: ObjectPrefix) -> Iterator[ObjectKey]:
        """The keys that begin with a prefix, in order."""
        ...

    def page(self, prefix: str, after: str, limit: int) -> list[Listed]:
        """At most `limit` objects (1 to 1000) whose keys begin with a prefix and follow `after`, in order of UTF-8."""
        ...

    def key_of(self, url: str) -> str | None:
        """The key of the object that a URL names, ignoring its query; None where the URL is not of this bucket."""
        ...
