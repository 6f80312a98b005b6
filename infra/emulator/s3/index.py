"""The index of S3's objects and unfinished uploads in the database of the local stack.

moto keeps objects and uploads in dictionaries of its buckets. At the end of each request that may change them, before
it is answered, the objects and uploads that it touched are stored as they are then, in one transaction; where that
fails they are put back as the database has them. At the start the dictionaries are filled from the database, each
object made when it is first looked at.
"""

# ruff: noqa: SLF001 -- what is kept here has no public name in moto
from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from types import SimpleNamespace
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import FakeBucket, FakeKey, FakeMultipart, MultipartDict, S3Backend, s3_backends
from moto.s3.utils import _VersionedKeyStore

from infra.emulator.s3.contents import FILES, Content
from infra.emulator.sqlite import database
from infra.emulator.sqlite.documents import Documents
from infra.emulator.sqlite.integrity import CannotStore, Damaged

Document = dict[str, Any]
_request = threading.local()
"""What the request of this thread has touched: (bucket, is an upload, key or upload id), in `touched`."""


class Stored:
    """An object that was not looked at since the start."""

    def __init__(self, document: Document) -> None:
        self.document = document


class Keys(_VersionedKeyStore):  # type: ignore[misc]
    """The objects of one bucket."""

    def __init__(self, bucket: str) -> None:
        super().__init__()
        self._bucket = bucket

    def __sgetitem__(self, key: str) -> list[Any]:
        versions: Any = dict.__getitem__(self, key)
        if isinstance(versions, Stored):
            versions = [_key_of(self._bucket, key, versions.document)]
            dict.__setitem__(self, key, versions)
        found: list[Any] = versions
        return found

    def __setitem__(self, key: str, value: Any) -> None:
        touch(self._bucket, key)
        super().__setitem__(key, value)

    def setlist(self, key: Any, list_: Any) -> None:
        """Replace the versions of an object."""
        touch(self._bucket, key)
        super().setlist(key, list_)

    def pop(self, key: str) -> None:
        """Remove an object."""
        touch(self._bucket, key)
        super().pop(key)


class Uploads(MultipartDict):  # type: ignore[misc]
    """The unfinished uploads of one bucket."""

    def __init__(self, bucket: str) -> None:
        super().__init__()
        self._bucket = bucket

    def __getitem__(self, upload: str) -> Any:
        # parts are set on what is found here
        touch(self._bucket, upload, is_upload=True)
        return super().__getitem__(upload)

    def __setitem__(self, upload: str, value: Any) -> None:
        touch(self._bucket, upload, is_upload=True)
        super().__setitem__(upload, value)

    def __delitem__(self, upload: str) -> None:
        touch(self._bucket, upload, is_upload=True)
        super().__delitem__(upload)


def touch(bucket: str, name: str, *, is_upload: bool = False) -> None:
    """Note that the request of this thread may change an object or an upload."""
    touched = getattr(_request, "touched", None)
    if touched is not None:
        touched.add((bucket, is_upload, name))


@contextmanager
def storing() -> Iterator[None]:
    """One request: what it touches is stored at its end, or as before where it fails. Requests do not nest.

    Raises:
        CannotStore: nothing of it was done.
    """
    if FILES.directory is None:
        yield
        return
    _request.touched = set()
    try:
        yield
        obsolete = _save(_request.touched)
    except BaseException:
        _put_back(_request.touched)
        raise
    finally:
        _request.touched = None
    _remove(obsolete)


def _remove(contents: Collection[str]) -> None:
    """Remove contents that no row names any more, once that survives a loss of power: an older row would be damaged."""
    if contents:
        try:
            database.current().sync()
        except CannotStore:  # the next start removes them
            return
    for content in contents:
        FILES.remove(content)


def restore() -> int:
    """Fill the buckets that exist from the database, and return how many objects there are.

    Raises:
        Damaged: the content of one is missing or has another size.
    """
    sizes, count, needed = FILES.sizes(), 0, set()
    for bucket in list(_store().buckets.values()):
        for is_upload in (False, True):
            for name, document in _documents(bucket.name, is_upload=is_upload).items():
                for content in _contents(document):
                    needed.add(content["content"])
                    if sizes.get(content["content"]) != content["size"]:
                        path = FILES.directory and FILES.directory / content["content"]
                        raise Damaged(path, f"it is not the {content['size']} bytes of {bucket.name}/{name}")
                _fill(bucket, name, document, is_upload=is_upload)
                count += not is_upload
    _remove(sizes.keys() - needed)
    return count


def forget() -> None:
    """Empty moto's dictionaries and leave the database and the contents as they are."""
    for bucket in _store().buckets.values():
        dict.clear(bucket.keys)
        dict.clear(bucket.multiparts)


def install(replace: Callable[[Any, str, Any], None]) -> None:
    """Give the buckets made from now on dictionaries that note what is touched, and list without making all objects."""
    original, listed = FakeBucket.__init__, S3Backend.list_objects

    def init(self: FakeBucket, *args: Any, **options: Any) -> None:
        original(self, *args, **options)
        self.keys, self.multiparts = Keys(self.name), Uploads(self.name)

    def list_objects(self: S3Backend, bucket: FakeBucket, prefix: str | None, *args: Any, **options: Any) -> Any:
        if type(bucket) is FakeBucket and prefix:
            names = [name for name in list(bucket.keys) if name.startswith(prefix)]
            found = {name: versions[-1] for name in names if (versions := bucket.keys.getlist(name))}
            bucket = SimpleNamespace(keys=found)
        return listed(self, bucket, prefix, *args, **options)

    replace(FakeBucket, "__init__", init)
    replace(S3Backend, "list_objects", list_objects)


def _documents(bucket: str, *, is_upload: bool) -> Documents:
    return database.current().documents(f"{'uploads' if is_upload else 'objects'}/{bucket}")


def _store() -> S3Backend:
    backend: S3Backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    return backend


def _save(touched: set[tuple[str, bool, str]]) -> set[str]:
    """Store what was touched as it is now; the contents that no row names any more."""
    before, after = set(), set()
    with database.current().transaction():
        for bucket_name, is_upload, name in sorted(touched):
            documents = _documents(bucket_name, is_upload=is_upload)
            old, new = documents.get(name), _document(bucket_name, name, is_upload=is_upload)
            before |= {content["content"] for content in _contents(old)}
            after |= {content["content"] for content in _contents(new)}
            if new is None:
                if old is not None:
                    documents.delete(name)
            elif new != old:
                documents.put(name, new)
    return before - after


def _put_back(touched: set[tuple[str, bool, str]]) -> None:
    """Have moto's dictionaries hold what the database does."""
    for bucket_name, is_upload, name in touched:
        bucket = _store().buckets.get(bucket_name)
        if bucket is None:
            continue
        document = _documents(bucket_name, is_upload=is_upload).get(name)
        abandoned = {each["content"] for each in _contents(_document(bucket_name, name, is_upload=is_upload))}
        for content in abandoned - {each["content"] for each in _contents(document)}:
            FILES.remove(content)
        dict.pop(bucket.multiparts if is_upload else bucket.keys, name, None)
        if document is not None:
            _fill(bucket, name, document, is_upload=is_upload)


def _fill(bucket: FakeBucket, name: str, document: Document, *, is_upload: bool) -> None:
    if is_upload:
        dict.__setitem__(bucket.multiparts, name, _upload_of(name, document))
    else:
        dict.__setitem__(bucket.keys, name, Stored(document))


def _document(bucket_name: str, name: str, *, is_upload: bool) -> Document | None:
    """The storage class of an object or an upload; None where there is none."""
    bucket = _store().buckets.get(bucket_name)
    if bucket is None:
        return None
    if is_upload:
        upload = dict.get(bucket.multiparts, name)
        return None if upload is None else _of_upload(upload)
    held: Any = dict.get(bucket.keys, name)
    if isinstance(held, Stored):
        return held.document
    return _of_key(held[-1]) if held and isinstance(held[-1], FakeKey) else None


def _of_key(key: FakeKey) -> Document:
    content: Content = key._value_buffer
    return {
        "content": content.name,
        "sums": content.sums,
        "size": key.size,
        "etag": key.etag.strip('"'),
        "modified": key.last_modified.isoformat(),
        "metadata": dict(key.metadata),
        "storage": key._storage_class,
        "expiry": key._expiry and key._expiry.isoformat(),
        "status": key._status,
        "tags": _store().tagger.get_tag_dict_for_resource(key.arn),
    }


def _of_upload(upload: FakeMultipart) -> Document:
    parts = [[number, _of_key(part)] for number, part in sorted(upload.parts.items())]
    return {
        "key": upload.key_name,
        "metadata": dict(upload.metadata),
        "storage": upload.storage,
        "tags": upload.tags,
        "parts": parts,
    }


def _contents(document: Document | None) -> list[Document]:
    if document is None:
        return []
    return [part for _, part in document["parts"]] if "parts" in document else [document]


def _key_of(bucket: str, name: Any, document: Document) -> FakeKey:
    store = _store()
    key = FakeKey(
        name, _content(document), account_id=store.account_id, region_name=store.region_name,
        storage=document["storage"], etag=document["etag"], version_id="null", bucket_name=bucket,
    )  # fmt: skip
    _fill_key(key, document)
    if document["tags"]:
        store.tagger.tag_resource(key.arn, [{"Key": tag, "Value": value} for tag, value in document["tags"].items()])
    return key


def _fill_key(key: FakeKey, document: Document) -> None:
    key._etag = document["etag"]
    key.last_modified = datetime.fromisoformat(document["modified"])
    key.set_metadata(dict(document["metadata"]), replace=False)
    key._expiry = datetime.fromisoformat(document["expiry"]) if document["expiry"] else None
    key._status = document["status"]


def _upload_of(number: str, document: Document) -> FakeMultipart:
    store = _store()
    upload = FakeMultipart(
        document["key"],
        document["metadata"],
        store.account_id,
        store.region_name,
        document["storage"],
        document["tags"],
    )
    upload.id = number
    for part, content in document["parts"]:
        _fill_key(upload.set_part(part, _content(content)), content)
    return upload


def _content(document: Document) -> Content:
    return Content(document["content"], document["size"], document["sums"])
