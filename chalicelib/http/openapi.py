"""The OpenAPI 3.0 document, made from the declarations alone.

It is part of the API's contract: the newest client builds its methods from the operation ids, its keyword arguments
from the parameters and the names of body schemas, and its classes from the schemas of responses. That client reads a
`$ref` only directly in a property or its items, so a nullable member has a plain `$ref`, to a nullable schema.
"""

from __future__ import annotations

import hashlib
import inspect as python_inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import inspect

from chalicelib import __version__
from chalicelib.core.models.shapes import SHAPES
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource, classes_within
from chalicelib.core.responses import BadRequestResponse, NotFoundResponse
from chalicelib.http import members
from chalicelib.http.decoding import MAX_THINGS
from chalicelib.http.encoding import MEDIA_TYPES
from chalicelib.http.links import Links, links
from chalicelib.http.operation import OneOf, Operation
from chalicelib.http.parameters import MOST_WHOLE

Schema = dict[str, Any]

REF = "#/components/schemas/"
TITLE = "Limn"

ERRORS = {
    "400": ("BadRequest", "The request breaks a rule.", BadRequestResponse),
    "401": ("Unauthenticated", "No valid credentials.", BadRequestResponse),
    "403": ("Forbidden", "The caller may not do this.", BadRequestResponse),
    "404": ("NotFound", "The object does not exist, or the caller may not view it.", NotFoundResponse),
    "409": ("Conflict", "The request conflicts with another one or with the current state.", BadRequestResponse),
    "410": ("Gone", "It was there once, and will not be again.", BadRequestResponse),
    "413": ("TooLarge", "More bytes or items than allowed.", BadRequestResponse),
    "429": ("TooMany", "Too often.", BadRequestResponse),
    "503": ("Unavailable", "Something that the service needs does not answer or is switched off.", BadRequestResponse),
}
ELSEWHERE: dict[str, Any] = {
    "description": "Larger than a function can answer: it is at Location for ten minutes; it needs no credentials.",
    "headers": {"Location": {"schema": {"type": "string"}}},
}
REDIRECTS = (301, 302, 303)
"""Statuses of success whose response is only a location."""
_VARIABLE = re.compile(r"{(\w+)}")
_DROPPED = frozenset(
    {"title", "propertyNames", "patternProperties", "prefixItems", "const", "contentEncoding", "x-taken"}
)


def document(operations: Iterable[Operation], server: str = "/", *, legacy: bool = True) -> Schema:
    """The OpenAPI 3.0.3 document of operations.

    Args:
        operations: the operations, including legacy ones.
        server: the address of the API, as a URL or a path.
        legacy: whether it has what is deprecated, such as older names, and further shapes of bodies and answers.

    Raises:
        ValueError: two different Structs have one name, which clients could not tell apart.
    """
    operations = tuple(each for each in operations if legacy or not each.legacy)
    schemas = _Schemas(
        (type_ for operation in operations for type_ in _bodies(operation)),
        (type_ for operation in operations for type_ in _answers(operation)),
        legacy=legacy,
    )
    leads = links(operations)
    paths: dict[str, Schema] = {}
    for operation in operations:
        leading = leads.get(operation.id, {})
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation, schemas, leading)
    return {
        "openapi": "3.0.3",
        "info": {"title": TITLE, "version": __version__, "description": "Annotation and media management."},
        "servers": [{"url": server}],
        "tags": [{"name": tag} for tag in dict.fromkeys(operation.tag or "Other" for operation in operations)],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": {
                "Elsewhere": ELSEWHERE,
                **{
                    name: {"description": text, "content": {"application/json": {"schema": schemas.schema(type_)}}}
                    for name, text, type_ in ERRORS.values()
                },
            },
            "securitySchemes": {
                "TokenAuth": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "The word `Token`, a blank, and the token.",
                }
            },
        },
    }


def etag(body: bytes) -> str:
    """The entity tag of a document's bytes, quoted for the header."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


# Operations ----------------------------------------------------------------------------------------------------------


def _bodies(operation: Operation) -> Iterator[Any]:
    """The types of an operation's body."""
    return _options(operation.schema_body or operation.body)


def _answers(operation: Operation) -> Iterator[Any]:
    """The types of an operation's response."""
    return _options(operation.schema_answer or operation.returns)


def _options(declared: Any) -> Iterator[Any]:
    if declared is not None and not isinstance(declared, str):
        yield from declared.options if isinstance(declared, OneOf) else (declared,)


def _operation(operation: Operation, schemas: _Schemas, leads: Links) -> Schema:
    variables = operation.addresses.variables if operation.addresses is not None else {}
    described_as = f"{operation.summary} {operation.details}".strip()
    made: Schema = {
        "operationId": operation.id,
        "tags": [operation.tag or "Other"],
        "summary": operation.summary,
        "description": f"{described_as}\n\nNeeds: {operation.needs.value}.",
        "parameters": [
            *(_path_parameter(name, variables.get(name, str)) for name in _VARIABLE.findall(operation.path)),
            *schemas.parameters(operation.query),
            *_format_parameter(operation),
        ],
        "security": [] if operation.needs is Permission.ANYONE else [{"TokenAuth": []}],
        "responses": _responses(operation, schemas, leads),
    }
    if operation.body is not None:
        schema = _declared(operation.schema_body or operation.body, schemas, most=MAX_THINGS)
        content = {"application/json": {"schema": schema}}
        if operation.method == "PATCH":
            schemas.refuse_empty(schema)
        made["requestBody"] = {"required": operation.body_required, "content": content}
    if operation.legacy:
        made["deprecated"] = True
    return made


def _path_parameter(name: str, type_: type) -> Schema:
    schema: Schema = {"type": "integer", "minimum": 1} if type_ is int else {"type": "string", "minLength": 1}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _parameter(name: str, member: Schema, *, required: bool) -> Schema:
    """A query parameter whose schema is a member of a Struct."""
    schema = {key: value for key, value in member.items() if key not in ("description", "deprecated", "nullable")}
    if "enum" in schema:
        schema["enum"] = [value for value in schema["enum"] if value is not None]
    parameter: Schema = {key: member[key] for key in ("description", "deprecated") if key in member}
    if schema.get("type") == "array":
        parameter |= {"style": "form", "explode": False}
        schema = {"minItems": 1, **schema, "items": _piece(schema["items"], is_item=True)}
    else:
        schema = _piece(schema)
    return {"name": name, "in": "query", **({"required": True} if required else {}), **parameter, "schema": schema}


def _piece(schema: Schema, *, is_item: bool = False) -> Schema:
    """The schema of one value of a query parameter, with what the decoding of parameters asks of every value."""
    match schema.get("type"):
        case "integer" if "enum" not in schema:
            return {"minimum": -MOST_WHOLE, "maximum": MOST_WHOLE, **schema}
        case "string" if not schema.keys() & {"enum", "format"}:
            return {"minLength": 1, **({"pattern": "^[^,]+$"} if is_item else {}), **schema}
    return schema


def _format_parameter(operation: Operation) -> list[Schema]:
    formats = operation.all_formats
    if not set(formats) - {"json", "pprint"} or "format" in {
        field.name for field in msgspec.structs.fields(operation.query)
    }:
        return []
    schema = {"type": "string", "enum": list(formats), "default": formats[0]}
    made = [{"name": "format", "in": "query", "description": "The format of the answer.", "schema": schema}]
    if "csv" in formats:
        text = "Whether CSV begins with a byte-order mark, by which spreadsheets know that it is UTF-8."
        made.append(
            {"name": "bom", "in": "query", "description": text, "schema": {"type": "boolean", "default": False}}
        )
    return made


def _responses(operation: Operation, schemas: _Schemas, leads: Links) -> Schema:
    content: Schema
    success: Schema = {"description": "Success."}
    if operation.success in REDIRECTS:
        content = {}
        success = {"description": "It is at Location.", "headers": {"Location": {"schema": {"type": "string"}}}}
    elif isinstance(operation.returns, str):
        binary = {} if operation.returns.startswith("text/") else {"format": "binary"}
        content = {operation.returns: {"schema": {"type": "string", **binary}}}
    else:
        schema = {} if operation.returns is None else _declared(operation.schema_answer or operation.returns, schemas)
        content = {"application/json": {"schema": schema}}
        for format_ in operation.all_formats[1:]:
            binary = {"format": "binary"} if format_ == "arrow" else {}
            content.setdefault(MEDIA_TYPES[format_][0], {"schema": {"type": "string", **binary}})
    statuses = ["400", "401", "404", "429", "503", *(["410"] if operation.is_past_gone else [])]
    if operation.needs is not Permission.ANYONE or operation.method != "GET":
        statuses.append("403")
    if operation.method != "GET":
        statuses += ["409", "413"]
    errors = {status: {"$ref": f"#/components/responses/{ERRORS[status][0]}"} for status in sorted(statuses)}
    if any(
        each["schema"].get("type") == "array" or each["schema"].get("format") == "binary" for each in content.values()
    ):
        errors = {"303": {"$ref": "#/components/responses/Elsewhere"}, **errors}
    success |= {name: value for name, value in (("content", content), ("links", leads)) if value}
    return {str(operation.success): success, **errors}


def _declared(declared: Any, schemas: _Schemas, most: int | None = None) -> Schema:
    """The schema of a body or a response; `most` bounds the arrays among several shapes."""
    if not isinstance(declared, OneOf):
        return schemas.schema(declared)
    options = [dict(schemas.schema(option)) for option in declared.options[: None if schemas.legacy else 1]]
    for option in options:
        if most is not None and option.get("type") == "array":
            option.setdefault("minItems", 1)
            option.setdefault("maxItems", most)
    return {"oneOf": options} if schemas.legacy else options[0]


# Schemas -------------------------------------------------------------------------------------------------------------


class _Schemas:
    """The schemas of all referenced types, in the dialect of OpenAPI 3.0."""

    def __init__(self, bodies: Iterable[Any], answers: Iterable[Any], *, legacy: bool) -> None:
        self.legacy = legacy
        answers = dict.fromkeys((*answers, BadRequestResponse, NotFoundResponse, *SHAPES))
        answered: dict[str, type] = {}
        for info in inspect.multi_type_info(list(answers)):
            classes_within(info, answered)
        kept = dict.fromkeys((*bodies, *answers))
        classes: dict[str, type] = {}
        for info in inspect.multi_type_info(list(kept)):
            classes_within(info, classes)
        self._answered = answered.keys()
        self._sent = classes.keys() - answered.keys()
        self._may_be_empty = {name for name, cls in classes.items() if getattr(cls, "may_be_empty", False)}
        """The Structs of bodies alone: those refuse what they do not declare, and answers may come to have more."""
        made, components = msgspec.json.schema_components(list(kept), ref_template=REF + "{name}")
        self._nullable: set[str] = set()
        self._is_taken = False
        self._of: dict[Any, Schema] = dict(zip(kept, map(self._converted, made), strict=True))
        self.components: Schema = {
            name: self._component(schema, classes.get(name)) for name, schema in sorted(components.items())
        }
        for name in self._nullable:
            self.components[name]["nullable"] = True
        self._parameters: dict[type, list[Schema]] = {}

    def schema(self, type_: Any) -> Schema:
        """The schema of a type: a `$ref` for a Struct."""
        return self._of[type_]

    def parameters(self, query: type[Resource]) -> list[Schema]:
        """The query parameters that a Struct declares, under present and old names."""
        if query not in self._parameters:
            _, components = msgspec.json.schema_components((query,), ref_template=REF + "{name}")
            component = self._component(components.pop(query.__name__), query, members.FILTERS)
            self.components |= {name: self._converted(schema) for name, schema in components.items()}
            required = component.get("required", ())
            found = component.get("properties", {}).items()
            self._parameters[query] = [_parameter(name, member, required=name in required) for name, member in found]
        return self._parameters[query]

    def refuse_empty(self, schema: Schema) -> None:
        """Let the Struct of a PATCH say that a change names at least one member."""
        name = schema.get("$ref", "").removeprefix(REF)
        if name in self._sent - self._may_be_empty and not self.components[name].get("required"):
            self.components[name]["minProperties"] = 1

    def _component(self, schema: Schema, cls: type | None, shared: Mapping[str, str] = members.SHARED) -> Schema:
        """A component with the accepted, emitted and hidden names, and descriptions, added to msgspec's schema."""
        self._is_taken = cls is not None and cls.__name__ not in self._answered
        made = self._converted(schema)
        if cls is None or "properties" not in made:
            return made
        properties = made["properties"]
        for name in getattr(cls, "hidden", ()):
            properties.pop(name, None)
        older = {**getattr(cls, "accepts", {}), **getattr(cls, "also", {})}
        for old, name in older.items() if self.legacy else ():
            member = {key: value for key, value in properties[name].items() if key != "description"}
            properties[old] = member if "$ref" in member else {**member, "deprecated": True}
            properties[old] |= {} if "$ref" in member else {"description": f"Older name of {name}."}
        for name, why in getattr(cls, "unused", {}).items():
            properties.setdefault(name, {"deprecated": True, "description": f"Has no effect: {why}."})
        properties |= getattr(cls, "computed", {})
        for name, member in properties.items():
            if name in shared and "$ref" not in member:
                member.setdefault("description", shared[name])
        later = sorted(getattr(cls, "required_later", ()))
        for name in later:
            properties[name].pop("nullable", None)
        required = [name for name in (*made.pop("required", ()), *later) if name in properties]
        made |= {"required": required} if required else {}
        if not self.legacy:
            made["properties"] = {
                name: each for name, each in properties.items() if name in required or "deprecated" not in each
            }
        if cls.__name__ in self._sent and not any(getattr(cls, name, None) for name in ("keeps", "gathers", "is_open")):
            made["additionalProperties"] = False
        return made

    def _converted(self, schema: Schema) -> Schema:
        """A schema of JSON Schema 2020-12, as msgspec writes it, in OpenAPI 3.0."""
        if "x-shape" in schema:
            return {"$ref": REF + schema["x-shape"]}
        options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
        if len(options) < len(schema.get("anyOf", ())):
            return self._nullable_of(schema, options)
        dropped = _DROPPED | ({"anyOf"} if not self.legacy and not any("$ref" in each for each in options) else set())
        made = {name: self._member(name, value) for name, value in schema.items() if name not in dropped}
        made = {name: value for name, value in made.items() if (name, value) != ("default", None)}
        made |= {"items": made.get("items") or {}} if made.get("type") == "array" else {}
        if schema.get("type") == "object" and not self.legacy and "properties" not in schema:
            made.setdefault("additionalProperties", {})  # some generators take it for an object without members
        made |= {"type": made.pop("x-type")} if "x-type" in made else {}
        made |= {"pattern": schema["x-taken"]} if self._is_taken and "x-taken" in schema else {}
        if "contentEncoding" in schema:
            made["format"] = "byte"
        if "const" in schema:
            made["enum"] = [schema["const"]]
        if "enum" in made:
            made.setdefault("type", "integer" if isinstance(made["enum"][0], int) else "string")
        if made.get("type") == "integer" and "enum" not in made:
            made.setdefault("format", "int64")
        return made | _bounds_of(made)

    def _member(self, name: str, value: Any) -> Any:
        """The value of a keyword: mappings of names to schemas, schemas, or plain values."""
        match name, value:
            case "properties", dict():
                return {member: self._converted(schema) for member, schema in value.items()}
            case (("items" | "additionalProperties"), dict()):
                return self._converted(value)
            case (("anyOf" | "oneOf" | "allOf"), list()):
                return [self._converted(option) for option in value]
            case "description", str():
                return described(value)
            case _:
                return value

    def _nullable_of(self, schema: Schema, options: list[Any]) -> Schema:
        beside = {name: value for name, value in schema.items() if name != "anyOf"}
        if len(options) > 1:
            return {**self._converted({**beside, "anyOf": options}), "nullable": True}
        if not options:
            return {**self._converted(beside), "nullable": True, "enum": [None]}
        made = self._converted(options[0])
        if "$ref" in made:
            self._nullable.add(made["$ref"].removeprefix(REF))
            return {"$ref": made["$ref"]}
        if "enum" in made:
            made["enum"] = [*made["enum"], None]
        return {**made, **self._converted(beside), "nullable": True}


def _bounds_of(schema: Schema) -> Schema:
    """The exclusive bounds of a number, as OpenAPI 3.0 says them."""
    pairs = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))
    return {name: value for own, bound in pairs if own in schema for name, value in ((bound, schema[own]), (own, True))}


# Descriptions --------------------------------------------------------------------------------------------------------


def described(docstring: str) -> str:
    """A docstring as callers read it: its paragraphs unwrapped."""
    text = python_inspect.cleandoc(docstring)
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
