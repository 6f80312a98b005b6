"""The views of this container, following the log: `current(project)` includes every commit made before the call."""

from __future__ import annotations

from chalicelib.storage.log import log
from chalicelib.storage.view.cache import Views
from chalicelib.storage.view.snapshot import snapshot_records
from chalicelib.storage.view.snapshot.renewals import Renewals

_renewals = Renewals()
_views = Views(log.read_after, begin=_renewals.begin)

current = _views.current
loaded = _views.is_loaded
look_ahead = _views.look_ahead
catch_up = _views.catch_up


def reached_seq(project: int) -> int:
    """The last commit that `current` need not apply: that of the view in memory, or of the snapshot."""
    seq = _views.seq_of(project)
    if seq is not None:
        return seq
    found = snapshot_records.pointer(project)
    return found.seq if found else 0


def drop(project: int) -> None:
    """Evict a project's view."""
    _views.drop(project)
    _renewals.drop(project)
