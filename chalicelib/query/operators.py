"""The operators of the filter languages: a table of their operands and the tests they make.

A row's word is its public name, a query parameter or an operation of an object search; so an error names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from chalicelib.core.values.attributes import Dtype


class Op(StrEnum):
    """The operation of a test on a stored value; null satisfies none of them."""

    EQ = "eq"
    LT = "lt"
    LTE = "lte"
    GT = "gt"
    GTE = "gte"
    IN = "in"
    """The value is one of a tuple."""
    BETWEEN = "between"
    """From the first to the second of a pair, inclusive."""
    CONTAINS = "contains"
    """This, STARTS, ENDS and SAME compare folded texts."""
    STARTS = "starts"
    ENDS = "ends"
    SAME = "same"
    MATCHES = "matches"
    """A regular expression matches the whole folded text."""
    RESEMBLES = "resembles"
    """The folded text is within an edit distance, given as (text, edits)."""
    UNDER = "under"
    """A path equals the given one or is beneath it."""
    OVERLAPS = "overlaps"
    """A list shares an element with a tuple."""
    WITHIN = "within"
    """A place is within a distance, given as (km, latitude, longitude)."""
    INSIDE = "inside"
    """A place is inside of a polygon, given as a tuple of (longitude, latitude)."""
    PRESENT = "present"
    """The value is not null."""


Shape = Literal[
    "value", "list", "pair", "text", "flag", "circle", "polygon", "term", "bound", "pattern", "edits", "phrase"
]
"""The form of an operator's value: one value of the dtype, several, two; any text; true or false; a place.

Of search strings: a term, whose meaning depends on the dtype; a bound, where a date names all its instants; a regular
expression already checked; a text and a number of edits.
"""


@dataclass(frozen=True)
class Operator:
    """One row: the public word, the operation, its dtypes, the form of its value."""

    word: str
    op: Op
    dtypes: frozenset[str]
    shape: Shape = "value"


_ANY = frozenset(get_args(Dtype))
_ORDERED = frozenset({"int", "float", "datetime"})
_WORDS = frozenset({"enum", "string"})
_TEXTS = _WORDS | {"blob"}
_SIMPLE = _ANY - {"geopos", "float_array"}
_TIME = frozenset({"datetime"})
_PLACE = frozenset({"geopos"})

FILTERS = (
    Operator("attribute", Op.EQ, _SIMPLE - {"blob"}),
    Operator("attribute_lt", Op.LT, _ORDERED),
    Operator("attribute_lte", Op.LTE, _ORDERED),
    Operator("attribute_gt", Op.GT, _ORDERED),
    Operator("attribute_gte", Op.GTE, _ORDERED),
    Operator("attribute_contains", Op.CONTAINS, _WORDS, "text"),
    Operator("attribute_distance", Op.WITHIN, _PLACE, "circle"),
    Operator("attribute_null", Op.PRESENT, _ANY, "flag"),
)
"""The eight attribute filters; each also exists as `related_…`."""

OPERATIONS = (
    Operator("eq", Op.EQ, _SIMPLE),
    Operator("lt", Op.LT, _ORDERED | _TEXTS),
    Operator("lte", Op.LTE, _ORDERED | _TEXTS),
    Operator("gt", Op.GT, _ORDERED | _TEXTS),
    Operator("gte", Op.GTE, _ORDERED | _TEXTS),
    Operator("in", Op.IN, _SIMPLE, "list"),
    Operator("icontains", Op.CONTAINS, _TEXTS, "text"),
    Operator("istartswith", Op.STARTS, _TEXTS, "text"),
    Operator("iendswith", Op.ENDS, _TEXTS, "text"),
    Operator("iendswidth", Op.ENDS, _TEXTS, "text"),  # the published schema's spelling
    Operator("isnull", Op.PRESENT, _ANY, "flag"),
    Operator("date_eq", Op.EQ, _TIME),
    Operator("date_lt", Op.LT, _TIME),
    Operator("date_lte", Op.LTE, _TIME),
    Operator("date_gt", Op.GT, _TIME),
    Operator("date_gte", Op.GTE, _TIME),
    Operator("date_range", Op.BETWEEN, _TIME, "pair"),
    Operator("range", Op.BETWEEN, _ORDERED | _TEXTS, "pair"),
    Operator("distance_lte", Op.WITHIN, _PLACE, "circle"),
    Operator("polygon", Op.INSIDE, _PLACE, "polygon"),
)
"""The operations of an object search, beside `search`."""

SEARCHES = (
    Operator("term", Op.EQ, _SIMPLE, "term"),
    Operator("phrase", Op.EQ, _SIMPLE, "phrase"),
    Operator("contains", Op.CONTAINS, _TEXTS, "text"),
    Operator("wildcard", Op.MATCHES, _TEXTS, "pattern"),
    Operator("fuzzy", Op.RESEMBLES, _TEXTS, "edits"),
    Operator("from", Op.GTE, _ORDERED | _TEXTS, "bound"),
    Operator("after", Op.GT, _ORDERED | _TEXTS, "bound"),
    Operator("to", Op.LTE, _ORDERED | _TEXTS, "bound"),
    Operator("before", Op.LT, _ORDERED | _TEXTS, "bound"),
    Operator("exists", Op.PRESENT, _ANY, "flag"),
)
"""The operators of search strings."""

BY_WORD = {operator.word: operator for operator in FILTERS + OPERATIONS + SEARCHES}
