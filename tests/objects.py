"""The object store as tests see it: by keys as text, whosever they are. The service itself takes none (ObjectKey)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey, ObjectPrefix
from chalicelib.storage.objects import objects

Key = str | ObjectKey


def key(text: Key) -> ObjectKey:
    """An ObjectKey of any text."""
    return ObjectKey(str(text), object_keys._PROOF)


def prefix(text: str | ObjectPrefix) -> ObjectPrefix:
    """An ObjectPrefix of any text; the listing of a bucket needs none that ends with a slash."""
    made = object.__new__(ObjectPrefix)
    object.__setattr__(made, "path", str(text))
    return made


def size(text: Key, **more: Any) -> int | None:
    return objects.size(key(text), **more)


def head(text: Key, **more: Any) -> tuple[int, str] | None:
    return objects.head(key(text), **more)


def read(text: Key, **more: Any) -> bytes:
    return objects.read(key(text), **more)


def read_range(text: Key, *rest: Any, **more: Any) -> bytes:
    return objects.read_range(key(text), *rest, **more)


def write(text: Key, *rest: Any, **more: Any) -> None:
    objects.write(key(text), *rest, **more)


def copy(source: Key, text: Key, content_type: str) -> None:
    objects.copy(key(source), key(text), content_type)


def join(text: Key, pieces: Iterable[Key], content_type: str) -> None:
    objects.join(key(text), [key(piece) for piece in pieces], content_type)


def remove(keys: Iterable[Key], **more: Any) -> None:
    objects.remove([key(text) for text in keys], **more)


def under(text: str | ObjectPrefix, **more: Any) -> Iterator[str]:
    return (found.path for found in objects.under(prefix(text), **more))


def presign_get(text: Key, *rest: Any, **more: Any) -> str:
    return objects.presign_get(key(text), *rest, **more)


def presign_put(text: Key, *rest: Any) -> str:
    return objects.presign_put(key(text), *rest)


def begin(text: Key) -> str:
    return objects.begin(key(text))


def put_part(text: Key, *rest: Any) -> str:
    return objects.put_part(key(text), *rest)


def complete(text: Key, *rest: Any) -> None:
    objects.complete(key(text), *rest)


def bucket_of(text: Key) -> str:
    return objects.bucket_of(key(text))


def download(text: Key, *rest: Any, **more: Any) -> None:
    objects.download(key(text), *rest, **more)


def __getattr__(name: str) -> Any:
    return getattr(objects, name)
