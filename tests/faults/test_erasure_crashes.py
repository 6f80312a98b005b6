"""An erasure that dies at every call, and is asked for and delivered again, leaves nothing of the person."""

from __future__ import annotations

import uuid
import zlib
from contextlib import suppress

import msgspec
import pytest

from chalicelib.core.models.accounts import USER
from chalicelib.core.models.personal import ERASURE
from chalicelib.errors import LimnError
from chalicelib.resources.erasures import work
from chalicelib.resources.erasures.messages import ErasePerson
from chalicelib.storage.audit import chain
from chalicelib.storage.dynamodb import records
from infra.client.cli.audit_commands import verify
from tests import everywhere
from tests.faults.crashes import Killed, crasher, points
from tests.faults.rewind import restart, rewinding
from tests.service import affiliate, join, new_project, new_user

NAME = "qanary-of-crashes"
SHARE = 12
"""One of so many crash points is tried with each commit, all by night."""


@pytest.fixture(scope="module")
def rig():
    with rewinding() as undo, crasher() as hook:
        undo.mark()
        owner, person = new_user(is_staff=True), new_user()
        records.edit(
            USER,
            person.user.id,
            lambda user: msgspec.structs.replace(user, username=NAME, email=f"{NAME}@example.org", first_name=NAME),
        )
        project = new_project(owner)
        organization = owner.get(f"Project/{project}").json["organization"]
        affiliate(person, organization)
        join(person, project, "Can Edit")
        kind = owner.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
        media = owner.made(f"Medias/{project}", {"type": kind, "name": "a.jpg", "md5": ""})
        owner.made(f"Comments/{project}", {"text": f"@{NAME} look", "media_id": media})
        person.made("AccessTokens", {"name": NAME})
        owner.made(f"Invitations/{organization}", {"email": f"other.{NAME}@example.org", "permission": "Member"})
        records.edit(
            USER, person.user.id, lambda user: msgspec.structs.replace(user, email=f"other.{NAME}@example.org")
        )
        owner.drain()
        undo.mark()
        yield undo, hook, owner, organization, person.user.id
        undo.back()


def ask(owner, organization, user):
    """The request, and the delivery of its message."""
    made = owner.post(f"Erasures/{organization}", {"user": user})
    for erasure in records.list_linked(ERASURE, "organization", organization):
        work.erase(ErasePerson(id=str(uuid.uuid4()), erasure=erasure.id), 60)
    return made


def sweep(rig, chosen):
    undo, hook, owner, organization, user = rig
    undo.back()
    hook.arm()
    assert ask(owner, organization, user).status == 201
    calls, wrong, tried = list(hook.calls), [], 0
    with hook.resting():
        assert everywhere.find(NAME) == []
    for number, mode in points(calls):
        if not chosen(number, mode):
            continue
        tried += 1
        hook.revive()
        undo.back()
        hook.arm(number, mode)
        with suppress(Killed, LimnError):
            ask(owner, organization, user)
        hook.revive()
        restart()
        said = ask(owner, organization, user)
        left = everywhere.find(NAME)
        if said.status != 201 or left or verify(map(msgspec.to_builtins, chain.entries(organization))).fault:
            wrong.append(f"{mode} call {number}, {calls[number - 1]}: {said.status} {left}")
        states = {each.status for each in records.list_linked(ERASURE, "organization", organization)}
        if states != {"Completed"}:
            wrong.append(f"{mode} call {number}, {calls[number - 1]}: {states}")
    return tried, wrong


def _sample(number, mode):
    return zlib.crc32(f"erasure {mode} {number}".encode()) % SHARE == 0


@pytest.mark.slow
def test_a_sample_of_the_calls_at_which_an_erasure_dies_leaves_nothing(rig):
    tried, wrong = sweep(rig, _sample)
    assert not wrong, "\n".join(wrong)
    assert tried > 2


@pytest.mark.nightly
def test_an_erasure_killed_anywhere_and_asked_for_again_leaves_nothing(rig):
    tried, wrong = sweep(rig, lambda _number, _mode: True)
    assert not wrong, "\n".join(wrong)
    assert tried > 50
