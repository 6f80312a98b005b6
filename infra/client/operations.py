"""The methods of the clients, one for each operation, made from `operations.json`; type checkers read `operations.pyi`.

Both kinds of client have the same methods. What they do with a call is `_call`, which one answers and the other awaits.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib import resources
from typing import Any, cast

import msgspec

_VARIABLE = re.compile(r"{(\w+)}")


class Entry(msgspec.Struct, frozen=True):
    """One operation: its method and id, its HTTP method, its path below `/rest/`, and what it takes and answers."""

    name: str
    id: str
    method: str
    path: str
    takes: str | None
    """`json` or `bytes`; None without a body."""
    needs_body: bool
    is_read: bool
    answers: str
    """`json`, `text` or `bytes`."""
    doc: str

    @property
    def variables(self) -> tuple[str, ...]:
        """The names in the path, in order."""
        return tuple(_VARIABLE.findall(self.path))


ENTRIES = {
    each.name: each
    for each in msgspec.json.decode(
        resources.files(__package__).joinpath("operations.json").read_bytes(), type=list[Entry]
    )
}
"""The operations, by the name of their method."""


class Operations:
    """Calls that answer."""

    def _call(self, entry: Entry, path: dict[str, Any], query: dict[str, Any], body: Any) -> Any:
        raise NotImplementedError


class AsyncOperations(Operations):
    """Calls that are awaited."""


def _method(entry: Entry) -> Callable[..., Any]:
    names = (*entry.variables, *(("body",) if entry.takes else ()))

    def method(self: Operations, *given: Any, **named: Any) -> Any:
        try:
            bound = signature.bind(self, *given, **named).arguments
        except TypeError as error:
            raise TypeError(f"{entry.name}(): {error}") from None
        path = {name: bound[name] for name in entry.variables}
        return self._call(entry, path, bound.get("query", {}), bound.get("body"))

    kind = inspect.Parameter
    optional = () if entry.needs_body else ("body",)
    parameters = [
        kind("self", kind.POSITIONAL_ONLY),
        *(kind(each, kind.POSITIONAL_OR_KEYWORD, default=None if each in optional else kind.empty) for each in names),
        kind("query", kind.VAR_KEYWORD),
    ]
    signature = inspect.Signature(parameters)
    method.__name__, method.__doc__ = entry.name, entry.doc
    method.__qualname__ = f"Operations.{entry.name}"
    cast("Any", method).__signature__ = signature
    return method


for _entry in ENTRIES.values():
    setattr(Operations, _entry.name, _method(_entry))
