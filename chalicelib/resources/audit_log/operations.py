"""The audit log of an organization: who did what of consequence, from where, with which credential."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import Annotated, Literal
from urllib.parse import urlencode

import msgspec
from msgspec import Meta

from chalicelib.core.log.audit import AuditEntry, AuditKind
from chalicelib.core.models.accounts import Organization
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import DATE, Id, Resource, answer
from chalicelib.core.text.dates import read_date
from chalicelib.http.addresses import ORGANIZATION_ADDRESS
from chalicelib.http.operation import Call, Documents, Operations
from chalicelib.settings import settings
from chalicelib.storage.audit import chain

OPERATIONS = Operations(tag="Organizations")
MOST_ENTRIES = 10_000
"""Entries of one page, if `stop` asks for them."""


class AuditLogQuery(Resource, kw_only=True):
    """Which entries, in which order, and the page."""

    kind: Annotated[AuditKind | None, Meta(description="Entries about this.")] = None
    user_id: Annotated[Id | None, Meta(description="Entries of this user.")] = None
    project: Annotated[Id | None, Meta(description="Entries about this project.")] = None
    operation: Annotated[
        Annotated[str, Meta(max_length=100)] | None, Meta(description="Entries of this operation.")
    ] = None
    network_address: Annotated[
        Annotated[str, Meta(max_length=45)] | None, Meta(description="Entries of requests from there.")
    ] = None
    since: Annotated[Annotated[str, DATE] | None, Meta(description="Entries from this time on, ISO 8601.")] = None
    before: Annotated[Annotated[str, DATE] | None, Meta(description="Entries before this time, ISO 8601.")] = None
    sort_by: Annotated[
        Literal["number", "-number"],
        Meta(
            description="The oldest entry first, or the newest.",
            extra_json_schema={"x-enum-varnames": ["Descending", "Ascending"]},  # as sorted; clients lose the minus
        ),
    ] = "number"
    after: Annotated[int, Meta(ge=0, description="Entries that follow the one with this number: the next page.")] = 0
    stop: Annotated[int, Meta(ge=1, le=MOST_ENTRIES, description="Most entries of the page.")] = 1000


@OPERATIONS.get(
    "/rest/AuditLog/{organization}",
    "GetAuditLog",
    needs=Permission.ADMIN,
    addresses=ORGANIZATION_ADDRESS,
    returns=list[AuditEntry],
)
def list_entries(call: Call[Organization, AuditLogQuery, None]) -> Documents:
    """Who did what of consequence: sign-ins, refusals, tokens, members, exports, downloads, shares, deletions, policy.

    Each entry has the hash of the one before, and its own: an entry that was changed, left out or moved shows
    (`limn audit` finds it). Entries are kept for a year. They hold no secrets: the names of the members of a request,
    and the values of numbers, flags and named choices. Annotations are not here, but in the change log. A page has at
    most `stop` entries; if there are more, the header `Link` has the address of the next page.
    """
    query = call.query
    found = list(islice(filter(_filter_of(query), _range(call.organization, query)), query.stop + 1))
    shown = found[: query.stop]
    headers = {}
    if len(found) > len(shown):
        given = {name: value for name, value in msgspec.structs.asdict(query).items() if value is not None}
        following = urlencode({**given, "after": shown[-1].number})
        headers["Link"] = f'<{settings().public_url}/rest/AuditLog/{call.organization}?{following}>; rel="next"'
    return Documents(documents=(msgspec.json.encode(answer(each)) for each in shown), headers=headers)


def _range(organization: int, query: AuditLogQuery) -> Iterator[AuditEntry]:
    """The entries between the times of a query, in its order."""
    since = query.since and read_date("since", query.since)
    before = query.before and read_date("before", query.before)
    if query.sort_by == "number":
        start = max(query.after, chain.number_at(organization, since) if since else 0)
        entries = chain.entries(organization, start)
        return takewhile(lambda each: not before or each.created_datetime < before, entries)
    start = query.after
    if before:
        end = chain.number_at(organization, before) + 1
        start = min(start, end) if start else end
    entries = chain.entries(organization, start, backwards=True)
    return takewhile(lambda each: not since or each.created_datetime >= since, entries)


def _filter_of(query: AuditLogQuery) -> Callable[[AuditEntry], bool]:
    wanted = {
        "kind": query.kind,
        "user": query.user_id,
        "project": query.project,
        "operation": query.operation,
        "network_address": query.network_address,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    return lambda entry: all(getattr(entry, name) == value for name, value in given.items())
