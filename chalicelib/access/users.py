"""Users: lookup by address and id, who knows whom, and their names in memberships and affiliations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar, get_args

import msgspec

from chalicelib.access import authentication, rate_limits
from chalicelib.access.authentication import Caller
from chalicelib.access.scope import Scope
from chalicelib.core.models.accounts import (
    AFFILIATION,
    MEMBERSHIP,
    PROJECT,
    USER,
    AddressStanding,
    Affiliation,
    Membership,
    User,
)
from chalicelib.core.permissions import Level
from chalicelib.core.records import padded
from chalicelib.errors import NotFound
from chalicelib.storage.dynamodb import records

P = TypeVar("P", Membership, Affiliation)
_STANDINGS = get_args(AddressStanding)


def with_address(email: str) -> list[User]:
    """All users with an address, in any case."""
    return records.list_linked(USER, "email", email.strip().casefold())


def holders(email: str) -> list[User]:
    """The owners of an address: of the users with it, those whose claim to it is the strongest.

    An account that confirmed the address, or that staff created, precedes one that only declares it.
    """
    found = with_address(email)
    best = max((_STANDINGS.index(user.email_standing) for user in found), default=0)
    return [user for user in found if _STANDINGS.index(user.email_standing) == best]


def by_address(scope: Scope) -> Callable[[str], list[int]]:
    """For searches: what finds the ids of the users of an address, of those whom the caller knows (`is_known`)."""

    def find(address: str) -> list[int]:
        return [user.id for user in with_address(address) if scope.is_service or is_known(scope.caller, user)]

    return find


def by_id(numbers: Iterable[int]) -> dict[int, User]:
    """The users that exist, by id."""
    wanted = list(dict.fromkeys(numbers))
    found = records.many(USER, wanted)
    return {number: found[number] for number in wanted if number in found}


def look_up(caller: Caller, find: Callable[[], User | None], organization: int = 0) -> User | None:
    """The user that a caller names. Of strangers, and of nobody, 600 are looked up in an hour, counted alike.

    Args:
        caller: the caller.
        find: what finds the user.
        organization: one that the caller administers, whose users are no strangers.

    Raises:
        TooMany: the caller has looked up that many.
    """
    if caller.is_staff:
        return find()
    rate_limits.check(rate_limits.LOOKUP, caller)
    found = find()
    if found is not None and caller.signed_in:
        is_of_it = bool(organization) and _is_affiliated(found.id, organization)
        if is_of_it or is_known(caller, found):
            rate_limits.give_back(rate_limits.LOOKUP, caller)
    return found


def is_known(caller: Caller, user: User) -> bool:
    """Whether a caller may know more of a user than the name: itself, those it shares a project with; all for staff.

    A project counts where the user did not come by the word of an administrator alone (`_with_consent`).
    """
    if caller.is_staff or caller.id == user.id:
        return True
    own = {membership.project for membership in records.list_linked(MEMBERSHIP, "user", caller.id)}
    shared = [each for each in records.list_linked(MEMBERSHIP, "user", user.id) if each.project in own]
    return user.id in _with_consent(shared)


def is_responsible(caller: Caller, user: User) -> bool:
    """Whether a caller answers for all that a user may reach.

    That are staff, and administrators of every organization that the user is affiliated with or has a project of,
    unless the user is of the staff or the caller. One of these places must be the user's by more than the word of an
    administrator: anybody may add anybody to an organization of their own.
    """
    if caller.is_staff:
        return True
    organizations = organizations_of(user.id)
    return (
        not user.is_staff
        and user.id != caller.id
        and bool(organizations)
        and _has_joined(user.id)
        and all(authentication.organization_level(caller, each) >= Level.FULL for each in organizations)
    )


def _has_joined(user: int) -> bool:
    """Whether a user has a place that staff, a provider or an accepted invitation gave."""
    return any(not place.added_by for place in records.list_linked(AFFILIATION, "user", user)) or any(
        not place.added_by for place in records.list_linked(MEMBERSHIP, "user", user)
    )


def organizations_of(user: int) -> set[int]:
    """The organizations that a user is affiliated with or has a project of."""
    projects = records.many(PROJECT, [each.project for each in records.list_linked(MEMBERSHIP, "user", user)])
    return {each.organization for each in records.list_linked(AFFILIATION, "user", user)} | {
        each.organization for each in projects.values() if each.deleted is None
    }


def check_known(users: Iterable[int], organization: int) -> None:
    """Check that users belong to an organization or to one of its projects.

    The user called `anonymous`, who is the public, is known to all. Ids of users are consecutive numbers: who may name
    a user of another organization could count those there are.

    Raises:
        NotFound: one of them does not; the same for a user of others and for a number that is nobody's.
    """
    for user in users:
        if not (_is_affiliated(user, organization) or _is_in_a_project(user, organization) or _is_the_public(user)):
            raise NotFound.of("User", user)


def _is_affiliated(user: int, organization: int) -> bool:
    return records.first(AFFILIATION, organization, f"{padded(user)}|") is not None


def _is_the_public(user: int) -> bool:
    public = authentication.anonymous()
    return public is not None and public.id == user


def _is_in_a_project(user: int, organization: int) -> bool:
    numbers = [each.project for each in records.list_linked(MEMBERSHIP, "user", user)]
    return any(
        each.organization == organization and each.deleted is None for each in records.many(PROJECT, numbers).values()
    )


def _with_consent(places: Sequence[Membership | Affiliation]) -> set[int]:
    """The users of some places whom staff, a provider or an accepted invitation brought there, or to its organization.

    Anybody may add anybody to an organization of their own by the id, and ids are consecutive numbers (decision 310).
    """
    unasked = [place for place in places if place.added_by]
    projects = records.many(PROJECT, [place.project for place in unasked if isinstance(place, Membership)])
    where = {
        place.id: place.organization if isinstance(place, Affiliation) else projects[place.project].organization
        for place in unasked
        if isinstance(place, Affiliation) or place.project in projects
    }
    joined = {
        (organization, each.user)
        for organization in set(where.values())
        for each in records.list_children(AFFILIATION, organization)
        if not each.added_by
    }
    return {place.user for place in places if not place.added_by or (where.get(place.id), place.user) in joined}


def with_user_names(places: Sequence[P]) -> list[P]:
    """Memberships or affiliations with the names of their users, and the addresses of those who agreed to be there."""
    found, known = by_id(place.user for place in places), _with_consent(places)
    return [
        msgspec.structs.replace(
            place,
            username=user.username,
            first_name=user.first_name,
            last_name=user.last_name,
            email=user.email if user.id in known else "",
        )
        if (user := found.get(place.user))
        else place
        for place in places
    ]
