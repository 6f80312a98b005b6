"""The catalogue of all operations: an explicit tuple, in the order they are shown in.

A new group of operations is a new line here. The tests hold that ids and routes are unique and that every operation
is documented.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from chalicelib.api import site
from chalicelib.operations import (
    accounts,
    affiliations,
    algorithms,
    analyses,
    announcements,
    applets,
    attribute_types,
    bookmarks,
    buckets,
    change_logs,
    clips,
    favorites,
    files,
    frames,
    graphics,
    groups,
    health,
    hosted_templates,
    invitations,
    job_clusters,
    jobs,
    leaves,
    localizations,
    mail,
    media,
    media_files,
    media_walks,
    memberships,
    notify,
    organizations,
    permalinks,
    projects,
    row_protections,
    sections,
    states,
    temporary_files,
    transcodes,
    types,
    uploads,
    versions,
)
from chalicelib.operations.operation import Operation

OPERATIONS: tuple[Operation, ...] = (
    *accounts.OPERATIONS,
    *organizations.OPERATIONS,
    *affiliations.OPERATIONS,
    *invitations.OPERATIONS,
    *groups.OPERATIONS,
    *buckets.OPERATIONS,
    *job_clusters.OPERATIONS,
    *hosted_templates.OPERATIONS,
    *projects.OPERATIONS,
    *memberships.OPERATIONS,
    *types.OPERATIONS,
    *attribute_types.OPERATIONS,
    *versions.OPERATIONS,
    *sections.OPERATIONS,
    *uploads.OPERATIONS,
    *media.OPERATIONS,
    *media_files.OPERATIONS,
    *media_walks.OPERATIONS,
    *transcodes.OPERATIONS,
    *algorithms.OPERATIONS,
    *applets.OPERATIONS,
    *jobs.OPERATIONS,
    *analyses.OPERATIONS,
    *frames.OPERATIONS,
    *graphics.OPERATIONS,
    *clips.OPERATIONS,
    *temporary_files.OPERATIONS,
    *files.OPERATIONS,
    *localizations.OPERATIONS,
    *states.OPERATIONS,
    *leaves.OPERATIONS,
    *change_logs.OPERATIONS,
    *mail.OPERATIONS,
    *bookmarks.OPERATIONS,
    *favorites.OPERATIONS,
    *announcements.OPERATIONS,
    *row_protections.OPERATIONS,
    *permalinks.OPERATIONS,
    *notify.OPERATIONS,
    *health.OPERATIONS,
)
"""What the interface offers: all that the schema document describes."""

PAGES: tuple[Operation, ...] = site.PAGES
"""What is served beside the interface: the schema document, its browser, downloads."""

_VARIABLE = re.compile(r"{(\w+)}")


def variable_names(path: str) -> list[str]:
    """The names of a path's variables, in order."""
    return _VARIABLE.findall(path)


def route_of(path: str) -> str:
    """The path with its variables named by their place.

    API Gateway wants the variables of siblings to have one name: `/rest/Localization/{id}` and
    `/rest/Localization/{version}/{elemental_id}` cannot stand side by side otherwise.
    """
    counter = iter(range(1, 10))
    return _VARIABLE.sub(lambda _: f"{{p{next(counter)}}}", path)


def chosen(operations: Mapping[str, Operation], method: str, body: bytes | None) -> Operation:
    """The operation of a route that a request is for.

    A GET with a body, where a PUT reads by ids, is that PUT: so the newest client asks for lines of JSON (`spec/4`
    §13.12), and to ignore the body would be to answer everything.
    """
    by_id = operations.get("PUT")
    if method == "GET" and body and by_id is not None and by_id.id.startswith("Get"):
        return by_id
    return operations[method]


def routes() -> Mapping[str, dict[str, Operation]]:
    """Every route of the service: route → method → operation."""
    found: defaultdict[str, dict[str, Operation]] = defaultdict(dict)
    for operation in (*OPERATIONS, *PAGES):
        methods = found[route_of(operation.path)]
        if operation.method in methods:
            raise AssertionError(f"{operation.id} and {methods[operation.method].id} share a route")
        methods[operation.method] = operation
    return found
