"""What types, versions and sections share: their place in a project, and what goes when one of them goes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.domain.accounts import MEMBERSHIP, Membership
from chalicelib.domain.definitions import TYPE_RECORD
from chalicelib.domain.kinds import Kind
from chalicelib.domain.records import RecordKind, padded
from chalicelib.errors import BadInput, NotFound
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Test, Tree
from chalicelib.services import asking, media_clearing, media_deletion
from chalicelib.services.annotations import all_rows
from chalicelib.storage import records

_DEFAULTS = ("default_box", "default_line", "default_dot", "default_localization")


def of_project(kind: RecordKind[Any], project: int, number: int) -> Any:
    """A definition of a project by its id, in one call.

    Raises:
        NotFound: the project has none of this id.
    """
    found = records.find(kind, project, padded(number))
    if found is None:
        raise NotFound.of(kind.title, number)
    return found


def check_media_types(project: int, numbers: Iterable[int]) -> list[int]:
    """The ids without repetitions, if each is a media type of the project.

    Raises:
        NotFound: some are not; nothing was changed.
    """
    wanted = list(dict.fromkeys(numbers))
    known = records.definitions(project).types(Kind.MEDIA)
    missing = [number for number in wanted if number not in known]
    if missing:
        raise NotFound(f"media_types: could not find media type ids {missing}.")
    return wanted


def check_default(project: int, member: str, number: int | None) -> None:
    """A default annotation type must be a localization type of the project.

    Raises:
        NotFound: there is no such type. BadInput: it is another project's.
    """
    if number is None:
        return
    if records.get(TYPE_RECORD[Kind.LOCALIZATION], number).project != project:
        raise BadInput(f"{member}: localization type {number} belongs to another project.")


def delete_type(kind: Kind, project: int, number: int, user: int) -> int:
    """Delete a type with everything of it; how many live things that were.

    The things go first and the definition last: stopped half-way, the deletion can be repeated.
    """
    gone = _delete(kind, project, user, Test("type", Op.EQ, number))
    if kind is Kind.MEDIA:
        _forget_media_type(project, number, user)
    if kind is Kind.LOCALIZATION:
        _forget_default(project, number, user)
    records.remove(TYPE_RECORD[kind], number, user=user)
    return gone


def delete_annotations_of(version: int, project: int, user: int) -> int:
    """Delete all localizations and states of a version; how many live ones that were."""
    in_version = Test("version", Op.EQ, version)
    return sum(_delete(kind, project, user, in_version) for kind in (Kind.STATE, Kind.LOCALIZATION))


def forget_default_version(version: int, project: int) -> None:
    """Memberships whose default version it was have none any more."""

    def without(membership: Membership) -> Membership:
        return msgspec.structs.replace(membership, default_version=None)

    for membership in records.listed(MEMBERSHIP, project):
        if membership.default_version == version:
            records.edit(MEMBERSHIP, membership.id, without)


def _delete(kind: Kind, project: int, user: int, where: Tree) -> int:
    view = asking.current(project)
    live = asking.count(view, Query(kind=kind, where=where, merge=False))
    numbers = asking.ids(view, all_rows(kind, where))
    if kind is Kind.MEDIA:
        media_deletion.delete(project, user, numbers)
    else:
        media_clearing.delete_rows(kind, project, user, numbers)
    return live


def _forget_default(project: int, number: int, user: int) -> None:
    """Media and state types no longer name a localization type that goes as a default."""

    def without(current: Any) -> Any:
        named = [name for name in _DEFAULTS if getattr(current, name, None) == number]
        return msgspec.structs.replace(current, **dict.fromkeys(named))

    for kind in (Kind.MEDIA, Kind.STATE):
        for found in records.definitions(project).types(kind).values():
            if without(found) != found:
                records.edit(TYPE_RECORD[kind], found.id, without, user=user)


def _forget_media_type(project: int, number: int, user: int) -> None:
    """Localization and state types no longer name a media type that goes."""
    known = records.definitions(project)

    def without(current: Any) -> Any:
        return msgspec.structs.replace(current, media=[each for each in current.media if each != number])

    for kind in (Kind.LOCALIZATION, Kind.STATE):
        for found in known.types(kind).values():
            if number in found.media:  # type: ignore[union-attr]
                records.edit(TYPE_RECORD[kind], found.id, without, user=user)
