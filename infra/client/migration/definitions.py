"""What a project declares: people, types, versions, sections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..failures import Failure
from .move import Move, first_id, given
from .source import Row

_COMMON = ("name", "description", "elemental_id", "attribute_types")
TYPES: dict[str, tuple[str, ...]] = {
    "file_type": _COMMON,
    "leaf_type": (*_COMMON, "visible"),
    "media_type": (
        *_COMMON,
        *("dtype", "file_format", "default_volume", "visible", "archive_config", "streaming_config", "overlay_config"),
    ),
    "localization_type": (
        *_COMMON,
        *("dtype", "color_map", "refinements", "skeleton", "line_width", "visible", "drawable", "grouping_default"),
    ),
    "state_type": (
        *_COMMON,
        *("association", "interpolation", "visible", "grouping_default", "delete_child_localizations", "extended_info"),
    ),
}
"""The members of types that are copied as they are, in the order in which types are made."""
SECTION = (
    *("name", "path", "dtype", "tator_user_sections", "visible", "explicit_listing", "elemental_id", "attributes"),
    *("lucene_string", "media_bools", "annotation_bools"),
)
_DEFAULTS = ("default_box", "default_line", "default_dot")
_NAMED = {
    "$section": "section",
    "$version": "version",
    "$media": "media",
    "$created_by": "user",
    "$modified_by": "user",
    "$user": "user",
}
"""Names in searches whose values are ids, and of what."""
_LEVELS = ("View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control")


def move_people(move: Move) -> None:
    """Find the users of the target by the names of those of the source."""
    people = {}
    for each in move.source.get_membership_list(move.source_project):
        people[each["user"]] = each
    own = move.source.whoami()
    people.setdefault(own["id"], {"username": own["username"]})
    present = {each["user"] for each in move.target.get_membership_list(move.target_project)}
    for number, person in people.items():
        name = person.get("username") or f"user {number}"
        wanted = move.options.people.get(name, name)
        try:
            found = move.target.get_user_list(username=wanted)
        except Failure as failure:
            move.ledger.remark("user", number, f"{name}: {failure.message}")
            continue
        if not found:
            move.ledger.remark("user", number, f"{name}: there is no user {wanted!r}; what they made gets your name.")
            continue
        move.authors[number] = found[0]["elemental_id"]
        move.ledger.record("user", {number: found[0]["id"]})
        level = person.get("permission")
        if move.options.members and level in _LEVELS and found[0]["id"] not in present and not move.is_trial:
            body: Any = {"user": found[0]["id"], "permission": level}
            move.target.create_membership(move.target_project, body)


def move_attributes(move: Move) -> None:
    """The attributes of sections, which the project declares."""
    there = {each["name"] for each in move.target.get_project(move.target_project).get("attribute_types", ())}
    for each in move.source.get_project(move.source_project).get("attribute_types", ()):
        if each["name"] not in there and not move.is_trial:
            move.target.create_attribute_type(move.target_project, {"entity_type": "Section", "addition": each})


def move_types(move: Move) -> None:
    """The types of all kinds; those of the same name at the target are used where they declare the same."""
    for kind, members in TYPES.items():
        rows: list[Row] = getattr(move.source, f"get_{kind}_list")(move.source_project)
        there = getattr(move.target, f"get_{kind}_list")(move.target_project)
        for row in sorted(rows, key=lambda row: row["id"]):
            body = given(row, members) | _media_types(move, kind, row)
            _move_named(move, kind, row, body, there, _difference)
    _move_default_types(move)


def _media_types(move: Move, kind: str, row: Row) -> Row:
    if kind not in ("localization_type", "state_type"):
        return {}
    known = move.ledger.targets("media_type", row.get("media") or row.get("media_types") or ())
    body: Row = {"media_types": list(known.values())}
    if row.get("default_localization"):
        body["default_localization"] = move.ledger.target("localization_type", row["default_localization"])
    return body


def _move_named(
    move: Move,
    kind: str,
    row: Row,
    body: Row,
    there: list[Row],
    difference: Callable[[Row, Row], str] = lambda _row, _found: "",
) -> None:
    """Make a definition, or use that of the target with the same elemental id or name."""
    same = [each for each in there if row.get("elemental_id") and each.get("elemental_id") == row["elemental_id"]]
    same = same or [each for each in there if each["name"] == row["name"] and each.get("dtype") == row.get("dtype")]

    def make() -> int | None:
        if same:
            if why := difference(row, same[0]):
                raise Failure(f"{row['name']!r} is there, with another {why}. Rename one of them.", 5)
            return int(same[0]["id"])
        if move.is_trial:
            return -int(row["id"])
        return first_id(getattr(move.target, f"create_{kind}")(move.target_project, body))

    move.attempt(kind, row, make)


def _difference(row: Row, found: Row) -> str:
    """What two types of a name declare otherwise: the first attribute that is missing or has another dtype."""
    there = {each["name"]: each["dtype"] for each in found.get("attribute_types") or ()}
    for each in row.get("attribute_types") or ():
        if there.get(each["name"]) != each["dtype"]:
            return f"attribute {each['name']!r}"
    return ""


def _move_default_types(move: Move) -> None:
    """Set the default localization types of media types, which are created after the media types."""
    if move.is_trial or move.ledger.fact("default types"):
        return
    for row in move.source.get_media_type_list(move.source_project):
        target = move.ledger.target("media_type", row["id"])
        found = {name: move.ledger.target("localization_type", row.get(name)) for name in _DEFAULTS}
        body: Any = {name: number for name, number in found.items() if number}
        if target and body:
            move.target.update_media_type(target, body)
    move.ledger.store_fact("default types", "set")


def move_versions(move: Move) -> None:
    """Versions, each after its bases."""
    there: list[Any] = move.target.get_version_list(move.target_project)
    waiting: list[Any] = sorted(move.source.get_version_list(move.source_project), key=lambda row: row["id"])
    while waiting:
        missing = {row["id"] for row in waiting}
        ready = [row for row in waiting if not missing & set(row.get("bases") or ())] or waiting
        for row in ready:
            body = given(row, ("name", "description", "show_empty", "elemental_id"))
            body["bases"] = list(move.ledger.targets("version", row.get("bases") or ()).values())
            _move_named(move, "version", row, body, there)
        waiting = [row for row in waiting if row not in ready]


def move_sections(move: Move) -> None:
    """Sections, with their searches; the media of playlists come after the media."""
    there: list[Any] = move.target.get_section_list(move.target_project)
    rows: list[Any] = move.source.get_section_list(move.source_project)
    for row in sorted(rows, key=lambda row: (row.get("master_section") is not None, row["id"])):
        body = given(row, SECTION)
        for name in ("object_search", "related_search"):
            if row.get(name):
                body[name] = translate(move, row, row[name])
        if row.get("master_section"):
            body["master_section"] = move.ledger.target("section", row["master_section"])
        _move_named(move, "section", row, body, there)


def translate(move: Move, row: Row, search: Any) -> Any:
    """A search with the ids of the target; what it names that was not copied is remarked at its section."""
    if not isinstance(search, dict):
        return search
    made = {name: value for name, value in search.items() if value is not None}
    if "operations" in made:
        made["operations"] = [translate(move, row, each) for each in made["operations"]]
    name, value = made.get("attribute"), made.get("value")
    if isinstance(value, dict):
        made["value"] = translate(move, row, value)
    elif name == "$type":
        made["value"] = _mapped(move, row, name, value, tuple(TYPES))
    elif name in _NAMED:
        made["value"] = _mapped(move, row, name, value, (_NAMED[name],))
    return made


def _mapped(move: Move, row: Row, name: str, value: Any, kinds: tuple[str, ...]) -> Any:
    if isinstance(value, list):
        return [_mapped(move, row, name, each, kinds) for each in value]
    try:
        number = int(value)
    except (TypeError, ValueError):
        return value
    found = [target for kind in kinds if (target := move.ledger.target(kind, number)) is not None]
    if len(found) == 1:
        return found[0]
    why = "was not copied" if not found else "is the id of several types"
    move.ledger.remark("section", row["id"], f"Its search has {name} {number}, which {why}; the search keeps it.")
    return value
