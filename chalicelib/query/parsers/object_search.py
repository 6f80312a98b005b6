"""Object search → tree: the JSON language of `encoded_search`, `object_search` and saved sections.

Search   := Filter | Combination
Filter   := {"attribute": name, "operation": word, "value": value, "inverse": false}
Combination := {"method": "and" | "or" | "not", "operations": [Search …]}
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from chalicelib.core.kinds import Kind
from chalicelib.core.text import strict_json
from chalicelib.core.text.names import nearest
from chalicelib.errors import BadInput
from chalicelib.query import operators
from chalicelib.query.columns import SECTION_NAME, SECTION_TAG, TAG_ALIAS
from chalicelib.query.tree import Coincident, Compare, InSection, Related, Tree, both, either, negated
from chalicelib.query.values import shown

DEEPEST = 24
"""Maximum nesting of combinations and nested searches."""
MOST_TERMS = 2_000
LONGEST_LIST = 10_000
LARGEST_ENCODED = 1_000_000
_FILTER = frozenset({"attribute", "operation", "value", "inverse"})
_COMBINATION = frozenset({"method", "operations"})
_WORDS = {operator.word for operator in operators.OPERATIONS}


def decode(encoded: str, place: str) -> Any:
    """Decode an object search from base64 of UTF-8 JSON.

    Both alphabets, missing padding and a blank for `+` are accepted.

    Raises:
        BadInput: not base64 of JSON; the message names `place`.
    """
    text = encoded.strip("\n\r\t").replace(" ", "+").replace("-", "+").replace("_", "/").rstrip("=")
    if len(text) > LARGEST_ENCODED:
        raise BadInput(f"{place} may have at most {LARGEST_ENCODED} characters.")
    try:
        return strict_json.decode(base64.b64decode(text + "=" * (-len(text) % 4), validate=True))
    except (binascii.Error, ValueError, RecursionError) as error:
        raise BadInput(f"{place} is not base64 of JSON.", str(error)) from None


def parse(kind: Kind, search: Any, place: str = "object_search") -> Tree:
    """The tree of an object search over one kind of entity.

    Raises:
        BadInput: a rule of the language or a limit is broken; the message names `place` and the rule.
    """
    return _Parser(place).search(kind, search, 0)


def _coincident(to: Kind) -> Callable[[Kind, Tree], Tree | None]:
    return lambda kind, where: Coincident(to, where) if kind.is_annotation else None


def _related(kinds: tuple[Kind, ...], to: Kind) -> Callable[[Kind, Tree], Tree | None]:
    return lambda kind, where: Related(to, where) if kind in kinds else None


_ANNOTATIONS = (Kind.LOCALIZATION, Kind.STATE)
_NESTED: dict[str, tuple[Kind, Callable[[Kind, Tree], Tree | None]]] = {
    "$coincident_states": (Kind.STATE, _coincident(Kind.STATE)),
    "$coincident_localizations": (Kind.LOCALIZATION, _coincident(Kind.LOCALIZATION)),
    "$track_membership": (Kind.STATE, _related((Kind.LOCALIZATION,), Kind.STATE)),
    "$related_localizations": (Kind.LOCALIZATION, _related((Kind.MEDIA,), Kind.LOCALIZATION)),
    "$related_states": (Kind.STATE, _related((Kind.MEDIA,), Kind.STATE)),
    "$related_media": (Kind.MEDIA, _related(_ANNOTATIONS, Kind.MEDIA)),
}
"""Names whose value is a search over another kind: that kind, and the term it makes on a kind that can have it."""


class _Parser:
    """One parse, with its limits."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.terms = 0

    def search(self, kind: Kind, search: Any, depth: int) -> Tree:
        """A search at some depth."""
        if not isinstance(search, dict):
            raise BadInput(f"{self.place}: a search must be an object with `method` or `attribute`.")
        self.terms += 1
        if self.terms > MOST_TERMS:
            raise BadInput(f"{self.place} may have at most {MOST_TERMS} terms.")
        if depth > DEEPEST:
            raise BadInput(f"{self.place} may nest at most {DEEPEST} deep.")
        given = {name for name, value in search.items() if value is not None}
        if given & _COMBINATION:
            self._check_members("combination", given - {"inverse"}, _COMBINATION)
            if search.get("inverse"):
                raise BadInput(f"{self.place}: `inverse` turns a filter; the method `not` turns a combination.")
            return self._combination(kind, search, depth)
        self._check_members("filter", given, _FILTER)
        return self._filter(kind, search, depth)

    def _check_members(self, noun: str, given: set[str], members: frozenset[str]) -> None:
        """Refuse members that a search does not have: a misspelt one would select something else."""
        if unknown := given - members:
            rule = f"{self.place}: a {noun} has no member {shown(min(unknown))}."
            raise BadInput(rule + nearest(min(unknown), members))

    def _combination(self, kind: Kind, search: dict[str, Any], depth: int) -> Tree:
        operations = search.get("operations")
        if not isinstance(operations, list):
            raise BadInput(f"{self.place}: `operations` must be an array of searches.")
        if not isinstance(search.get("method"), str):
            raise BadInput(f"{self.place}: `method` must be and, or or not.")
        terms = [self.search(kind, each, depth + 1) for each in operations]
        match search["method"].lower():
            case "and":
                return both(*terms)
            case "or":
                return either(*terms) if terms else both()  # no operations match everything
            case "not" if len(terms) == 1:
                return negated(terms[0])
            case "not":
                raise BadInput(f"{self.place}: `not` takes exactly one operation.")
        raise BadInput(f"{self.place}: `method` must be and, or or not.")

    def _filter(self, kind: Kind, search: dict[str, Any], depth: int) -> Tree:
        for member in ("attribute", "operation", "value"):
            if member not in search:
                raise BadInput(f"{self.place}: a filter needs `{member}`.")
        inverse = search.get("inverse", False)
        if not isinstance(inverse, bool):
            raise BadInput(f"{self.place}: `inverse` must be true or false.")
        term = self._term(kind, search["attribute"], search["operation"], search["value"], depth)
        return negated(term) if inverse else term

    def _term(self, kind: Kind, name: Any, operation: Any, value: Any, depth: int) -> Tree:
        if not isinstance(name, str) or not isinstance(operation, str):
            raise BadInput(f"{self.place}: `attribute` and `operation` must be texts.")
        if name in _NESTED:
            to, make = _NESTED[name]
            if operation != "search":
                raise BadInput(f"{self.place}: {name} takes only the operation `search`.")
            if (term := make(kind, self.search(to, value, depth + 1))) is None:
                raise BadInput(f"{self.place}: {name} does not apply to a {kind}.")
            return term
        if name in (SECTION_NAME, SECTION_TAG, TAG_ALIAS) and (kind is Kind.MEDIA or kind.is_annotation):
            if operation != "eq":
                raise BadInput(f"{self.place}: {name} takes only the operation `eq`.")
            return self._section(name, value)
        if operation not in _WORDS:
            rule = f"{self.place}: there is no operation {shown(operation)}."
            raise BadInput(rule + nearest(operation, _WORDS))
        if isinstance(value, list) and len(value) > LONGEST_LIST:
            raise BadInput(f"{self.place}: a list may have at most {LONGEST_LIST} values.")
        return Compare(name, operation, value)

    def _section(self, name: str, value: Any) -> Tree:
        wanted: type[int | str] = int if name == SECTION_NAME else str
        if not isinstance(value, wanted) or isinstance(value, bool):
            raise BadInput(f"{self.place}: {name} takes a section's {'id' if wanted is int else 'tag'}.")
        return InSection(value)
