"""Versions: layers of annotations on the same media."""

from __future__ import annotations

from typing import Any

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definition_specs import VersionSpec, VersionUpdate
from chalicelib.core.models.definitions import VERSION, Version
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.errors import BadInput
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.resources.types import retirement
from chalicelib.resources.versions import service as versions_service
from chalicelib.storage.dynamodb import records


class VersionQuery(Resource, kw_only=True):
    """Accepted from older clients, and ignored: the answer has all versions."""

    media_id: list[int] | None = None


def list_versions(call: Call[Project, VersionQuery, None]) -> list[Version]:
    """All versions of the project, by number."""
    found = records.definitions(call.project).versions.values()
    return sorted(found, key=lambda version: (version.number, version.id))


def make_version(call: Call[Project, VersionQuery, VersionSpec]) -> Version:
    """A new version with the next number, above the bases it names."""
    spec = call.body
    return versions_service.make(
        call.project,
        spec.name,
        call.caller.id,
        description=spec.description or "",
        show_empty=spec.show_empty is not False,
        bases=spec.bases,
        elemental_id=spec.elemental_id,
    )


def change_version(call: Call[Version, NoQuery, VersionUpdate], change: dict[str, Any]) -> dict[str, Any]:
    """Bases must exist; they replace those that the version has.

    The guard makes one of two changes that would close a cycle together fail, and then be refused.
    """
    known = records.definitions(call.project).versions
    versions_service.check_bases(known, call.body.bases)
    _check_ancestors(known, call.target.id, call.body.bases or [])
    if "elemental_id" in change:
        change["elemental_id"] = change["elemental_id"].lower()
    return change


def remove_version(call: Call[Version, NoQuery, None]) -> None:
    """Delete the version with its localizations and states."""
    retirement.delete_version(call.project, call.target.id, call.scope)


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
        find=list_versions,
        store=make_version,
        check_change=change_version,
        needs_guard=lambda body: bool(body.bases),
        remove=remove_version,
    )
)
