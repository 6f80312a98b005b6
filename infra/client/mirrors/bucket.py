"""A mirror in a bucket of S3, or of a store with its interface: `pip install '.[buckets]'` (boto3).

Objects are `media/<id>-<mark>_<name>`, where the mark is that of the media's file: the list of the bucket tells what is
there, so a run on any machine continues another one. Bytes go from range to part, never to a disk of this machine. A
large file is a multipart upload, of which a later run sends the missing parts.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .. import failures
from ..client import Client
from ..exchange import Request
from ..failures import Failure
from .mirror import MEDIA, TRIES, Advance, Row, mark_of, name_of, url_of

STATE = ".limn-mirror.json"
PART = 16 * 1024 * 1024
MOST_PARTS = 10_000
_OURS = re.compile(r"(\d+)-([0-9a-f]{8})_")


class Bucket:
    """What lies below a prefix of a bucket, with the credentials and endpoint that boto3 finds."""

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
        """See `Place`."""
        return {*self._known, *self._begun}

    def has(self, media: int, key: str) -> bool:
        """See `Place`."""
        return any(mark_of(key) == _OURS.match(each)[2] for each in self._known.get(media, ()))  # type: ignore[index]

    def store(self, client: Client, row: Row, key: str, advance: Advance) -> None:
        """See `Place`."""
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
        """See `Place`."""
        with self._told():
            self._remove(media)

    def write(self, name: str, lines: Iterator[str]) -> None:
        """See `Place`."""
        with tempfile.TemporaryFile() as file, self._told():
            file.writelines(line.encode() for line in lines)
            file.seek(0)
            self._s3.upload_fileobj(file, self._bucket, self._prefix + name)

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
        pages = self._s3.get_paginator(operation).paginate(Bucket=self._bucket, Prefix=self._media)
        for entry in (entry for page in pages for entry in page.get(member, ())):
            name = entry["Key"][len(self._media) :]
            if ours := _OURS.match(name):
                found.setdefault(int(ours[1]), {})[name] = entry[value]
        return found

    def _place(self, name: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._media + name}

    def _send(self, client: Client, url: str, media: int, name: str, advance: Advance) -> None:
        """Copy a file, or its missing parts."""
        upload = self._begun.get(media, {}).get(name)
        first, total = _range(client, url, 0, 1 if upload else PART)
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
                data = first if len(first) == size and not start else _range(client, url, start, size)[0]
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


def _range(client: Client, url: str, start: int, size: int) -> tuple[bytes, int]:
    """Up to `size` bytes of a URL from `start` on, and how many it has in all."""
    answer = client.exchanged(Request("GET", url, headers={"Range": f"bytes={start}-{start + size - 1}"}))
    return answer.content, int(answer.headers.get("Content-Range", "").rpartition("/")[2] or len(answer.content))
