"""A mirror in a bucket of S3, or of a store with its interface: `pip install '.[buckets]'` (boto3).

Objects are `media/<id>-<mark>_<name>`, where the mark is that of the media's file: the list of the bucket tells what is
there, so a run on any machine continues another one. Bytes come from range to part, never to a disk of this machine. A
large file is a multipart upload, of which a later run sends the missing parts.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import eq
from pathlib import Path
from typing import Any

import httpx

from .. import configuration, failures
from ..client import Client
from ..failures import Failure
from .mirror import BASE, MEDIA, TRIES, Advance, Row, mark_of, name_of, url_of

STATE = ".limn-mirror.json"
PART = 16 * 1024 * 1024
MOST_PARTS = 10_000
_OURS = re.compile(r"(\d+)-([0-9a-f]{8})_")


class Bucket:
    """What lies below a prefix of a bucket, with the credentials and endpoint that boto3 finds."""

    holds = 8

    def __init__(self, address: str) -> None:
        """Take an address.

        Args:
            address: `s3://bucket/prefix`.

        Raises:
            Failure: it has no bucket, or boto3 is not installed.
        """
        self._bucket, _, prefix = address.removeprefix("s3://").partition("/")
        if not self._bucket:
            raise Failure(f"{address}: give s3://bucket/prefix.")
        try:
            import boto3
        except ModuleNotFoundError:
            raise Failure("Mirrors in buckets need boto3: pip install '.[buckets]'") from None
        self._address, self._prefix = address, prefix.rstrip("/") + "/" if prefix.strip("/") else ""
        self._media = f"{self._prefix}{MEDIA}/"
        self._s3: Any = boto3.client("s3")

    @contextmanager
    def open(self, owner: str) -> Iterator[None]:
        """List the objects, and the uploads that were not completed."""
        with self._told():
            self._claim(owner)
            self._known = self._by_media("list_objects_v2", "Contents", "Key")
            self._begun = self._by_media("list_multipart_uploads", "Uploads", "UploadId")
        yield

    def held(self) -> set[int]:
        """See `MirrorStore`."""
        return {*self._known, *self._begun}

    def has(self, media: int, key: str) -> bool:
        """See `MirrorStore`."""
        return any(mark_of(key) == _OURS.match(each)[2] for each in self._known.get(media, ()))  # type: ignore[index]

    def store(self, client: Client, row: Row, key: str, advance: Advance) -> None:
        """See `MirrorStore`."""
        media = row["id"]
        name = f"{media}-{mark_of(key)}_{name_of(row)}"
        with self._told():
            for attempt in range(TRIES):
                try:
                    self._send(client, url_of(client, media), media, name, advance)
                    break
                except Failure as failure:  # a URL that ended, or a connection
                    if attempt == TRIES - 1 or failure.status not in (failures.NOT_PERMITTED, failures.NO_CONNECTION):
                        raise
            self._remove(media, but=name)

    def remove(self, media: int) -> None:
        """See `MirrorStore`."""
        with self._told():
            self._remove(media)

    def write(self, name: str, lines: Iterator[str]) -> None:
        """See `MirrorStore`. Raises Failure where the file was changed here: its changes would be lost."""
        base, following = f"{BASE}/{name}", f"{BASE}/{name}.part"
        with tempfile.NamedTemporaryFile() as file, self._told():
            # A run that died before its last step wrote the file, and not the base yet.
            known = self._head(name) and self._head(base)
            if known and not any(self._is_same(name, each) for each in (base, following)):
                remedy = "Send it by --back --apply, or delete it to leave its changes."
                raise Failure(f"{self._address}: {name} was changed. {remedy}")
            file.writelines(line.encode() for line in lines)
            file.flush()
            for each in (following, name, base):
                self._s3.upload_file(Filename=file.name, Bucket=self._bucket, Key=self._prefix + each)
            self._s3.delete_object(Bucket=self._bucket, Key=self._prefix + following)

    def accept(self, names: Iterable[str]) -> None:
        """See `Returning`."""
        with self._told():
            for name in names:
                self._s3.delete_object(Bucket=self._bucket, Key=self._prefix + name)

    def others(self, known: set[int]) -> list[str]:  # noqa: ARG002 names of ours have a mark
        """See `Returning`."""
        with self._told():
            listed = [entry["Key"][len(self._media) :] for entry in self._listed("list_objects_v2", "Contents")]
        return sorted(name for name in listed if name and "/" not in name and not _OURS.match(name))

    def fetch(self, name: str) -> Path:
        """See `Returning`. It stays beside the configuration until it is a media."""
        with self._told():
            found = self._s3.head_object(**self._place(name))
            folder = configuration.path().parent / "mirrors" / mark_of(self._address + found["ETag"])
            path = folder / name
            if not path.exists():
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._s3.download_file(**self._place(name), Filename=str(path) + ".part")
                os.utime(str(path) + ".part", (changed := found["LastModified"].timestamp(), changed))
                Path(str(path) + ".part").replace(path)
        return path

    def settle(self, name: str, media: int) -> None:
        """See `Returning`. The next run of the mirror stores the media's own file under its mark."""
        path = self.fetch(name)
        with self._told():
            ours = f"{media}-{'0' * 8}_{name_of({'name': name})}"
            self._s3.copy(CopySource=self._place(name), **self._place(ours))
            self._s3.delete_object(**self._place(name))
        path.unlink()
        path.parent.rmdir()

    def read(self, name: str) -> Iterator[str]:
        """See `Returning`."""
        with self._told():
            try:
                found = self._s3.get_object(Bucket=self._bucket, Key=self._prefix + name)
            except self._s3.exceptions.NoSuchKey:
                raise Failure(
                    f"{self._address}: {name} does not exist. Run this first: limn mirror {self._address}"
                ) from None
            yield from (line.decode() for line in found["Body"].iter_lines(PART))

    def base(self, name: str) -> Iterator[str]:
        """See `Returning`."""
        return self.read(f"{BASE}/{name}")

    def _head(self, name: str) -> dict[str, Any] | None:
        try:
            found: dict[str, Any] = self._s3.head_object(Bucket=self._bucket, Key=self._prefix + name)
        except self._s3.exceptions.ClientError as error:
            if error.response["ResponseMetadata"]["HTTPStatusCode"] == httpx.codes.NOT_FOUND:
                return None
            raise
        return found

    def _is_same(self, one: str, other: str) -> bool:
        """Whether two objects have the same bytes; stores that encrypt give them different ETags."""
        first, second = self._head(one), self._head(other)
        if not first or not second or first["ContentLength"] != second["ContentLength"]:
            return False
        return first["ETag"] == second["ETag"] or all(map(eq, self.read(one), self.read(other)))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Let what the bucket refuses be a Failure."""
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield
        except (ClientError, BotoCoreError, Boto3Error) as error:
            raise Failure(f"{self._address}: {error}", failures.REFUSED) from None

    def _claim(self, owner: str) -> None:
        place = {"Bucket": self._bucket, "Key": self._prefix + STATE}
        try:
            known = json.loads(self._s3.get_object(**place)["Body"].read())["project"]
        except self._s3.exceptions.NoSuchKey:
            self._s3.put_object(**place, Body=json.dumps({"project": owner}).encode())
            return
        if known != owner:
            raise Failure(f"{self._address} mirrors {known}. Give another prefix.")

    def _by_media(self, operation: str, member: str, value: str) -> dict[int, dict[str, str]]:
        """What the bucket lists: a member of each entry by the name of its object, by media."""
        found: dict[int, dict[str, str]] = {}
        for entry in self._listed(operation, member):
            name = entry["Key"][len(self._media) :]
            if ours := _OURS.match(name):
                found.setdefault(int(ours[1]), {})[name] = entry[value]
        return found

    def _listed(self, operation: str, member: str) -> Iterator[dict[str, Any]]:
        pages = self._s3.get_paginator(operation).paginate(Bucket=self._bucket, Prefix=self._media)
        return (entry for page in pages for entry in page.get(member, ()))

    def _place(self, name: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._media + name}

    def _send(self, client: Client, url: str, media: int, name: str, advance: Advance) -> None:
        """Copy a file, or its missing parts."""
        upload = self._begun.get(media, {}).get(name)
        first, total = client.read_range(url, 0, 1 if upload else PART)
        if total == len(first):
            self._s3.put_object(**self._place(name), Body=first)
            advance(total)
            return
        size = max(PART, -(-total // MOST_PARTS))
        if upload is None:
            upload = self._s3.create_multipart_upload(**self._place(name))["UploadId"]
            self._begun.setdefault(media, {})[name] = upload
        where: dict[str, Any] = {**self._place(name), "UploadId": upload}
        listed = (
            part for page in self._s3.get_paginator("list_parts").paginate(**where) for part in page.get("Parts", ())
        )
        tags = {part["PartNumber"]: part["ETag"] for part in listed}
        for number, start in enumerate(range(0, total, size), 1):
            if number not in tags:
                data = first if len(first) == size and not start else client.read_range(url, start, size)[0]
                tags[number] = self._s3.upload_part(**where, PartNumber=number, Body=data)["ETag"]
                advance(len(data))
        parts = [{"PartNumber": number, "ETag": tags[number]} for number in sorted(tags)]
        self._s3.complete_multipart_upload(**where, MultipartUpload={"Parts": parts})
        del self._begun[media][name]

    def _remove(self, media: int, but: str = "") -> None:
        """Remove the files of a media and its uploads that were not completed, except one."""
        for name in self._known.get(media, {}).keys() - {but}:
            self._s3.delete_object(**self._place(name))
        for name, upload in self._begun.get(media, {}).items():
            if name != but:
                self._s3.abort_multipart_upload(**self._place(name), UploadId=upload)
