"""The parameters of a list written as one text, as in the address of a request: `?name=x&type=3`."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import inspect

from chalicelib.core.resource import options
from chalicelib.core.text.names import nearest
from chalicelib.errors import BadInput
from chalicelib.query.parsers.parameters import ListQuery

Q = TypeVar("Q", bound=ListQuery)
NO_FILTERS = frozenset({"fields", "operation"})
"""Parameters of lists that say what is answered, not what matches."""
PAGING = frozenset({"start", "stop", "sort_by"})
"""Parameters that say which of the matches are answered, and in which order."""
MAX_PARAMETERS = 500
"""Parameters that one text may have."""


@cache
def _fields_of(struct: type[ListQuery]) -> dict[str, inspect.Field]:
    """The parameters of a list by name: webhooks parse their queries for each batch of events."""
    return {field.name: field for field in inspect.type_info(struct).fields}  # type: ignore[attr-defined]


def parse_address(text: str, struct: type[Q], place: str, without: Collection[str] = NO_FILTERS) -> Q:
    """The parameters in a text, under their current or older names.

    Args:
        text: the text, with or without the question mark.
        struct: the parameters of the list.
        place: the member that holds the text, for messages.
        without: parameters of the list that have no meaning in the text.

    Raises:
        BadInput: a parameter is unknown or has no meaning here, is empty, is given twice with different values, or
            breaks the rule of its type. The message names it.
    """
    fields = {name: field for name, field in _fields_of(struct).items() if name not in without}
    try:
        pairs = parse_qsl(text.lstrip("?"), keep_blank_values=True, max_num_fields=MAX_PARAMETERS)
    except ValueError:
        raise BadInput(f"{place}: it may have at most {MAX_PARAMETERS} parameters.") from None
    if pairs == [] and text.lstrip("?"):
        raise BadInput(f"{place}: {text[:100]!r} has no parameter such as `?name=x`.")
    given: dict[str, Any] = {}
    for name, value in pairs:
        field = fields.get(struct.accepts.get(name, name))
        if field is None:
            kind = struct.__name__.removesuffix("Query").lower()
            declared = {*fields, *(old for old, new in struct.accepts.items() if new in fields)}
            raise BadInput(f"{place}: {name[:100]!r} is not a filter of {kind} lists.{nearest(name, declared)}")
        if not value:
            raise BadInput(f"{place}: {name} must not be empty.")
        if any(isinstance(option, inspect.ListType) for option in options(field.type)):
            given.setdefault(field.name, []).extend(value.split(","))
        elif given.setdefault(field.name, value) != value:
            raise BadInput(f"{place}: {name} takes one value, not several.")
    try:
        return msgspec.convert(given, struct, strict=False)
    except msgspec.ValidationError as error:
        rule, _, path = str(error).partition(" - at ")
        raise BadInput(f"{place}: {path.strip('`$.')}: {rule.replace('`', '')}.") from None
