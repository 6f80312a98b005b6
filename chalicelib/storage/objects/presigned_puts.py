"""The rows of uploads by presigned URLs that no lifecycle rule of a bucket expires.

A presigned PUT works until it expires, whatever happens to its media, File, project or user in the meantime. Each has
a row, written before its URL is answered, so that its object is looked at once more after the URL has expired.

    presigned-puts, {time}|{uuid}    the key, and the id of its multipart upload; checked at that time
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta

import msgspec

from chalicelib.core.resource import Timestamp, timestamp
from chalicelib.core.time import clock
from chalicelib.storage.dynamodb.tables import RecordRow

_ALL = "presigned-puts"


class Put(msgspec.Struct, frozen=True, kw_only=True):
    """An upload whose URLs a caller has."""

    key: str
    upload: str = ""
    """The id of its multipart upload; empty for a single PUT."""
    row: str = ""
    """The name of its row; not stored in it."""

    @property
    def since(self) -> Timestamp:
        """When the check was due."""
        return self.row.partition("|")[0]


_decoder = msgspec.json.Decoder(Put)


def add(key: str, upload: str, within: timedelta) -> None:
    """Note an upload, to check it after this time."""
    name = f"{timestamp(clock.utc_now() + within)}|{uuid.uuid4()}"
    RecordRow(_ALL, name, doc=msgspec.json.encode(Put(key=key, upload=upload))).save()


def list_due(moment: Timestamp) -> Iterator[Put]:
    """The uploads to check by an instant, earliest first."""
    for row in RecordRow.query(_ALL, RecordRow.sk < moment, consistent_read=True):
        yield msgspec.structs.replace(_decoder.decode(row.doc), row=row.sk)


def forget(put: Put) -> None:
    """Delete the row of an upload that was checked."""
    RecordRow(_ALL, put.row).delete()
