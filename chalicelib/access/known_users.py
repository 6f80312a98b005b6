"""Whom an organization knows: its members, and those of its projects."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.access import authentication
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, PROJECT
from chalicelib.core.records import padded
from chalicelib.errors import NotFound
from chalicelib.storage.dynamodb import records


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
