"""The pages that links in mails lead to: registration, acceptance, password reset, confirmation and unlocking.

Each shows a form, and the POST of the form does the work by the same functions as the REST operations. They need no
script and no console. A GET changes nothing, because mail scanners open links; the one exception is the confirmation
of a registration, whose link is meant to be visited.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import parse_qs

import msgspec
from msgspec import Meta

from chalicelib.access import passwords
from chalicelib.core.models.accounts import USER, MailedToken, User, UserSpec
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.core.text.numbers import natural
from chalicelib.errors import BadInput, Forbidden, LimnError, NotFound, TooLarge, TooMany
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Answer, Call, NoQuery, Operations
from chalicelib.resources.accounts import address_changes, registration, signing_in
from chalicelib.resources.accounts.html_pages import Field, alert, console_link, form, page, paragraph, secret
from chalicelib.resources.email import notifications
from chalicelib.storage.dynamodb import records

_LARGEST_FORM = 20_000
_MOST_FIELDS = 20
_PASSWORD = Field(name="password", label="Password", kind="password", autocomplete="current-password")
_CODE = Field(
    name="code",
    label="Code of your authenticator app, if you have one",
    autocomplete="one-time-code",
    is_required=False,
)
_NEW_PASSWORD = Field(name="password", label="New password", kind="password", autocomplete="new-password")
_USERNAME = Field(name="username", label="User name", autocomplete="username")


class RegistrationQuery(Resource, kw_only=True):
    """The token of an invitation, as its link carries it."""

    registration_token: MailedToken = ""


class ResetQuery(Resource, kw_only=True):
    """The token of a password reset and its user, as its link carries them."""

    reset_token: MailedToken = ""
    user: Annotated[str, Meta(max_length=20)] = ""


class UnlockQuery(Resource, kw_only=True):
    """The token of a mail about a lock, as its link carries it."""

    unlock_token: MailedToken = ""


class Form:
    """The members of a submitted form."""

    def __init__(self, body: bytes | None) -> None:
        if body is not None and len(body) > _LARGEST_FORM:
            raise TooLarge(f"A form may have {_LARGEST_FORM} bytes.")
        try:
            members = parse_qs((body or b"").decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError as failure:
            raise BadInput("The form cannot be read.") from failure
        self._members = {name: values[-1] for name, values in members.items()}

    def __getitem__(self, name: str) -> str:
        return self._members.get(name, "")


Content = Callable[[], tuple[str, ...]]
Work = Callable[[Call[Any, Any, Any], Form], Answer]


def _register(call: Call[Any, RegistrationQuery, Any], sent: Form) -> Answer:
    """Register with an invitation."""
    members = {name: sent[name] for name in ("username", "first_name", "last_name", "email", "password")}
    spec = _convert({**members, "registration_token": call.query.registration_token})
    user = registration.register(spec, call.caller)
    notifications.notify_of_account(user)
    text = f"The account {user.username} is ready. You can sign in with it now."
    return page("Welcome", paragraph(text), console_link())


def _accept(call: Call[Any, RegistrationQuery, Any], sent: Form) -> Answer:
    """Accept an invitation, with the password of the invited user."""
    user = signing_in.verify(sent["username"], sent["password"], sent["code"])
    invitation = registration.by_token(call.query.registration_token, call.caller)
    if user.email_key != invitation.email.casefold():
        raise Forbidden("The invitation is for another address.")
    registration.accept(invitation, user)
    text = "The invitation is accepted. You belong to the organization now."
    return page("Accepted", paragraph(text), console_link())


def _reset(call: Call[Any, ResetQuery, Any], sent: Form) -> Answer:
    """Set a new password."""
    user = _user(call.query.user)
    registration.reset_password(user, call.query.reset_token, sent["password"], call.caller)
    text = f"{user.username} has a new password. You can sign in with it now."
    return page("Password set", paragraph(text), console_link())


def _show_confirmation(call: Call[None, NoQuery, None]) -> Answer:
    """Confirm the address of a registration; ask whether a changed address is right."""
    token = call.path["token"]
    pending = address_changes.find(token)
    if pending is not None:
        return page("Confirm your address", *_confirmation_form(pending))

    def work(_call: Call[Any, Any, Any], _: Form) -> Answer:
        user = registration.confirm(token, call.caller)
        text = f"The account {user.username} is active. You can sign in now."
        return page("Address confirmed", paragraph(text), console_link())

    return _answer(call, "Confirm your address", work, tuple)


def _confirm_change(call: Call[Any, NoQuery, Any], _: Form) -> Answer:
    """Confirm a changed address."""
    user = address_changes.confirm(call.path["token"], call.caller)
    return page("Address confirmed", paragraph(f"The address of {user.username} is {user.email} now."))


def _unlock(call: Call[Any, UnlockQuery, Any], sent: Form) -> Answer:
    """Sign in to a locked account, which unlocks it."""
    unlock_token = call.query.unlock_token
    user = signing_in.verify(sent["username"], sent["password"], sent["code"], unlock_token=unlock_token)
    token = passwords.issue_token(user, refresh=False)
    text = f"The account {user.username} is open again. This API token of yours is shown once:"
    return page("Signed in", paragraph(text), secret(token))


def _answer(call: Call[Any, Any, Any], title: str, work: Work, form: Content) -> Answer:
    """The page of a successful submission, or the form again with its error."""
    try:
        return work(call, Form(call.body))
    except LimnError as failure:
        headers = {"Retry-After": str(failure.retry_after)} if isinstance(failure, TooMany) else None
        return page(title, alert(failure.message), *form(), status=failure.status, headers=headers)


def _registration_form() -> tuple[str, ...]:
    fields = (
        _USERNAME,
        Field(name="first_name", label="First name", autocomplete="given-name"),
        Field(name="last_name", label="Last name", autocomplete="family-name"),
        Field(name="email", label="The address that was invited", kind="email", autocomplete="email"),
        _NEW_PASSWORD,
    )
    return (form(*fields, button="Register"),)


def _acceptance_form() -> tuple[str, ...]:
    return (paragraph("Sign in to accept."), form(_USERNAME, _PASSWORD, _CODE, button="Accept"))


def _confirmation_form(user: User) -> tuple[str, ...]:
    question = f"Is {user.pending_email} to be the address of the account {user.username}?"
    return (paragraph(question), form(button="Confirm"))


def _unlock_form() -> tuple[str, ...]:
    text = "The account was locked after wrong passwords. With this link, your own password opens it."
    return (paragraph(text), form(_USERNAME, _PASSWORD, _CODE, button="Sign in"))


def _convert(members: dict[str, str]) -> UserSpec:
    try:
        return msgspec.convert(members, UserSpec)
    except msgspec.ValidationError as failure:
        rule, _, member = str(failure).partition(" - at `$.")
        raise BadInput(f"{member.rstrip('`')}: {rule}.") from failure


def _user(number: str) -> User:
    found = records.maybe(USER, natural(number) or 0)
    if found is None:
        raise NotFound("This link is incomplete, or no longer valid.")
    return found


def _reset_form() -> tuple[str, ...]:
    return (form(_NEW_PASSWORD, button="Set password"),)


def declare(
    name: str, path: str, purpose: str, title: str, work: Work, content: Content, query: type[Resource] = NoQuery
) -> Operations:
    """The page of a link and its form. One with a token in its path is a page that the token tells."""
    addresses = plain(lambda _: None, token=str) if "{token}" in path else None
    made = Operations(tag="Pages", needs=Permission.ANYONE, addresses=addresses, query=query, returns="text/html")

    def show(_: Call[None, Any, None]) -> Answer:
        return page(title, *content())

    def send(call: Call[None, Any, bytes | None]) -> Answer:
        return _answer(call, title, work, content)

    shown = _show_confirmation if addresses else show
    made.get(path, f"Show{name}", summary=f"The page to {purpose}, which a mail links to.", details="")(shown)
    made.post(path, f"Send{name}", summary=f"The form of the page to {purpose}.", status=200, details="")(send)
    return made


PAGES = (
    *declare("Registration", "/registration", "register with an invitation", "Register", _register,
              _registration_form, RegistrationQuery),
    *declare("Acceptance", "/accept", "accept an invitation", "Accept the invitation", _accept,
              _acceptance_form, RegistrationQuery),
    *declare("Reset", "/password-reset", "set a new password", "Set a new password", _reset, _reset_form, ResetQuery),
    *declare("Confirmation", "/email-confirmation/{token}", "confirm an address", "Confirm your address",
              _confirm_change, tuple),
    *declare("Unlock", "/unlock", "sign in to a locked account", "Sign in", _unlock, _unlock_form, UnlockQuery),
)  # fmt: skip
