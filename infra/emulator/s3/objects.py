"""moto's S3 objects, taken and given as files instead of byte strings, and listed while others delete.

moto holds an object in a temporary file already, but takes and returns it whole. Here a `Body` that has been written to
a file becomes an object (or a part) without being read again, completing an upload copies from file to file, and
`open_content` gives a reader that outlives the object's replacement. What a request changes is stored before it is
answered.
"""

# ruff: noqa: SLF001 -- what is kept here has no public name in moto
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from moto.core.common_models import BaseModel
from moto.s3.exceptions import EntityTooSmall, InvalidPart, MalformedXML, NoSuchUpload
from moto.s3.models import FakeKey, FakeMultipart, MultipartDict, S3Backend
from moto.s3.responses import S3Response
from moto.s3.utils import _VersionedKeyStore
from moto.settings import S3_UPLOAD_PART_MIN_SIZE

from infra.emulator.patches import Patches
from infra.emulator.s3 import index as s3_index
from infra.emulator.s3.contents import FILES, Body, Content, Reader, copy_of, open_buffer

ATTEMPTS = 3
"""How often an object is looked for whose content is replaced while it is opened."""

_patches = Patches()


def open_content(store: S3Backend, bucket: str, name: str) -> tuple[FakeKey, Reader] | None:
    """An object and a reader of its content; None where there is none.

    The content stays readable when the object is replaced or removed meanwhile.
    """
    for attempt in range(ATTEMPTS):
        key = store.get_object(bucket, name)
        if key is None:
            return None
        try:
            with key.lock:
                return key, open_buffer(key._value_buffer, key.size)
        except (FileNotFoundError, ValueError):  # replaced or removed this moment
            if attempt == ATTEMPTS - 1:
                raise
    return None


def install() -> None:
    """Change moto's S3 objects, and have no model keep a list of all its instances."""
    if _patches:
        return
    _patches.replace(BaseModel, "__new__", staticmethod(_untracked))
    value: property = FakeKey.__dict__["value"]
    _patches.replace(FakeKey, "value", value.setter(_set_value(value.fset)))
    etag: property = FakeKey.__dict__["etag"]
    _patches.replace(FakeKey, "etag", property(_etag(etag.fget)))
    _patches.replace(FakeKey, "__del__", FakeKey.dispose)
    _patches.replace(FakeMultipart, "complete", _complete(FakeMultipart.complete))
    _patches.replace(S3Backend, "upload_part_copy", _copy_part)
    _patches.replace(S3Backend, "copy_object", _copy(S3Backend.copy_object))
    for name, listed in (("items", _items), ("values", lambda keys: (key for _, key in _items(keys)))):
        _patches.replace(_VersionedKeyStore, name, listed)
    _patches.replace(MultipartDict, "__missing__", _no_such_upload)
    for name in ("key_response", "bucket_response"):
        _patches.replace(S3Response, name, _stored(getattr(S3Response, name)))
    s3_index.install(_patches.replace)


def uninstall() -> None:
    """Put moto back as it was."""
    _patches.undo()


def _untracked(cls: type, *_: Any, **__: Any) -> Any:
    """Stock models append every message, object and item to a list: not in a server that runs for days."""
    return object.__new__(cls)


def _stored(original: Any) -> Callable[..., Any]:
    """Store what a request has changed before it is answered."""

    def response(self: S3Response, request: Any, *args: Any) -> Any:
        if request.method in ("GET", "HEAD", "OPTIONS"):
            return original(self, request, *args)
        with s3_index.storing():
            return original(self, request, *args)

    return response


def _set_value(original: Any) -> Callable[[FakeKey, Any], None]:
    def set_value(self: FakeKey, value: Any) -> None:
        if isinstance(value, Content):
            self._value_buffer.close()
            self._value_buffer, self.contentsize = value, value.size
            return
        if not isinstance(value, Body):
            if FILES.directory is None:
                original(self, value)
                return
            body = Body()
            body.write(value.encode() if isinstance(value, str) else value)
            value = body
        self._value_buffer.close()
        self._value_buffer = value.finish()
        self.contentsize = value.size
        if self._etag is None:
            self._etag = value.md5.hex()

    return set_value


def _no_such_upload(_: MultipartDict, upload: str) -> None:
    """Stock moto fails where S3 says that it knows no such upload."""
    raise NoSuchUpload(upload)


def _items(keys: _VersionedKeyStore) -> Iterator[tuple[str, Any]]:
    """What is listed, without what another thread deletes on the way."""
    for name in list(keys):
        versions = keys.getlist(name)
        if versions:
            yield name, versions[-1]


def _etag(original: Any) -> Callable[[FakeKey], str]:
    def etag(self: FakeKey) -> str:
        # moto moves the file's position while it reckons; another thread may be reading
        with self.lock:
            found: str = original(self)
            return found

    return etag


def _copy_part(
    self: S3Backend,
    dest_bucket_name: str,
    multipart_id: str,
    part_id: int,
    src_bucket_name: str,
    src_key_name: str,
    src_version_id: str | None,
    start_byte: int | None,
    end_byte: int,
) -> FakeKey:
    upload = self.get_bucket(dest_bucket_name).multiparts[multipart_id]
    source = self.get_object(src_bucket_name, src_key_name, version_id=src_version_id)
    start, end = (0, source.size) if start_byte is None else (start_byte, min(end_byte + 1, source.size))
    part, etag = _copied(source, start, end - start)
    key = upload.set_part(part_id, part)
    key._etag = key._etag or etag
    return key


def _copied(source: FakeKey, start: int, length: int) -> tuple[Content | Body, str | None]:
    """A stretch of an object as another's value, and its ETag where that is known without reading it."""
    buffer = source._value_buffer
    if not isinstance(buffer, Content):
        with source.lock:
            return copy_of(buffer, source.size, start, length), None
    if (start, length) != (0, source.size):
        return copy_of(buffer, source.size, start, length), None
    etag = source.etag.strip('"')
    return buffer.copied(), None if "-" in etag else etag  # that of a multipart upload is none of its content


class _CopySource:
    """An object whose value is a copy of its content, from file to file."""

    def __init__(self, key: FakeKey) -> None:
        self._key = key
        self.copied_etag: str | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._key, name)

    @property
    def value(self) -> Any:
        copied, self.copied_etag = _copied(self._key, 0, self._key.size)
        return copied


def _copy(original: Any) -> Callable[..., None]:
    def copy_object(
        self: S3Backend, src_key: FakeKey, dest_bucket_name: str, dest_key_name: str, *args: Any, **options: Any
    ) -> None:
        source = _CopySource(src_key)
        original(self, source, dest_bucket_name, dest_key_name, *args, **options)
        made = self.get_object(dest_bucket_name, dest_key_name)
        made._etag = made._etag or source.copied_etag

    return copy_object


def _complete(original: Any) -> Callable[..., Any]:
    def complete(self: FakeMultipart, body: Iterator[tuple[int, str]]) -> Any:
        if self.metadata.get("x-amz-checksum-algorithm"):
            return original(self, body)
        chosen: list[FakeKey] = []
        for number, etag in body:
            part = self.parts.get(number)
            if part is None or part.etag.strip('"') != etag.strip('"'):
                raise InvalidPart
            if chosen and chosen[-1].contentsize < S3_UPLOAD_PART_MIN_SIZE:
                raise EntityTooSmall
            chosen.append(part)
        if not chosen:
            raise MalformedXML
        whole = Body()
        try:
            for part in chosen:
                with open_buffer(part._value_buffer, part.size) as content:
                    for block in content.blocks(0, part.size):
                        whole.write(block)
        except BaseException:
            whole.close()
            raise
        digests = b"".join(bytes.fromhex(part.etag.strip('"')) for part in chosen)
        return whole, f"{hashlib.md5(digests, usedforsecurity=False).hexdigest()}-{len(chosen)}", None

    return complete
