"""Cache of presigned URLs: a caller that asks again soon gets the same URL, so that browsers can cache the object.

Stored with the records, so that all containers return the same URL: one row per user and folder of keys, all of a
media's files together, so that a list of 100 media costs one read. A lost row only means that URLs are signed again.

    presigned#{user}, {project}|{folder}    the URLs by key, compressed; `expires` is the end of the last one

A URL is good for the address of the store that it was signed for, from the time when it was signed on: after a change
of port, or where the clock goes back, it is signed again. A new membership begins without those of an earlier one.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from dataclasses import dataclass

import msgspec

from chalicelib.core.context import holding
from chalicelib.core.keys import key_forms
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.time import clock
from chalicelib.settings import settings
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.objects import objects

SLACK = 3600
"""A URL is no longer returned in this many seconds before its end."""
SHARED_SECONDS = 3600
"""Seconds for which a cached URL is reused: the signing key may be replaced, and access may end."""
_EXPIRES = re.compile(r"[?&]X-(?:Amz|Goog)-Expires=(\d+)")
_BATCH = 100


class _Kept(msgspec.Struct, array_like=True, frozen=True):
    url: str
    end: float
    signed: float
    store: str

    def is_good(self, moment: float) -> bool:
        return self.signed <= moment < self.end and self.store == settings().s3_endpoint


_Urls = dict[str, _Kept]


def urls(user: int, keys: Iterable[ObjectKey], seconds: int, *, fresh: bool = False) -> dict[ObjectKey, str]:
    """A URL for each key, valid for `seconds` from now, or the cached one while that is valid long enough.

    Args:
        user: id of the caller.
        keys: the objects; they need not exist.
        seconds: how long a new URL is valid; the cache holds those valid for more than an hour, for such requests.
        fresh: sign anew, and leave the cache unchanged.
    """
    wanted = list(dict.fromkeys(keys))
    seconds = min(seconds, longest())
    if fresh or seconds <= SLACK:  # a cached one would outlive what was asked for
        return {key: objects.presign_get(key, seconds) for key in wanted}
    folders: defaultdict[str, list[ObjectKey]] = defaultdict(list)
    for key in wanted:
        folders[_row_of(key)].append(key)
    known = _read(user, folders)
    moment = clock.seconds()
    found: dict[ObjectKey, str] = {}
    changed: dict[str, _Urls] = {}
    for folder, inside in folders.items():
        remembered = {key: kept for key, kept in known.get(folder, {}).items() if kept.is_good(moment)}
        for key in inside:
            if key.path in remembered:
                found[key] = remembered[key.path].url
                continue
            found[key] = objects.presign_get(key, seconds)
            if (lives := _life_of(found[key])) > SLACK:
                end = moment + min(lives - SLACK, SHARED_SECONDS)
                remembered[key.path] = _Kept(found[key], end, moment, settings().s3_endpoint)
                changed[folder] = remembered
    _write(user, changed)
    return found


def _life_of(url: str) -> int:
    """The seconds for which a URL was signed: at most those asked for, fewer where its credentials end sooner."""
    found = _EXPIRES.search(url)
    return int(found[1]) if found else 0


@dataclass
class _Longest:
    seconds: int = 7 * 24 * 3600


_LIFE_LIMIT: ContextVar[_Longest | None] = ContextVar("longest_life_of_urls", default=None)


def lifetimes() -> AbstractContextManager[None]:
    """Inside, the lives of URLs can be shortened; the dispatcher begins it with each request."""
    return holding(_LIFE_LIMIT, _Longest())


def shorten(seconds: int) -> None:
    """Let the URLs of this request live so many seconds at most."""
    if (found := _LIFE_LIMIT.get()) is not None:
        found.seconds = seconds


def longest() -> int:
    """The longest life of the URLs of this request, in seconds."""
    return found.seconds if (found := _LIFE_LIMIT.get()) is not None else _Longest.seconds


def forget(user: int, project: int | None = None) -> None:
    """Delete the cached URLs of a user, or those of one project. What the user has stays valid until it expires."""
    narrowed = None if project is None else RecordRow.sk.startswith(f"{project}|")
    with RecordRow.batch_write() as batch:
        found = RecordRow.query(f"presigned#{user}", narrowed, consistent_read=True, attributes_to_get=["pk", "sk"])
        for row in found:
            batch.delete(row)


def _row_of(key: ObjectKey) -> str:
    """The row of a key: its project, 0 for a picture of a user or an organization, and its folder."""
    parts = key.path.split("/")
    place = {key_forms.UPLOADS: 3, key_forms.BUCKETS: 3}.get(parts[0], 1)
    project = parts[place] if len(parts) > place + 1 else "0"
    return f"{project}|{key.path.rpartition('/')[0]}"


def _read(user: int, folders: Iterable[str]) -> dict[str, _Urls]:
    keys = [(f"presigned#{user}", folder) for folder in folders]
    found: dict[str, _Urls] = {}
    for start in range(0, len(keys), _BATCH):
        for row in RecordRow.batch_get(keys[start : start + _BATCH], consistent_read=True):
            with suppress(msgspec.ValidationError):  # of an earlier release
                found[row.sk] = msgspec.json.decode(zlib.decompress(row.doc), type=_Urls)
    return found


def _write(user: int, changed: dict[str, _Urls]) -> None:
    if not changed:
        return
    with RecordRow.batch_write() as batch:
        for folder, kept in changed.items():
            doc = zlib.compress(msgspec.json.encode(kept), 6)
            last = max(each.end for each in kept.values())
            batch.save(RecordRow(f"presigned#{user}", folder, doc=doc, expires=int(last) + 1))
