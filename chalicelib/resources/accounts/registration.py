"""Registration, confirmation, invitations and password resets.

Every step that a mail leads to has a random token in the mail's link, of which only the hash is stored.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from chalicelib.access import passwords, rate_limits, users
from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import AFFILIATION, ORGANIZATION, UNLOCK, USER, Affiliation, Unlock, User, UserSpec
from chalicelib.core.models.credentials import hash_of
from chalicelib.core.resource import now
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, NotFound, Taken
from chalicelib.resources.accounts import creation
from chalicelib.resources.accounts.invitations import (
    INVITATION,
    INVITATION_DAYS,
    PASSWORD_RESET,
    RESET_HOURS,
    Invitation,
    PasswordReset,
)
from chalicelib.resources.email import notifications, system_emails
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import ids, limits, record_rows, records
from chalicelib.storage.dynamodb.tables import RecordRow
from chalicelib.storage.dynamodb.transactions import Transaction

NO_SUCH_RESET = "reset_token: it is not, or no longer, that of a password reset of this user."


def register(spec: UserSpec, caller: Caller) -> User:
    """Create a user who may register: with an invitation, as staff, or because registration is open.

    Raises:
        BadInput: the token is unknown, used, expired or for another address; or registration needs one.
        TooMany: the caller registered too many, or tried too many tokens.
    """
    if not caller.is_staff:
        rate_limits.check(rate_limits.REGISTRATION, caller, spec.email)
    if spec.registration_token:
        return _register_invited(spec, spec.registration_token, caller)
    if not settings().anonymous_registration and not caller.is_staff:
        raise BadInput("registration_token: one is required here.")
    if caller.is_staff:
        return creation.register(spec, standing="vouched")
    if not settings().confirm_registration:
        return creation.register(spec, standing="declared")
    if not settings().email_enabled:
        raise BadInput("An account needs a confirmed address, and this deployment does not send email.")
    token = passwords.new_mailed_token()
    user = creation.build(spec, standing="declared", confirmation=hash_of(token))
    if records.get_claimed(USER, "username", user.username.casefold()):
        raise creation.name_taken()
    # The mail goes first: an account without it could neither be used nor registered again.
    system_emails.enqueue(system_emails.activation(f"{settings().public_url}/email-confirmation/{token}"), user.email)
    return records.create(USER, user, taken=creation.name_taken())


def confirm(token: str, caller: Caller) -> User:
    """Activate the user whose confirmation link was opened; opening it again changes nothing.

    Raises:
        NotFound: there is no such link.
        BadInput: another account has confirmed the address since.
        TooMany: the caller tried too many tokens.
    """
    rate_limits.check(rate_limits.TOKEN_TRIAL, caller)
    user = records.get_claimed(USER, "confirmation", hash_of(token))
    if user is None:
        raise NotFound("This confirmation link is not valid, or has expired.")
    rate_limits.give_back(rate_limits.TOKEN_TRIAL, caller)
    if user.is_active:
        return user
    return records.edit(
        USER,
        user.id,
        lambda current: msgspec.structs.replace(current, is_active=True, email_standing="confirmed"),
        taken=creation.address_taken(),
    )


def invite(organization: int, email: str, permission: str, caller: Caller) -> tuple[Invitation, str]:
    """Invite an address, by mail if mail is on. Returns the invitation and its link.

    The mail is sent first. After a crash between the two, the mail's link does not work, and inviting again sends
    another. In the opposite order no mail would ever be sent, because a pending invitation is not created again.

    Raises:
        BadInput: the address has a pending invitation, an affiliation, or several accounts; or it is malformed.
        TooMany: the caller or the address had too many invitations.
    """
    email = creation.check_address(email)
    rate_limits.check(rate_limits.INVITATION, caller, email)
    known = users.holders(email)
    if len(known) > 1:
        raise BadInput("email: several users have this address.")
    if known and any(
        item.organization == organization for item in records.list_linked(AFFILIATION, "user", known[0].id)
    ):
        raise Taken("email: this user belongs to the organization already.")
    taken = Taken("email: there is a pending invitation for this address already.")
    if _has_pending(organization, email):
        raise taken
    token = passwords.new_mailed_token()
    invitation = Invitation(
        id=ids.reserve(INVITATION.name)[0],
        organization=organization,
        email=email,
        permission=permission,  # type: ignore[arg-type]
        created_by=caller.id,
        created_datetime=now(),
        created_username=caller.username,
        token_hash=hash_of(token),
    )
    limits.check(INVITATION, invitation)
    link = f"{settings().public_url}/{'accept' if known else 'registration'}?registration_token={token}"
    if settings().email_enabled:
        name = records.get(ORGANIZATION, organization).name
        system_emails.enqueue((system_emails.acceptance if known else system_emails.registration)(name, link), email)
    records.create(INVITATION, invitation, taken=taken)
    return invitation, link


def accept(invitation: Invitation, user: User, *, newcomer: bool = False, added_by: int = 0) -> None:
    """Add an invited user to the organization, in one transaction with the used invitation and a new account.

    Args:
        invitation: the invitation.
        user: whom it is for.
        newcomer: whether the account is new.
        added_by: the administrator who accepts it in the place of the user; 0 where that is the user.
    """
    _check_usable(invitation)
    accepted = Affiliation(
        id=ids.reserve(AFFILIATION.name)[0],
        organization=invitation.organization,
        user=user.id,
        permission=invitation.permission,
        added_by=added_by,
    )

    def use(current: Invitation) -> Invitation:
        _check_usable(current)
        return msgspec.structs.replace(current, status="Accepted")

    def affiliate(change: Transaction, _before: Invitation, _after: Invitation) -> None:
        records.add(change, AFFILIATION, accepted)
        if newcomer:
            records.add(change, USER, user, taken=creation.name_taken())

    records.edit(INVITATION, invitation.id, use, also=affiliate)


def by_token(token: str, caller: Caller) -> Invitation:
    """The invitation with a registration token.

    Raises:
        BadInput: there is none, or it cannot be used.
        TooMany: the caller tried too many tokens.
    """
    rate_limits.check(rate_limits.TOKEN_TRIAL, caller)
    invitation = records.get_claimed(INVITATION, "token", hash_of(token.strip().lower()))
    if invitation is None:
        raise BadInput("registration_token: there is no invitation with this token.")
    rate_limits.give_back(rate_limits.TOKEN_TRIAL, caller)
    _check_usable(invitation)
    return invitation


def as_response(invitation: Invitation) -> Invitation:
    """The invitation as a response document: without its token, and expired if a pending one is too old."""
    status = "Expired" if invitation.status == "Pending" and _is_old(invitation) else invitation.status
    return msgspec.structs.replace(invitation, status=status, registration_token=None)


def ask_reset(email: str, caller: Caller) -> None:
    """Mail a link with which the one user of an address may set a new password.

    Raises:
        BadInput: several users or none have the address, or mail cannot be sent.
        TooMany: the caller or the address had too many.
    """
    rate_limits.check(rate_limits.PASSWORD_RESET, caller, email)
    known = users.holders(email)
    if len(known) != 1:
        raise BadInput("email: no email was sent: the address is not that of exactly one user.")
    if not settings().email_enabled:
        raise BadInput("This deployment does not send email.")
    [user] = known
    token = passwords.new_mailed_token()
    reset = PasswordReset(id=hash_of(token), user=user.id, email=user.email_key, created=clock.seconds())
    records.create(PASSWORD_RESET, reset)
    link = f"{settings().public_url}/password-reset?reset_token={token}&user={user.id}"
    system_emails.enqueue(system_emails.password_reset(link), email)


def reset_password(user: User, token: str, password: str, caller: Caller) -> None:
    """Set a new password with the token of a reset, once; sign the user out everywhere.

    The mail confirmed the user's address. Where it was declared only, somebody else may have made the account: what
    opened it before ends (docs/decisions/240). The token unlocks the account once more, so that its owner can sign in
    with the new password while others keep it locked.

    Raises:
        BadInput: the token is not that of a reset of this user, is too old or used, or the password is weak.
        TooMany: the caller tried too many tokens.
    """
    rate_limits.check(rate_limits.TOKEN_TRIAL, caller)
    reset = _usable_reset(user, token)
    rate_limits.give_back(rate_limits.TOKEN_TRIAL, caller)
    passwords.check_strength(password, user.username, user.email)
    hashed = passwords.hash_password(password)
    holder = records.get_claimed(USER, "email", user.email_key)
    may_confirm = bool(reset.email) and holder is None

    def replace(current: User) -> User:
        _check_reset(reset, current)
        if may_confirm and current.email_standing == "declared":
            current = msgspec.structs.replace(current, owned_since=now(), passkeys=[], second_factor=None)
        return msgspec.structs.replace(
            current,
            password_hash=hashed,
            password_changed=clock.seconds(),
            tokens=[],
            # an account that an operator closed stays closed: closing removed its confirmation token
            is_active=current.is_active or current.confirmation_token is not None,
            email_standing="confirmed" if may_confirm else current.email_standing,
            pending_email=None,
            pending_email_token=None,
        )

    def use_up(change: Transaction, before: User, _after: User) -> None:
        key = RecordRow(f"{PASSWORD_RESET.name}#{reset.id}", record_rows.ALONE)
        change.delete(key, RecordRow.pk.exists(), BadInput(NO_SUCH_RESET))
        for pointer in record_rows.pointers_of(PASSWORD_RESET, reset):
            change.delete(RecordRow(*pointer))
        records.add(change, UNLOCK, Unlock(id=reset.id, user=user.id, created=clock.seconds()))
        passwords.revoke(change, before.tokens)

    changed = records.edit(USER, user.id, replace, also=use_up, taken=creation.address_taken())
    passwords.unlock(user.id)
    notifications.password_changed(changed)


def change_password(user: User, present: str, password: str, caller: Caller) -> None:
    """Set a new password with the present one; end every token of the user but that of the request.

    A wrong present password counts towards the lock-out like a refused sign-in.

    Raises:
        BadInput: the present password is wrong, the account is locked, or the new password is weak.
    """
    try:
        passwords.verify(user.username, present, notifications.notify_of_lock)
    except BadInput:
        raise BadInput("current_password: it is wrong, or the account is locked after wrong passwords.") from None
    passwords.check_strength(password, user.username, user.email)
    hashed = passwords.hash_password(password)

    def replace(current: User) -> User:
        if current.password_hash != user.password_hash:
            raise BadInput("current_password: another request has just replaced it.")
        return msgspec.structs.replace(
            current,
            password_hash=hashed,
            password_changed=clock.seconds(),
            tokens=[token for token in current.tokens if token == caller.token_hash],
            pending_email=None,
            pending_email_token=None,
        )

    changed = records.edit(USER, user.id, replace, also=passwords.revoke_removed)
    notifications.password_changed(changed)


def _usable_reset(user: User, token: str) -> PasswordReset:
    reset = records.maybe(PASSWORD_RESET, hash_of(token))
    if reset is None:
        raise BadInput(NO_SUCH_RESET)
    _check_reset(reset, user)
    return reset


def _check_reset(reset: PasswordReset, user: User) -> None:
    is_old = clock.seconds() - reset.created > RESET_HOURS * 3600 or reset.created < user.password_changed
    is_elsewhere = bool(reset.email) and reset.email != user.email_key
    if reset.user != user.id or is_old or is_elsewhere:
        raise BadInput(NO_SUCH_RESET)


def _register_invited(spec: UserSpec, token: str, caller: Caller) -> User:
    invitation = by_token(token, caller)
    if invitation.email.casefold() != spec.email.casefold():
        raise BadInput("email: it is not the address that was invited.")
    # an administrator has seen the link too, so that it does not prove whose the address is
    user = creation.build(spec, standing="declared")
    accept(invitation, user, newcomer=True)
    return user


def _check_usable(invitation: Invitation) -> None:
    if invitation.status != "Pending" or _is_old(invitation):
        raise BadInput("registration_token: the invitation was used or has expired.")


def _is_old(invitation: Invitation) -> bool:
    made = datetime.fromisoformat(invitation.created_datetime)
    return clock.utc_now() - made > timedelta(days=INVITATION_DAYS)


def _has_pending(organization: int, email: str) -> bool:
    """Whether an address has a pending invitation. Removes the claim of an expired invitation."""
    pending = records.get_claimed(INVITATION, "email", f"{organization}|{email.casefold()}")
    if pending is None or pending.status != "Pending":
        return False
    if not _is_old(pending):
        return True
    records.edit(INVITATION, pending.id, lambda current: msgspec.structs.replace(current, status="Expired"))
    return False
