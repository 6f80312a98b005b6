"""From a path to its route. API Gateway serves the routes under some prefixes by one greedy resource each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from chalicelib.errors import NotFound

GREEDY = "{proxy+}"
"""API Gateway's variable for all remaining parts of a path; the function gets them as the path parameter `proxy`."""
GREEDY_PREFIXES = ("/rest/", "/console/", "/scim/")
"""An API has at most 300 resources, and `/rest/Media/{p1}` would need two of them."""


def resource_of(route: str) -> str:
    """The resource of API Gateway that serves a route: a greedy one for the routes under GREEDY_PREFIXES."""
    return next((prefix + GREEDY for prefix in GREEDY_PREFIXES if route.startswith(prefix)), route)


@dataclass
class _Node:
    static: dict[str, _Node] = field(default_factory=dict)
    variable: tuple[str, _Node] | None = None
    greedy: str | None = None
    route: str | None = None


class Router:
    """A set of routes. Static parts win over variables, and these over the greedy variable, as in API Gateway."""

    def __init__(self, routes: Iterable[str]) -> None:
        self._root = _Node()
        for route in routes:
            node = self._root
            for part in _parts(route):
                if part == GREEDY:
                    node.greedy = route
                elif part.startswith("{"):
                    node.variable = node.variable or (part[1:-1], _Node())
                    node = node.variable[1]
                else:
                    node = node.static.setdefault(part, _Node())
            if not route.endswith(GREEDY):
                node.route = route

    def find(self, path: str) -> tuple[str, dict[str, str]]:
        """The route of a path and the values of its variables, quoted as in the path.

        Raises:
            NotFound: no route has this path, or it is one of the REST interface with a slash at its end.
        """
        if path.startswith("/rest/") and path.endswith("/"):
            raise NotFound(f"There is no {path} here. Paths of the REST interface end without a slash.")
        node, variables = self._root, {}
        parts = _parts(path)
        for number, part in enumerate(parts):
            if part in node.static:
                node = node.static[part]
            elif node.variable is not None and part:
                variables[node.variable[0]] = part
                node = node.variable[1]
            elif node.greedy is not None:
                return node.greedy, {**variables, "proxy": "/".join(parts[number:])}
            else:
                raise NotFound(f"There is no {path} here.")
        if node.route is None:
            raise NotFound(f"There is no {path} here.")
        return node.route, variables


def _parts(path: str) -> list[str]:
    return path.strip("/").split("/") if path.strip("/") else []
