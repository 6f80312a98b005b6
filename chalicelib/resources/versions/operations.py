"""Versions: layers of annotations on the same media."""

from __future__ import annotations

import uuid
from typing import Any

import msgspec

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definition_specs import VersionSpec, VersionUpdate
from chalicelib.core.models.definitions import VERSION, Version
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.errors import BadInput, Conflict, NotFound
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.types import retirement
from chalicelib.storage.dynamodb import ids, records

MOST_AT_ONCE = 500
"""How many versions others may make meanwhile. A number that is taken is one of theirs, so the next one is tried."""


class VersionQuery(Resource, kw_only=True):
    """Accepted and without effect: that only versions with annotations are shown for a media is the front end's."""

    media_id: list[int] | None = None


def list_versions(call: Call[Project, VersionQuery, None]) -> list[Version]:
    """All versions of the project, by number."""
    found = records.definitions(call.project).versions.values()
    return sorted(found, key=lambda version: (version.number, version.id))


def make_version(call: Call[Project, VersionQuery, VersionSpec]) -> Version:
    """A new version with the next number, above the bases it names."""
    spec = call.body
    known = {version.id: version for version in records.list_children(VERSION, call.project)}
    _check_bases(known, spec.bases)
    version = Version(
        id=ids.reserve(VERSION.name)[0],
        project=call.project,
        name=spec.name,
        description=spec.description or "",
        number=max((each.number for each in known.values()), default=-1) + 1,
        show_empty=spec.show_empty is not False,
        bases=list(dict.fromkeys(spec.bases or [])),
        elemental_id=(spec.elemental_id or str(uuid.uuid4())).lower(),
        created_by=call.caller.id,
    )
    taken = Conflict("number: others made versions at the same time. Try again.")
    for _ in range(MOST_AT_ONCE):
        if records.is_free(VERSION, version):
            try:
                records.create(VERSION, version, user=call.caller.id, taken=taken)
            except Conflict as conflict:
                if conflict is not taken:
                    raise
            else:
                return version
        version = msgspec.structs.replace(version, number=version.number + 1)
    raise taken


def change_version(call: Call[Version, NoQuery, VersionUpdate], change: dict[str, Any]) -> dict[str, Any]:
    """Bases must exist; they replace those that the version has.

    The guard makes one of two changes that would close a cycle together fail, and then be refused.
    """
    known = records.definitions(call.project).versions
    _check_bases(known, call.body.bases)
    _check_ancestors(known, call.target.id, call.body.bases or [])
    if "elemental_id" in change:
        change["elemental_id"] = change["elemental_id"].lower()
    return change


def remove_version(call: Call[Version, NoQuery, None]) -> None:
    """Delete the version with its localizations and states."""
    retirement.delete_version(call.project, call.target.id, call.scope)


def _check_bases(known: dict[int, Version], bases: list[int] | None) -> None:
    missing = [base for base in bases or [] if base not in known]
    if missing:
        raise NotFound(f"bases: the project has no versions {missing}.")


def _check_ancestors(known: dict[int, Version], number: int, bases: list[int]) -> None:
    """Raise BadInput where a version would be based on itself, over any number of steps."""
    waiting, seen = list(bases), set()
    while waiting:
        base = waiting.pop()
        if base == number:
            raise BadInput(f"bases: version {number} cannot be based on itself, nor on a version that is based on it.")
        if base not in seen and base in known:
            seen.add(base)
            waiting.extend(known[base].bases)


OPERATIONS = record_operations(
    RecordResource(
        kind=VERSION,
        tag="Versions",
        read=Permission.VIEW,
        write=Permission.EDIT,
        query=VersionQuery,
        spec=VersionSpec,
        update=VersionUpdate,
        listed=list_versions,
        made=make_version,
        changed=change_version,
        guarded=lambda body: bool(body.bases),
        removed=remove_version,
    )
)
