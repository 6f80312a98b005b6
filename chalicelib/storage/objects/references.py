"""Objects in registered buckets that media of a project refer to, where they lie (docs/decisions/091).

    objects#{project}|{bucket}, {name}    the object: its media, and what was last seen of it; written with the media

The row says that the media may name the object (`owners.authorize`), and that an object has one media, however often
a listing or an event shows it. Names are sorted as the store lists them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec import Struct

from chalicelib.core.keys.object_keys import ObjectPrefix
from chalicelib.core.resource import Timestamp
from chalicelib.errors import Conflict
from chalicelib.storage.dynamodb import record_rows
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects.protocol import Listed

_LAST = "\U0010ffff"
_FIRST = " "


class Reference(Struct, kw_only=True, omit_defaults=True):
    """An object in a registered bucket, and the media that refers to it.

    Attributes:
        media: the id of the media.
        size, etag, modified: the object as it was last seen.
        seen: when it was last found to be new, changed or gone.
        state: `new` until its frames or its thumbnail are made, `failed` where they cannot be.
        is_missing: whether it is gone.
        n: the optimistic lock.
    """

    media: int
    size: int
    etag: str
    modified: str
    seen: Timestamp
    state: Literal["new", "ready", "failed"] = "new"
    is_missing: bool = False
    n: int = 1

    def is_of(self, found: Listed) -> bool:
        """Whether an object that a listing shows is the one that was last seen."""
        return not self.is_missing and (self.size, self.etag) == (found.size, found.etag)


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Reference)


def read(project: int, bucket: int, names: Iterable[str]) -> dict[str, Reference]:
    """The references to some objects, by name."""
    keys = ((_pk(project, bucket), name) for name in dict.fromkeys(names))
    return {row.sk: _decode(row) for row in record_rows.rows(keys)}


def between(project: int, bucket: int, prefix: ObjectPrefix, after: str, last: str | None) -> dict[str, Reference]:
    """The references to objects below a prefix, after one name and up to another; None for all that follow."""
    low, high = after or prefix.name or _FIRST, last or prefix.name + _LAST
    rows = RecordRow.query(_pk(project, bucket), RecordRow.sk.between(low, high), consistent_read=True)
    return {row.sk: _decode(row) for row in rows if row.sk != after}


def add(change: Transaction, project: int, bucket: int, name: str, reference: Reference) -> None:
    """Add a new reference to a transaction, which fails with Conflict where the object has a media already."""
    row = RecordRow(_pk(project, bucket), name, doc=_encoder.encode(reference), n=1)
    taken = Conflict(f"The object {name!r} has a media already.")
    change.put(row, RecordRow.pk.does_not_exist(), taken)


def rewrite(change: Transaction, project: int, bucket: int, name: str, before: Reference, after: Reference) -> None:
    """Add a changed reference to a transaction, which fails with Conflict where it was changed meanwhile."""
    row = RecordRow(_pk(project, bucket), name, doc=_encoder.encode(after), n=before.n + 1)
    change.put(row, RecordRow.n == before.n, Conflict(f"The object {name!r} was looked at by another run."))


def has_any(project: int, bucket: int) -> bool:
    """Whether media of a project refer to objects in a bucket."""
    return any(True for _ in RecordRow.query(_pk(project, bucket), consistent_read=True, limit=1))


def forget(project: int, bucket: int) -> None:
    """Delete the references of a project that is purged."""
    found = list(RecordRow.query(_pk(project, bucket), consistent_read=True, attributes_to_get=["pk", "sk"]))
    with RecordRow.batch_write() as batch:
        for row in found:
            batch.delete(row)


def _pk(project: int, bucket: int) -> str:
    return f"objects#{project}|{bucket}"


def _decode(row: RecordRow) -> Reference:
    found = _decoder.decode(row.doc)
    found.n = int(row.n)
    return found
