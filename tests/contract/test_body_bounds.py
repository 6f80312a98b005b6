"""Every text, list, mapping and number of every body and query is bounded: one more is refused, and named.

What is too much comes from the declarations, and where they say nothing from `chalicelib/http/bounds.py`. All of it
goes through the decoding of its operation, but for lists and mappings without a bound of their own deeper than the
body's own members, which the nightly test tries. Of each operation one member, the first, second, third … by the
operation's place in the catalogue, also goes through the API. The nightly test also tries what is as large as it may
be.
"""

from __future__ import annotations

import time

import msgspec
import msgspec.inspect as shapes
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.resource import options
from chalicelib.errors import BadInput, TooLarge
from chalicelib.http.bounds import MAX_DEPTH, MAX_ITEMS, MAX_MEMBERS, MAX_PARAMETER, MAX_TEXT
from chalicelib.http.decoding import MAX_THINGS, decode_body, decode_query
from chalicelib.http.encoding import LONGEST_SENTENCE
from chalicelib.http.operation import NoQuery, OneOf
from tests.contract.examples import body_of, example_of, query_of
from tests.contract.world import build
from tests.sweeps import sweep

MANY = 20_000
SECONDS = 20.0
WITH_BODY = [operation for operation in OPERATIONS if operation.body not in (None, bytes)]
WITH_QUERY = [operation for operation in OPERATIONS if operation.query is not NoQuery]


@pytest.fixture(scope="module")
def world():
    return build()


def nested(depth):
    made = "x"
    for _ in range(depth):
        made = [made]
    return made


def too_much(shape, deepest, seen=()):  # noqa: C901 one case per shape
    """Values that break one bound each, in the shape or in what lies in it; the member that the refusal is to name."""
    kinds = list(options(shape))
    for kind in kinds:
        match kind:
            case shapes.StrType():
                yield "", "x" * ((kind.max_length or MAX_TEXT) + 1)
            case shapes.IntType() | shapes.FloatType():
                if kind is not kinds[0]:
                    continue  # a text may stand there too, or the other kind of number
                yield "", 2**63 if kind.le is None else kind.le + 1
                yield "", -(2**63) - 1 if kind.ge is None else kind.ge - 1
            case shapes.CollectionType():
                if kind.max_length or len(seen) <= deepest:
                    yield "", [example_of(kind.item_type)] * ((kind.max_length or MAX_ITEMS) + 1)
                least = max(1, kind.min_length or 0)
                yield from ((name, [value] * least) for name, value in too_much(kind.item_type, deepest, seen))
            case shapes.DictType():
                if len(seen) <= deepest:
                    yield "", {f"key {number}": "x" for number in range(MAX_MEMBERS + 1)}
                yield "", {"x" * (MAX_TEXT + 1): "x"}
                yield from ((name, {"x": value}) for name, value in too_much(kind.value_type, deepest, seen))
            case shapes.AnyType():
                yield "", "x" * (MAX_TEXT + 1)
                yield "nested", nested(MAX_DEPTH)
            case shapes.StructType() if kind.cls not in seen:
                for field in kind.fields:
                    for name, value in too_much(field.type, deepest, (*seen, kind.cls)):
                        yield name or field.encode_name, {**example_of(kind), field.encode_name: value}


def bodies(operation, deepest=0):
    """Bodies that are in order but for one member; the name of that member."""
    kinds = operation.body.options if isinstance(operation.body, OneOf) else (operation.body,)
    for kind in kinds:
        shape = shapes.type_info(kind)
        if isinstance(shape, shapes.CollectionType):
            yield "", [example_of(shape.item_type)] * ((shape.max_length or MAX_THINGS) + 1)
            yield from ((name, [value]) for name, value in too_much(shape.item_type, deepest))
        else:
            yield from too_much(shape, deepest)


def refusal(decode, *given):
    with pytest.raises((BadInput, TooLarge)) as caught:
        decode(*given)
    return f"{caught.value.message} {caught.value.details}"


BOUNDED = [operation for operation in WITH_BODY if any(True for _ in bodies(operation))]
LISTED = {"UpdateAffiliation", "UpdateHoneypotScore", "UpdateInvitation", "UpdateNotificationSettings"}
"""Whose bodies have no other members than those whose values are all declared."""


def test_every_body_has_bounds():
    assert {operation.id for operation in WITH_BODY} - {operation.id for operation in BOUNDED} == LISTED


@sweep("operation", BOUNDED, ids=lambda operation: operation.id)
def test_one_more_than_a_body_may_hold_is_refused_and_named(operation):
    for name, body in bodies(operation):
        said = refusal(decode_body, operation, msgspec.json.encode(body), None)
        assert name in said, (name, said[:300])


@pytest.mark.nightly
@sweep("operation", BOUNDED, ids=lambda operation: operation.id)
def test_one_more_than_a_body_may_hold_at_any_depth_is_refused_and_named(operation):
    for name, body in bodies(operation, deepest=9):
        assert name in refusal(decode_body, operation, msgspec.json.encode(body), None), name


@sweep("operation", WITH_QUERY, ids=lambda operation: operation.id)
def test_one_more_than_a_parameter_may_be_is_refused_and_named(operation):
    fields = shapes.type_info(operation.query).fields
    for field in fields:
        kind = next(options(field.type))
        texts = ["x" * (MAX_PARAMETER + 1)]
        if isinstance(kind, shapes.CollectionType):
            texts += ["1," * (MAX_PARAMETER // 2) + "1"]
        if isinstance(kind, shapes.StrType) and kind.max_length:
            texts += ["x" * (kind.max_length + 1)]
        if not any(isinstance(each, shapes.StrType) for each in options(field.type)) and hasattr(kind, "le"):
            texts += [str(bound) for bound in (None if kind.le is None else kind.le + 1, "9" * 500) if bound]
            texts += [] if kind.ge is None else [str(kind.ge - 1)]
        for text in texts:
            said = refusal(decode_query, operation, {**sound(operation), field.encode_name: [text]})
            assert field.encode_name in said, said[:300]


def sound(operation):
    return {name: [str(value)] for name, value in query_of(operation).items()}


@sweep("operation", BOUNDED, ids=lambda operation: operation.id)
def test_the_refusal_reaches_the_caller_and_is_short(operation, world):
    wrong = list(bodies(operation))
    name, body = wrong[OPERATIONS.index(operation) % len(wrong)]
    said = world.owner.ask(operation.method, world.path(operation), body, **query_of(operation))
    assert said.status in (400, 413), said.body[:300]
    assert name in said.body.decode()
    assert len(said.body) < 20_000


def test_an_error_repeats_no_more_than_a_sentence_of_what_was_given(api, project):
    kind = api.made(f"LeafTypes/{project}", {"name": "leaf"})
    api.made(f"Leaves/{project}", {"name": "x", "type": kind})
    said = api.patch(f"Leaves/{project}", {"attributes": {"x" * MAX_TEXT: "x"}}, type=kind)
    assert said.status == 400
    assert len(said.message) == LONGEST_SENTENCE + 1


def large_values(shape):
    """Values of a shape as large as may be."""
    for kind in options(shape):
        match kind:
            case shapes.StrType():
                yield "x" * (kind.max_length or MAX_TEXT)
                yield f"https://{'x' * MAX_TEXT}"[: kind.max_length or MAX_TEXT]
            case shapes.CollectionType():
                yield [example_of(kind.item_type)] * min(kind.max_length or MANY, MANY)
                yield from ([value] for value in list(large_values(kind.item_type))[:2])
            case shapes.DictType():
                yield {f"key {number}": "x" for number in range(MAX_MEMBERS)}
                yield {"x" * MAX_TEXT: "x"}
                yield {"x": "x" * MAX_TEXT}
                yield {"x": nested(MAX_DEPTH - 2)}
            case shapes.AnyType():
                yield nested(MAX_DEPTH - 2)


@pytest.mark.nightly
@sweep("operation", WITH_BODY, ids=lambda operation: operation.id)
def test_what_is_as_large_as_may_be_is_refused_or_taken_in_good_time(world, operation):
    shape = shapes.type_info(operation.body.options[-1] if isinstance(operation.body, OneOf) else operation.body)
    example = body_of(operation)
    example = example[0] if isinstance(example, list) else example
    for field in getattr(shape, "fields", ()):
        for value in large_values(field.type):
            began = time.thread_time()
            body = {**example, field.encode_name: value}
            said = world.owner.ask(operation.method, world.path(operation), body, **query_of(operation))
            assert said.status < 500 or said.status == 503, (field.encode_name, said.status, said.body[:300])
            assert len(said.body) < 20_000 or said.status < 300, field.encode_name
            assert time.thread_time() - began < SECONDS, field.encode_name
