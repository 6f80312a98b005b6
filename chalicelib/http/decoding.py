"""From the text of a request to values: path variables, query parameters, the body.

Everything is bounded before work begins: bytes (`MAX_BODY`), things per list body (`MAX_THINGS`), and nesting, texts,
arrays, objects and integers (`bounds.py`). Whatever breaks a rule is BadInput with the field and the rule in its text;
unknown parameters and members are ignored (`spec/4` §0, decision 10). Old forms of bodies, such as renamed members,
are made new before msgspec validates; types without any skip that.
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

from chalicelib.core.resource import Resource, options
from chalicelib.errors import BadInput, NotFound, TooLarge
from chalicelib.http.bounds import BODY_ERROR, check_depth, check_parameter, check_sizes, longer_texts
from chalicelib.http.operation import NoQuery, OneOf, Operation

MAX_BODY = 6 * 1024 * 1024
"""Bytes: what Lambda takes."""
MAX_THINGS = 500
"""Things in one body of several shapes, unless its type says otherwise."""
_VARIABLE = re.compile(r"{(\w+)}")
_ID = re.compile(r"0*[1-9][0-9]{0,17}")
_WHOLE = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?([eE][+-]?[0-9]{1,3})?")
_TRUTH = re.compile(r"true|false", re.IGNORECASE)
_ANYTHING = re.compile(r".*", re.DOTALL)
_NOT_NULL = re.compile(r"(?!null\Z).*", re.DOTALL | re.IGNORECASE)
_KINDS: dict[type, type] = {inspect.BoolType: bool, inspect.IntType: int, inspect.FloatType: float}
_PLACE = re.compile(r"(?P<what>.*?) - at (?:`key` in )?`\$(?P<path>.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>.*)`")
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
                raise NotFound(f"There is nothing at this path: {name} is to be a positive integer.")
            path[name] = int(text)
        elif text and text.isprintable():
            path[name] = text
        else:
            raise NotFound(f"There is nothing at this path: {name} is empty or not printable.")
    return path


# Query ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Parameter:
    """One query parameter: its names in order of preference, and what a text of it must look like."""

    names: tuple[str, ...]
    pattern: re.Pattern[str]
    rule: str
    is_list: bool


def decode_query(operation: Operation, multi_value_params: Mapping[str, list[str]]) -> Resource:
    """The operation's query parameters; unknown ones are ignored, old names (`accepts`) are understood.

    Args:
        operation: what is asked for.
        multi_value_params: name → all its values, unquoted. Lists come as csv, repeated, or both; of others the first
            counts.

    Raises:
        BadInput: a value is empty, of the wrong type or out of bounds, or a required parameter is missing. The
            message names the parameter.
    """
    if operation.query is NoQuery:
        return NoQuery()
    values: dict[str, str | list[str]] = {}
    for parameter in _parameters(operation.query):
        if (name := next((name for name in parameter.names if multi_value_params.get(name)), None)) is None:
            continue
        texts = multi_value_params[name]
        check_parameter(name, texts)
        pieces = [piece for text in texts for piece in text.split(",")] if parameter.is_list else texts[:1]
        for piece in pieces:
            if not piece or not parameter.pattern.fullmatch(piece):
                rule = parameter.rule if piece else "not empty"
                raise BadInput(f"Invalid query parameter: {name}", f"{name} is to be {rule}.")
        values[parameter.names[0]] = pieces if parameter.is_list else pieces[0]
    try:
        return msgspec.convert(values, operation.query, strict=False)
    except msgspec.ValidationError as error:
        what, path = _placed(str(error))
        if missing := _MISSING.fullmatch(what):
            name = missing["name"]
            raise BadInput(f"Query parameter error: {name}", f"{name} is required.") from None
        details = explain(str(error), inspect.type_info(operation.query))
        raise BadInput(f"Invalid query parameter: {path[1:].partition('[')[0]}", details) from None


@cache
def _parameters(query: type[Resource]) -> tuple[_Parameter, ...]:
    found = []
    for field in _members(inspect.type_info(query)):
        kinds = list(options(field.type))
        is_list = isinstance(kinds[0], inspect.CollectionType)
        items = [item for kind in kinds if isinstance(kind, inspect.CollectionType) for item in _inner(kind)]
        pattern, rule = _look(items if is_list else kinds)
        old = tuple(old for old, name in query.accepts.items() if name == field.name)
        found.append(_Parameter(names=(field.encode_name, *old), pattern=pattern, rule=rule, is_list=is_list))
    return tuple(found)


def _look(options: list[inspect.Type]) -> tuple[re.Pattern[str], str]:
    """What texts of a type look like. Where text is among the options, like anything; `null` is no literal."""
    values = [value for option in options if isinstance(option, inspect.LiteralType) for value in option.values]
    kinds = {type(value) for value in values} or {_KINDS.get(type(option), str) for option in options}
    if kinds == {bool}:
        return _TRUTH, "true or false"
    if kinds == {int}:
        return _WHOLE, "an integer of at most 18 digits"
    if kinds <= {int, float}:
        return _DECIMAL, "a number"
    return (_NOT_NULL, "one of the declared values") if values else (_ANYTHING, "text")


# Body ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Shape:
    """One shape of a body. For `takes_ids` a bare array stands for `{"ids": [...]}`; `most` bounds an array."""

    type: Any
    info: inspect.Type
    is_list: bool
    takes_ids: bool
    has_old_forms: bool
    most: int | None


def decode_body(operation: Operation, raw: bytes | None, content_type: str | None) -> Any:
    """The operation's body; None where it has none, or may be and is absent.

    Args:
        operation: what is asked for.
        raw: the bytes of the body, decompressed.
        content_type: the Content-Type header; JSON is assumed where it is missing.

    Raises:
        TooLarge: more bytes than `MAX_BODY`.
        BadInput: missing, not JSON, nested too deeply, or against the schema; the details name field and rule.
    """
    if operation.body in (None, bytes):
        return None if operation.body is None else raw or b""
    if raw is not None and len(raw) > MAX_BODY:
        raise TooLarge(f"The body has {len(raw)} bytes; at most {MAX_BODY} are allowed.")
    text = (raw or b"").strip()
    if text in (b"", b"null"):
        if operation.body_required:
            raise BadInput("Missing required request body")
        return None
    kind = (content_type or "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not kind.endswith("+json"):
        raise BadInput(BODY_ERROR, f"The body is to be application/json, not {kind}.")
    check_depth(text)
    try:
        shapes = _shapes(operation.body)
        check_sizes(text, frozenset().union(*(longer_texts(shape.type) for shape in shapes)))
        value = _decode_any(text, shapes)
    except RecursionError:
        raise BadInput(BODY_ERROR, "The body is nested too deeply.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(BODY_ERROR, f"The body is not valid JSON: {str(error).rstrip('.')}.") from None
    return value


def _decode_any(text: bytes, shapes: tuple[_Shape, ...]) -> Any:
    """The body in the first shape that it fits; the error is that of the first shape it could have been."""
    is_list = text[:1] == b"["
    fitting = [shape for shape in shapes if shape.is_list == is_list]
    fitting = fitting or [shape for shape in shapes if is_list and shape.takes_ids] or list(shapes)
    first = None
    for shape in fitting:
        try:
            return _decode(text, shape, is_list=is_list)
        except msgspec.ValidationError as error:
            first = first or BadInput(BODY_ERROR, explain(str(error), shape.info))
    raise first or BadInput(BODY_ERROR)


def _decode(text: bytes, shape: _Shape, *, is_list: bool) -> Any:
    wrap = is_list and shape.takes_ids
    is_raw = shape.has_old_forms or wrap
    value: Any
    try:
        value = msgspec.json.decode(text, type=Any if is_raw else shape.type)
    except msgspec.ValidationError:
        # A null for an optional member stands for its absence, which msgspec cannot know.
        if b"null" not in text:
            raise
        value, is_raw = msgspec.json.decode(text), True
    if shape.most is not None and is_list and not 1 <= len(value) <= shape.most:
        raise BadInput(BODY_ERROR, f"1 to {shape.most} things may be given at once; {len(value)} are.")
    return msgspec.convert(_tidied({"ids": value} if wrap else value, shape.info), shape.type) if is_raw else value


@cache
def _shapes(body: Any) -> tuple[_Shape, ...]:
    shapes = []
    for type_ in body.options if isinstance(body, OneOf) else (body,):
        info = inspect.type_info(type_)
        first = next(options(info))
        unbounded = isinstance(first, inspect.CollectionType) and first.max_length is None
        shapes.append(
            _Shape(
                type=type_,
                info=info,
                is_list=isinstance(first, inspect.CollectionType),
                takes_ids=any(field.encode_name == "ids" for field in _members(first)),
                has_old_forms=_has_old_forms(info, set()),
                most=MAX_THINGS if isinstance(body, OneOf) and unbounded else None,
            )
        )
    return tuple(shapes)


# Old forms -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Forms:
    """What a Struct's objects may look like. `within` are the members whose values hold Structs again."""

    members: frozenset[str]
    optional: frozenset[str]
    renames: Mapping[str, str]
    gathers: str | None
    within: tuple[tuple[str, inspect.Type], ...]


@cache
def _forms(cls: type) -> _Forms:
    fields = _members(inspect.type_info(cls))
    return _Forms(
        members=frozenset(field.encode_name for field in fields),
        # A member that may be absent but not null says so by the default UNSET.
        optional=frozenset(
            field.encode_name
            for field in msgspec.structs.fields(cls)
            if not field.required and field.default is not msgspec.UNSET
        ),
        renames=getattr(cls, "accepts", {}),
        gathers=getattr(cls, "gathers", None),
        within=tuple((field.encode_name, field.type) for field in fields if any(_structs(field.type))),
    )


def _has_old_forms(info: inspect.Type, seen: set[type]) -> bool:
    """Whether a Struct anywhere within a type has renamed members, or gathers unknown ones."""
    found = {struct.cls for struct in _structs(info)} - seen
    seen |= found
    return any(
        forms.renames or forms.gathers or any(_has_old_forms(type_, seen) for _, type_ in forms.within)
        for forms in map(_forms, found)
    )


def _tidied(value: Any, info: inspect.Type) -> Any:
    """A JSON value in the present form of its type: renamed, gathered, without nulls of optional members."""
    for option in options(info):
        if isinstance(option, inspect.StructType) and isinstance(value, dict):
            return _tidied_object(value, _forms(option.cls))
        if isinstance(option, inspect.DictType) and isinstance(value, dict):
            return {name: _tidied(item, option.value_type) for name, item in value.items()}
        if isinstance(option, inspect.CollectionType) and isinstance(value, list):
            return [_tidied(item, option.item_type) for item in value]
    return value


def _tidied_object(value: dict[str, Any], forms: _Forms) -> dict[str, Any]:
    if not value.keys() <= forms.members:
        known = {name: item for name, item in value.items() if name in forms.members}
        for old, name in forms.renames.items():
            if known.get(name) is None and old in value:
                known[name] = value[old]
        given = known.get(forms.gathers) or {} if forms.gathers else None
        if forms.gathers and isinstance(given, dict):
            old_names = forms.members | forms.renames.keys()
            unknown = {name: item for name, item in value.items() if item is not None and name not in old_names}
            known[forms.gathers] = unknown | given
        value = known
    if None in value.values():
        value = {name: item for name, item in value.items() if item is not None or name not in forms.optional}
    for name, type_ in forms.within:
        if name in value:
            value = {**value, name: _tidied(value[name], type_)}
    return value


# Types ---------------------------------------------------------------------------------------------------------------


def _inner(type_: inspect.Type) -> Iterator[inspect.Type]:
    """What the items of an array, or the values of a mapping, may be."""
    if isinstance(type_, inspect.CollectionType):
        yield from options(type_.item_type)
    elif isinstance(type_, inspect.DictType):
        yield from options(type_.value_type)


def _members(type_: inspect.Type) -> tuple[inspect.Field, ...]:
    return type_.fields if isinstance(type_, inspect.StructType) else ()


def _structs(type_: inspect.Type) -> Iterator[inspect.StructType]:
    """The Structs that a type's values hold, not those within these."""
    for option in options(type_):
        if isinstance(option, inspect.StructType):
            yield option
        else:
            for inner in _inner(option):
                yield from _structs(inner)


# Errors --------------------------------------------------------------------------------------------------------------


def _placed(text: str) -> tuple[str, str]:
    """What msgspec complains of, and where: `.frame`, `[0].points[1]`, or nothing at the top."""
    return (found["what"], found["path"]) if (found := _PLACE.fullmatch(text)) else (text, "")


def explain(text: str, info: inspect.Type) -> str:
    """A sentence of msgspec as callers read it: the field by its path in the type, the rule, and what enums allow."""
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
        what = f"Input should be {allowed}, not {what.removeprefix('Invalid enum value ')} (literal_error)"
    return f"{where or 'The body'}: {what.replace('`', '')}."


def _step(start: inspect.Type, name: str | None) -> Iterator[inspect.Type]:
    for type_ in options(start):
        yield from (field.type for field in _members(type_) if field.encode_name == name)
        if name is None:
            yield from _inner(type_)
