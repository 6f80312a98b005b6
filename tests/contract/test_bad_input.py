"""Every member of every body of accounts, organizations and projects: what breaks its rule is refused and named."""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec.inspect as shapes
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http.operation import OneOf
from chalicelib.resources.accounts import invitation_operations
from chalicelib.resources.accounts import operations as accounts_operations
from chalicelib.resources.bookmarks import operations as bookmarks_operations
from chalicelib.resources.buckets import operations as buckets_operations
from chalicelib.resources.email import notify_operations
from chalicelib.resources.email import operations as email_operations
from chalicelib.resources.favorites import operations as favorites_operations
from chalicelib.resources.hosted_templates import operations as hosted_templates_operations
from chalicelib.resources.jobs import cluster_operations
from chalicelib.resources.organizations import affiliation_operations
from chalicelib.resources.organizations import operations as organizations_operations
from chalicelib.resources.permissions import group_operations as permissions_group_operations
from chalicelib.resources.permissions import operations as permissions_operations
from chalicelib.resources.projects import membership_operations
from chalicelib.resources.projects import operations as projects_operations
from chalicelib.resources.sections import operations as sections_operations
from chalicelib.resources.types import operations as types_operations
from chalicelib.resources.versions import operations as versions_operations
from tests.contract.examples import body_of
from tests.contract.world import World, build
from tests.sweeps import sweep

ROOT = Path(__file__).parents[2]
MODULES = (
    accounts_operations,
    organizations_operations,
    affiliation_operations,
    invitation_operations,
    permissions_group_operations,
    buckets_operations,
    cluster_operations,
    hosted_templates_operations,
    projects_operations,
    membership_operations,
    bookmarks_operations,
    favorites_operations,
    permissions_operations,
    notify_operations,
    versions_operations,
    sections_operations,
    types_operations,
    email_operations,
)
WITH_BODY = [operation for module in MODULES for operation in module.OPERATIONS if operation.body is not None]

NO_OBJECT = [b"", b"null", b"[]", b'"x"', b"{", b"\xff\xfe", b"[" * 5000]


class Case(NamedTuple):
    operation: Any
    member: str
    why: str
    value: Any


def cases():
    for operation in WITH_BODY:
        for field in shapes.type_info(operation.body).fields:
            for why, value in bad_values(field):
                yield Case(operation, field.encode_name, why, value)


def bad_values(field):  # noqa: C901, PLR0912 one line per shape
    if field.required:
        yield "null", None
    inner = field.type
    if isinstance(inner, shapes.UnionType):
        inner = next(kind for kind in inner.types if not isinstance(kind, shapes.NoneType))
    if isinstance(inner, shapes.Metadata):
        inner = inner.type
    match inner:
        case shapes.StrType():
            yield from (("a number", 7), ("a list", ["x"]), ("an object", {}))
            if inner.max_length:
                yield "too long", "x" * (inner.max_length + 1)
            if inner.min_length:
                yield "empty", ""
            if inner.pattern:
                wrong = (("a control character", "a\u0007b"), ("a line end", "abcd\n"))
                yield from (each for each in wrong if not re.search(inner.pattern, each[1]))
        case shapes.IntType():
            yield from (("text", "x"), ("a fraction", 1.5), ("true", True), ("far too large", 2**70))
            if inner.ge is not None:
                yield "too small", inner.ge - 1
            if inner.le is not None:
                yield "too large", inner.le + 1
        case shapes.BoolType():
            yield from (("text", "maybe"), ("a number", 7))
        case shapes.LiteralType():
            yield from (
                ("unknown", "no such value"),
                ("another case", str(inner.values[0]).upper() + " "),
                ("a number", 7),
            )
        case shapes.ListType():
            yield from (("text", "x"), ("an object", {}))
        case shapes.DictType():
            yield from (("text", "x"), ("a list", []))


@pytest.fixture(scope="module")
def world() -> World:
    return build()


@sweep("case", cases(), ids=lambda case: f"{case.operation.id}-{case.member}-{case.why}", parts=2)
def test_a_bad_member_is_refused_and_named(case, world):
    path = world.path(case.operation)
    body = {**body_of(case.operation), case.member: case.value}
    said = world.owner.ask(case.operation.method, path, body)
    assert said.status == 400, said.body
    assert case.member in said.message + said.json["details"], said.body
    assert said.json["message"]


@sweep("operation, raw", itertools.product(WITH_BODY, NO_OBJECT), ids=lambda case: f"{case[0].id}-{case[1][:9]!r}")
def test_what_is_no_object_is_refused(operation, raw, world):
    said = world.owner.ask(operation.method, world.path(operation), raw=raw)
    assert said.status in (400, 413), said.body


@pytest.mark.parametrize("name", ["a\u0007b", "x" * 129])
def test_a_section_made_on_the_way_has_a_name_as_any_other(api, project, name):
    kind = api.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    spec = {"type": kind, "name": "a.jpg", "md5": "", "section": name}
    said = api.post(f"Medias/{project}", spec)
    assert (said.status, "name" in said.message) == (400, True)
    assert api.get(f"MediaCount/{project}").json == 0
    assert api.get(f"Sections/{project}").json == []


NAMES = ["Ærøskøbing", "深海 7", "🐟", "e\u0301", "\u202eabc", "a" * 128, "'; DROP TABLE--", "<b>x</b>", "null", " x "]


@pytest.mark.parametrize("name", NAMES)
def test_names_are_any_text_and_come_back_as_they_were_given(api, organization, name):
    for path, single, more in (
        ("Projects", "Project", {"organization": organization}),
        (f"Groups/{organization}", "Group", {}),
    ):
        number = api.made(path, {"name": name, **more})
        assert api.get(f"{single}/{number}").json["name"] == name
        with contextlib.suppress(AssertionError):
            api.delete(f"{single}/{number}")


@pytest.mark.parametrize("name", [b"\xed\xa0\x80", b"\xff", b"\xc3", b"\\ud800"])
def test_a_name_that_is_no_text_is_refused(api, organization, name):
    raw = b'{"name": "' + name + b'"}'
    assert api.ask("POST", f"Groups/{organization}", raw=raw).status == 400


EVERY_BODY = [operation for operation in OPERATIONS if operation.body is not None]
ODD: tuple[Any, ...] = (
    None, "", " ", "\u0000", "a\u0007\u009fb", "\U0001f41f" * 40, "e\u0301\u202e", "x" * 100_000, "../../etc", "%00",
    0, -1, 10**9, 2**53, -(2**63), 2**64, 1.5, 1e308, True, [], {}, [None], [[]], [{}], [10**9], ["x"], {"": {}},
    {"a": {"b": [1, None]}},
)  # fmt: skip
"""What a member may be by mistake or malice."""


def bodies_of(operation):
    """The shapes of an operation's body, each with an example of it."""
    options = operation.body.options if isinstance(operation.body, OneOf) else (operation.body,)
    for option in options:
        shape = shapes.type_info(option)
        if isinstance(shape, shapes.ListType):
            yield shape.item_type, lambda member: [member]
        else:
            yield shape, lambda member: member


@pytest.mark.slow
@sweep("operation", EVERY_BODY, ids=lambda operation: operation.id, parts=2)
def test_whatever_a_member_is_the_answer_is_no_failure(operation, world, no_hashing):
    """Every eighth odd value in each member, beginning with another one each: done, or refused with a sentence."""
    give_odd_values(operation, world, step=8)


@pytest.mark.nightly
@sweep("operation", EVERY_BODY, ids=lambda operation: operation.id, parts=4)
def test_whatever_odd_value_a_member_has_the_answer_is_no_failure(operation, world, no_hashing):
    give_odd_values(operation, world, step=1)


def give_odd_values(operation, world, step):
    path = world.path(operation)
    example = body_of(operation)
    example = example[0] if isinstance(example, list) else example
    for shape, wrapped in bodies_of(operation):
        for place, field in enumerate(getattr(shape, "fields", ())):
            for odd in ODD[place % step :: step]:
                body = wrapped({**example, field.encode_name: odd})
                said = world.owner.ask(operation.method, path, body)
                what = (field.encode_name, repr(odd)[:60], said.body[:300])
                assert said.status < 500 or (said.status, operation.id) == (503, "Notify"), what
                if said.status >= 400:
                    assert said.json["message"], what
                    assert "Traceback" not in said.body.decode(), what
    for many in ("Versions", "MediaCount"):  # nothing was stored that keeps the project from being read
        assert world.owner.get(f"{many}/{world.things['project']}").status < 500, many


UNKNOWN = 10**9


def unknown_things(world):
    project, organization = world.things["project"], world.things["organization"]
    user = world.owner.user.id
    return [
        ("POST", f"Memberships/{project}", {"user": UNKNOWN, "permission": "Can Edit"}, 404),
        ("POST", f"Memberships/{project}", {"user": 1, "permission": "Can Edit", "default_version": UNKNOWN}, 404),
        ("PATCH", f"Membership/{world.things['membership']}", {"default_version": UNKNOWN}, 404),
        ("POST", f"Affiliations/{organization}", {"user": UNKNOWN, "permission": "Member"}, 404),
        ("POST", f"Groups/{organization}", {"name": "x", "initial_members": [UNKNOWN]}, 404),
        ("POST", "Projects", {"name": "x", "organization": UNKNOWN}, 403),
        ("POST", "Projects", {"name": "x y", "organization": organization, "bucket": UNKNOWN}, 404),
        ("PATCH", f"Project/{project}", {"upload_bucket": UNKNOWN}, 404),
        ("POST", f"Favorites/{project}", {"name": "x", "type": UNKNOWN, "values": {}}, 404),
        ("POST", "RowProtections", {"project": project, "user": UNKNOWN, "permission": 1}, 404),
        ("POST", "RowProtections", {"project": UNKNOWN, "user": user, "permission": 1}, 404),
        ("POST", "Accept", {"registration_token": "00000000-0000-1000-8000-000000000000"}, 400),
        ("POST", "Accept", {"registration_token": "x\u0000y"}, 400),
        ("PATCH", f"User/{user}", {"password": "battery staple 8", "reset_token": "unknown"}, 400),
        ("POST", "PasswordReset", {"email": "nobody at all"}, 400),
    ]


def test_unknown_things_in_bodies_have_the_documented_answer(world):
    for method, path, body, status in unknown_things(world):
        said = world.owner.ask(method, path, body)
        assert said.status == status, (method, path, body, said.body)


def test_the_table_covers_every_operation_with_a_body_here():
    ids = {operation.id for operation in WITH_BODY}
    assert len(ids) == len(WITH_BODY) > 25
    assert ids <= {operation.id for operation in OPERATIONS}


_TEXT_END = re.compile(r"(?<!\\)\$(?=$|[|)])(?!\(\?!\\n\))")
_LINE_END = re.compile(r"""\$["'|)]""")
"""What a file with such a pattern has somewhere: to parse all files takes seconds."""
_OF_PATTERNS = {"compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer"}


def patterns_with_a_loose_end(tree):
    """The texts of regular expressions with a `$`, which Python also finds before a last line end."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.Call)):
        if isinstance(call, ast.Assign):
            given = [call.value]
        elif isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "re":
            given = call.args[:1] if call.func.attr in _OF_PATTERNS else []
        else:
            given = [each.value for each in call.keywords if each.arg == "pattern"]
        for value in given:
            parts = value.values if isinstance(value, ast.JoinedStr) else [value]
            text = "".join(
                part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)
            )
            is_one = isinstance(call, ast.Call) or text.startswith("^")
            if is_one and _TEXT_END.search(text):
                yield text


def test_no_pattern_takes_a_line_end_behind_its_end():
    files = [path for folder in ("chalicelib", "functions", "infra") for path in (ROOT / folder).rglob("*.py")]
    found = {
        f"{path.relative_to(ROOT)}: {text}"
        for path in files
        if _LINE_END.search(source := path.read_text())
        for text in patterns_with_a_loose_end(ast.parse(source))
    }
    assert not found
    assert list(patterns_with_a_loose_end(ast.parse('X = r"^a$"\nY = Meta(pattern=f"^{x}$")\nre.match("a(b|$)", "")')))
