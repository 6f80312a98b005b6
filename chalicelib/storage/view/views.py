"""The views of this container, following the log: `current(project)` includes every commit made before the call."""

from __future__ import annotations

from chalicelib.storage.log import log
from chalicelib.storage.view import snapshots
from chalicelib.storage.view.cache import Views

_views = Views(log.read_after, begin=snapshots.begin)

current = _views.current
loaded = _views.is_loaded
drop = _views.drop
look_ahead = _views.look_ahead
