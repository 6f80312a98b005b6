"""Decoding of requests: path variables, query parameters, the body.

All sizes are checked before the handler runs: bytes (`MAX_BODY`), items per list body (`MAX_THINGS`), and nesting,
texts, arrays, objects and integers (`bounds.py`). A broken rule is BadInput with the field and the rule in its message.
Unknown parameters and members are refused by name, with the nearest declared one (decision 49). Old forms of bodies,
such as renamed members, are converted before msgspec validates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import unquote

import msgspec
from msgspec import inspect

from chalicelib.core.resource import ONE_LINE, UUID, Resource, options
from chalicelib.core.text import strict_json
from chalicelib.core.text.names import nearest
from chalicelib.errors import BadInput, NotFound, TooLarge
from chalicelib.http.bounds import BODY_ERROR, check_depth, check_parameter, check_sizes, longer_texts
from chalicelib.http.forms import Tidying, complete, inner_of, members_of
from chalicelib.http.operation import NoQuery, OneOf, Operation
from chalicelib.http.parameters import Parameter, parameter_at, places_of
from chalicelib.http.read_back import NOTHING, SentBack

MAX_BODY = 6 * 1024 * 1024
"""Bytes: the limit of Lambda."""
_NOTHING = (b"", b"null", b"{}")
"""Bodies that count as absent."""
MAX_THINGS = 500
"""Most items in one body of several shapes, unless its type says otherwise."""
_VARIABLE = re.compile(r"{(\w+)}")
_ID = re.compile(r"0*[1-9][0-9]{0,17}")
_PLACE = re.compile(r"(?P<what>.*?) - at (?:`key` in )?`\$(?P<path>.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")
_INTERFACE = "/rest/"
"""The prefix below which unknown parameters are refused; pages accept those that browsers and email programs add."""
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?:\d+|\.\.\.)\]")


def decode_path(operation: Operation, raw: Mapping[str, str]) -> dict[str, int | str]:
    """The variables of the operation's path, still quoted in `raw`, as its address declares them.

    Raises:
        NotFound: an id is not a positive integer of up to 18 digits, or a text is empty or not printable.
    """
    types = operation.addresses.variables if operation.addresses is not None else {}
    path: dict[str, int | str] = {}
    for name in _VARIABLE.findall(operation.path):
        text = unquote(raw.get(name, ""))
        if types.get(name, str) is int:
            if not _ID.fullmatch(text):
                raise NotFound(f"There is nothing at this path: {name} must be a positive integer.")
            path[name] = int(text)
        elif text and text.isprintable():
            path[name] = text
        else:
            raise NotFound(f"There is nothing at this path: {name} is empty or not printable.")
    return path


# Query ---------------------------------------------------------------------------------------------------------------


_info_of = cache(inspect.type_info)
"""What msgspec knows of a type; to find it takes milliseconds."""


def decode_query(operation: Operation, multi_value_params: Mapping[str, list[str]]) -> Resource:
    """The operation's query parameters; old names (`accepts`) are understood.

    Args:
        operation: the operation.
        multi_value_params: name → all its values, unquoted. Lists come as csv, repeated, or both; others come once.

    Raises:
        BadInput: a parameter is unknown, given twice, empty, of the wrong type or out of bounds, or a required one is
            missing. The message names the parameter.
    """
    if operation.path.startswith(_INTERFACE):
        _check_parameters(operation, multi_value_params)
    if operation.query is NoQuery:
        return NoQuery()
    values: dict[str, str | list[str]] = {}
    sent: dict[str, str] = {}
    named = places_of(operation.query)
    for place in sorted({named[name] for name in multi_value_params if name in named}):
        parameter = parameter_at(operation.query, place)
        if (name := _given_name(parameter, multi_value_params)) is None:
            continue
        texts = multi_value_params[name]
        check_parameter(name, texts)
        pieces = [piece for text in texts for piece in text.split(",")] if parameter.is_list else texts[:1]
        for piece in pieces:
            if not piece or not parameter.pattern.fullmatch(piece):
                rule = f"be {parameter.rule}" if piece else "not be empty"
                raise BadInput(f"Invalid query parameter: {name}", f"{name} must {rule}.")
        values[parameter.names[0]] = pieces if parameter.is_list else pieces[0]
        sent[parameter.names[0]] = name
    try:
        return msgspec.convert(values, operation.query, strict=False)
    except msgspec.ValidationError as error:
        what, path = _placed(str(error))
        if missing := _MISSING.fullmatch(what):
            name = missing["name"]
            raise BadInput(f"Query parameter error: {name}", f"{name} is required.") from None
        name = path[1:].partition("[")[0]
        details = explain(str(error), _info_of(operation.query)).removeprefix(name)
        raise BadInput(f"Invalid query parameter: {sent[name]}", f"{sent[name]}{details}") from None


def _given_name(parameter: Parameter, given: Mapping[str, list[str]]) -> str | None:
    """The name under which a parameter was given. Raises BadInput for two names with different values."""
    names = [name for name in parameter.names if given.get(name)]
    for other in names[1:]:
        if given[other] != given[names[0]]:
            rule = f"{names[0]} and {other} name one parameter; send one of them."
            raise BadInput(f"Invalid query parameter: {other}", rule)
    return names[0] if names else None


def _check_parameters(operation: Operation, given: Mapping[str, list[str]]) -> None:
    """Refuse parameters that the operation does not declare, and different values of one that takes one value."""
    if not given:
        return
    named = places_of(operation.query)
    own = ("format", *(("bom",) if "csv" in operation.all_formats else ())) if len(operation.all_formats) > 1 else ()
    for name, texts in given.items():
        if name not in named and name not in own:
            rule = f"{operation.id} has no query parameter {name!r}.{nearest(name, (*named, *own))}"
            raise BadInput(f"Unknown query parameter: {name}", rule)
        is_list = name in named and parameter_at(operation.query, named[name]).is_list and name not in own
        if not is_list and len(set(texts)) > 1:
            raise BadInput(f"Invalid query parameter: {name}", f"{name} takes one value, not {len(texts)}.")


# Body ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """One shape of a body. With `takes_ids` a bare array means `{"ids": [...]}`; `most` bounds an array."""

    type: Any
    info: inspect.Type
    is_list: bool
    takes_ids: bool
    most: int | None


def decode_body(
    operation: Operation,
    raw: bytes | None,
    content_type: str | None,
    sent_back: dict[str, SentBack] | None = None,
    query: Resource | None = None,
) -> Any:
    """The operation's body; None where it has none, or where it is optional and absent.

    Args:
        operation: the operation.
        raw: the bytes of the body, decompressed.
        content_type: the Content-Type header; JSON is assumed where it is missing.
        sent_back: gets the members that a PATCH may name only as they are (`read_back.check`); without it they are
            refused.
        query: the decoded query; its members complete the body of a creation that has the same.

    Raises:
        TooLarge: more bytes than `MAX_BODY`.
        BadInput: missing, not JSON, nested too deeply, or invalid by the schema; the details name field and rule.
    """
    if operation.body is bytes:
        return raw or b""
    if raw is not None and len(raw) > MAX_BODY:
        raise TooLarge(f"The body has {len(raw)} bytes; at most {MAX_BODY} are allowed.")
    text = (raw or b"").strip()
    if operation.body is None:
        if text not in _NOTHING and operation.path.startswith(_INTERFACE):
            raise BadInput(BODY_ERROR, f"{operation.id} takes no body.")
        return None
    if text in (b"", b"null"):
        if operation.body_required:
            raise BadInput("Missing required request body")
        return None
    kind = (content_type or "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise BadInput(BODY_ERROR, f"The body must be application/json, not {kind}.")
    check_depth(text)
    try:
        shapes = _shapes(operation.body)
        check_sizes(text, frozenset().union(*(longer_texts(shape.type) for shape in shapes)))
        value = _decode_any(text, shapes, operation, sent_back, query)
    except RecursionError:
        raise BadInput(BODY_ERROR, "The body is nested too deeply.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(BODY_ERROR, f"The body is not valid JSON: {strict_json.explain(text, error)}.") from None
    return value


def _decode_any(
    text: bytes,
    shapes: tuple[_Shape, ...],
    operation: Operation,
    sent_back: dict[str, SentBack] | None,
    query: Resource | None,
) -> Any:
    """The body in the first shape that it fits; raises the error of the first shape that it resembles."""
    try:
        value = strict_json.decode(text)
    except strict_json.NotJsonError as error:
        raise BadInput(BODY_ERROR, f"The body is not valid JSON: {error}.") from None
    if operation.method == "POST" and query is not None and isinstance(value, dict):
        complete(value, operation.body, query)
    is_list = isinstance(value, list)
    fitting = [shape for shape in shapes if shape.is_list == is_list]
    fitting = fitting or [shape for shape in shapes if is_list and shape.takes_ids] or list(shapes)
    tidying = Tidying(
        is_patch=operation.method == "PATCH",
        places=frozenset(_VARIABLE.findall(operation.path)),
        read_back=NOTHING if sent_back is None else operation.read_back,
        sent_back={} if sent_back is None else sent_back,
    )
    first = None
    for shape in fitting:
        if shape.most is not None and is_list and not 1 <= len(value) <= shape.most:
            raise BadInput(BODY_ERROR, f"1 to {shape.most} items may be given at once; {len(value)} are.")
        try:
            wrapped = {"ids": value} if is_list and shape.takes_ids else value
            return _converted(tidying.tidied(wrapped, shape.info), shape, tidying)
        except msgspec.ValidationError as error:
            first = first or BadInput(BODY_ERROR, tidying.as_sent(explain(str(error), shape.info)))
        except BadInput as error:
            first = first or BadInput(error.message, tidying.as_sent(error.details))
    raise first or BadInput(BODY_ERROR)


def _converted(value: Any, shape: _Shape, tidying: Tidying) -> Any:
    """The value in its type. What a PATCH names in a form that its type does not take may still be what was read."""
    try:
        return msgspec.convert(value, shape.type)
    except msgspec.ValidationError as error:
        name = _placed(str(error))[1].strip(".")
        if tidying.read_back.shown_by is None or not isinstance(value, dict) or len(value) == 1 or name not in value:
            raise
        rule = tidying.as_sent(explain(str(error), shape.info))
        tidying.sent_back[name] = SentBack(value=value[name], rule=rule)
        return _converted({other: item for other, item in value.items() if other != name}, shape, tidying)


@cache
def _shapes(body: Any) -> tuple[_Shape, ...]:
    shapes = []
    for type_ in body.options if isinstance(body, OneOf) else (body,):
        info = _info_of(type_)
        first = next(options(info))
        unbounded = isinstance(first, inspect.CollectionType) and first.max_length is None
        shapes.append(
            _Shape(
                type=type_,
                info=info,
                is_list=isinstance(first, inspect.CollectionType),
                takes_ids=any(field.encode_name == "ids" for field in members_of(first)),
                most=MAX_THINGS if isinstance(body, OneOf) and unbounded else None,
            )
        )
    return tuple(shapes)


# Errors --------------------------------------------------------------------------------------------------------------


def _placed(text: str) -> tuple[str, str]:
    """The message of msgspec, and its place: `.frame`, `[0].points[1]`, or empty at the top."""
    return (found["what"], found["path"]) if (found := _PLACE.fullmatch(text)) else (text, "")


def explain(text: str, info: inspect.Type) -> str:
    """A message of msgspec as callers read it: the field by its path in the type, the rule, and the values of enums."""
    what, path = _placed(text)
    where = path.strip(".")
    if missing := _MISSING.fullmatch(what):
        return f"'{missing['name']}' is a required property{f' of {where}' if where else ''}."
    if what.startswith("Invalid enum value "):
        reached = [info]
        for step in _STEP.finditer(path):
            reached = [type_ for start in reached for type_ in _step(start, step["name"])]
        values = [value for start in reached for type_ in options(start) for value in getattr(type_, "values", ())]
        allowed = " or ".join(repr(value) for value in values) or "one of the declared values"
        given = what.removeprefix("Invalid enum value ")
        # Clients of two generations look for their own words where the dtype of an attribute is not known.
        words = f" (literal_error: {given} is not one of the values)" if where.rpartition(".")[2] == "dtype" else ""
        what = f"Input should be {allowed}, not {given}{words}"
    rule = _in_words(what, where).replace("`", "").removesuffix(".")
    return f"{rule}." if not where and _NAMED.match(rule) else f"{where or 'The body'}: {rule}."


_RULES = {
    msgspec.json.encode(ONE_LINE).decode()[1:-1]: "must be one line, without tabs and other control characters",
    msgspec.json.encode(UUID).decode()[1:-1]: "must be a UUID, such as 5b1e6a2e-8c0f-11ee-b9d1-0242ac120002",
}
"""Patterns as msgspec shows them → the rule in words."""
_UNIT = re.compile(r"(?:^|\.)(x|y|u|v|width|height|points(?:\[(?:\d+|\.\.\.)\])*)\Z")
_NAMED = re.compile(r"[a-z_][\w.\[\]]*(:| has no member )")
"""The start of a rule that names its member."""
_BEYOND = re.compile(r"Expected `?(int|float)`? [<>]")


def _in_words(message: str, where: str) -> str:
    """A message of msgspec with patterns replaced by their rule, and the unit of coordinates."""
    if " matching regex " in message:
        return next((rule for pattern, rule in _RULES.items() if pattern in message), message)
    if _UNIT.search(where) and _BEYOND.match(message):
        return f"{message}: a fraction of the width or height of the media, not pixels"
    return message


def _step(start: inspect.Type, name: str | None) -> Iterator[inspect.Type]:
    for type_ in options(start):
        yield from (field.type for field in members_of(type_) if field.encode_name == name)
        if name is None:
            yield from inner_of(type_)


# What does not exist -------------------------------------------------------------------------------------------------

_INDEX = re.compile(r"\[[0-9]+\]")


def name_member(missing: NotFound, body: Any) -> NotFound:
    """The error with the place of the key in a decoded body; as it is where no member has it, or several have."""
    places = [place for place, value in _values(body, "") if value == missing.key]
    if len({_INDEX.sub("", place) for place in places}) != 1:
        return missing
    return NotFound(f"{places[0]}: {missing.message}", missing.details)


def _values(value: Any, place: str) -> Iterator[tuple[str, float | str]]:
    """The numbers and texts in a body, each with its place; of a list of them, the place of the list."""
    if isinstance(value, msgspec.Struct):
        for field in msgspec.structs.fields(value):
            yield from _values(getattr(value, field.name), f"{place}.{field.encode_name}".removeprefix("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _values(item, place if isinstance(item, int | float | str) else f"{place}[{index}]")
    elif isinstance(value, int | float | str) and not isinstance(value, bool):
        yield place, value
