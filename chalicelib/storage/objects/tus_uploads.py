"""The rows of resumable uploads. The bytes are in the object store; the rows say which of them count.

tus#{id}, @                the upload; `n` is its optimistic lock
tus#{id}, part|{number}    a part of its multipart upload that counts, with its ETag
tus-ends, {time}|{id}      when to check whether it has ended
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from chalicelib.core.resource import Timestamp
from chalicelib.core.time import clock
from chalicelib.core.web.tus import Upload
from chalicelib.errors import Conflict, NotFound
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

KEPT = 21 * 86400
"""TTL of an upload's rows: seconds after its last change, whatever the sweep did."""
_ENDS = "tus-ends"
_decoder = msgspec.json.Decoder(Upload)
_encode = msgspec.json.encode


def create(upload: Upload) -> Upload:
    """Store a new upload and the time of its end."""
    change = Transaction()
    change.put(_row(upload, 1), RecordRow.pk.does_not_exist())
    change.put(_end(upload))
    change.run()
    return msgspec.structs.replace(upload, n=1)


def get(number: str) -> Upload:
    """An upload by its id. Raises NotFound."""
    row = RecordRow.find(f"tus#{number}", "@")
    if row is None:
        raise NotFound.of("upload", number)
    return msgspec.structs.replace(_decoder.decode(row.doc), n=int(row.n))


def save(upload: Upload, part: tuple[int, str] | None = None) -> Upload:
    """Write an upload, and a part of it (number, ETag) that counts from now on.

    Raises:
        Conflict: another writer was faster.
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
    """The parts that count, in order, named as S3 expects."""
    found = RecordRow.query(f"tus#{upload.id}", RecordRow.sk.startswith("part|"), consistent_read=True)
    return [{"ETag": msgspec.json.decode(row.doc), "PartNumber": int(row.sk.partition("|")[2])} for row in found]


def forget_parts(upload: Upload) -> None:
    """Delete the rows of its parts."""
    found = list(RecordRow.query(f"tus#{upload.id}", RecordRow.sk.startswith("part|"), consistent_read=True))
    with RecordRow.batch_write() as batch:
        for row in found:
            batch.delete(row)


def list_due(moment: Timestamp) -> Iterator[tuple[Timestamp, str]]:
    """The uploads to check by an instant, and when, earliest first."""
    for row in RecordRow.query(_ENDS, RecordRow.sk < moment, consistent_read=True):
        end, _, number = row.sk.partition("|")
        yield end, number


def finish_check(end: Timestamp, number: str, delayed: Upload | None = None) -> None:
    """Delete the check of an upload, or delay it to the upload's end."""
    change = Transaction()
    if delayed is not None:
        change.put(_end(delayed))
    change.delete(RecordRow(_ENDS, f"{end}|{number}"))
    change.run()


def _row(upload: Upload, n: int) -> RecordRow:
    return RecordRow(f"tus#{upload.id}", "@", doc=_encode(upload), n=n, expires=_expires())


def _end(upload: Upload) -> RecordRow:
    return RecordRow(_ENDS, f"{upload.until}|{upload.id}", expires=_expires())


def _expires() -> int:
    return int(clock.seconds()) + KEPT
