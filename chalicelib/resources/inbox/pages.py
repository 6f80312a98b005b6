"""The page that the signed link of a mail of notifications leads to. As with all such pages, a GET changes nothing."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from chalicelib.core.models.accounts import MailedToken
from chalicelib.core.resource import Resource
from chalicelib.core.text.numbers import natural
from chalicelib.http.operation import Answer, Call
from chalicelib.resources.accounts.html_pages import console_link, form, page, paragraph
from chalicelib.resources.accounts.mailed_pages import Form, declare
from chalicelib.resources.inbox import service as inbox_service


class UnsubscribeQuery(Resource, kw_only=True):
    """The signed link of a mail of notifications."""

    user: Annotated[str, Meta(max_length=20)] = ""
    signature: MailedToken = ""


def _unsubscribe(call: Call[Any, UnsubscribeQuery, Any], _: Form) -> Answer:
    """End the mails."""
    inbox_service.unsubscribe(natural(call.query.user) or 0, call.query.signature)
    text = "You get no more mails of notifications. They stay in the console, where the profile has the choice."
    return page("No more mails", paragraph(text), console_link())


def _unsubscription_form() -> tuple[str, ...]:
    return (paragraph("Mentions, tasks, failed jobs and imports are mailed no more."), form(button="Unsubscribe"))


PAGES = declare(
    "Unsubscription",
    "/unsubscribe",
    "end mails of notifications",
    "Unsubscribe",
    _unsubscribe,
    _unsubscription_form,
    UnsubscribeQuery,
)
