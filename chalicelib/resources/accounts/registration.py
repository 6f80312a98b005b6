"""Getting into the service: registration, confirmation, invitations and password resets (`spec/3` §§2.3, 2.7, 3.3)."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime, timedelta

import msgspec

from chalicelib.access import passwords, users
from chalicelib.access.authentication import Caller, hash_of
from chalicelib.core.accounts import AFFILIATION, ORGANIZATION, USER, Affiliation, User, UserSpec
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.accounts.invitations import (
    INVITATION,
    INVITATION_DAYS,
    PASSWORD_RESET,
    RESET_HOURS,
    Invitation,
    PasswordReset,
)
from chalicelib.resources.email import system_emails
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import ids, records
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

NO_SUCH_RESET = "reset_token: it is not, or no longer, that of a password reset of this user."


def register(spec: UserSpec, caller: Caller) -> User:
    """Make a user who may register: with an invitation, as staff, or because anybody may.

    Raises:
        BadInput: the token is unknown, used, expired or for another address; or nobody may register without one.
    """
    if spec.registration_token:
        return _register_invited(spec, spec.registration_token)
    if not settings().anonymous_registration and not caller.is_staff:
        raise BadInput("registration_token: one is required here.")
    if not settings().confirm_registration or caller.is_staff:
        return users.register(spec)
    if not settings().email_enabled:
        raise BadInput("An account needs a confirmed address, and this deployment does not send email.")
    word = str(uuid.uuid4())
    user = users.build(spec, confirmation=hash_of(word))
    if records.claimed(USER, "username", user.username.casefold()):
        raise users.name_taken()
    # The letter first: whoever has an account but not its letter can neither use it nor register again.
    system_emails.post(system_emails.activation(f"{settings().public_url}/email-confirmation/{word}"), user.email)
    return records.create(USER, user, taken=users.name_taken())


def confirm(word: str) -> User:
    """Activate the user whose confirmation link was opened; opening it again changes nothing."""
    user = records.claimed(USER, "confirmation", hash_of(word))
    if user is None:
        raise NotFound("This confirmation link is not, or no longer, valid.")
    return records.edit(USER, user.id, lambda current: msgspec.structs.replace(current, is_active=True))


def invite(organization: int, email: str, permission: str, caller: Caller) -> tuple[Invitation, str]:
    """Invite an address, by mail where that is on; the invitation and its link.

    Stopped between the letter and the invitation, the letter's link does not work, and who invites again sends another;
    the other way round nobody would ever get a letter, for an invitation that is pending is not made again.

    Raises:
        BadInput: the address has a pending invitation, an affiliation, or several accounts; or is none.
    """
    known = users.with_address(email)
    if len(known) > 1:
        raise BadInput("email: several users have this address.")
    if known and any(item.organization == organization for item in records.linked(AFFILIATION, "user", known[0].id)):
        raise BadInput("email: this user belongs to the organization already.")
    taken = BadInput("email: there is a pending invitation for this address already.")
    if _has_pending(organization, email):
        raise taken
    invitation = Invitation(
        id=ids.reserve(INVITATION.name)[0],
        organization=organization,
        email=email,
        permission=permission,  # type: ignore[arg-type]
        created_by=caller.id,
        created_datetime=now(),
        created_username=caller.username,
        registration_token=str(uuid.uuid1()),
    )
    link = f"{settings().public_url}/{'accept' if known else 'registration'}?registration_token="
    link += invitation.registration_token
    if settings().email_enabled:
        name = records.get(ORGANIZATION, organization).name
        system_emails.post((system_emails.acceptance if known else system_emails.registration)(name, link), email)
    records.create(INVITATION, invitation, taken=taken)
    return invitation, link


def accept(invitation: Invitation, user: User, *, newcomer: bool = False) -> None:
    """Take an invited user into the organization; the invitation is used up with it, and a newcomer stored with it."""
    _check_usable(invitation)
    accepted = Affiliation(
        id=ids.reserve(AFFILIATION.name)[0],
        organization=invitation.organization,
        user=user.id,
        permission=invitation.permission,
    )

    def use(current: Invitation) -> Invitation:
        _check_usable(current)
        return msgspec.structs.replace(current, status="Accepted")

    def affiliate(change: Transaction, _before: Invitation, _after: Invitation) -> None:
        records.add(change, AFFILIATION, accepted)
        if newcomer:
            records.add(change, USER, user, taken=users.name_taken())

    records.edit(INVITATION, invitation.id, use, also=affiliate)


def by_token(token: str) -> Invitation:
    """The invitation with a registration token. Raises BadInput where it cannot be used."""
    invitation = records.claimed(INVITATION, "registration_token", token.lower())
    if invitation is None:
        raise BadInput("registration_token: it is not one of ours.")
    _check_usable(invitation)
    return invitation


def seen(invitation: Invitation) -> Invitation:
    """The invitation as it is now: a pending one that is too old has expired."""
    if invitation.status == "Pending" and _is_old(invitation):
        return msgspec.structs.replace(invitation, status="Expired")
    return invitation


def ask_reset(email: str) -> None:
    """Mail a link with which the one user of an address may set a new password.

    Raises:
        BadInput: several users or none have the address, or mail cannot be sent (`spec/1` Errors 2).
    """
    known = users.with_address(email)
    if len(known) != 1:
        raise BadInput("email: no email was sent: the address is not that of exactly one user.")
    if not settings().email_enabled:
        raise BadInput("This deployment does not send email.")
    word = str(uuid.uuid4())
    records.create(PASSWORD_RESET, PasswordReset(id=hash_of(word), user=known[0].id, created=time.time()))
    link = f"{settings().public_url}/password-reset?reset_token={word}&user={known[0].id}"
    system_emails.post(system_emails.password_reset(link), email)


def reset_password(user: User, word: str, password: str) -> None:
    """Set a new password with the word of a reset, once; sign the user out everywhere.

    Raises:
        BadInput: the word is not that of a reset of this user, is too old or used, or the password is weak.
    """
    try:
        reset = records.get(PASSWORD_RESET, hash_of(word))
    except NotFound:
        raise BadInput(NO_SUCH_RESET) from None
    if reset.user != user.id or time.time() - reset.created > RESET_HOURS * 3600:
        raise BadInput(NO_SUCH_RESET)
    passwords.check_strength(password, user.username, user.email)
    hashed = passwords.hash_password(password)

    def replace(current: User) -> User:
        # the mail confirmed the address, too; what an operator closed only an operator opens
        active = current.is_active or current.confirmation_token is not None
        return msgspec.structs.replace(
            current, password_hash=hashed, failed_logins=0, last_failed_login=0.0, tokens=[], is_active=active
        )

    def use_up(change: Transaction, before: User, _after: User) -> None:
        key = RecordRow(f"{PASSWORD_RESET.name}#{reset.id}", records.ALONE)
        change.delete(key, RecordRow.pk.exists(), BadInput(NO_SUCH_RESET))
        passwords.revoke(change, before.tokens)

    records.edit(USER, user.id, replace, also=use_up)


def _register_invited(spec: UserSpec, token: str) -> User:
    invitation = by_token(token)
    if invitation.email.casefold() != spec.email.casefold():
        raise BadInput("email: it is not the address that was invited.")
    user = users.build(spec)
    accept(invitation, user, newcomer=True)
    return user


def _check_usable(invitation: Invitation) -> None:
    if invitation.status != "Pending" or _is_old(invitation):
        raise BadInput("registration_token: the invitation was used or has expired.")


def _is_old(invitation: Invitation) -> bool:
    made = datetime.fromisoformat(invitation.created_datetime)
    return datetime.now(UTC) - made > timedelta(days=INVITATION_DAYS)


def _has_pending(organization: int, email: str) -> bool:
    """Whether an address is invited already. An invitation that is too old is none: its claim of the address goes."""
    pending = records.claimed(INVITATION, "email", f"{organization}|{email.casefold()}")
    if pending is None or pending.status != "Pending":
        return False
    if not _is_old(pending):
        return True
    records.edit(INVITATION, pending.id, lambda current: msgspec.structs.replace(current, status="Expired"))
    return False
