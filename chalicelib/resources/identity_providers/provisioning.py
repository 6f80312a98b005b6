"""Users whom an identity provider sends: their accounts, and what groups of the provider give them.

What a group gave is noted with the identity before it is given, so that it can be taken again after a crash, too; what
somebody gave by hand stays as it is.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

import msgspec

from chalicelib.access import users
from chalicelib.access.groups import GROUP, Group
from chalicelib.access.identities.providers import IDENTITY, Identity, IdentityProvider
from chalicelib.access.identities.scim_users import SCIM_USER
from chalicelib.core.models.accounts import AFFILIATION, MEMBERSHIP, PROJECT, USER, Affiliation, Membership, User
from chalicelib.core.permissions import LEVEL_OF
from chalicelib.core.records import padded
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, Conflict, Forbidden, NotFound
from chalicelib.resources.accounts import creation
from chalicelib.resources.accounts.invitations import INVITATION
from chalicelib.resources.projects import service as projects_service
from chalicelib.storage.dynamodb import ids, records
from chalicelib.storage.dynamodb.transactions import Transaction

_LONGEST_NAME = 100
_ATTEMPTS = 5


def find(provider: IdentityProvider, subject: str) -> Identity | None:
    """The identity of a subject of a provider, unless the owner of the account proved the address since."""
    found = records.get_claimed(IDENTITY, "subject", f"{provider.id}|{subject}")
    if found is None:
        return None
    user = records.get(USER, found.user)
    if user.provider == provider.id or user.is_opened_by(found.created_datetime):
        return found
    _ignore_missing(lambda: records.remove(IDENTITY, found.id))
    return None


def admit(provider: IdentityProvider, claims: Mapping[str, Any]) -> Identity:
    """The identity of a user who signs in, with a new account where it is the first time.

    Raises:
        Forbidden: the provider admits only who was invited, or is in a mapped group.
        Conflict: another account has the address; its user connects it.
    """
    known = find(provider, claims["sub"])
    if provider.admission == "mapped" and not _mappings_of(provider, claims):
        if known is not None:
            synchronize(provider, known, claims)
        raise Forbidden("None of your groups at the identity provider has access here.")
    return known or _create(provider, claims)


def connect(provider: IdentityProvider, subject: str, user: int) -> Identity:
    """Connect a user who is signed in with a subject of a provider. Raises Conflict: it is another user's."""
    known = find(provider, subject)
    if known is not None and known.user != user:
        raise Conflict("This identity is connected with another account.")
    return known or records.create(IDENTITY, _identity(provider, subject, user))


def synchronize(provider: IdentityProvider, identity: Identity, claims: Mapping[str, Any]) -> None:
    """Set memberships, groups and affiliation of a user to what the groups at the provider give."""
    mappings = _mappings_of(provider, claims)
    levels: dict[int, str] = {}
    for given in (each for mapping in mappings for each in mapping.memberships):
        if LEVEL_OF[given.permission] > LEVEL_OF.get(levels.get(given.project, ""), 0):
            levels[given.project] = given.permission
    wanted = {number: level for number, level in levels.items() if _is_of(provider, number)}
    groups = sorted({number for mapping in mappings for number in mapping.groups})
    admin = any(mapping.affiliation == "Admin" for mapping in mappings)
    if any(mapping.affiliation for mapping in provider.mappings):
        _affiliate(provider, identity.user, "Admin" if admin else "Member")
    elif records.first(AFFILIATION, provider.organization, f"{padded(identity.user)}|") is None:
        _affiliate(provider, identity.user, "Member")
    before = identity
    if (wanted, groups) != (identity.memberships, identity.groups):
        _store_grants(identity, {**identity.memberships, **wanted}, sorted({*identity.groups, *groups}))
    for number in {*before.memberships, *wanted}:
        _set_membership(number, identity.user, before.memberships.get(number), wanted.get(number))
    for number in {*before.groups, *groups}:
        _set_group(provider, number, identity.user, is_in=number in groups)
    if (wanted, groups) != (identity.memberships, identity.groups):
        _store_grants(identity, wanted, groups)


def _mappings_of(provider: IdentityProvider, claims: Mapping[str, Any]) -> list[Any]:
    """The mappings of the groups that the provider tells; a claim of another shape tells none."""
    told = claims.get(provider.groups_claim)
    names = (
        {told}
        if isinstance(told, str)
        else {each for each in told if isinstance(each, str)}
        if isinstance(told, list)
        else set()
    )
    return [mapping for mapping in provider.mappings if mapping.group in names]


def _create(provider: IdentityProvider, claims: Mapping[str, Any]) -> Identity:
    """A new user with an affiliation and an identity, in one transaction."""
    email = claims.get("email")
    if not isinstance(email, str) or "@" not in email:
        raise Forbidden("The identity provider did not send your email address (the claim `email`).")
    email = creation.check_address(email)
    is_theirs = email.rpartition("@")[2].casefold() in provider.domains
    held = users.holders(email)
    if (known := _find_provisioned(provider, held)) is not None:
        return records.create(IDENTITY, _identity(provider, claims["sub"], known))
    if held:
        raise Conflict("An account has this address already. Sign in there, and connect it with the identity provider.")
    invitation = records.get_claimed(INVITATION, "email", f"{provider.organization}|{email.casefold()}")
    if provider.admission == "invited" and (invitation is None or invitation.status != "Pending"):
        raise Forbidden("An administrator of the organization has to invite your address first.")
    name = _printable(claims.get("preferred_username")) or email.partition("@")[0]
    for attempt in range(_ATTEMPTS):
        user = User(
            id=ids.reserve(USER.name)[0],
            username=name if not attempt else f"{name}-{uuid.uuid4().hex[:6]}",
            first_name=_printable(claims.get("given_name")),
            last_name=_printable(claims.get("family_name")),
            email=email,
            email_standing="vouched" if is_theirs else "declared",
            provider=provider.id,
            elemental_id=str(uuid.uuid4()),
            created_datetime=now(),
        )
        change, taken = Transaction(), creation.name_taken()
        records.add(change, USER, user, taken=taken)
        identity = _identity(provider, claims["sub"], user.id)
        records.add(change, IDENTITY, identity, taken=Conflict("You are signing in twice at the same time; try again."))
        affiliation = Affiliation(
            id=ids.reserve(AFFILIATION.name)[0],
            organization=provider.organization,
            user=user.id,
            permission=invitation.permission if invitation and invitation.status == "Pending" else "Member",
            added_by=0,
        )
        records.add(change, AFFILIATION, affiliation)
        if invitation and invitation.status == "Pending":
            used = lambda current: msgspec.structs.replace(current, status="Accepted")  # noqa: E731
            records.change(change, INVITATION, invitation.id, used)
        try:
            change.run()
        except BadInput as refusal:
            if refusal is not taken:
                raise
        else:
            return identity
    raise Conflict("No user name is free for you; try again.")


def _find_provisioned(provider: IdentityProvider, held: list[User]) -> int | None:
    """The account that the provider's organization made by SCIM, and whose user never set a password; else None."""
    for user in held:
        found = records.get_claimed(SCIM_USER, "user", f"{provider.organization}|{user.id}")
        if found is not None and found.is_own and found.active and not user.password_hash:
            return user.id
    return None


def _identity(provider: IdentityProvider, subject: str, user: int) -> Identity:
    return Identity(
        id=ids.reserve(IDENTITY.name)[0], user=user, provider=provider.id, subject=subject, created_datetime=now()
    )


def _store_grants(identity: Identity, memberships: dict[int, str], groups: list[int]) -> None:
    records.edit(
        IDENTITY, identity.id, lambda current: msgspec.structs.replace(current, memberships=memberships, groups=groups)
    )


def _is_of(provider: IdentityProvider, project: int) -> bool:
    found = records.maybe(PROJECT, project)
    return found is not None and found.deleted is None and found.organization == provider.organization


def _affiliate(provider: IdentityProvider, user: int, permission: Any) -> None:
    held = records.first(AFFILIATION, provider.organization, f"{padded(user)}|")
    if held is None:
        number = ids.reserve(AFFILIATION.name)[0]
        made = Affiliation(id=number, organization=provider.organization, user=user, permission=permission, added_by=0)
        records.create(AFFILIATION, made)
    elif held.permission != permission:
        records.edit(AFFILIATION, held.id, lambda current: msgspec.structs.replace(current, permission=permission))


def _set_membership(project: int, user: int, was: str | None, wanted: Any) -> None:
    """Give, change or take one membership; one that somebody gave or changed by hand stays."""
    held = records.find(MEMBERSHIP, project, padded(user))
    if held is None and wanted is not None:
        number = ids.reserve(MEMBERSHIP.name)[0]
        made = Membership(id=number, project=project, user=user, permission=wanted, added_by=0)
        projects_service.add_member(made, user, Conflict("You are signing in twice at the same time; try again."))
    elif held is not None and was is not None and held.permission in (was, wanted) and held.permission != wanted:
        if wanted is None:
            _ignore_missing(lambda: records.remove(MEMBERSHIP, held.id))
        else:
            records.edit(MEMBERSHIP, held.id, lambda current: msgspec.structs.replace(current, permission=wanted))


def _set_group(provider: IdentityProvider, number: int, user: int, *, is_in: bool) -> None:
    def change(current: Group) -> Group | None:
        if current.organization != provider.organization or (user in current.members) == is_in:
            return None
        others = [each for each in current.members if each != user]
        return msgspec.structs.replace(current, members=[*others, user] if is_in else others)

    _ignore_missing(lambda: records.edit(GROUP, number, change))


def _ignore_missing(do: Any) -> None:
    try:
        do()
    except NotFound:
        return


def _printable(text: Any) -> str:
    return "".join(each for each in text if each.isprintable()).strip()[:_LONGEST_NAME] if isinstance(text, str) else ""
