"""Add, change and remove attributes of types, with the values of existing entities.

The definition changes in one commit, together with the type's list of revisions. Readers apply the missing revisions to
an entity's values (`core/values/revisions.py`), so the change takes equally long for one entity and for a million.
Sections, which are few, are rewritten one by one; an interrupted request can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from chalicelib.access import authentication
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.models.definitions import SECTION, TYPE_RECORD, AnyType
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import given
from chalicelib.core.values.attribute_values import check_definition, convert
from chalicelib.core.values.attributes import AttributeType
from chalicelib.core.values.revisions import Added, Recast, Removed, Renamed, Revision, revised
from chalicelib.errors import BadInput, Taken
from chalicelib.resources.types import attribute_effects
from chalicelib.resources.types.attribute_schemas import AttributeTypeChange
from chalicelib.storage.dynamodb import limits, records
from chalicelib.storage.dynamodb.transactions import Transaction

MOST_ATTRIBUTES = 500
"""Attributes of one type. Each is a column of the project's view, which takes about 0.4 MB without any row."""
MOST_IN_PROJECT = 5_000
"""Attributes of all types of a project: every request that writes an entity may read all their definitions."""
MOST_TYPES = 1_000
"""Types of a project, of all kinds."""
KIND_OF: dict[str, Kind] = {
    "MediaType": Kind.MEDIA,
    "LocalizationType": Kind.LOCALIZATION,
    "StateType": Kind.STATE,
    "LeafType": Kind.LEAF,
    "FileType": Kind.FILE,
}
MOST_REVISIONS = 2_000
"""Changes to attributes of one type that affect values: their list must fit beside the definitions."""
_CHANGEABLE = {("int", "float"), ("float", "int"), ("enum", "string"), ("string", "enum")}
"""The dtypes that can be converted to each other."""

T = TypeVar("T", bound=AnyType)
Changed = tuple[list[AttributeType], list[Revision]]
"""The definitions after a change, and its revisions of values."""


@dataclass(frozen=True, kw_only=True)
class Home:
    """The place where attributes are defined: a type, or for sections (`kind` None) the project."""

    kind: Kind | None
    number: int
    project: int
    attributes: Sequence[AttributeType]

    @property
    def record(self) -> RecordKind[Any]:
        """The record that holds the definitions."""
        return PROJECT if self.kind is None else TYPE_RECORD[self.kind]


def home_of(entity_type: str, number: int) -> Home:
    """The place where the attributes of a kind of entity are defined. Raises NotFound."""
    if entity_type == "Section":
        project = authentication.project_of(number)
        return Home(kind=None, number=number, project=project.id, attributes=project.attribute_types)
    kind = KIND_OF[entity_type]
    return _home(kind, records.get(TYPE_RECORD[kind], number))


def check_room(project: int, added: int, *, present: int = 0, member: str = "attribute_types") -> int:
    """Check that attributes may be added to a type of a project; returns how many more the project may have then.

    Args:
        project: the project's id.
        added: how many attributes are added.
        present: how many the type has already.
        member: the member of the body that names them, for the message.

    Raises:
        BadInput: the type or the project would have too many.
    """
    if present + added > MOST_ATTRIBUTES:
        raise BadInput(f"{member}: a type may have at most {MOST_ATTRIBUTES} attributes, not {present + added}.")
    return _room(_types(project), added, member)


def _room(types: Sequence[AnyType], added: int, member: str = "attribute_types") -> int:
    total = sum(len(each.attribute_types) for each in types)
    if total + added > MOST_IN_PROJECT:
        raise BadInput(
            f"{member}: the types of a project may have at most {MOST_IN_PROJECT} attributes in all; "
            f"they have {total}, and {added} more were given."
        )
    return MOST_IN_PROJECT - total - added


def create(kind: Kind, made: T, user: int) -> T:
    """Store a new type. Raises BadInput if its project would have too many types or attributes."""

    def check() -> int:
        types = _types(made.project)
        left = MOST_TYPES - len(types)
        if left <= 0:
            raise BadInput(f"A project may have at most {MOST_TYPES} types.")
        return min(left, _room(types, len(made.attribute_types)))

    records.create(TYPE_RECORD[kind], made, user=user, within=(_guard(made.project), check))
    return made


def _guard(project: int) -> str:
    """The guard of the numbers of types and attributes of a project."""
    return f"types|{project}"


def _types(project: int) -> list[AnyType]:
    definitions = records.definitions(project)
    return [each for kind in TYPE_RECORD for each in definitions.types(kind).values()]


def add(home: Home, addition: AttributeType, user: int) -> None:
    """Add an attribute; existing entities get its default, if it has one.

    Raises:
        BadInput: the name is taken, or the definition breaks a rule.
    """
    made = check_definition(addition)

    def extend(current: Sequence[AttributeType]) -> Changed:
        if any(each.name == made.name for each in current):
            raise Taken(f"'{made.name}' is already an attribute.")
        check_room(home.project, 1, present=len(current), member="addition")
        return [*current, made], [Added(made.name, made.default)]

    limits.run(
        _guard(home.project),
        lambda: check_room(home.project, 1, member="addition"),
        lambda guard: _apply(home, user, extend, guard),
    )


def change(
    home: Home,
    name: str,
    wish: AttributeTypeChange,
    user: int,
    *,
    whole: bool = False,
    everywhere: bool = False,
    force: bool = False,
) -> str:
    """Change an attribute, or all attributes of that name in the project. Returns what was done, in sentences.

    Args:
        home: where it is defined.
        name: its current name.
        wish: the change.
        user: the author of the change.
        whole: whether `wish` replaces the whole definition.
        everywhere: whether the change applies to every type of the project that has the attribute.
        force: whether entities may keep values that the change makes invalid.

    Raises:
        BadInput: the attribute does not exist, the change breaks a rule, or entities have values that it makes invalid;
            nothing was changed.
    """
    others = _namesakes(home, name) if everywhere and home.kind is not None else ()
    # The named attribute is changed last: while it has the old name, the request can be repeated.
    homes = [*others, home]
    plans = [_change(each.attributes, name, wish, whole=whole) for each in homes]
    kept = _check_effects(homes, plans, force=force)

    def replace_definition(current: Sequence[AttributeType]) -> Changed:
        before, after = _change(current, name, wish, whole=whole)
        return [after if each.name == name else each for each in current], _revisions(before, after)

    for each in homes:
        _apply(each, user, replace_definition)
    return "\n".join((_change_message(*plans[-1], len(homes)), *kept))


def remove(home: Home, name: str, user: int) -> None:
    """Remove an attribute with all its values.

    Raises:
        BadInput: a type has no such attribute; for sections, an unknown name is ignored.
    """
    if home.kind is not None:
        _find(home.attributes, name)

    def rest(current: Sequence[AttributeType]) -> Changed:
        return [each for each in current if each.name != name], [Removed(name)]

    _apply(home, user, rest)


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


def _change(
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
        raise Taken(f"'{after.name}' is already an attribute.")
    return before, after


def _check_effects(
    homes: Sequence[Home], plans: Iterable[tuple[AttributeType, AttributeType]], *, force: bool
) -> list[str]:
    """What entities keep although it is no longer valid, in sentences. Raises BadInput unless `force` is true."""
    kept = []
    for each, (before, after) in zip(homes, plans, strict=True):
        if found := attribute_effects.effects(each.kind, each.project, each.number, before, after):
            words = attribute_effects.sentence(found, each.kind)
            if not force:
                raise BadInput(
                    f"'{before.name}': {words}. Nothing was changed.",
                    "Change those first, or send force: true, and they keep their values.",
                )
            kept.append(f"Of type {each.number}, {words}, and keep it." if each.kind else f"{words}, and keep it.")
    return kept


def _differs(before: AttributeType, members: dict[str, Any]) -> bool:
    return any(getattr(before, member) != value for member, value in members.items() if member != "name")


def _with_fitting_default(after: AttributeType) -> AttributeType:
    """The definition without its old default, if that is no longer a valid value."""
    if after.default is None:
        return after
    try:
        convert(after, after.default)
    except BadInput:
        return msgspec.structs.replace(after, default=None)
    return after


def _change_message(before: AttributeType, after: AttributeType, types: int) -> str:
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


def _revisions(before: AttributeType, after: AttributeType) -> list[Revision]:
    """The revisions of values that follow from the change of a definition."""
    found: list[Revision] = []
    if after.name != before.name:
        found.append(Renamed(before.name, after.name))
    if after.dtype != before.dtype and after.dtype in ("int", "float"):
        found.append(Recast(after.name, after.dtype))
    return found


def _apply(
    home: Home, user: int, edit: Callable[[Sequence[AttributeType]], Changed], guard: limits.CountGuard | None = None
) -> None:
    meant = edit(home.attributes)[1] if home.kind is None else []
    _rewrite_sections(home, user, meant)

    def apply(current: Any) -> Any:
        attributes, revisions = edit(current.attribute_types)
        if home.kind is None:
            return msgspec.structs.replace(current, attribute_types=attributes)
        if len(current.revisions) + len(revisions) > MOST_REVISIONS:
            raise BadInput(f"The attributes of a type may be changed {MOST_REVISIONS} times; make another type.")
        return msgspec.structs.replace(current, attribute_types=attributes, revisions=[*current.revisions, *revisions])

    def also(transaction: Transaction, *_: Any) -> None:
        if guard is not None:
            guard.add(transaction)

    records.edit(home.record, home.number, apply, user=user, also=also)
    # Those that were written meanwhile; what came with a default by then has got it.
    _rewrite_sections(home, user, [each for each in meant if not isinstance(each, Added)])


def _rewrite_sections(home: Home, user: int, revisions: Sequence[Revision]) -> None:
    """Apply revisions to the attributes of a project's sections."""
    if not revisions:
        return

    def edit(current: Any) -> Any:
        return msgspec.structs.replace(current, attributes=revised(current.attributes, revisions))

    for section in records.definitions(home.project).sections.values():
        records.edit(SECTION, section.id, edit, user=user)
