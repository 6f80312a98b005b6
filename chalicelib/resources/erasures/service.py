"""Erase a person: the request closes the account, a queue function erases the rest (docs/decisions/207).

The message is sent first, delayed until the request must have ended, so that nothing waits for a request that died. A
request that died before it closed the account is repeated by the administrator and goes on where it ended. The names
that are looked for lie encrypted with the erasure until it is completed. What was found is counted before it is erased.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping

import msgspec

from chalicelib.access import authentication, users
from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import USER, User
from chalicelib.core.models.personal import ERASURE, Erasure, FoundData
from chalicelib.core.personal_data import Person
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, Forbidden
from chalicelib.queues import SETTLED, send
from chalicelib.resources.erasures import accounts
from chalicelib.resources.erasures.messages import ErasePerson
from chalicelib.settings import settings
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import ids, records
from chalicelib.storage.dynamodb.transactions import Transaction
from chalicelib.storage.objects import presigned

PURPOSE = "erasure"
ACCOUNT = "account"


def begin(caller: Caller, organization: int, user: User) -> Erasure:
    """Close and erase the account of a user, and queue the erasure of the rest; an incomplete one is continued.

    Raises:
        Unavailable: a store or queue does not answer; repeat the request.
    """
    found = find_unfinished(organization, user.id)
    number = found.id if found else ids.reserve(ERASURE.name)[0]
    order(ErasePerson(id=str(uuid.uuid4()), erasure=number), SETTLED)
    erasure = found or _create(number, caller, organization, user)
    person = read_person(erasure)
    for _, erase in accounts.find(person, erasure.organizations):
        erase()
    presigned.forget(user.id)
    accounts.close(user.id, lambda change: _set_running(change, number))
    return records.get(ERASURE, number)


def find_unfinished(organization: int, user: int) -> Erasure | None:
    """The erasure of a user that an organization began and that is not completed."""
    found = records.list_linked(ERASURE, "user", user)
    return next((each for each in found if each.organization == organization and each.status != "Completed"), None)


def _create(number: int, caller: Caller, organization: int, user: User) -> Erasure:
    person = accounts.person_of(user)
    organizations = sorted(users.organizations_of(user.id) | {organization})
    counted = Counter(place for place, _ in accounts.find(person, organizations))
    counted[ACCOUNT] = accounts.count_members(user)
    made = Erasure(
        id=number,
        organization=organization,
        user=user.id,
        created_by=caller.id,
        created_datetime=now(),
        found=as_list(counted),
        sealed=sealing.seal(msgspec.json.encode(person), PURPOSE),
        organizations=organizations,
    )
    return records.create(ERASURE, made)


def _set_running(change: Transaction, number: int) -> None:
    def run(current: Erasure) -> Erasure:
        return msgspec.structs.replace(current, status="Running") if current.status == "Begun" else current

    records.change(change, ERASURE, number, run)


def read_person(erasure: Erasure) -> Person:
    """Whose data an erasure that is not completed looks for. Raises Unavailable: KMS does not answer."""
    return msgspec.json.decode(sealing.unseal(erasure.sealed, PURPOSE), type=Person)


def as_list(found: Mapping[str, int]) -> list[FoundData]:
    """Counts by place as a report has them."""
    return [FoundData(place=place, number=number) for place, number in sorted(found.items()) if number]


def order(message: ErasePerson, delay: int) -> None:
    """Queue a part of an erasure, after some seconds. Raises Unavailable: the queue does not answer."""
    send(settings().purge_queue_url, message, delay=delay)


def check_allowed(caller: Caller, organization: int, number: int) -> User:
    """The user with an id, whom a caller may erase.

    Raises:
        NotFound: nobody of the organization has this id.
        Forbidden: the user is the caller, or reaches organizations that the caller does not administer.
    """
    users.check_known([number], organization)
    user = records.get(USER, number)
    if user.username.casefold() == authentication.ANONYMOUS:
        raise BadInput(f"user: {number} is the public, not a person.")
    if number == caller.id or not users.is_responsible(caller, user):
        raise Forbidden("Only staff, or another administrator of all organizations of the user, erases a user.")
    return user
