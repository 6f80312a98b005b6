"""The forms of JSON bodies: conversion of old names, refusal of unknown members, and the meaning of null.

At creation a null for an optional member means that it is absent, since clients send nulls for unset members. In a
PATCH it clears a member that can be cleared, and is refused for every other (decision 8).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec
from msgspec import UNSET, inspect

from chalicelib.core.resource import Resource, options
from chalicelib.core.text.names import nearest
from chalicelib.errors import BadInput
from chalicelib.http.bounds import BODY_ERROR
from chalicelib.http.read_back import CANNOT_CHANGE, NOTHING, ReadBack, SentBack


@dataclass(frozen=True, kw_only=True)
class _Forms:
    """The allowed members of a Struct's objects. `within` are the members whose values hold Structs again."""

    name: str
    members: frozenset[str]
    optional: frozenset[str]
    clearable: frozenset[str]
    renames: Mapping[str, str]
    gathers: str | None
    keeps: str | None
    unused: frozenset[str]
    is_open: bool
    is_whole: bool
    is_change: bool
    within: tuple[tuple[str, inspect.Type], ...]


@cache
def _forms(cls: type) -> _Forms:
    fields = members_of(inspect.type_info(cls))
    keeps = getattr(cls, "keeps", None)
    unset = {field.name for field in msgspec.structs.fields(cls) if field.default is UNSET}
    nullable = {field.encode_name for field in fields if field.name in unset and _takes_null(field.type)}
    return _Forms(
        name=cls.__name__,
        members=frozenset(field.encode_name for field in fields) - {keeps},
        # A member with the default UNSET whose type excludes null may be absent; null is refused.
        optional=frozenset(field.encode_name for field in fields if not field.required and field.name not in unset)
        | nullable,
        clearable=frozenset(nullable),
        renames=getattr(cls, "accepts", {}),
        gathers=getattr(cls, "gathers", None),
        keeps=keeps,
        unused=frozenset(getattr(cls, "unused", ())),
        is_open=getattr(cls, "is_open", False),
        is_whole=getattr(cls, "is_whole", False),
        is_change=getattr(cls, "is_change", False),
        within=tuple((field.encode_name, field.type) for field in fields if any(structs_of(field.type))),
    )


def _takes_null(type_: inspect.Type) -> bool:
    return isinstance(type_, inspect.NoneType | inspect.AnyType) or any(map(_takes_null, getattr(type_, "types", ())))


@dataclass(frozen=True, kw_only=True)
class Tidying:
    """How JSON values are converted to the current form of their type: renamed, gathered, without nulls.

    Attributes:
        is_patch: null does not mean absent: it clears the member or is refused.
        places: the variables of the path. A body may repeat them; the path wins.
        read_back: the members that the body may name because answers have them.
        sent: the older names that were sent, by the place of the member.
        sent_back: what a PATCH may name only as it is; checked when it is known what there is.
    """

    is_patch: bool
    places: frozenset[str]
    read_back: ReadBack = NOTHING
    sent: dict[str, str] = field(default_factory=dict)
    sent_back: dict[str, SentBack] = field(default_factory=dict)

    def as_sent(self, rule: str) -> str:
        """A rule that begins with the place of a member, with the name under which the member was sent."""
        place, colon, rest = rule.partition(":")
        if place not in self.sent:
            return rule
        return f"{place.rpartition('.')[0]}.{self.sent[place]}".lstrip(".") + colon + rest

    def tidied(self, value: Any, info: inspect.Type, path: str = "", *, is_change: bool | None = None) -> Any:
        """The value as msgspec can convert it. Raises BadInput for an unknown member, or a null that is refused."""
        is_change = self.is_patch if is_change is None else is_change
        for option in options(info):
            if isinstance(option, inspect.StructType) and isinstance(value, dict):
                return self._object(value, _forms(option.cls), path, is_change=is_change)
            if isinstance(option, inspect.DictType) and isinstance(value, dict):
                inner = option.value_type
                return {
                    name: self.tidied(item, inner, f"{path}.{name}", is_change=False) for name, item in value.items()
                }
            if isinstance(option, inspect.CollectionType) and isinstance(value, list):
                inner = option.item_type
                return [self.tidied(item, inner, f"{path}[{i}]", is_change=False) for i, item in enumerate(value)]
        return value

    def _object(self, value: dict[str, Any], forms: _Forms, path: str, *, is_change: bool) -> dict[str, Any]:
        if not value.keys() <= forms.members:
            value = self._known(value, forms, path, takes_null=is_change and not forms.is_whole)
        if None in value.values():
            if is_change and not forms.is_whole:
                value = self._without_nulls(value, forms, path)
            else:
                value = {name: item for name, item in value.items() if item is not None or name not in forms.optional}
        for name, type_ in forms.within:
            if name in value:
                inner = self.is_patch and any(_forms(struct.cls).is_change for struct in structs_of(type_))
                value = {**value, name: self.tidied(value[name], type_, f"{path}.{name}", is_change=inner)}
        return value

    def _known(self, value: dict[str, Any], forms: _Forms, path: str, *, takes_null: bool) -> dict[str, Any]:
        """The members under their current names; `takes_null`: null is a value, and not the absence of one."""
        is_outermost = path.count(".") == 0
        renames = {**forms.renames, **(self.read_back.renames if is_outermost else {})}
        known = self._renamed(value, forms, renames, path, takes_null=takes_null)
        allowed = forms.members | renames.keys() | forms.unused
        unknown = {name: item for name, item in value.items() if name not in allowed}
        if is_outermost:
            unknown = self._without_read_back(unknown, forms, path)
        if forms.gathers:
            if isinstance(given := known.get(forms.gathers) or {}, dict):
                known[forms.gathers] = {name: item for name, item in unknown.items() if item is not None} | given
        elif forms.keeps:
            known[forms.keeps] = {name: item for name, item in unknown.items() if item is not None}
        elif unknown and not forms.is_open:
            name = next(iter(unknown))
            rule = f"{path.lstrip('.') + ': ' if path else ''}{forms.name} has no member {name!r}."
            raise BadInput(BODY_ERROR, rule + nearest(name, forms.members | forms.renames.keys()))
        return known

    def _renamed(
        self, value: dict[str, Any], forms: _Forms, renames: Mapping[str, str], path: str, *, takes_null: bool
    ) -> dict[str, Any]:
        """The declared members, under their current names. Raises BadInput for two values of one member."""
        known = {name: item for name, item in value.items() if name in forms.members}
        sent_as: dict[str, str] = {}
        for old, name in renames.items():
            if old not in value or (name in known and value[old] is None and not takes_null):
                continue
            if name in known and known[name] != value[old] and (known[name] is not None or takes_null):
                both = f"{sent_as.get(name, name)} and {old} name one member"
                raise BadInput(BODY_ERROR, f"{path.lstrip('.') + ': ' if path else ''}{both}; send one of them.")
            known[name], sent_as[name] = value[old], old
            self.sent[f"{path}.{name}".lstrip(".")] = old
        return known

    def _without_read_back(self, unknown: dict[str, Any], forms: _Forms, path: str) -> dict[str, Any]:
        """The members that are unknown even where clients send back what they read, or variables of the path."""
        for name in self.read_back.same.keys() & unknown.keys():
            if self.is_patch:
                self.sent_back[name] = SentBack(value=unknown.pop(name), rule=f"{name}: {CANNOT_CHANGE}")
            elif not forms.gathers:
                self.read_back.check_new(name, unknown.pop(name), path)
        return {name: item for name, item in unknown.items() if name not in self.places}

    def _without_nulls(self, value: dict[str, Any], forms: _Forms, path: str) -> dict[str, Any]:
        """The members without the nulls that clear nothing: beside other members they may be what a client has read."""
        is_outermost, is_alone = not path, all(item is None for item in value.values())
        kept = {}
        for name, item in value.items():
            if item is not None or name not in forms.optional or name in forms.clearable:
                kept[name] = item
                continue
            where = f"{path}.{name}".lstrip(".")
            rule = f"{where}: null is not allowed here; leave it out to keep what there is."
            if not is_outermost or is_alone or self.read_back.shown_by is None:
                raise BadInput(BODY_ERROR, rule)
            self.sent_back[name] = SentBack(value=None, rule=rule)
        return kept


# Types ---------------------------------------------------------------------------------------------------------------


def inner_of(type_: inspect.Type) -> Iterator[inspect.Type]:
    """The types of an array's items, or of a mapping's values."""
    if isinstance(type_, inspect.CollectionType):
        yield from options(type_.item_type)
    elif isinstance(type_, inspect.DictType):
        yield from options(type_.value_type)


def members_of(type_: inspect.Type) -> tuple[inspect.Field, ...]:
    """The members of a Struct; none for other types."""
    return type_.fields if isinstance(type_, inspect.StructType) else ()


def structs_of(type_: inspect.Type) -> Iterator[inspect.StructType]:
    """The Structs in a type's values, not those nested in them."""
    for option in options(type_):
        if isinstance(option, inspect.StructType):
            yield option
        else:
            for inner in inner_of(option):
                yield from structs_of(inner)


def complete(body: dict[str, Any], shape: Any, query: Resource) -> None:
    """Add to a creation's body the members that its query gives. Raises BadInput for two different values."""
    for name in _shared_names(type(query), shape):
        given = getattr(query, name)
        if given is None:
            continue
        if body.get(name) not in (None, given):
            rule = f"{name} is {body[name]!r} in the body and {given!r} in the query; send one of them."
            raise BadInput(f"Invalid query parameter: {name}", rule)
        body[name] = given


@cache
def _shared_names(query: type[Resource], body: Any) -> tuple[str, ...]:
    """The names of parameters that are members of a body of one shape, too."""
    fields = query.__struct_fields__ if isinstance(body, type) and issubclass(body, Resource) else ()
    return tuple(name for name in fields if name in body.__struct_fields__)
