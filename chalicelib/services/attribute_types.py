"""Adding, changing and removing attributes of types, and what that does to the things of the type (`spec/3` §10).

Things are rewritten first, then the definition changes, then whatever was created in between is rewritten as well. So
a request that was stopped half-way may be repeated: until the definition has changed it asks for the same as before.
Things are chosen by their documents in the view and rewritten in commits of up to 98, each whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from chalicelib.domain.accounts import PROJECT
from chalicelib.domain.attribute_specs import AttributeTypeChange
from chalicelib.domain.attribute_values import check_definition, convert
from chalicelib.domain.attributes import AttributeType
from chalicelib.domain.changes import unseen
from chalicelib.domain.definitions import SECTION, TYPE_RECORD
from chalicelib.domain.kinds import Kind
from chalicelib.domain.records import RecordKind
from chalicelib.domain.resource import given
from chalicelib.errors import BadInput
from chalicelib.query.operators import Op
from chalicelib.query.tree import Test
from chalicelib.services import access, asking
from chalicelib.services.annotations import all_rows
from chalicelib.storage import entities, records, steps
from chalicelib.storage.steps import Step

MOST_ATTRIBUTES = 1_000
"""Attributes of one type: their definitions must fit into one row."""
KIND_OF: dict[str, Kind] = {
    "MediaType": Kind.MEDIA,
    "LocalizationType": Kind.LOCALIZATION,
    "StateType": Kind.STATE,
    "LeafType": Kind.LEAF,
    "FileType": Kind.FILE,
}
_CASTS: dict[tuple[str, str], Callable[[Any], Any]] = {("int", "float"): float, ("float", "int"): int}
"""What becomes of a value when its attribute's dtype changes; an enum's and a string's are the same."""
_CHANGEABLE = {*_CASTS, ("enum", "string"), ("string", "enum")}

Values = dict[str, Any]
Rewrite = Callable[[Values], Values | None]
"""From the attributes of a thing to what they become, None where they stay."""


class _Document(msgspec.Struct):
    attributes: Values = {}


_document = msgspec.json.Decoder(_Document)


@dataclass(frozen=True, kw_only=True)
class Home:
    """Where attributes are defined: a type, or for sections (`kind` None) the project."""

    kind: Kind | None
    number: int
    project: int
    attributes: Sequence[AttributeType]

    @property
    def record(self) -> RecordKind[Any]:
        """The record that holds the definitions."""
        return PROJECT if self.kind is None else TYPE_RECORD[self.kind]


def home_of(entity_type: str, number: int) -> Home:
    """Where a kind of thing has its attributes defined. Raises NotFound."""
    if entity_type == "Section":
        project = access.project_of(number)
        return Home(kind=None, number=number, project=project.id, attributes=project.attribute_types)
    kind = KIND_OF[entity_type]
    return _home(kind, records.get(TYPE_RECORD[kind], number))


def add(home: Home, addition: AttributeType, user: int) -> None:
    """Add an attribute; its default, if it has one, becomes the value of everything there is.

    Raises:
        BadInput: the name is taken, or the definition breaks a rule.
    """
    made = check_definition(addition)
    name, default = made.name, made.default

    def extended(current: Sequence[AttributeType]) -> list[AttributeType]:
        if any(each.name == name for each in current):
            raise BadInput(f"'{name}' is already an attribute.")
        if len(current) >= MOST_ATTRIBUTES:
            raise BadInput(f"addition: a type may have at most {MOST_ATTRIBUTES} attributes.")
        return [*current, made]

    def cleared(values: Values) -> Values | None:
        # What an unfinished removal left under this name is nobody's value.
        if default is None:
            return _without(name, values)
        return None if values.get(name) == default else {**values, name: default}

    def filled(values: Values) -> Values | None:
        return None if default is None or name in values else {**values, name: default}

    extended(home.attributes)
    _apply(home, user, extended, first=cleared, last=filled)


def change(
    home: Home, name: str, wish: AttributeTypeChange, user: int, *, whole: bool = False, everywhere: bool = False
) -> str:
    """Change an attribute, or all of that name in the project; what was done, in sentences.

    Args:
        home: where it is defined.
        name: what it is called now.
        wish: what changes.
        user: who changes it.
        whole: whether the definition becomes what `wish` says and nothing else.
        everywhere: whether it changes on every type of the project that has it.

    Raises:
        BadInput: there is no such attribute, or the change breaks a rule; nothing was changed.
    """
    homes = [home, *(_namesakes(home, name) if everywhere and home.kind is not None else ())]
    plans = [_changed(each.attributes, name, wish, whole=whole) for each in homes]
    for each, (before, after) in zip(homes, plans, strict=True):
        rewrite = _rewriting(before, after)
        _apply(
            each,
            user,
            lambda current: _replaced(current, name, _changed(current, name, wish, whole=whole)[1]),
            first=rewrite,
            last=rewrite,
        )
    return _told(*plans[0], len(homes))


def remove(home: Home, name: str, user: int) -> None:
    """Remove an attribute with all its values.

    Raises:
        BadInput: a type has no such attribute; of sections nothing happens then.
    """
    if home.kind is not None:
        _find(home.attributes, name)

    def rest(current: Sequence[AttributeType]) -> list[AttributeType]:
        return [each for each in current if each.name != name]

    def stripped(values: Values) -> Values | None:
        return _without(name, values)

    _apply(home, user, rest, first=stripped, last=stripped)


# --- definitions ---------------------------------------------------------------------------------------------------


def _home(kind: Kind, found: Any) -> Home:
    return Home(kind=kind, number=found.id, project=found.project, attributes=found.attribute_types)


def _namesakes(home: Home, name: str) -> Iterable[Home]:
    """The other types of the project with an attribute of that name."""
    definitions = records.definitions(home.project)
    for kind in Kind:
        for found in definitions.types(kind).values():
            if found.attribute(name) is not None and (kind, found.id) != (home.kind, home.number):
                yield _home(kind, found)


def _find(attributes: Iterable[AttributeType], name: str) -> AttributeType:
    found = next((each for each in attributes if each.name == name), None)
    if found is None:
        raise BadInput(f"Could not find attribute name '{name}': the type has no such attribute.")
    return found


def _changed(
    attributes: Sequence[AttributeType], name: str, wish: AttributeTypeChange, *, whole: bool
) -> tuple[AttributeType, AttributeType]:
    """The definition before and after. Raises BadInput."""
    before = _find(attributes, name)
    members = {"name": name, **given(wish)}
    if whole or members.keys() > {"name"}:
        if wish.dtype is None and (whole or _differs(before, members)):
            raise BadInput("dtype: it must be given where anything but the name of an attribute changes.")
        after = AttributeType(**members) if whole else msgspec.structs.replace(before, **members)
        if after.dtype != before.dtype and (before.dtype, after.dtype) not in _CHANGEABLE:
            raise BadInput(
                f"dtype: that of '{name}' cannot change from {before.dtype} to {after.dtype}; "
                "only int and float, and enum and string, become each other."
            )
        after = check_definition(after if "default" in members else _with_fitting_default(after))
    else:
        check_definition(AttributeType(name=members["name"], dtype="string"))
        after = msgspec.structs.replace(before, name=members["name"])
    if after.name != name and any(each.name == after.name for each in attributes):
        raise BadInput(f"'{after.name}' is already an attribute.")
    return before, after


def _differs(before: AttributeType, members: dict[str, Any]) -> bool:
    return any(getattr(before, member) != value for member, value in members.items() if member != "name")


def _with_fitting_default(after: AttributeType) -> AttributeType:
    """The definition without the default it had, where that no longer is one of its values."""
    if after.default is None:
        return after
    try:
        convert(after, after.default)
    except BadInput:
        return msgspec.structs.replace(after, default=None)
    return after


def _replaced(attributes: Sequence[AttributeType], name: str, after: AttributeType) -> list[AttributeType]:
    return [after if each.name == name else each for each in attributes]


def _told(before: AttributeType, after: AttributeType, types: int) -> str:
    said = []
    if after.name != before.name:
        said.append(f"Attribute '{before.name}' renamed to '{after.name}'.")
    if msgspec.structs.replace(after, name=before.name) != before:
        became = f" from {before.dtype} to {after.dtype}" if after.dtype != before.dtype else ""
        said.append(f"Attribute '{after.name}' changed{became}.")
    if not said:
        said.append(f"Attribute '{before.name}' is as it was.")
    if types > 1:
        said.append(f"{types} types have it.")
    return "\n".join(said)


# --- values --------------------------------------------------------------------------------------------------------


def _without(name: str, values: Values) -> Values | None:
    if name not in values:
        return None
    return {each: value for each, value in values.items() if each != name}


def _rewriting(before: AttributeType, after: AttributeType) -> Rewrite:
    """What the change of a definition does to values. Things without the attribute stay without it."""
    cast = _CASTS.get((before.dtype, after.dtype))

    def converted(value: Any) -> Any:
        return cast(value) if cast and isinstance(value, int | float) and not isinstance(value, bool) else value

    def rewrite(values: Values) -> Values | None:
        if before.name not in values and after.name not in values:
            return None
        renamed = values
        if after.name != before.name and before.name in values:
            # A value left under the new name by an unfinished removal gives way.
            kept = ((each, value) for each, value in values.items() if each != after.name)
            renamed = {after.name if each == before.name else each: value for each, value in kept}
        old = renamed.get(after.name)
        new = converted(old)
        if renamed is values and type(new) is type(old):
            return None
        return {**renamed, after.name: new} if after.name in renamed else renamed

    return rewrite


def _apply(
    home: Home,
    user: int,
    definitions: Callable[[Sequence[AttributeType]], list[AttributeType]],
    *,
    first: Rewrite,
    last: Rewrite,
) -> None:
    """Rewrite values, change the definitions, and rewrite what was written in between."""
    _rewrite(home, user, first)
    records.edit(
        home.record,
        home.number,
        lambda current: msgspec.structs.replace(current, attribute_types=definitions(current.attribute_types)),
        user=user,
    )
    _rewrite(home, user, last)


def _rewrite(home: Home, user: int, rewrite: Rewrite) -> None:
    """Rewrite the attributes of all things of a type: earlier marks and tombstones too."""

    def how(current: Any) -> Any:
        values = rewrite(current.attributes)
        return None if values is None else msgspec.structs.replace(current, attributes=values)

    kind = home.kind
    if kind is None:
        for section in records.definitions(home.project).sections.values():
            if rewrite(section.attributes) is not None:
                records.edit(SECTION, section.id, how, user=user)
        return
    view = asking.current(home.project)
    numbers = asking.ids(view, all_rows(kind, Test("type", Op.EQ, home.number)))
    chosen = [number for number in numbers if rewrite(_values(view, kind, number)) is not None]
    for start in range(0, len(chosen), steps.LARGEST):
        part = chosen[start : start + steps.LARGEST]
        steps.again(lambda part=part: _rewrite_some(home.project, kind, part, how, user))  # type: ignore[misc]


def _rewrite_some(project: int, kind: Kind, part: Sequence[int], how: Callable[[Any], Any | None], user: int) -> None:
    """Rewrite some things in one commit.

    Not by `entities.edit_many`, which leaves what is equal as it was: 5 and 5.0 are, to Python.
    """
    rows = entities.many(kind, part).values()
    done = [Step(kind, row, after) for row in rows if (after := how(row.entity)) is not None]
    # Definitions are no part of the change log, and neither is what they do to values (spec/3 §11.4).
    steps.apply(project, done, user=user, edits=[unseen(kind, [step.after.id for step in done])])


def _values(view: asking.View, kind: Kind, number: int) -> Values:
    document = view.document(kind, number)
    return _document.decode(document).attributes if document else {}
