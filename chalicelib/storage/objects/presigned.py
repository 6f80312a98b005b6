"""Cache of presigned URLs: a caller that asks again soon gets the same URL, so that browsers can cache the object.

Stored with the records, so that all containers return the same URL: one row per user and folder of keys, all of a
media's files together, so that a list of 100 media costs one read. A lost row only means that URLs are signed again.

    presigned#{user}, {folder}    the URLs by key, compressed; `expires` is the end of the last one
"""

from __future__ import annotations

import time
import zlib
from collections import defaultdict
from collections.abc import Iterable

import msgspec

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.objects import objects

SLACK = 3600
"""A URL is no longer returned in this many seconds before its end."""
_BATCH = 100
_Urls = dict[str, tuple[str, float]]


def urls(user: int, keys: Iterable[ObjectKey], seconds: int, *, fresh: bool = False) -> dict[ObjectKey, str]:
    """A URL for each key, valid for `seconds` from now, or the cached one while that is valid long enough.

    Args:
        user: id of the caller.
        keys: the objects; they need not exist.
        seconds: how long a new URL is valid; the cache holds those valid for more than an hour, for such requests.
        fresh: sign anew, and leave the cache unchanged.
    """
    wanted = list(dict.fromkeys(keys))
    if fresh or seconds <= SLACK:  # a cached one would outlive what was asked for
        return {key: objects.presign_get(key, seconds) for key in wanted}
    folders: defaultdict[str, list[ObjectKey]] = defaultdict(list)
    for key in wanted:
        folders[key.path.rpartition("/")[0]].append(key)
    known = _read(user, folders)
    moment = time.time()
    found: dict[ObjectKey, str] = {}
    changed: dict[str, _Urls] = {}
    for folder, inside in folders.items():
        remembered = {key: kept for key, kept in known.get(folder, {}).items() if kept[1] > moment}
        for key in inside:
            if key.path in remembered:
                found[key] = remembered[key.path][0]
                continue
            found[key] = objects.presign_get(key, seconds)
            remembered[key.path] = (found[key], moment + seconds - SLACK)
            changed[folder] = remembered
    _write(user, changed)
    return found


def forget(user: int) -> None:
    """Delete the cached URLs of a user. Those that the user has stay valid until they expire."""
    with RecordRow.batch_write() as batch:
        for row in RecordRow.query(f"presigned#{user}", consistent_read=True, attributes_to_get=["pk", "sk"]):
            batch.delete(row)


def _read(user: int, folders: Iterable[str]) -> dict[str, _Urls]:
    keys = [(f"presigned#{user}", folder) for folder in folders]
    found: dict[str, _Urls] = {}
    for start in range(0, len(keys), _BATCH):
        for row in RecordRow.batch_get(keys[start : start + _BATCH], consistent_read=True):
            found[row.sk] = msgspec.json.decode(zlib.decompress(row.doc), type=_Urls)
    return found


def _write(user: int, changed: dict[str, _Urls]) -> None:
    if not changed:
        return
    with RecordRow.batch_write() as batch:
        for folder, kept in changed.items():
            doc = zlib.compress(msgspec.json.encode(kept), 6)
            last = max(end for _, end in kept.values())
            batch.save(RecordRow(f"presigned#{user}", folder, doc=doc, expires=int(last) + 1))
