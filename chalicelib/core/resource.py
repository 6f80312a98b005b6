"""The base of stored records: Structs nested by *when* a field may be set.

A resource writes each of its fields once: the Struct of members that a PATCH may change, extended by members given at
creation, extended by members that the service adds. A PATCH touches only the members it is given; 0, false and "" are
values. A member that null clears has the type `X | None | UnsetType` and the default UNSET; for every other member None
means "not given". `docs/decisions/008-null-is-absent.md` has the rule for callers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, inspect

from chalicelib.core.time import clock

Id = Annotated[int, Meta(ge=1)]
Flag = Annotated[int, Meta(ge=0, le=1)]
ONE_LINE = r"^[^\x00-\x1f\x7f]*$(?!\n)"
"""No control characters; Python's `$` alone would allow a line end at the end."""
Name = Annotated[str, Meta(min_length=1, max_length=128, pattern=ONE_LINE)]
TypeName = Annotated[str, Meta(min_length=1, max_length=64, pattern=ONE_LINE)]
Description = Annotated[str, Meta(max_length=256)]
Summary = Annotated[str, Meta(max_length=1024)]
UUID = r"^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$(?!\n)"
Uuid = Annotated[str, Meta(pattern=UUID)]


def shown(pattern: str) -> Meta:
    """A pattern that the schema shows of what is sent. A handler checks the rule, and its message says more.

    Answers have no pattern: earlier releases may have stored other values.
    """
    return Meta(extra_json_schema={"x-taken": pattern})


_NAMED, _IPV6 = "[A-Za-z0-9][A-Za-z0-9._-]*", r"[0-9A-Fa-f]{0,4}(:[0-9A-Fa-f]{0,4}){2,7}((\.[0-9]{1,3}){3})?"
HOST = shown(rf"^(https://)?({_NAMED}|\[{_IPV6}\]|{_IPV6})/?$")
WEB_URL = shown(
    rf"^[Hh][Tt][Tt][Pp][Ss]?://({_NAMED}|\[{_IPV6}\])(:0*[1-9][0-9]{{0,4}}|:)?([/?#][!#-;=?-\[\]_a-z~]*)?$"
)
"""As `core/web/origins.py` reads it: http or https, a host, and no credentials, blanks or brackets."""
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_LOCAL = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}"
_ADDRESS = rf"{_LOCAL}(\.{_LOCAL})*@{_LABEL}(\.{_LABEL})*"
ADDRESS, MAILBOX = shown(f"^{_ADDRESS}$"), shown(f"^({_ADDRESS}|[^<>]*< *{_ADDRESS} *>)$")
"""An email address, and one that may have a display name: `Ada <ada@example.org>`.
`core/text/email_addresses.py` parses them, and accepts blanks around them, too."""
_DAY = "-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])|(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])|-?W[0-5][0-9]-?[1-7]"
_TIME = "[Tt ]([01][0-9]|2[0-4])(:?[0-5][0-9](:?[0-5][0-9]([.,][0-9]+)?)?)?([Zz]|[+-][0-9:.]+)?"
DATE = shown(f"^[0-9]{{4}}(-(0[1-9]|1[0-2])|-?W[0-5][0-9]|({_DAY})({_TIME})?)?$")
"""As `core/text/dates.py` reads it: ISO 8601."""
SIZE = shown("^ *0*[1-9][0-9]{0,4} *[xX] *0*[1-9][0-9]{0,4} *$")
"""Width and height of a picture, or columns and rows of a grid."""
Timestamp = str
"""ISO 8601 in UTC with milliseconds and a Z, such as `2026-01-02T03:04:05.678Z`."""


class Resource(Struct, kw_only=True, omit_defaults=True):
    """Base of all Structs that are decoded from a body or encoded into a response."""

    accepts: ClassVar[Mapping[str, str]] = {}
    """Older names of members, still accepted: old name → name."""
    also: ClassVar[Mapping[str, str]] = {}
    """Older names of members, still emitted: old name → name whose value it has."""
    also_attributes: ClassVar[Mapping[str, str]] = {}
    """Older names of attributes, still emitted: old name → name whose value it has."""
    gathers: ClassVar[str | None] = None
    """The member, a mapping, that receives unknown members, which older clients send beside it."""
    unused: ClassVar[Mapping[str, str]] = {}
    """Members that clients send and that have no effect: name → reason. All other unknown members are refused."""
    is_open: ClassVar[bool] = False
    """Whether members of any name are accepted."""
    keeps: ClassVar[str | None] = None
    """The hidden member, a mapping, that stores unknown members; responses show them beside the others."""
    is_whole: ClassVar[bool] = False
    """Whether a PATCH with it replaces all members, so that null means absent, as at creation."""
    is_change: ClassVar[bool] = False
    """Whether it lists changes of members within the body of a PATCH: the rule of null applies in it, too."""
    may_be_empty: ClassVar[bool] = False
    """Whether a PATCH of it may name nothing."""
    answers_unchanged: ClassVar[bool] = False
    """Whether the handler itself answers a PATCH that names only what there is (`Call.unchanged`)."""
    required_later: ClassVar[frozenset[str]] = frozenset()
    """Required members that the handler checks, after a check that precedes it, such as that of a URL's origin."""
    names: ClassVar[Mapping[str, str]] = {}
    """Members of a body that refer to entities or records by id: member → their kind (`access/references.py`)."""
    drops_unknown: ClassVar[frozenset[str]] = frozenset()
    """The subset of these whose unknown ids are dropped instead of refused."""
    sent_as: ClassVar[Mapping[str, str]] = {}
    """Members of an answer that bodies name otherwise: member → its name in bodies (`http/read_back.py`)."""
    opened: ClassVar[tuple[str, ...]] = ()
    """Members that hold Structs which keep unknown members."""
    hidden: ClassVar[frozenset[str]] = frozenset()
    """Members that are stored and never emitted."""
    personal: ClassVar[frozenset[str]] = frozenset()
    """Members that hold a person's name, address or network address; an erasure clears them (decision 207)."""
    mentioning: ClassVar[frozenset[str]] = frozenset()
    """Members of free text in which `@username` mentions a person; an erasure replaces the mention."""
    sparse: ClassVar[frozenset[str]] = frozenset()
    """Members that answers have only where they are set: of features that few objects use."""
    computed: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """Members that an answer may have and that are not stored, with their schemas."""


class KeepsUnknown(Resource, kw_only=True):
    """A Struct that stores the members it does not declare; responses show them beside the others."""

    keeps: ClassVar = "others"
    hidden: ClassVar = frozenset({"others"})

    others: dict[str, Any] = {}


def answer(thing: Resource) -> dict[str, Any]:
    """The members of a record or entity in responses: every one but sparse ones, null where unset, by all names."""
    seen = msgspec.structs.asdict(thing)
    for old, name in thing.also.items():
        seen[old] = seen[name]
    if thing.also_attributes:
        seen["attributes"] = under_all_names(thing, seen["attributes"])
    for name in thing.hidden:
        del seen[name]
    for name in thing.sparse:
        if seen[name] is None:
            del seen[name]
    if thing.keeps:
        seen = {**getattr(thing, thing.keeps), **seen}
    for name in thing.opened:
        if seen[name] is not None:
            seen[name] = _opened(seen[name])
    return seen


@cache
def shown_members(cls: type[Resource]) -> Mapping[str, str]:
    """The members that answers have of a Struct: every name, older ones too → the member whose value it has."""
    fields = {field.name: field.encode_name for field in msgspec.structs.fields(cls)}
    shown = {encoded: encoded for name, encoded in fields.items() if name not in cls.hidden}
    return shown | {old: fields[name] for old, name in cls.also.items()} | {name: name for name in cls.computed}


def under_all_names(of: Resource | type[Resource], attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes under their names and their older ones."""
    more = {old: attributes[name] for old, name in of.also_attributes.items() if name in attributes}
    return {**attributes, **more}


def _opened(thing: Resource) -> Resource | dict[str, Any]:
    """A Struct of lists of Structs with the unknown members that these keep; itself where they keep none."""
    lists = {name: items for name in thing.__struct_fields__ if isinstance(items := getattr(thing, name), list)}
    if not any(_kept(item) for items in lists.values() for item in items):
        return thing
    for name, items in lists.items():
        lists[name] = [_kept(item) | _set(item) if _kept(item) else item for item in items]
    return _set(thing) | lists


def _kept(item: Any) -> dict[str, Any]:
    return getattr(item, item.keeps) if isinstance(item, Resource) and item.keeps else {}


def _set(item: Resource) -> dict[str, Any]:
    """The members of a Struct that are set, as its encoding has them."""
    members = msgspec.structs.asdict(item).items()
    return {name: value for name, value in members if value is not None and name != item.keeps}


def given(change: Struct) -> dict[str, Any]:
    """The members of a change that the caller gave; None for those that null clears."""
    clearable = _clearable(type(change))
    return {
        name: value
        for name, value in msgspec.structs.asdict(change).items()
        if value is not UNSET and (value is not None or name in clearable)
    }


@cache
def _clearable(cls: type[Struct]) -> frozenset[str]:
    """The members of a change that null clears. Once for each type: annotations are evaluated, half a millisecond."""
    return frozenset(field.name for field in msgspec.structs.fields(cls) if field.default is UNSET)


def shared(source: Struct, target: type[Struct]) -> dict[str, Any]:
    """The members of a Struct that another type has, too."""
    return {name: getattr(source, name) for name in source.__struct_fields__ if name in target.__struct_fields__}


def options(type_: inspect.Type) -> Iterator[inspect.Type]:
    """The alternatives of a member's type, without annotations and null."""
    if isinstance(type_, inspect.Metadata):
        yield from options(type_.type)
    elif isinstance(type_, inspect.UnionType):
        for option in type_.types:
            yield from options(option)
    elif not isinstance(type_, inspect.NoneType):
        yield type_


def now() -> Timestamp:
    """The current time in the stored format."""
    return timestamp(clock.utc_now())


def timestamp(moment: datetime) -> Timestamp:
    """An instant in the stored format; one without offset counts as UTC."""
    aware = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")


_VARIANTS = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))


def random_uuids(count: int) -> list[str]:
    """Random UUIDs (version 4) in their stored form: `uuid.uuid4` takes a system call and an object for each."""
    digits = os.urandom(16 * count).hex()
    return [_uuid_of(digits[start : start + 32]) for start in range(0, 32 * count, 32)]


def _uuid_of(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{_VARIANTS[digits[16]]}{digits[17:20]}-{digits[20:]}"


def classes_within(info: inspect.Type, known: dict[str, type]) -> dict[str, type]:
    """Every Struct within a type, by name, added to those known. Raises ValueError where two have one name."""
    match info:
        case inspect.StructType(cls=cls, fields=fields) if known.get(cls.__name__) is not cls:
            if cls.__name__ in known:
                raise ValueError(f"Clients could not tell two Structs apart that are called {cls.__name__}.")
            known[cls.__name__] = cls
            for field in fields:
                classes_within(field.type, known)
        case inspect.UnionType(types=types):
            for option in types:
                classes_within(option, known)
        case (
            inspect.CollectionType(item_type=inner) | inspect.DictType(value_type=inner) | inspect.Metadata(type=inner)
        ):
            classes_within(inner, known)
    return known
