"""Requests that work for who may make them, made by everybody else: all are refused, and nothing is stored.

The other tests of permissions send the smallest bodies, which name nothing: what a handler decides itself, from what a
body names, is not reached by them. Here each request is one that the owner of a world makes with success, by which its
case ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.models.credentials import READ
from chalicelib.core.permissions import LEVEL_OF, Level
from chalicelib.http.operation import GUESTS, Operation
from chalicelib.resources.identity_providers import oidc
from chalicelib.settings import override, settings
from tests.contract.test_credentials import hold
from tests.contract.test_permissions import PROJECT_LEVELS
from tests.contract.world import TABLES, World
from tests.faults import workflows
from tests.faults.rewind import Rewind, rewinding
from tests.resources.share_links.test_share_links import guest_of, link_to
from tests.service import Api, new_user
from tests.sweeps import sweep

KEPT = (*TABLES, settings().credentials_table)
"""The tables that are compared; refusals are noted in the audit log."""
REFUSED = (401, 403, 404)
OPEN = {"CreateUser", "CreatePasswordReset", "CreateObtainAuthToken", "OpenShareLink", "CreateDeviceAuthorization",
        "CreateDeviceToken"}  # fmt: skip
"""Open to anybody; what they refuse is tested with accounts, devices and share links."""
OWN = {"CreateOrganization", "CreateAccessToken", "UpdateDeviceAuthorization", "BeginPasskey", "CreateSecondFactor",
       "ConfirmSecondFactor", "DeleteSecondFactor", "UpdateNotificationList", "UpdateNotificationSettings",
       "DestroyRowProtectionListApi"}  # fmt: skip
"""What everybody may do for themselves, which a credential with limits may not."""
_ELSEWHERE = OPEN | workflows.ELSEWHERE | workflows.OF_MEASURES
CALLED = [each for each in workflows.writing() if not each.is_read and each.id not in _ELSEWHERE]


@dataclass
class Callers:
    """A world with a request that works for each operation, and those who may make few of them."""

    world: World
    undo: Rewind
    calls: dict[str, workflows.Workflow]
    limited: dict[str, Api]
    """The owner by credentials with limits, and guests."""
    levels: dict[str, Api]
    """The owner by a token of each level."""
    newcomer: Api

    def below(self, operation: Operation) -> Iterator[tuple[str, Api]]:
        """The name of everybody who may not call an operation, and who it is."""
        yield from self.limited.items()
        for name in PROJECT_LEVELS:
            if LEVEL_OF[name] < operation.needs.level:
                yield f"a token at {name}", self.levels[name]
                yield f"a member at {name}", self.world.members[name]
            elif operation.needs.level is Level.NONE and name != "Full Control":
                yield f"a token at {name}", self.levels[name]
                if operation.id not in OWN:
                    yield f"a member at {name}", self.world.members[name]
        if operation.id not in OWN:
            yield "somebody new", self.newcomer


@pytest.fixture(scope="module")
def callers() -> Iterator[Callers]:
    given = {"allowed_origins": ["https://templates.example.org"], "notify_address": "ops@example.org"}
    with pytest.MonkeyPatch.context() as patch, override(**given, email_enabled=True):
        patch.setattr(oidc, "discover", lambda _: {})
        world = workflows.build()
        things, owner = world.things, world.owner.user
        project = things["project"]
        calls = {each.name: each for each in workflows.workflows(world)}
        other = world.owner.made("Projects", {"name": "beside", "organization": things["organization"]})
        specs = {"media": {"media_ids": [things["media"]]}, "section": {"section": things["section"]}}
        limited = {f"a guest of a {name}": guest_of(link_to(world, **spec)[1]) for name, spec in specs.items()}
        limited |= {
            "nobody": Api(None),
            "a token that reads": hold(owner, operations=(READ,)),
            "a token of another project": hold(owner, projects=[other]),
            "a job elsewhere": hold(owner, "job", projects=[other], level=Level.EXECUTE),
        }
        levels = {name: hold(owner, projects=[project], level=LEVEL_OF[name]) for name in PROJECT_LEVELS}
        with rewinding() as undo:
            undo.mark()
            yield Callers(world, undo, calls, limited, levels, new_user())
            undo.back()


def check(operation: Operation, callers: Callers) -> None:
    """Make the request of an operation as everybody who may not, and as the owner."""
    call, undo = callers.calls[operation.id], callers.undo
    undo.back()
    wrong = []
    for name, who in callers.below(operation):
        said = replace(call, who=who).ask(who)
        changed = [key for key in undo.changed() if key[0] in KEPT]
        left = [*changed, *undo.new_objects(), *undo.messages(), *itertools.chain(*undo.mails())]
        if said.status not in REFUSED or left:
            wrong.append((name, said.status, said.body, left))
            undo.back()
    assert wrong == []
    said = call.ask(callers.world.owner)
    assert said.status < 300, said.body
    undo.back()


@sweep("operation", CALLED[::15], ids=lambda each: each.id)
def test_some_who_may_not_are_refused_what_works_for_others(operation, callers):
    check(operation, callers)


@pytest.mark.slow
@sweep("operation", CALLED, ids=lambda each: each.id)
def test_whoever_may_not_is_refused_what_works_for_others(operation, callers):
    check(operation, callers)


def test_no_read_tells_a_guest_who_a_user_is(callers):
    """In no format: not the author of an annotation or comment, nor a member."""
    world, undo = callers.world, callers.undo
    undo.back()
    workflows.show(world)
    things, project = world.things, world.things["project"]
    things["comment"] = world.owner.made(f"Comments/{project}", {"text": "look", "media_id": things["media"]})
    guests = [guest_of(link_to(world, comment=things["comment"])[1])]
    assert world.owner.patch(f"Project/{project}", {"public": "listed"}).status == 200
    guests += [*(who for name, who in callers.limited.items() if "guest" in name), Api(None), new_user()]
    words = [
        word.encode() for who in (world.owner, *world.members.values()) for word in (who.user.username, who.user.email)
    ]
    told = []
    for call in workflows.reads(world):
        operation = next(each for each in OPERATIONS if each.id == call.name)
        formats = operation.all_formats if operation.id in GUESTS else ()
        for who, form in itertools.product(guests, formats):
            said = replace(call, who=who, query={**call.query, "format": form}).ask(who)
            told += [(call.name, form, word) for word in words if word in said.body]
    undo.back()
    assert told == []
