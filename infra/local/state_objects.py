"""S3's objects and unfinished uploads on disk.

The content of every object and part is a file of its own that never changes; a JSON file beside it says whose it is. A
new content is complete before the JSON file names it, and an old one is removed only afterwards, so a crash leaves the
old object or the new one. Once written, the object reads its content from there, and memory and temporary files are
free.
"""

# ruff: noqa: SLF001 -- what is kept here has no public name in moto
from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import uuid
from datetime import datetime
from pathlib import Path
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import FakeKey, FakeMultipart, S3Backend, s3_backends

from infra.local.s3_objects import BLOCK, Body, Kept, opened


class ObjectFiles:
    """A directory that mirrors moto's S3."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._known: dict[str, tuple[Any, str]] = {}
        """File name → the object or upload it was written for, and what was written."""
        self._contents: dict[str, set[str]] = {}
        """File name → names of the contents it needs."""
        self._obsolete: list[Path] = []

    def load(self) -> int:
        """Put the objects into the buckets that exist, and return how many there are. Contents of none are removed."""
        self.directory.mkdir(parents=True, exist_ok=True)
        store, count = _store(), 0
        for path in sorted(self.directory.glob("*.json")):
            about = json.loads(path.read_bytes())
            if about["bucket"] not in store.buckets:
                continue
            thing = self._object(store, about) if about["kind"] == "object" else self._upload(store, about)
            self._known[path.name] = (thing, path.read_text())
            self._contents[path.name] = _contents(about)
            count += about["kind"] == "object"
        needed = set().union(*self._contents.values())
        for path in self.directory.iterdir():
            if path.suffix in (".content", ".new") and path.name not in needed:
                path.unlink()
        return count

    def flush(self) -> None:
        """Write what is new and remove what is gone."""
        for path in self._obsolete:  # a round later: somebody may just have been about to read it
            path.unlink(missing_ok=True)
        self._obsolete = []
        seen = set()
        for bucket in list(_store().buckets.values()):
            for name, versions in list(bucket.keys.lists()):
                key = versions[-1] if versions else None
                if isinstance(key, FakeKey):
                    seen.add(self._keep(_file_name("object", bucket.name, str(name)), key, bucket.name))
            for upload in list(bucket.multiparts.values()):
                seen.add(self._keep(_file_name("upload", bucket.name, upload.id), upload, bucket.name))
        for gone in self._known.keys() - seen:
            (self.directory / gone).unlink(missing_ok=True)
            self._obsolete += [self.directory / content for content in self._contents.pop(gone)]
            del self._known[gone]

    def _keep(self, file_name: str, thing: FakeKey | FakeMultipart, bucket: str) -> str:
        try:
            text = json.dumps(self._describe(thing, bucket))
        except (ValueError, OSError):  # replaced or finished this moment: its successor is met in the next round
            return file_name
        if self._known.get(file_name) == (thing, text):
            return file_name
        replace_file(self.directory / file_name, text)
        contents = _contents(json.loads(text))
        self._obsolete += [self.directory / old for old in self._contents.get(file_name, set()) - contents]
        self._contents[file_name] = contents
        self._known[file_name] = (thing, text)
        return file_name

    def _describe(self, thing: FakeKey | FakeMultipart, bucket: str) -> dict[str, Any]:
        if isinstance(thing, FakeKey):
            return {"kind": "object", "bucket": bucket, "key": thing.name, **self._content(thing)}
        parts = {str(number): self._content(part) for number, part in sorted(thing.parts.items())}
        return {
            "kind": "upload", "bucket": bucket, "key": thing.key_name, "id": thing.id, "metadata": dict(thing.metadata),
            "storage": thing.storage, "tags": thing.tags, "parts": parts,
        }  # fmt: skip

    def _content(self, key: FakeKey) -> dict[str, Any]:
        if not isinstance(key._value_buffer, Kept):
            path = self.directory / f"{uuid.uuid4().hex}.content"
            with opened(key) as source, path.with_suffix(".new").open("wb") as target:
                shutil.copyfileobj(source, target, BLOCK)
            path.with_suffix(".new").replace(path)
            with key.lock:
                if key.disposed:
                    path.unlink()
                    raise ValueError(key.name)
                key._value_buffer.close()
                key._value_buffer = Kept(path)
        return {
            "content": key._value_buffer.path.name,
            "size": key.size, "etag": key.etag.strip('"'), "modified": key.last_modified.isoformat(),
            "metadata": dict(key.metadata),
        }  # fmt: skip

    def _fill(self, key: FakeKey, about: dict[str, Any]) -> None:
        key._value_buffer.close()
        key._value_buffer = Kept(self.directory / about["content"])
        key.contentsize, key._etag = about["size"], about["etag"]
        key.last_modified = datetime.fromisoformat(about["modified"])
        key.set_metadata(dict(about["metadata"]), replace=False)

    def _object(self, store: S3Backend, about: dict[str, Any]) -> FakeKey:
        key = store.put_object(about["bucket"], about["key"], Body(), disable_notification=True)
        self._fill(key, about)
        return key

    def _upload(self, store: S3Backend, about: dict[str, Any]) -> FakeMultipart:
        metadata, storage, tags = about["metadata"], about["storage"], about["tags"]
        upload = store.create_multipart_upload(about["bucket"], about["key"], metadata, storage, tags, None, None, None)
        uploads = store.buckets[about["bucket"]].multiparts
        uploads[about["id"]] = uploads.pop(upload.id)
        upload.id = about["id"]
        for number, part in about["parts"].items():
            self._fill(upload.set_part(int(number), Body()), part)
        return upload


def _store() -> S3Backend:
    backend: S3Backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    return backend


def _contents(about: dict[str, Any]) -> set[str]:
    parts = about["parts"].values() if about["kind"] == "upload" else [about]
    return {part["content"] for part in parts}


def _file_name(kind: str, bucket: str, name: str) -> str:
    digest = hashlib.sha256(f"{kind}\0{bucket}\0{name}".encode()).digest()
    return f"{base64.b32encode(digest[:15]).decode().lower()}.json"


def replace_file(path: Path, text: str) -> None:
    """Write a file so that a crash leaves the old one or the new one."""
    temporary = path.with_suffix(".new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
