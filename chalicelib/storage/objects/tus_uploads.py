"""The rows of resumable uploads. What arrived lies in the object store; these say what of it counts.

tus#{id}, @                the upload; `n` is its optimistic lock
tus#{id}, part|{number}    a part of its multipart upload that counts, with its ETag
tus-ends, {time}|{id}      when to look whether it is over
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import msgspec

from chalicelib.core.resource import Timestamp
from chalicelib.core.tus import Upload
from chalicelib.errors import Conflict, NotFound
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

KEPT = 21 * 86400
"""Seconds after its last change that an upload is forgotten, at the latest and whatever the sweep did."""
_ENDS = "tus-ends"
_decoder = msgspec.json.Decoder(Upload)
_encode = msgspec.json.encode


def create(upload: Upload) -> Upload:
    """Note a new upload, and when it ends."""
    change = Transaction()
    change.put(_row(upload, 1), RecordRow.pk.does_not_exist())
    change.put(_end(upload))
    change.run()
    return msgspec.structs.replace(upload, n=1)


def get(number: str) -> Upload:
    """One by its id. Raises NotFound."""
    try:
        row = RecordRow.get(f"tus#{number}", "@", consistent_read=True)
    except RecordRow.DoesNotExist:
        raise NotFound.of("upload", number) from None
    return msgspec.structs.replace(_decoder.decode(row.doc), n=int(row.n))


def save(upload: Upload, part: tuple[int, str] | None = None) -> Upload:
    """Write an upload as it is now, and a part of it (number, ETag) that from now on counts.

    Raises:
        Conflict: somebody else was faster.
    """
    change = Transaction()
    busy = Conflict("Another request is writing to this upload; ask for its offset.")
    change.put(_row(upload, upload.n + 1), RecordRow.n == upload.n, busy)
    if part is not None:
        number, etag = part
        row = RecordRow(f"tus#{upload.id}", f"part|{number:05d}", doc=_encode(etag), expires=_expires())
        change.put(row)
    change.run()
    return msgspec.structs.replace(upload, n=upload.n + 1)


def parts(upload: Upload) -> list[dict[str, Any]]:
    """The parts that count, in order, as S3 wants them named."""
    found = RecordRow.query(f"tus#{upload.id}", RecordRow.sk.startswith("part|"), consistent_read=True)
    return [{"ETag": msgspec.json.decode(row.doc), "PartNumber": int(row.sk.partition("|")[2])} for row in found]


def forget_parts(upload: Upload) -> None:
    """Remove the rows of its parts."""
    found = list(RecordRow.query(f"tus#{upload.id}", RecordRow.sk.startswith("part|"), consistent_read=True))
    with RecordRow.batch_write() as batch:
        for row in found:
            batch.delete(row)


def ending(moment: Timestamp) -> Iterator[tuple[Timestamp, str]]:
    """When and which uploads are to be looked at by an instant, earliest first."""
    for row in RecordRow.query(_ENDS, RecordRow.sk < moment, consistent_read=True):
        end, _, number = row.sk.partition("|")
        yield end, number


def looked_at(end: Timestamp, number: str, again: Upload | None = None) -> None:
    """Forget that an upload is to be looked at, or have it looked at again when it ends."""
    change = Transaction()
    if again is not None:
        change.put(_end(again))
    change.delete(RecordRow(_ENDS, f"{end}|{number}"))
    change.run()


def _row(upload: Upload, n: int) -> RecordRow:
    return RecordRow(f"tus#{upload.id}", "@", doc=_encode(upload), n=n, expires=_expires())


def _end(upload: Upload) -> RecordRow:
    return RecordRow(_ENDS, f"{upload.until}|{upload.id}", expires=_expires())


def _expires() -> int:
    return int(time.time()) + KEPT
