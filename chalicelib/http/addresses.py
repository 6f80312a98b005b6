"""Addresses: from the variables of a path to the addressed project, organization, record or entity.

A path addresses a project, an organization, a record by its id, an entity by its id, or nothing; the body may name the
kind of the id. The address also gives the caller's level: the dispatcher reads it once, before the handler. `what` is
the word of the kind, as in keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chalicelib.access import authentication
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import ORGANIZATION, Organization, Project
from chalicelib.core.models.accounts import PROJECT as PROJECT_RECORD
from chalicelib.core.permissions import Level
from chalicelib.core.records import RecordKind
from chalicelib.errors import NotFound
from chalicelib.http.operation import Address, Call, Located, T
from chalicelib.storage.dynamodb import ahead, entities, entity_rows, record_rows, records
from chalicelib.storage.dynamodb.ahead import RowKey
from chalicelib.storage.dynamodb.tables import EntityRow, RecordRow

Expected = Callable[[dict[str, Any], int | None], list[RowKey]]
"""From the variables of a path and a probable user to the rows that the request will read first."""
Locate = Callable[[dict[str, Any]], Located[Any]]


def _by(variable: str, wanted: Callable[[Any, int | None], list[RowKey]]) -> Expected:
    """The rows wanted for a variable of the path and a probable user; none where the path lacks the variable."""
    return lambda path, user: wanted(path[variable], user) if variable in path else []


def _record_ahead(kind: RecordKind[Any], variable: str) -> Expected:
    return _by(variable, lambda number, _: [RowKey(RecordRow, record_rows.key_of(kind, number))])


def _entity_ahead(kind: Kind) -> Expected:
    return _by("id", lambda number, _: [RowKey(EntityRow, (entity_rows.key(kind, number),))])


def _project_ahead(variable: str) -> Expected:
    def wanted(number: int, user: int | None) -> list[RowKey]:
        keys = [record_rows.key_of(PROJECT_RECORD, number)]
        if user:
            keys.append(authentication.membership_key(user, number))
        return [RowKey(RecordRow, key) for key in keys]

    return _by(variable, wanted)


def in_project(
    kind: str, locate: Locate, *, judged: Callable[[Located[Any]], Any] = lambda found: found.target, **more: Any
) -> Address[Any]:
    """A record or entity of a project: the caller's membership decides.

    `judged` gives the record or entity that decides the caller's level, where that is not the one found.
    """
    return Address(
        kind=kind,
        locate=locate,
        level=lambda scope, found: scope.project_level(found.project or 0, kind, lambda: judged(found)),
        inside=lambda scope, found: scope.within_project(found.project or 0),
        **more,
    )


def _in_organization(kind: str, locate: Locate, **more: Any) -> Address[Any]:
    """A record of an organization: the caller's affiliation decides."""
    return Address(
        kind=kind,
        locate=locate,
        level=lambda scope, found: scope.organization_level(found.organization or 0, kind, found.target),
        inside=lambda scope, found: scope.within_organization(found.organization or 0),
        **more,
    )


def plain(locate: Callable[[dict[str, Any]], Any], **variables: type) -> Address[Any]:
    """A record without membership check; the handler decides, or the operation is open to everyone."""
    return Address(
        kind="",
        locate=lambda path: Located(target=locate(path)),
        level=lambda _scope, _found: Level.NONE,
        variables=variables,
    )


def _project(variable: str) -> Address[Project]:
    def locate(path: dict[str, Any]) -> Located[Project]:
        project = authentication.project_of(path[variable])
        return Located(target=project, project=project.id, organization=project.organization)

    return in_project("project", locate, variables={variable: int}, ahead=_project_ahead(variable))


def _organization(variable: str) -> Address[Organization]:
    def locate(path: dict[str, Any]) -> Located[Organization]:
        organization = records.get(ORGANIZATION, path[variable])
        return Located(target=organization, organization=organization.id)

    ahead = _record_ahead(ORGANIZATION, variable)
    return _in_organization("organization", locate, variables={variable: int}, ahead=ahead)


PROJECT = _project("project")
"""`/rest/…/{project}`."""
PROJECT_BY_ID = _project("id")
"""`/rest/Project/{id}`."""
ORGANIZATION_ADDRESS = _organization("organization")
"""`/rest/…/{organization}`."""
ORGANIZATION_BY_ID = _organization("id")
"""`/rest/Organization/{id}`."""


def within(address: Address[Any]) -> Address[Any]:
    """The same address for operations on the content of a project or organization, with a check of each entity.

    With fine-grained permissions (`docs/decisions/012-fine-grained-permissions.md`) the caller then needs to see the
    project, and the operation's level on each entity that is listed, changed, deleted or created: the scope of the call
    checks that, which the handler's queries, `scope.visible` and `scope.check` use.
    """
    assert address.inside is not None, address.kind  # noqa: S101 a project or an organization
    return replace(address, level=address.inside)


WITHIN_PROJECT = within(PROJECT)
"""`/rest/…/{project}`, where each entity in the project is checked by itself."""


def record_of_project(kind: RecordKind[Any], variable: str = "id") -> Address[Any]:
    """`/rest/Version/{id}`: a record that belongs to a project. A deleted project has no members to reach it."""

    def locate(path: dict[str, Any]) -> Located[Any]:
        record = records.get(kind, path[variable])
        return Located(target=record, project=record.project)

    variables = {variable: int if kind.identity == "id" else str}
    return in_project(kind.name, locate, variables=variables, ahead=_record_ahead(kind, variable))


def visible_only(address: Address[Any], is_visible: Callable[[Any, Scope], bool]) -> Address[Any]:
    """The same address; answers 404 for records outside the caller's scope."""

    def level(scope: Scope, found: Located[Any]) -> Level:
        return address.level(scope, found) if is_visible(found.target, scope) else Level.NONE

    return replace(address, level=level)


def own_record_of_project(kind: RecordKind[Any], variable: str = "id") -> Address[Any]:
    """`/rest/Bookmark/{id}`: a record of a project that only its own user may see."""
    return visible_only(record_of_project(kind, variable), lambda record, scope: record.user == scope.caller.id)


def record_of_organization(kind: RecordKind[Any]) -> Address[Any]:
    """`/rest/Affiliation/{id}`: a record that belongs to an organization."""

    def locate(path: dict[str, Any]) -> Located[Any]:
        record = records.get(kind, path["id"])
        return Located(target=record, organization=record.organization)

    return _in_organization(kind.name, locate, ahead=_record_ahead(kind, "id"))


def record_of_either(kind: RecordKind[Any]) -> Address[Any]:
    """`/rest/Webhook/{id}`: a record that belongs to a project or to an organization: the level there decides."""

    def locate(path: dict[str, Any]) -> Located[Any]:
        record = records.get(kind, path["id"])
        return Located(target=record, project=record.project, organization=record.organization)

    def level(scope: Scope, found: Located[Any]) -> Level:
        if found.project:
            return scope.project_level(found.project, kind.name, lambda: found.target)
        return scope.organization_level(found.organization or 0, kind.name, found.target)

    return Address(kind=kind.name, locate=locate, level=level, ahead=_record_ahead(kind, "id"))


def entity(kind: Kind) -> Address[Any]:
    """`/rest/Localization/{id}`: an entity that readers may see. A deleted project has no members to reach it."""

    def locate(path: dict[str, Any]) -> Located[Any]:
        found = entities.get(kind, path["id"])
        return Located(target=found, project=found.project)

    return in_project(kind.value, locate, ahead=_entity_ahead(kind))


def by_body(kind: str, locate: Callable[[dict[str, Any], Any], Located[Any]]) -> Address[Any]:
    """`/rest/AttributeType/{id}`: a type of a project that path and body name together."""
    return in_project(kind, lambda path: locate(path, None), locate_by=locate)


def look_again(call: Call[T, Any, Any], address: Address[T]) -> tuple[Scope, T]:
    """The scope and the target of a request that has waited: both may have changed since it was let in.

    Raises:
        Unauthenticated: the token ended.
        NotFound: the target is gone, or the caller no longer has the level that the operation needs there.
    """
    ahead.forget()
    scope = Scope.from_caller(authentication.caller_of(call.headers, call.caller.network_address), call.scope.needed)
    found = address.find(call.path)
    if address.level(scope, found) < scope.needed:
        raise NotFound.of(address.kind, " ".join(map(str, call.path.values())))
    return scope, found.target
