"""What records hold of a person, by the declarations of their Structs: `personal` and `mentioning` of `Resource`.

A personal member is a person's name, address or network address. In free text of others only a mention, `@username`, is
the person's. Everything else that users write is content of the project, also where a name occurs in it (decision 207).
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec
from msgspec import Struct

T = TypeVar("T")
LONGEST_TEXT = 10_000
"""Characters of a text with mentions, as comments have them."""


class Person(Struct, frozen=True, dict=True, kw_only=True):
    """A person whose data is erased.

    Attributes:
        id: the id of the user.
        username: the name that mentions use.
        addresses: the email addresses.
    """

    id: int
    username: str
    addresses: list[str]

    @property
    def mark(self) -> str:
        """The text that replaces the name."""
        return erased_name(self.id)

    @cached_property
    def _mention(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w.+@-])@{re.escape(self.username)}(?![\w+-]|\.\w)", re.IGNORECASE)

    def is_named(self, text: str) -> bool:
        """Whether a text is the user name or an address, in any case, or `Name <address>` with one."""
        folded = text.strip().casefold()
        names = {self.username.casefold(), *(each.casefold() for each in self.addresses)} - {self.mark, ""}
        return folded in names or folded.rpartition("<")[2].rstrip("> ") in names

    def without_mentions(self, text: str) -> str:
        """A text whose mentions of the person have the mark for a name."""
        if not self.username or self.username == self.mark:
            return text
        changed = self._mention.sub(f"@{self.mark}", text)
        return changed if len(changed) <= max(len(text), LONGEST_TEXT) else self._mention.sub("@", text)


def erased_name(user: int) -> str:
    """The user name of a user who was erased."""
    return f"erased-{user}"


def without(value: T, person: Person) -> T:
    """A stored Struct without the personal data of a person; the same object where it has none.

    A text becomes the mark, an entry of a list goes. A Struct of which a whole list went, such as a mail without
    recipients, becomes None where it is a member.
    """
    if not isinstance(value, Struct):
        return value
    changed: dict[str, Any] = {}
    for name in value.__struct_fields__:
        before = getattr(value, name)
        after = _changed(type(value), name, before, person)
        if after is not before and after != before:
            changed[name] = after
    return msgspec.structs.replace(value, **changed) if changed else value


def _changed(struct: type[Struct], name: str, value: Any, person: Person) -> Any:
    if name in getattr(struct, "personal", ()):
        if isinstance(value, str):
            return person.mark if person.is_named(value) else value
        if isinstance(value, list):
            return [each for each in value if not (isinstance(each, str) and person.is_named(each))]
        return value
    if name in getattr(struct, "mentioning", ()):
        return person.without_mentions(value) if isinstance(value, str) else value
    if isinstance(value, list):
        return [without(each, person) for each in value]
    found = without(value, person)
    return None if found is not value and _is_emptied(value, found) else found


def _is_emptied(before: Struct, after: Struct) -> bool:
    names = [name for name in getattr(before, "personal", ()) if isinstance(getattr(before, name), list)]
    return any(getattr(before, name) and not getattr(after, name) for name in names)


@cache
def holds_personal(struct: type[Struct]) -> bool:
    """Whether a stored Struct, or one within it, declares members of a person."""
    if getattr(struct, "personal", ()) or getattr(struct, "mentioning", ()):
        return True
    return any(holds_personal(inner) for hint in get_type_hints(struct).values() for inner in _structs_in(hint))


def _structs_in(hint: Any) -> list[type[Struct]]:
    if isinstance(hint, type) and issubclass(hint, Struct):
        return [hint]
    return [found for part in get_args(hint) for found in _structs_in(part)]
