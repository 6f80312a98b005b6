"""The service that a project is copied from: read at a limited rate, page by page."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any

import httpx

from ..client import Client
from ..configuration import Profile
from ..exchange import Request
from ..failures import REFUSED, Failure
from ..projects import repeated

Row = dict[str, Any]


class GentleClient(Client):
    """A client that begins at most `rate` requests a second, of all its threads; 0 sets no limit."""

    def __init__(self, profile: Profile, *, rate: float = 0, connections: int = 4) -> None:
        super().__init__(profile, connections=connections)
        self._pause = 1 / rate if rate > 0 else 0.0
        self._turn = threading.Lock()
        self._next = 0.0
        self.requests = 0
        """How many were begun."""

    def _await_turn(self) -> None:
        with self._turn:
            self.requests += 1
            now = time.monotonic()
            at = max(now, self._next)
            self._next = at + self._pause
        if at > now:
            time.sleep(at - now)

    def _call(self, *given: Any) -> Any:
        self._await_turn()
        return super()._call(*given)

    def exchanged(self, request: Request) -> httpx.Response:
        """As that of every client, in its turn."""
        self._await_turn()
        return super().exchanged(request)

    def stream(self, url: str, start: int = 0) -> AbstractContextManager[httpx.Response]:
        """As that of every client, in its turn."""
        self._await_turn()
        return super().stream(url, start)


def pages(client: Client, kind: str, project: int, after: int, size: int, **query: Any) -> Iterator[list[Row]]:
    """The objects of a kind after an id, in pages.

    Generations of the interface whose lists do not begin after an id are paged by position; what they repeat is for the
    caller to leave out.
    """
    read = getattr(client, f"get_{kind}_list")
    while True:
        try:
            rows: list[Row] = read(project, after=after, stop=size, **query)
        except Failure as failure:
            if failure.status != REFUSED:
                raise
            rows = [{"id": after}]
        if rows and min(row["id"] for row in rows) <= after:
            break
        if rows:
            yield with_names(client, kind, rows)
        if len(rows) < size:
            return
        after = max(row["id"] for row in rows)
    start, before = 0, list[int]()
    while rows := read(project, start=start, stop=start + size, **query):
        if before == (before := [row["id"] for row in rows]):
            raise repeated()
        yield with_names(client, kind, rows)
        start += len(rows)
        if len(rows) < size:
            return


def with_names(client: Client, kind: str, rows: list[Row]) -> list[Row]:
    """Rows with elemental ids: those of a generation that has none get one by address, kind and id, always the same."""
    for row in rows:
        if not row.get("elemental_id"):
            row["elemental_id"] = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{client.profile.url}/{kind}/{row['id']}"))
    return rows


def by_id(client: Client, kind: str, project: int, ids: list[int]) -> list[Row]:
    """The objects with some ids that the caller may see; those of kinds without such a list one by one."""
    if not ids:
        return []
    listed = getattr(client, f"get_{kind}_list_by_id", None)
    if listed is not None:
        found: list[Row] = listed(project, {"ids": ids})
        return with_names(client, kind, found)
    rows = []
    for number in ids:
        with suppress(Failure):  # it is gone
            rows.append(getattr(client, f"get_{kind}")(number))
    return with_names(client, kind, rows)
