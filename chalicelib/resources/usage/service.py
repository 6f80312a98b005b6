"""Measuring what projects use, and holding it against limits (docs/decisions/203)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.access import users, view_queries
from chalicelib.access.scope import UNRESTRICTED
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import AFFILIATION, ORGANIZATION, PROJECT, Organization, Project
from chalicelib.core.models.datasets import DATASET, EXPORT
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.core.records import RecordKind
from chalicelib.core.time.deadline import time_limit
from chalicelib.core.usage_limits import LimitName, UsageLimits, is_in_force, present_month
from chalicelib.errors import LimnError, NotFound
from chalicelib.query.tree import Query
from chalicelib.resources.email import notifications
from chalicelib.resources.media import statistics as media_statistics
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import usage

CLASSES = ("originals", "renditions", "derived")
"""Classes of stored bytes, as rows of usage name them."""
WARNING = 0.8
"""The part of a limit from which administrators are warned."""
MOST_LOADED = 20
"""Views that one report loads, at most; of other projects it has what was measured last."""
SETTLE_SECONDS = 5.0
"""How long the request that settles may follow the logs of projects for it."""
log = logging.getLogger("limn.usage")
_measured: dict[int, tuple[str, dict[str, int]]] = {}
"""By project: the month, and the bytes that were stored last."""


def settle_due() -> None:
    """Store the counts that wait in this process, and look at the limits of their projects. It fails no request."""
    if not usage.is_due():
        return
    try:
        with time_limit(SETTLE_SECONDS):
            enforce_limits(usage.flush())
    except LimnError as failure:
        log.warning("usage was not settled: %s", type(failure).__name__)
    except Exception:  # the answer to the request is there, and goes out all the same
        log.exception("usage was not settled")


def enforce_limits(projects: Iterable[int]) -> None:
    """Measure projects, and hold them and their organizations against their limits."""
    found = [each for each in records.many(PROJECT, sorted(projects)).values() if each.deleted is None]
    for project in found:
        if view_queries.loaded(project.id):
            measure(project.id)
        if project.usage_limits is not None or _limits_hit(project.exhausted, PROJECT.name):
            _enforce(PROJECT, project, project.usage_limits or UsageLimits(), [project])
    for number in sorted({each.organization for each in found}):
        organization = records.maybe(ORGANIZATION, number)
        is_closed = any(_limits_hit(each.exhausted, ORGANIZATION.name) for each in found if each.organization == number)
        if organization is not None and (organization.usage_limits is not None or is_closed):
            _enforce(ORGANIZATION, organization, organization.usage_limits or UsageLimits(), projects_of(number))


def projects_of(organization: int) -> list[Project]:
    """The projects of an organization that are not deleted, by id."""
    found = records.list_linked(PROJECT, "organization", organization)
    return sorted((each for each in found if each.deleted is None), key=lambda each: each.id)


def measure(project: int) -> dict[str, int]:
    """The bytes of a project by class, which are stored where they are others than before."""
    sums = media_statistics.sums(view_queries.current(project), Query(kind=Kind.MEDIA), UNRESTRICTED)
    derived = sum(each.size for kind in (EXPORT, DATASET) for each in records.list_children(kind, project))
    sizes = {
        "originals": sums.download_size,
        "renditions": sums.total_size - sums.download_size,
        "derived": derived,
    }
    if _measured.get(project) != (present_month(), sizes):
        for name, size in sizes.items():
            usage.store(project, name, size)
        if len(_measured) > 10_000:  # noqa: PLR2004 a few MB
            _measured.clear()
        _measured[project] = (present_month(), sizes)
    return sizes


def by_month(project: int) -> dict[str, dict[str, int]]:
    """What a project used, by month; a month without a look at its bytes has those of the month before."""
    found = usage.by_month(project)
    found.setdefault(present_month(), {})
    sizes = dict.fromkeys(CLASSES, 0)
    for month, counts in sorted(found.items()):
        sizes |= {name: counts[name] for name in CLASSES if name in counts}
        found[month] = counts | sizes
    return dict(sorted(found.items()))


def _enforce(
    kind: RecordKind[Any], holder: Organization | Project, limits: UsageLimits, projects: list[Project]
) -> None:
    """Warn of limits that are nearly reached, and close projects to what is used up."""
    used = dict.fromkeys(CLASSES, 0) | {"seconds": 0, "mails": 0}
    for project in projects:
        counts = by_month(project.id)[present_month()]
        used = {name: number + counts.get(name, 0) for name, number in used.items()}
    amounts: dict[LimitName, float] = {
        "bytes": sum(used[name] for name in CLASSES),
        "transcoded_minutes": used["seconds"] / 60,
        "mails": used["mails"],
    }
    reached: dict[str, str] = {}
    for name, amount in amounts.items():
        limit, month = getattr(limits, name), "" if name == "bytes" else present_month()
        if limit is None:
            continue
        if amount >= limit:
            reached[name] = month
        if amount >= WARNING * limit and holder.usage_warned.get(name) != present_month():
            _warn(kind, holder, name, amount, limit)
    source = kind.name
    for project in projects:
        if _limits_hit(project.exhausted, source) != reached:
            _edit(PROJECT, project.id, lambda current: _with_exhausted(current, source, reached))


def _with_exhausted(current: Project, source: str, reached: dict[str, str]) -> Project:
    others = {key: month for key, month in current.exhausted.items() if not key.startswith(f"{source} ")}
    return msgspec.structs.replace(
        current, exhausted=others | {f"{source} {name}": month for name, month in reached.items()}
    )


def _limits_hit(exhausted: dict[str, str], source: str) -> dict[str, str]:
    """What is used up by the limits of an organization or of a project, and still is."""
    found = {key.partition(" ")[2]: month for key, month in exhausted.items() if key.partition(" ")[0] == source}
    return {name: month for name, month in found.items() if is_in_force(month)}


def _warn(kind: RecordKind[Any], holder: Organization | Project, name: str, amount: float, limit: int) -> None:
    """Mail the administrators of an organization, once a month for each limit that is set: by their number.

    The note that they were sent is made after they were.
    """
    organization = holder.organization if isinstance(holder, Project) else holder.id
    affiliations = records.list_children(AFFILIATION, organization)
    admins = users.by_id(each.user for each in affiliations if LEVEL_OF[each.permission] >= Level.FULL)
    where, month = f"{kind.title} {holder.name}", present_month()
    number = f"usage-{kind.name}-{holder.id}-{name}-{limit}-{month}"
    for user in admins.values():
        if user.is_active:
            notifications.usage_warning(user, where, name, round(100 * amount / limit) if limit else 100, number)
    _edit(
        kind,
        holder.id,
        lambda current: msgspec.structs.replace(current, usage_warned={**current.usage_warned, name: month}),
    )


def _edit(kind: RecordKind[Any], number: int, change: Any) -> None:
    try:
        records.edit(kind, number, change)
    except NotFound:
        return
