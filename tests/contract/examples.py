"""The smallest valid body of every operation, made from its declaration."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec.inspect as shapes

from chalicelib.http.operation import OneOf, Operation

shape_of = cache(shapes.type_info)
"""The shape of a type; to find it takes milliseconds."""
UUID = "00000000-0000-1000-8000-000000000000"


def body_of(operation: Operation) -> Any:
    """A body that passes validation and names nothing that exists."""
    if operation.body is None:
        return None
    kind = operation.body.options[0] if isinstance(operation.body, OneOf) else operation.body
    return example_of(shape_of(kind))


def full_body_of(operation: Operation) -> Any:
    """The same with every optional member as well."""
    if operation.body in (None, bytes):
        return None
    kind = operation.body.options[-1] if isinstance(operation.body, OneOf) else operation.body
    shape = shape_of(kind)
    if not isinstance(shape, shapes.StructType):
        return example_of(shape)
    return {item.encode_name: example_of(item.type) for item in shape.fields}


def query_of(operation: Operation) -> dict[str, Any]:
    """The required query parameters."""
    return _fields(shape_of(operation.query))


def required_of(struct: type[Any]) -> dict[str, Any]:
    """The required members of a Struct."""
    return _fields(shape_of(struct))


def example_of(shape: Any) -> Any:  # noqa: C901, PLR0911 one line per shape
    """The smallest valid value of a shape."""
    match shape:
        case shapes.StructType():
            return _fields(shape)
        case shapes.Metadata():
            return example_of(shape.type)
        case shapes.IntType():
            return max(shape.ge or 0, 1)
        case shapes.FloatType():
            return shape.ge or (0.0 if shape.gt is None else shape.gt + 1.0)
        case shapes.StrType():
            return UUID if shape.pattern and "fA-F" in shape.pattern else "x" * max(shape.min_length or 0, 5)
        case shapes.BoolType():
            return False
        case shapes.LiteralType():
            return min(shape.values)
        case shapes.ListType() | shapes.CollectionType():
            return [example_of(shape.item_type)] * max(shape.min_length or 0, 1)
        case shapes.DictType():
            return {}
        case shapes.UnionType():
            return example_of(next(kind for kind in shape.types if not isinstance(kind, shapes.NoneType)))
        case _:
            return "x"


def _fields(shape: Any) -> dict[str, Any]:
    return {item.encode_name: example_of(item.type) for item in shape.fields if item.required}
