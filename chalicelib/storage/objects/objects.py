"""Objects in any store (`placement.py`): keys, ranges, presigned URLs, multipart uploads. Errors are LimnErrors.

The deployment has three buckets: uploads (keys begin with `_uploads/`), media (`{organization}/{project}/…`), and
views, which holds derived data: bodies of large commits, snapshots, responses too large for the API. The key of an
object in a bucket that an organization registered names that bucket.

An object that a media refers to where it lies (`ObjectKey.is_reference`) is read and signed, never written, copied
inside its store or removed: functions that would raise Forbidden.

A `bucket` argument is the number of a registered bucket; without one, the key says which bucket it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from chalicelib.core.keys import key_forms
from chalicelib.core.keys import object_keys as naming
from chalicelib.core.keys.object_keys import ObjectKey, ObjectPrefix
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Forbidden, LimnError, NotFound
from chalicelib.settings import settings
from chalicelib.storage.objects import placement, s3
from chalicelib.storage.objects.protocol import PART, Listed, ObjectStore, Parts

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

SMALLEST_PART = 5 * 1024 * 1024
"""Least bytes of every part of a multipart upload except the last."""
PAGE = 1000
"""Objects of one page of a listing."""
_MAX_OBJECT_BYTES = 2**53
"""Bytes of an object; stores allow far less."""
_LONGEST_ETAG = 256
_ANSWER_SECONDS = 600
"""How long, in seconds, the URL of a stored response is valid."""
_PLAIN = "application/octet-stream"


def client() -> S3Client:
    """The client for the deployment's buckets."""
    return s3.client()


def bucket_of(key: ObjectKey) -> str:
    """The deployment's bucket of a key; empty for an object in a registered one."""
    return placement.own_bucket(key) if key_forms.bucket_of(key.path) is None else ""


def presign_get(key: ObjectKey, seconds: int, headers: dict[str, str] | None = None) -> str:
    """The presigned URL that reads an object; `headers` are the headers of its response."""
    return _store(key).presign_get(key, seconds, headers or {})


def presign_put(key: ObjectKey, seconds: int) -> str:
    """The presigned URL that writes an object."""
    return _writable(key).presign_put(key, seconds)


def presign_parts(key: ObjectKey, parts: int, seconds: int) -> tuple[str, list[str]]:
    """Begin a multipart upload; returns its id and the presigned URL of each part in order."""
    store = _writable(key)
    upload = store.begin(key, _PLAIN)
    return upload, [store.presign_part(key, upload, number, seconds) for number in range(1, parts + 1)]


def begin(key: ObjectKey) -> str:
    """Begin a multipart upload whose parts the service writes; returns its id."""
    return _writable(key).begin(key, _PLAIN)


def put_part(key: ObjectKey, upload: str, number: int, body: bytes) -> str:
    """Store a part of a multipart upload; returns its ETag."""
    return _writable(key).put_part(key, upload, number, body)


def copy_part(key: ObjectKey, upload: str, number: int, source: ObjectKey, span: tuple[int, int]) -> str:
    """Copy a range of an object, its offset and length, into a part of a multipart upload; returns its ETag.

    The store copies at least `SMALLEST_PART` bytes itself where both objects are in one.
    """
    store, home = _writable(key), _store(source)
    copied = store.copy_part(key, upload, number, home, source, span) if span[1] >= SMALLEST_PART else None
    return copied or store.put_part(key, upload, number, home.read_range(source, *span, None))


def abort(key: ObjectKey, upload: str) -> None:
    """Abort a multipart upload; a finished one is no error."""
    _writable(key).abort(key, upload)


def complete(key: ObjectKey, upload: str, parts: Parts) -> None:
    """Finish a multipart upload. Raises BadInput where the store refuses its id, parts or ETags.

    Idempotent: the first response may have been lost.
    """
    _writable(key).complete(key, upload, parts)


def size(key: ObjectKey) -> int | None:
    """The size of an object in bytes; None where it does not exist."""
    found = head(key)
    return found[0] if found else None


def head(key: ObjectKey) -> tuple[int, str] | None:
    """The size in bytes and the ETag of an object; None where it does not exist."""
    return _store(key).head(key)


def read(key: ObjectKey) -> bytes:
    """A whole object. Raises NotFound where it does not exist."""
    return _store(key).read(key)


def download(key: ObjectKey, path: Path) -> None:
    """Download a whole object into a file, large ones in parallel parts. Raises NotFound where it does not exist."""
    _store(key).download(key, path)


def read_range(key: ObjectKey, offset: int, length: int, *, etag: str | None = None) -> bytes:
    """`length` bytes from `offset`, fewer at the end of the object.

    Raises:
        NotFound: there is no such object.
        Conflict: an ETag is given and the object has another one.
    """
    return _store(key).read_range(key, offset, length, etag)


def copy(source: ObjectKey, key: ObjectKey, content_type: str) -> None:
    """Copy an object, inside the store where both buckets are in one. Raises NotFound where it does not exist."""
    home, target = _store(source), _writable(key)
    if not target.copy(home, source, key, content_type):
        target.upload(key, cast("BinaryIO", _Reader(home, source)), content_type)


def write(key: ObjectKey, body: bytes | BinaryIO, content_type: str = _PLAIN) -> None:
    """Store an object: bytes in one piece, a file in parts where it is large."""
    store = _writable(key)
    if isinstance(body, bytes):
        store.write(key, body, content_type)
    else:
        store.upload(key, body, content_type)


def join(key: ObjectKey, pieces: list[ObjectKey], content_type: str) -> None:
    """Concatenate several objects into one, by copies inside the store where the stores and the sizes allow it.

    Parts have at least `SMALLEST_PART` bytes except the last: smaller ones are read and sent together.
    """
    sizes = {piece: size(piece) or 0 for piece in pieces}
    if sum(sizes.values()) <= SMALLEST_PART:
        write(key, b"".join(read(piece) for piece in pieces), content_type)
        return
    store = _writable(key)
    upload = store.begin(key, content_type)
    parts: Parts = []

    def add(etag: str) -> None:
        parts.append({"ETag": etag, "PartNumber": len(parts) + 1})

    held = bytearray()
    for piece in pieces:
        home = _store(piece)
        if not held and sizes[piece] >= SMALLEST_PART:
            copied = store.copy_part(key, upload, len(parts) + 1, home, piece)
            if copied:
                add(copied)
                continue
        for start in range(0, sizes[piece], PART):
            held += home.read_range(piece, start, min(PART, sizes[piece] - start), None)
            if len(held) >= SMALLEST_PART:
                add(store.put_part(key, upload, len(parts) + 1, bytes(held)))
                held.clear()
    if held:
        add(store.put_part(key, upload, len(parts) + 1, bytes(held)))
    store.complete(key, upload, parts)


def remove(keys: Iterable[ObjectKey], *, bucket: int | None = None) -> None:
    """Delete objects; missing ones are no error. A store that is unavailable does not stop the others."""
    stores: dict[int, ObjectStore] = {}
    wanted: defaultdict[int, list[ObjectKey]] = defaultdict(list)
    for key in keys:
        store = _writable(key, bucket)
        stores[id(store)] = store
        wanted[id(store)].append(key)
    away: LimnError | None = None
    for number, store in stores.items():
        try:
            store.remove(wanted[number])
        except LimnError as failure:
            away = failure
    if away is not None:
        raise away


def under(prefix: ObjectPrefix, *, bucket: int | None = None) -> Iterator[ObjectKey]:
    """The keys that begin with a prefix, in order."""
    return _store(prefix, bucket).under(prefix)


def page(prefix: ObjectPrefix, after: str = "", limit: int = PAGE) -> list[Listed]:
    """Objects below the prefix of a bucket source whose names follow `after`, in order; fewer than `limit` at the end.

    Raises:
        NotFound: the bucket is not one of its organization.
        Unavailable: the store does not answer.
        BadInput: its answer is not such a page, so that a listing might not end.
    """
    found = _store(prefix).page(prefix.name, after, limit)
    names = [after, *(each.name for each in found)]
    is_sound = (
        len(found) <= limit
        and all(before < name for before, name in pairwise(names))
        and all(each.name.startswith(prefix.name) for each in found)
        and all(map(_is_plausible, found))
    )
    if not is_sound:
        raise BadInput(f"The store's page of {prefix.name!r} after {after[:200]!r} is not in order or not below it.")
    return found


def _is_plausible(found: Listed) -> bool:
    """Whether a store may have an object of this size and ETag."""
    return 0 <= found.size <= _MAX_OBJECT_BYTES and len(found.etag) <= _LONGEST_ETAG


def find_listed(prefix: ObjectPrefix, name: str) -> Listed | None:
    """The object with a name below the prefix of a bucket source; None where there is none. Raises as `page`."""
    if not name.startswith(prefix.name):
        return None
    found = _store(prefix).page(name, "", 1)[:1]
    return found[0] if found and found[0].name == name and _is_plausible(found[0]) else None


def put_answer(body: bytes, content_type: str, encoding: str | None, longest: int) -> str:
    """Store a response too large for the API; returns a URL of it, for ten minutes or at most `longest` seconds."""
    seconds = min(_ANSWER_SECONDS, longest)
    key = naming.answer_key(int(clock.seconds()) + seconds)
    store = s3.own(settings().views_bucket)
    store.write(key, body, content_type, encoding or "")
    if settings().answers_url:
        return f"{settings().answers_url}/{key}"
    return store.presign_get(key, seconds, {})


def _writable(key: ObjectKey, bucket: int | None = None) -> ObjectStore:
    store = _store(key, bucket)
    if key.is_reference:
        raise Forbidden(f"The object {key.name!r} is in a bucket that the service only reads.")
    return store


def _store(key: ObjectKey | ObjectPrefix, bucket: int | None = None) -> ObjectStore:
    if not isinstance(key, ObjectKey | ObjectPrefix):
        raise TypeError(f"{key!r} is text; an ObjectKey is needed (core/keys/object_keys.py)")
    return placement.store_of(key) if bucket is None else placement.store(bucket)


class _Reader:
    """An object as a file that is read from beginning to end, of one version."""

    def __init__(self, home: ObjectStore, key: ObjectKey) -> None:
        found = home.head(key)
        if found is None:
            raise NotFound.of("object", key.path)
        self._home, self._key = home, key
        self._size, self._etag = found
        self._position = 0

    def read(self, length: int = -1) -> bytes:
        """The next bytes; empty at the end."""
        left = self._size - self._position
        length = left if length < 0 else min(length, left)
        if length <= 0:
            return b""
        data = self._home.read_range(self._key, self._position, length, self._etag)
        self._position += len(data)
        return data
