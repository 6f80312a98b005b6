"""Members that clients send back as they read them: the members of an answer in the body of a change or a creation.

Published clients read an object, change a member of it and send all of it. What is known of such members comes from the
declarations alone, from the operation that shows what a body changes or makes (decision 170):

- A PATCH may name any member that the GET of its path answers. One that its body does not declare must be as the GET
  shows it now, and then has no effect; another value is refused by the member's name. So is a null for a member that
  null does not clear. `modified_by` and `modified_datetime` may differ: each change sets them.
- A creation may name any member that its list answers. Where the body has another name for it (`Resource.sent_as`, or
  the member that an older name stands for), it means that one. One that a PATCH could set later is refused unless it
  has its default. Any other is set by the service, and has no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import msgspec

from chalicelib.core.resource import Resource, shown_members
from chalicelib.errors import BadInput
from chalicelib.http.bounds import BODY_ERROR

if TYPE_CHECKING:
    from chalicelib.http.operation import Operation

SET_BY_EVERY_CHANGE = frozenset({"modified_by", "modified_datetime"})
"""What a client has read of these is no longer so after its own next change."""
UNCHANGED = "Nothing changed: all members are as they were sent."
CANNOT_CHANGE = "cannot be changed. Leave it out, or send it as it was read."


@dataclass(frozen=True, kw_only=True)
class ReadBack:
    """The members that bodies of one operation may name because answers have them.

    Attributes:
        shown_by: the operation that answers what this one changes; None for a creation.
        answer: the Struct of that answer, or of the items of the list that a creation adds to.
        same: name in the body → member of the answer, for members that the body's type does not declare.
        renames: name in the body → member of the body's type that it stands for, in a creation.
        later: member of the answer that a PATCH may set → its default, in a creation.
    """

    shown_by: Operation | None = None
    answer: type[Resource] | None = None
    same: Mapping[str, str] = field(default_factory=dict)
    renames: Mapping[str, str] = field(default_factory=dict)
    later: Mapping[str, Any] = field(default_factory=dict)

    def check_new(self, name: str, value: Any, path: str) -> None:
        """Refuse a member of a creation that only a PATCH may set."""
        if name in self.later and value is not None and value != self.later[name]:
            where = f"{path}.{name}".lstrip(".")
            raise BadInput(BODY_ERROR, f"{where}: cannot be given at creation. Create it, then change {name}.")


NOTHING = ReadBack()


@dataclass(frozen=True, kw_only=True)
class SentBack:
    """The current value of a member that a PATCH may repeat but not change, and the rule that it states."""

    value: Any
    rule: str


def check(sent: Mapping[str, SentBack], members: Mapping[str, str], shown: Mapping[str, Any]) -> None:
    """Refuse members that cannot change where the body gives them another value.

    Args:
        sent: name in the body → what was sent.
        members: name in the body → member of the answer, where the names differ.
        shown: the answer's members as JSON values.

    Raises:
        BadInput: a value would change what cannot change.
    """
    for name, item in sent.items():
        member = members.get(name, name)
        if member not in SET_BY_EVERY_CHANGE and not is_as_shown(item.value, shown.get(member)):
            raise BadInput(BODY_ERROR, item.rule)


def is_as_shown(sent: Any, shown: Any) -> bool:
    """Whether a value is the one that was shown, as far as the client's models know it.

    Generated clients read times as objects and write them in another form, add nulls for members that were not there,
    leave out members that they do not know, and read some numbers as text.
    """
    if isinstance(sent, dict) and isinstance(shown, dict):
        return all(is_as_shown(value, shown.get(name)) for name, value in sent.items())
    if isinstance(sent, list) and isinstance(shown, list):
        return len(sent) == len(shown) and all(map(is_as_shown, sent, shown))
    if isinstance(sent, str) and isinstance(shown, str) and sent != shown:
        return (instant := _instant(sent)) is not None and instant == _instant(shown)
    if isinstance(sent, str) and type(shown) is int:
        return sent == str(shown)
    return bool(sent == shown)


def _instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def with_read_back(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Operations that know each other, so that each finds what its bodies may name because answers have it."""
    catalogue = Catalogue(tuple(operations))
    return tuple(replace(operation, catalogue=catalogue) for operation in catalogue.operations)


@dataclass(frozen=True)
class Catalogue:
    """All operations. What one may read back is found when it is first asked for: a cold start does without."""

    operations: tuple[Operation, ...]

    @cached_property
    def gets(self) -> dict[str, Operation]:
        """The GET operations by their paths."""
        return {operation.path: operation for operation in self.operations if operation.method == "GET"}

    def members_of(self, operation: Operation) -> ReadBack:
        """The members that the bodies of an operation may name because answers have them."""
        shown_by = self.gets.get(operation.path)
        body = list(structs_of(operation.body))
        if shown_by is None or not body or operation.method not in ("PATCH", "POST"):
            return NOTHING
        answer = next(structs_of(shown_by.returns), None)
        is_list = answer is not None and shown_by.returns is not answer
        if answer is None or is_list != (operation.method == "POST"):
            return NOTHING
        own = {name for struct in body for name in names_of(struct)}
        if operation.method == "PATCH":
            if any(each.required for each in msgspec.structs.fields(shown_by.query)):
                return NOTHING
            same = {name: member for name, member in shown_members(answer).items() if name not in own}
            same |= {name: member for member, name in answer.sent_as.items() if name not in own}
            return ReadBack(shown_by=shown_by, answer=answer, same=same)
        return self._of_creation(answer, own)

    def _of_creation(self, answer: type[Resource], own: set[str]) -> ReadBack:
        renames, same = {}, {}
        for name, member in shown_members(answer).items():
            body_name = answer.sent_as.get(member, member)
            if name in own:
                continue
            if body_name in own:
                renames[name] = body_name
            else:
                same[name] = member
        changes = {
            name
            for operation in self.operations
            if operation.method == "PATCH" and (get := self.gets.get(operation.path)) and get.returns is answer
            for struct in structs_of(operation.body)
            for name in names_of(struct)
        }
        defaults = {each.encode_name: each.default for each in msgspec.structs.fields(answer)}
        later = {name: defaults[member] for name, member in same.items() if name in changes and member in defaults}
        return ReadBack(answer=answer, same=same, renames=renames, later=later)


def structs_of(declared: Any) -> Iterator[type[Resource]]:
    """The Structs that a declared body or answer has, alone or in a list."""
    for option in getattr(declared, "options", (declared,)):
        while get_args(option):
            (option, *_) = get_args(option)  # noqa: PLW2901 unwrapped
        if isinstance(option, type) and issubclass(option, Resource):
            yield option


def names_of(struct: type[Resource]) -> Iterator[str]:
    """The names of members that a body of a Struct may have."""
    yield from struct.__struct_encode_fields__
    yield from (*struct.accepts, *struct.unused)
