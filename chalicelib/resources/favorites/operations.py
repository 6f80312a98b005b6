"""Favorites: attribute values that a user keeps at hand for a type."""

from __future__ import annotations

from typing import Any

from chalicelib.core.accounts import Project
from chalicelib.core.definitions import LOCALIZATION_TYPE, STATE_TYPE
from chalicelib.core.permissions import Permission
from chalicelib.core.personal import FAVORITE, EntityTypeName, Favorite, FavoriteSpec, FavoriteUpdate
from chalicelib.core.records import padded
from chalicelib.errors import NotFound
from chalicelib.http.addresses import PROJECT, own_record_of_project
from chalicelib.http.crud import RecordResource, record_operations
from chalicelib.http.operation import Call, NoQuery
from chalicelib.storage.dynamodb import ids, records


def list_favorites(call: Call[Project, NoQuery, None]) -> list[Favorite]:
    """The caller's own, by id; none whose type is gone."""
    known = records.definitions(call.project)
    types = {
        "Localization": known.by_kind[LOCALIZATION_TYPE.definition],  # type: ignore[index]
        "State": known.by_kind[STATE_TYPE.definition],  # type: ignore[index]
    }
    own = records.list_children(FAVORITE, call.project, f"{padded(call.caller.id)}|")
    return [favorite for favorite in own if favorite.type in types[favorite.entity_type_name]]


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
    record = LOCALIZATION_TYPE if kind == "Localization" else STATE_TYPE
    if records.get(record, number).project != project:
        raise NotFound.of(record.title, number)


OPERATIONS = record_operations(
    RecordResource(
        word="Favorite",
        plural="Favorites",
        kind=FAVORITE,
        tag="Personal",
        parent=PROJECT,
        one=own_record_of_project(FAVORITE),
        read=Permission.VIEW,
        write=Permission.EDIT,
        spec=FavoriteSpec,
        update=FavoriteUpdate,
        listed=list_favorites,
        made=make_favorite,
        changed=check_change,
    )
)
