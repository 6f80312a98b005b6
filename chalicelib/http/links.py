"""The links of the OpenAPI document: from a creation to the operations on the new object.

They follow from the declarations: a creation is named after its result (`CreateBookmark`, `RegisterApplet`,
`CreateStateList`, `Transcode`) or declares it (`makes="Job"`), `GetBookmark`, or else `UpdateBookmark`, has the path of
one, and all operations of that path are linked.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import inspect

from chalicelib.http.operation import OneOf, Operation

Links = dict[str, dict[str, Any]]

_MADE = re.compile(r"(?:Create|Register)?(?P<word>\w+?)(?:List)?\Z")
_BY_ID = re.compile(r"[^{}]+{(?P<variable>\w+)}\Z")


def links(operations: Iterable[Operation]) -> dict[str, Links]:
    """The links of every creation: its id → name of the link → Link Object.

    A link has the name of its operation. Where several objects are created, it leads to the first one and its name ends
    in `.first`.
    """
    by_path: defaultdict[str, list[Operation]] = defaultdict(list)
    operations = tuple(operations)
    for operation in operations:
        by_path[operation.path].append(operation)
    one = {operation.id: operation.path for operation in operations if _BY_ID.match(operation.path)}
    found: dict[str, Links] = {}
    for operation in operations:
        made = _MADE.match(operation.id)
        word = operation.makes or (made["word"] if made else "")
        path = (one.get(f"Get{word}") or one.get(f"Update{word}")) if operation.method == "POST" else None
        if path is not None and (leads := _links(operation, path, by_path[path])):
            found[operation.id] = leads
    return found


def _links(operation: Operation, path: str, targets: list[Operation]) -> Links:
    """The links to operations of a path; none where the response has no id."""
    known = _BY_ID.match(path)
    if known is None:
        return {}
    options = operation.returns.options if isinstance(operation.returns, OneOf) else (operation.returns,)
    return {
        f"{target.id}{ending}": {"operationId": target.id, "parameters": {known["variable"]: expression}}
        for option in options
        for ending, expression in _ids(option)
        for target in targets
        if target.id != operation.id
    }


def _ids(answer: Any) -> Iterable[tuple[str, str]]:
    """The pointers to new ids in a response, and the suffix of the names of their links."""
    if not (isinstance(answer, type) and issubclass(answer, msgspec.Struct)):
        return
    for field in msgspec.structs.fields(answer):
        if field.encode_name == "id":
            shape = inspect.type_info(field.type)
            if isinstance(shape.type if isinstance(shape, inspect.Metadata) else shape, inspect.ListType):
                yield ".first", "$response.body#/id/0"
            else:
                yield "", "$response.body#/id"
