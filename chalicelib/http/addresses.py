"""Addresses: from the variables of a path to the addressed project, organization, record or entity.

A path addresses a project, an organization, a record by its id, an entity by its id, or nothing; the body may name the
kind of the id. The address also gives the caller's level: the dispatcher reads it once, before the handler. `what` is
the word of the kind, as in keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from chalicelib.access import authentication
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import ORGANIZATION, Organization, Project
from chalicelib.core.models.accounts import PROJECT as PROJECT_RECORD
from chalicelib.core.permissions import Level
from chalicelib.core.records import RecordKind
from chalicelib.http.operation import Address, Found, ReadsNothingAhead
from chalicelib.storage.dynamodb import entities, entity_rows, record_rows, records
from chalicelib.storage.dynamodb.ahead import Wanted
from chalicelib.storage.dynamodb.tables import EntityRow, RecordRow

Expected = Callable[[dict[str, Any], int | None], list[Wanted]]
"""From the variables of a path and a probable user to the rows that the request will read first."""


def _nothing(path: dict[str, Any], user: int | None) -> list[Wanted]:  # noqa: ARG001 the default
    return []


def _by(variable: str, wanted: Callable[[Any, int | None], list[Wanted]]) -> Expected:
    """The rows wanted for a variable of the path and a probable user; none where the path lacks the variable."""
    return lambda path, user: wanted(path[variable], user) if variable in path else []


def _record_ahead(kind: RecordKind[Any], variable: str) -> Expected:
    return _by(variable, lambda number, _: [Wanted(RecordRow, record_rows.key_of(kind, number))])


def _entity_ahead(kind: Kind) -> Expected:
    return _by("id", lambda number, _: [Wanted(EntityRow, (entity_rows.key(kind, number),))])


def _project_ahead(variable: str) -> Expected:
    def wanted(number: int, user: int | None) -> list[Wanted]:
        keys = [record_rows.key_of(PROJECT_RECORD, number)]
        if user:
            keys.append(authentication.membership_key(user, number))
        return [Wanted(RecordRow, key) for key in keys]

    return _by(variable, wanted)


@dataclass(frozen=True, kw_only=True)
class _InProject:
    """A record or entity of a project: the caller's membership decides."""

    what: str
    locate: Callable[[dict[str, Any]], Found[Any]]
    variables: dict[str, type] = field(default_factory=lambda: {"id": int})
    expected: Expected = _nothing
    judged: Callable[[Found[Any]], Any] = lambda found: found.thing
    """From the found record or entity to the one that decides the caller's level."""
    is_door: bool = False
    """Whether the operation concerns the content of the project, each entity by itself: see `within`."""

    def ahead(self, path: dict[str, Any], user: int | None) -> list[Wanted]:
        """The rows that the request will probably read first."""
        return self.expected(path, user)

    def find(self, path: dict[str, Any], body: Any = None) -> Found[Any]:  # noqa: ARG002 the path says it
        """The record or entity, or NotFound."""
        return self.locate(path)

    def level(self, scope: Scope, found: Found[Any]) -> Level:
        """The caller's level in the project."""
        project = found.project or 0
        if self.is_door:
            return scope.within_project(project)
        return scope.project_level(project, self.what, lambda: self.judged(found))


@dataclass(frozen=True, kw_only=True)
class _InOrganization:
    """A record of an organization: the caller's affiliation decides."""

    what: str
    locate: Callable[[dict[str, Any]], Found[Any]]
    variables: dict[str, type] = field(default_factory=lambda: {"id": int})
    expected: Expected = _nothing
    is_door: bool = False
    """Whether the operation concerns the content of the organization, each record by itself: see `within`."""

    def ahead(self, path: dict[str, Any], user: int | None) -> list[Wanted]:
        """The rows that the request will probably read first."""
        return self.expected(path, user)

    def find(self, path: dict[str, Any], body: Any = None) -> Found[Any]:  # noqa: ARG002 the path says it
        """The record, or NotFound."""
        return self.locate(path)

    def level(self, scope: Scope, found: Found[Any]) -> Level:
        """The caller's level in the organization."""
        if self.is_door:
            return scope.within_organization(found.organization or 0)
        return scope.organization_level(found.organization or 0, self.what, found.thing)


@dataclass(frozen=True, kw_only=True)
class _Plain(ReadsNothingAhead):
    """A record without membership check; the handler decides, or the operation is open to everyone."""

    what: str
    locate: Callable[[dict[str, Any]], Found[Any]]
    variables: dict[str, type]

    def find(self, path: dict[str, Any], body: Any = None) -> Found[Any]:  # noqa: ARG002 the path says it
        """The record, or NotFound."""
        return self.locate(path)

    def level(self, scope: Scope, found: Found[Any]) -> Level:  # noqa: ARG002 nothing to look at
        """NONE: there are no levels here."""
        return Level.NONE


@dataclass(frozen=True, kw_only=True)
class Own:
    """A record of one user in a project; for other users it does not exist."""

    what: str
    kind: RecordKind[Any]
    variables: dict[str, type] = field(default_factory=lambda: {"id": int})

    def ahead(self, path: dict[str, Any], user: int | None) -> list[Wanted]:
        """The record or its pointer."""
        return _record_ahead(self.kind, "id")(path, user)

    def find(self, path: dict[str, Any], body: Any = None) -> Found[Any]:  # noqa: ARG002 the path says it
        """The record, or NotFound."""
        record = records.get(self.kind, path["id"])
        return Found(thing=record, project=record.project)

    def level(self, scope: Scope, found: Found[Any]) -> Level:
        """The caller's level in the project, if the record is the caller's."""
        if found.thing.user != scope.caller.id:
            return Level.NONE
        return scope.project_level(found.project or 0, self.what, lambda: found.thing)


def _project(path: dict[str, Any], variable: str) -> Found[Project]:
    project = authentication.project_of(path[variable])
    return Found(thing=project, project=project.id, organization=project.organization)


def _organization(path: dict[str, Any], variable: str) -> Found[Organization]:
    organization = records.get(ORGANIZATION, path[variable])
    return Found(thing=organization, organization=organization.id)


PROJECT = _InProject(
    what="project",
    locate=lambda path: _project(path, "project"),
    variables={"project": int},
    expected=_project_ahead("project"),
)
"""`/rest/…/{project}`."""
PROJECT_BY_ID = _InProject(what="project", locate=lambda path: _project(path, "id"), expected=_project_ahead("id"))
"""`/rest/Project/{id}`."""
ORGANIZATION_ADDRESS = _InOrganization(
    what="organization",
    locate=lambda path: _organization(path, "organization"),
    variables={"organization": int},
    expected=_record_ahead(ORGANIZATION, "organization"),
)
"""`/rest/…/{organization}`."""
ORGANIZATION_BY_ID = _InOrganization(
    what="organization", locate=lambda path: _organization(path, "id"), expected=_record_ahead(ORGANIZATION, "id")
)
"""`/rest/Organization/{id}`."""


def within(address: Address[Any]) -> Address[Any]:
    """The same address for operations on the content of a project or organization, with a check of each entity.

    With fine-grained permissions (`docs/decisions/012-fine-grained-permissions.md`) the caller then needs to see the
    project, and the operation's level on each entity that is listed, changed, deleted or created: the scope of the call
    checks that, which the handler's queries, `scope.only` and `scope.check` use.
    """
    return replace(address, is_door=True)  # type: ignore[type-var]


WITHIN_PROJECT = within(PROJECT)
"""`/rest/…/{project}`, where each entity in the project is checked by itself."""


def record_of_project(kind: RecordKind[Any], variable: str = "id") -> _InProject:
    """`/rest/Version/{id}`: a record that belongs to a project. A deleted project has no members to reach it."""

    def locate(path: dict[str, Any]) -> Found[Any]:
        record = records.get(kind, path[variable])
        return Found(thing=record, project=record.project)

    return _InProject(
        what=kind.name,
        locate=locate,
        variables={variable: int if kind.identity == "id" else str},
        expected=_record_ahead(kind, variable),
    )


def own_record_of_project(kind: RecordKind[Any]) -> Own:
    """`/rest/Bookmark/{id}`: a record of a project that only its own user may see."""
    return Own(what=kind.name, kind=kind)


def record_of_organization(kind: RecordKind[Any]) -> _InOrganization:
    """`/rest/Affiliation/{id}`: a record that belongs to an organization."""

    def locate(path: dict[str, Any]) -> Found[Any]:
        record = records.get(kind, path["id"])
        return Found(thing=record, organization=record.organization)

    return _InOrganization(what=kind.name, locate=locate, expected=_record_ahead(kind, "id"))


@dataclass(frozen=True, kw_only=True)
class _OfEither:
    """A record that belongs to a project or to an organization: the level there decides."""

    what: str
    kind: RecordKind[Any]
    variables: dict[str, type] = field(default_factory=lambda: {"id": int})

    def ahead(self, path: dict[str, Any], user: int | None) -> list[Wanted]:
        """The record or its pointer."""
        return _record_ahead(self.kind, "id")(path, user)

    def find(self, path: dict[str, Any], body: Any = None) -> Found[Any]:  # noqa: ARG002 the path says it
        """The record, or NotFound."""
        record = records.get(self.kind, path["id"])
        return Found(thing=record, project=record.project, organization=record.organization)

    def level(self, scope: Scope, found: Found[Any]) -> Level:
        """The caller's level in the project, or else in the organization."""
        if found.project:
            return scope.project_level(found.project, self.what, lambda: found.thing)
        return scope.organization_level(found.organization or 0, self.what, found.thing)


def record_of_either(kind: RecordKind[Any]) -> Address[Any]:
    """`/rest/Webhook/{id}`: a record that belongs either to a project or to an organization."""
    return _OfEither(what=kind.name, kind=kind)


def entity(kind: Kind) -> _InProject:
    """`/rest/Localization/{id}`: an entity that readers may see. A deleted project has no members to reach it."""

    def locate(path: dict[str, Any]) -> Found[Any]:
        found = entities.get(kind, path["id"])
        return Found(thing=found, project=found.project)

    return _InProject(what=kind.value, locate=locate, expected=_entity_ahead(kind))


@dataclass(frozen=True, kw_only=True)
class _ByBody(_InProject):
    """A record or entity of a project whose kind the body names."""

    locate: Callable[[dict[str, Any]], Found[Any]] = field(init=False)
    locate_by: Callable[[dict[str, Any], Any], Found[Any]]

    def find(self, path: dict[str, Any], body: Any = None) -> Found[Any]:
        """The record or entity, or NotFound."""
        return self.locate_by(path, body)


def by_body(what: str, locate: Callable[[dict[str, Any], Any], Found[Any]]) -> Address[Any]:
    """`/rest/AttributeType/{id}`: a type of a project that path and body name together."""
    return _ByBody(what=what, locate_by=locate)


def plain(locate: Callable[[dict[str, Any]], Any], **variables: type) -> _Plain:
    """A record without membership check."""
    return _Plain(what="", locate=lambda path: Found(thing=locate(path)), variables=variables)
