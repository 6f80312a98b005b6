"""Favorites: attribute values that a user keeps at hand for a type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from chalicelib.core.models.accounts import Project
from chalicelib.core.models.definitions import LOCALIZATION_TYPE, STATE_TYPE
from chalicelib.core.models.personal import FAVORITE, EntityTypeName, Favorite, FavoriteSpec, FavoriteUpdate
from chalicelib.core.permissions import Permission
from chalicelib.core.records import padded
from chalicelib.errors import NotFound
from chalicelib.http.addresses import own_record_of_project
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, Located, NoQuery
from chalicelib.storage.dynamodb import ids, records

_TYPES = {"Localization": LOCALIZATION_TYPE, "State": STATE_TYPE}


def _find(path: dict[str, Any]) -> Located[Favorite]:
    """A favorite; it is gone with its type."""
    found = records.get(FAVORITE, path["id"])
    if not _with_type(found.project, [found]):
        raise NotFound.of(FAVORITE.title, path["id"])
    return Located(target=found, project=found.project)


def list_favorites(call: Call[Project, NoQuery, None]) -> list[Favorite]:
    """The caller's own, by id; none whose type is gone."""
    return _with_type(call.project, records.list_children(FAVORITE, call.project, f"{padded(call.caller.id)}|"))


def _with_type(project: int, favorites: list[Favorite]) -> list[Favorite]:
    known = records.definitions(project).by_kind
    return [each for each in favorites if each.type in known[_TYPES[each.entity_type_name].definition]]  # type: ignore[index]


def make_favorite(call: Call[Project, NoQuery, FavoriteSpec]) -> Favorite:
    """Keep values for the caller."""
    kind = call.body.entity_type_name or "Localization"
    _check_type(call.project, call.body.type, kind)
    favorite = Favorite(
        id=ids.reserve(FAVORITE.name)[0],
        project=call.project,
        user=call.caller.id,
        type=call.body.type,
        name=call.body.name,
        entity_type_name=kind,
        page=call.body.page,
        values=call.body.values,
    )
    return records.create(FAVORITE, favorite)


def check_change(call: Call[Favorite, NoQuery, FavoriteUpdate], change: dict[str, Any]) -> dict[str, Any]:
    """A change of kind must lead to a type that exists."""
    if kind := call.body.entity_type_name:
        _check_type(call.project, call.target.type, kind)
    return change


def _check_type(project: int, number: int, kind: EntityTypeName) -> None:
    record = _TYPES[kind]
    if records.get(record, number).project != project:
        raise NotFound.of(record.title, number)


OPERATIONS = record_operations(
    RecordResource(
        kind=FAVORITE,
        tag="Personal",
        address=replace(own_record_of_project(FAVORITE), locate=_find),
        read=Permission.VIEW,
        write=Permission.EDIT,
        spec=FavoriteSpec,
        update=FavoriteUpdate,
        find=list_favorites,
        store=make_favorite,
        check_change=check_change,
    )
)
