"""The feed of events: a project's changes, in order and without a gap."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from chalicelib.access.scope import Scope
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource, Timestamp, shown
from chalicelib.errors import BadInput
from chalicelib.http.addresses import WITHIN_PROJECT, look_again
from chalicelib.http.operation import Call, Operations
from chalicelib.resources.events import service as events_service
from chalicelib.resources.events.events import KINDS, NOTES
from chalicelib.resources.events.service import MOST_EVENTS, Page

OPERATIONS = Operations(tag="Events")


LONGEST_WAIT = 20
"""Seconds: API Gateway returns 504 after 29 s."""
AGAIN_SECONDS = 0.5
"""Seconds between two looks at the log while a request waits."""
MOST_WAITING = 16
"""Requests that wait in one process; further ones are answered at once. The local stack serves 64 at a time."""
NOW = "now"
MOST_OF_ONE = 8
"""Those of one organization."""


class _Waiting:
    """The requests that wait, by organization."""

    def __init__(self) -> None:
        self._numbers: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._is_over = threading.Event()

    def begin(self, organization: int) -> bool:
        """Count one more; False where too many wait."""
        with self._lock:
            if self._numbers.total() >= MOST_WAITING or self._numbers[organization] >= MOST_OF_ONE:
                return False
            self._numbers[organization] += 1
        return True

    def end(self, organization: int) -> None:
        """Count one less."""
        with self._lock:
            self._numbers.subtract([organization])
            self._numbers += Counter()  # those that are 0 go

    def pause(self, seconds: float) -> bool:
        """Wait some seconds; False where the process ends, and nothing is to wait any more."""
        return not self._is_over.wait(seconds)

    def end_all(self) -> None:
        """Have every request that waits answer now, because the process ends."""
        self._is_over.set()


WAITING = _Waiting()


class EventQuery(Resource, kw_only=True):
    """Which events, how many, and how long to wait for them."""

    after: Annotated[
        Annotated[str, shown("^(now|(0|[1-9][0-9]{0,14})(/[1-9][0-9]{0,5})?)$")],
        Meta(
            max_length=32,
            description="Where to continue: the `next` of a page, the number of a commit, or `now` for events to come.",
        ),
    ] = "0"
    limit: Annotated[int, Meta(ge=1, le=MOST_EVENTS, description="Most events of the page.")] = 100
    kinds: Annotated[
        list[Annotated[str, shown(f"^({'|'.join(sorted(KINDS)).replace('.', '[.]')})$")]] | None,
        Meta(description="Kinds, such as `localization`, and types without `limn.`, such as `media.ready`."),
    ] = None
    wait: Annotated[
        float, Meta(ge=0, le=LONGEST_WAIT, description="Seconds to wait for an event where there is none yet.")
    ] = 0


class EventData(Resource, kw_only=True):
    """What an event concerns. Some types have further members."""

    is_open: ClassVar = True

    ids: Annotated[list[Any], Meta(description="The ids, at most 100.")]
    changes: Annotated[
        list[dict[str, Any]] | None,
        Meta(
            description="For each id: `id`; `old` and `new`, the members that changed, null where nothing was before "
            "or is after; for localizations and states `latest`, false once lists leave the row out."
        ),
    ] = None


class EventDocument(Resource, kw_only=True):
    """One event, with the member names of CloudEvents 1.0."""

    specversion: Annotated[str, Meta(description="`1.0`.")]
    id: Annotated[
        str, Meta(description="Project and commit, and the number within the commit if it has several: `7/123/2`.")
    ]
    source: Annotated[str, Meta(description="The project: `/rest/Project/7`.")]
    type: Annotated[str, Meta(description="Such as `limn.localization.created`.")]
    time: Annotated[Timestamp, Meta(description="When the commit was made.")]
    subject: Annotated[str, Meta(description="`localization/55`, or `localization` for several.")]
    user: Annotated[int | None, Meta(description="Id of the author; null for the service.")]
    commit: Annotated[int, Meta(description="The number of the commit.")]
    data: EventData


class EventPage(Resource, kw_only=True):
    """Some events, and where the next page begins."""

    events: Annotated[list[EventDocument], Meta(description="Events in the order of commits.")]
    next: Annotated[
        str, Meta(description="To give as `after`. It advances past changes that the reader may not see, too.")
    ]
    behind: Annotated[
        int,
        Meta(
            description="The number of commits after `next`; where something is hidden from the reader, 1 if there may "
            "be more events, else 0."
        ),
    ]


@OPERATIONS.get(
    "/rest/Events/{project}",
    "GetEventList",
    is_past_gone=True,
    needs=Permission.VIEW,
    addresses=WITHIN_PROJECT,
    returns=EventPage,
    details="Keep `next`, and give it as `after`: each event is read once. Types are "
    "`limn.{kind}.created`, `.updated`, `.deleted` and `.restored` for media, localization, state, leaf, file, "
    "section, version and each kind of type, and "
    + ", ".join(f"`limn.{name}`" for name in NOTES)
    + ". Changes are kept for seven days after they became part of a snapshot; an older `after` answers 410, whose "
    "`begin` is the number to continue after once the project is listed anew. A list's header `Limn-Commit` is the "
    "number of the last commit in it. docs/guides/events.md has examples.",
)
def list_events(call: Call[Project, EventQuery, None]) -> dict[str, Any]:
    """The changes of a project, in the order of its commits and without a gap."""
    query = call.query
    kinds = frozenset(query.kinds or ())
    if unknown := sorted(kinds - KINDS):
        rule = f"{', '.join(unknown)}: not known. Give kinds or types: {', '.join(sorted(KINDS))}."
        raise BadInput("Invalid query parameter: kinds", rule)
    end = time.monotonic() + query.wait
    after = events_service.last(call.project) if query.after == NOW else query.after

    def read(after: str, scope: Scope = call.scope) -> Page:
        return events_service.read(call.project, after=after, limit=query.limit, kinds=kinds, scope=scope)

    page = read(after)
    if not page.events and not page.behind and query.wait and WAITING.begin(call.organization):
        try:
            while not page.events and (left := end - time.monotonic()) > 0:
                if not WAITING.pause(min(AGAIN_SECONDS, left)):
                    break
                start = page.next
                page = read(start)
                if page.events:
                    page = read(start, look_again(call, WITHIN_PROJECT)[0])
        finally:
            WAITING.end(call.organization)
    return {"events": [event.whole() for event in page.events], "next": page.next, "behind": page.behind}
