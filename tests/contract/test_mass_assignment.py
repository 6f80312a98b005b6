"""What a body must not settle it does not settle: every create and change is given what it does not declare.

What is forged comes from the declarations: every member of what the operation makes or changes that its body does not
declare (the Struct that GET answers with), those that no body may settle whatever it declares, and one that is not a
member of anything. All together are refused, and one of them alone by its name: another for each operation. Members
that clients send back as they read them (`http/read_back.py`) may be accepted; they have no effect.
"""

from __future__ import annotations

import uuid

import msgspec.inspect as shapes
import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.http.operation import OneOf
from chalicelib.http.read_back import SET_BY_EVERY_CHANGE
from tests.contract.examples import body_of, query_of
from tests.contract.test_secrets import stored
from tests.contract.world import build
from tests.sweeps import sweep

NUMBER = 987_654_321
WORD = "forged"
TIME = "1999-01-01T00:00:00.000Z"
NEVER = {
    "id": NUMBER,
    "created_by": NUMBER,
    "modified_by": NUMBER,
    "created_datetime": TIME,
    "modified_datetime": TIME,
    "variant_deleted": True,
    "latest": False,
    "revision": NUMBER,
    "sealed": WORD,
    "password_hash": WORD,
    "permission_mask": NUMBER,
    "no_such_member": WORD,
}
"""Members that no body settles, and values that are nobody's."""
NAMING = {"CreatePasskeySession": {"id"}}
"""Bodies of which such a member names what is stored: `id` is the browser's name of a credential of its user."""
SOMETIMES = {
    "organization": NUMBER,
    "project": NUMBER,
    "user": NUMBER,
    "is_active": False,
    "is_staff": True,
    "token": WORD,
}
"""Members that some bodies declare, for which their handlers have rules of their own."""
OPEN = {f"{verb}{kind}File" for verb in ("Create", "Update") for kind in ("Video", "Audio", "Image", "Auxiliary")}
"""Whose bodies may have members of any name: descriptions of files, which keep what a tool says of them."""
MAKES = [
    operation
    for operation in OPERATIONS
    if operation.method in ("POST", "PATCH", "PUT") and operation.body not in (None, bytes) and operation.id not in OPEN
]
NAMED = {"first_name": "Ada", "last_name": "Lovelace"}
CHANGES = [operation for operation in MAKES if operation.method == "PATCH"]
GETS = {operation.path: operation for operation in OPERATIONS if operation.method == "GET"}


@pytest.fixture(scope="module")
def world():
    made = build()
    yield made
    assert marks(stored()) == [], "what was forged is stored"


def declared(operation):
    """The members a body may have, under all their names."""
    options = operation.body.options if isinstance(operation.body, OneOf) else (operation.body,)
    structs = [getattr(option, "__args__", (option,))[0] for option in options]
    fields = {name for struct in structs for name in getattr(struct, "__struct_encode_fields__", ())}
    named = {name for struct in structs for name in (*getattr(struct, "accepts", ()), *getattr(struct, "unused", ()))}
    return fields | named


def seen_by(operation):
    """The operation that shows what this one makes or changes, if one does."""
    one = operation.path
    if operation.method == "POST":
        many = GETS.get(operation.path)
        shown = getattr(many.returns, "__args__", (None,))[0] if many else None
        return next((get for get in GETS.values() if shown is not None and get.returns is shown), None)
    return GETS.get(one)


def forged(operation):
    """What the body does not declare: member → a value that is nobody's."""
    values = dict(NEVER | SOMETIMES)
    shown = seen_by(operation)
    if shown is not None and hasattr(shown.returns, "__struct_encode_fields__"):
        for field in shapes.type_info(shown.returns).fields:
            values.setdefault(field.encode_name, forgery(field.type))
    of_path = set(operation.addresses.variables) if operation.addresses else set()
    return {name: value for name, value in values.items() if name not in declared(operation) | of_path}


def without_effect(operation):
    """The names that are accepted whatever their value, because clients read them and send them back."""
    known = operation.read_back
    return known.same.keys() & SET_BY_EVERY_CHANGE if known.shown_by else known.same.keys() | known.renames.keys()


def forgery(shape):
    options = shape.types if isinstance(shape, shapes.UnionType) else (shape,)
    options = [each.type if isinstance(each, shapes.Metadata) else each for each in options]
    match options[0]:
        case shapes.IntType() | shapes.FloatType():
            return NUMBER
        case shapes.BoolType():
            return True
        case shapes.ListType() | shapes.CollectionType():
            return [WORD]
        case shapes.DictType() | shapes.StructType():
            return {"x": WORD}
        case _:
            return WORD


def sound(operation, world):
    """A body with which the operation does its work in this world."""
    things, fresh = world.things, uuid.uuid4().hex[:12]
    email = f"{fresh}@example.org"
    known = {
        "CreateUser": {**NAMED, "username": fresh, "email": email, "password": "battery 8 staple"},
        "CreateInvitation": {"email": email, "permission": "Member"},
        "UpdateAffiliation": {"permission": "Admin"},
        "UpdateMembership": {"permission": "Full Control"},
        "CreateMembership": {"user": world.stranger.user.id, "permission": "Can Edit"},
        "CreateMediaList": {"type": things["media_type"], "name": "a.mp4", "md5": ""},
        "CreateAnnotator": {"name": fresh, "url": "https://a.example.org", "type": things["localization_type"]},
        "UpdateAnnotator": {"url": "https://a.example.org", "type": things["localization_type"]},
        "UpdateMediaList": {"primary_section": things["section"]},
        "UpdateLocalizationByElementalId": {"in_place": 1},
        "UpdateStateByElementalId": {"in_place": 1},
        "UpdateSectionList": {"path_substitution": {"old": "nothing", "new": "other"}},
        "UpdateJobCluster": {"name": fresh, "host": "h", "port": 1, "token": "t", "cert": "c"},
        "CreateRowProtection": {"project": things["project"], "user": world.stranger.user.id, "permission": 1},
        "SendEmail": {"recipients": [world.owner.user.email], "subject": "x", "text": "x"},
    }  # fmt: skip
    if operation.id in known:
        return known[operation.id]
    body = body_of(operation)
    if operation.tag == "Media files":
        return {**body, "path": f"{things['organization']}/{things['project']}/{things['media']}/a.mp4"}
    named = {name for name in ("name", "summary") if name in declared(operation)}
    if body == {} and operation.method == "PATCH" and named:
        return {min(named): fresh}
    return (
        [placed(operation, each, things) for each in body]
        if isinstance(body, list)
        else placed(operation, body, things)
    )


def placed(operation, body, things):
    """The body with the ids of this world, where the smallest one names 1."""
    kind = next((word for word in ("Media", "Localization", "State", "Leaf", "File") if word in operation.id), "")
    ids = {"type": things.get(f"{kind.lower()}_type", things["localization_type"]), "dest_project": things["project"]}
    ids |= {"media_id": things["media"], "user": things["user"], "dest_type": things["media_type"]}
    ids |= {"media_ids": [things["media"]], "media_types": [things["media_type"]]}
    ids |= {name: things[name] for name in ("organization", "project", "version")}
    return {name: ids.get(name, value) if value in (1, [1]) else value for name, value in body.items()}


def with_forgery(body, lies):
    return [{**each, **lies} for each in body] if isinstance(body, list) else {**body, **lies}


def seen(world, path):
    found = world.owner.get(path).json
    return found if isinstance(found, list) else [found]


def marks(text):
    return [mark for mark in (str(NUMBER), WORD, TIME) if mark in text]


@sweep("operation", MAKES, ids=lambda operation: operation.id)
def test_no_body_settles_what_it_does_not_declare(world, operation, no_hashing):
    path, query = world.path(operation), query_of(operation)
    query |= {name: 0 for name in ("index",) if name in query}
    before = seen(world, path) if operation in CHANGES and seen_by(operation) is not None else []
    body, lies = sound(operation, world), forged(operation)
    said = world.owner.ask(operation.method, path, with_forgery(body, lies), **query)
    is_missing = operation in CHANGES and world.owner.get(path).status == 404
    assert said.status == 400 or (is_missing and said.status == 404), said.body[:300]
    assert marks(said.body.decode()) == []
    refused = sorted(lies.keys() - without_effect(operation))
    if is_missing:
        return  # what it would change is not in this world
    name = refused[MAKES.index(operation) % len(refused)]
    alone = world.owner.ask(operation.method, path, with_forgery(body, {name: lies[name]}), **query)
    assert alone.status == 400, (name, alone.body[:300])
    assert name in alone.body.decode(), (name, alone.body[:300])
    assert (seen(world, path) if before else []) == before


@sweep("operation", MAKES, ids=lambda operation: operation.id)
def test_no_body_declares_what_nobody_may_settle(operation):
    assert declared(operation) & NEVER.keys() == NAMING.get(operation.id, set())
