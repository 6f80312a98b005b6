"""The routes of the service, which Chalice registers, generated from the declarations."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping

from chalicelib.api import site
from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http.operation import Operation

PAGES = tuple(site.PAGES)
"""Operations beside the API: the schema document, its browser, downloads."""

_VARIABLE = re.compile(r"{(\w+)}")


def variable_names(path: str) -> list[str]:
    """The names of a path's variables, in order."""
    return _VARIABLE.findall(path)


def route_of(path: str) -> str:
    """The path with its variables named by their position.

    API Gateway requires one name for the variables of sibling paths, such as `/rest/Localization/{id}` and
    `/rest/Localization/{version}/{elemental_id}`.
    """
    counter = iter(range(1, 10))
    return _VARIABLE.sub(lambda _: f"{{p{next(counter)}}}", path)


def chosen(operations: Mapping[str, Operation], method: str, body: bytes | None) -> Operation:
    """The operation of a route that a request is for.

    A GET with a body is treated as the PUT of the path, where that reads by ids: the newest client requests JSON lines
    this way, and ignoring the body would return all entities.
    """
    by_id = operations.get("PUT")
    if method == "GET" and body and by_id is not None and by_id.id.startswith("Get"):
        return by_id
    return operations[method]


def routes() -> Mapping[str, dict[str, Operation]]:
    """Every route of the service: route → method → operation."""
    found: defaultdict[str, dict[str, Operation]] = defaultdict(dict)
    for operation in (*OPERATIONS, *PAGES):
        methods = found[route_of(operation.path)]
        if operation.method in methods:
            raise AssertionError(f"{operation.id} and {methods[operation.method].id} share a route")
        methods[operation.method] = operation
    return found


def functions() -> Mapping[str, str]:
    """The function that serves each route: route → `Operation.function`."""
    found = {}
    for route, methods in routes().items():
        serving = {operation.function for operation in methods.values()}
        if len(serving) > 1:
            raise AssertionError(f"The operations of {route} are served by {' and '.join(sorted(serving))}")
        found[route] = serving.pop()
    return found
