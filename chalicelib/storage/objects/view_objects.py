"""Derived data of projects in the deployment's bucket of views: large commits, manifests, definitions of snapshots.

The log is below the records, and the records name the registered buckets. So this module, which the log imports, knows
the deployment's own bucket only (`storage/objects/objects.py` finds the bucket of any key).
"""

from __future__ import annotations

import uuid

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.errors import Unavailable
from chalicelib.settings import settings
from chalicelib.storage.objects import s3

_PLAIN = "application/octet-stream"


def put(project: int, folder: str, body: bytes) -> str:
    """Store an object of a project; returns its key for `get`, as text."""
    key = _new_key(project, folder)
    s3.own(settings().views_bucket).write(key, body, _PLAIN)
    return key.path


def try_put(project: int, folder: str, body: bytes) -> str | None:
    """The same for optional writes: None where the store does not respond soon."""
    key = _new_key(project, folder)
    try:
        s3.own_in_a_hurry(settings().views_bucket).write(key, body, _PLAIN)
    except Unavailable:
        return None
    return key.path


def get(project: int, path: str) -> bytes:
    """Read an object that was stored for a project. Raises NotFound where it does not exist."""
    return s3.own(settings().views_bucket).read(object_keys.authorize_view_key(path, project))


def remove(project: int, path: str) -> None:
    """Delete an object that was stored for a project; a missing one is no error."""
    s3.own(settings().views_bucket).remove([object_keys.authorize_view_key(path, project)])


def _new_key(project: int, folder: str) -> ObjectKey:
    return object_keys.view_prefix(project) + f"{folder}/{uuid.uuid4().hex}"
