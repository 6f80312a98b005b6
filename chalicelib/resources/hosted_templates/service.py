"""Hosted templates in use: who may use one, and what it gives with the parameters of who uses it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.core.models.algorithms import Algorithm, Applet
from chalicelib.core.models.integrations import HOSTED_TEMPLATE, HostedTemplate, Parameter
from chalicelib.core.permissions import Level
from chalicelib.errors import BadInput, Forbidden
from chalicelib.resources.hosted_templates import rendering
from chalicelib.resources.uploads import fetching
from chalicelib.storage import sealing
from chalicelib.storage.dynamodb import records

U = TypeVar("U", Algorithm, Applet)

OWN = "hosted template"
"""What the headers of a template are sealed for."""
USE = "use of a template"
"""What the headers are sealed for that an algorithm or applet adds."""


def get_allowed(number: int, caller: Caller) -> HostedTemplate:
    """A template that a caller may register something with.

    Raises:
        BadInput: there is none.
        Forbidden: the caller does not administer its organization.
    """
    template = find(number)
    if authentication.organization_level(caller, template.organization) < Level.FULL:
        raise Forbidden(f"Using the hosted template {number} needs administrative access in its organization.")
    return template


def find(number: int) -> HostedTemplate:
    """A template. Raises BadInput where it was deleted."""
    found = records.maybe(HOSTED_TEMPLATE, number)
    if found is None:
        raise BadInput(f"template: there is no hosted template {number}.")
    return found


def seal(headers: Sequence[Parameter]) -> str:
    """The encrypted headers of one use; empty without headers. Raises BadInput for a header that HTTP cannot send."""
    return sealing.seal_headers(headers, USE)


def change_use(user: U, members: dict[str, Any]) -> U:
    """A user of a template with changed members.

    Raises:
        BadInput: kept headers would be sent with the requests of another template.
    """
    if user.sealed and members.get("template") not in (None, user.template) and "sealed" not in members:
        raise BadInput("headers: give them again, or [] for none: they may hold a key, and the template is another.")
    return msgspec.structs.replace(user, **members)


def render(template: HostedTemplate, tparams: Sequence[Parameter], sealed: str) -> str:
    """What a template gives: its own parameters and headers overridden by those of its use.

    Raises:
        Forbidden: its URL is not from an allowed origin.
        BadInput, TooLarge: it cannot be fetched or rendered.
    """
    headers = sealing.unseal_headers(template.sealed, OWN) | sealing.unseal_headers(sealed, USE)
    source = _fetch(template.url, template.organization, headers)
    values = {item.name: item.value for item in (*template.tparams, *tparams)}
    return rendering.render(source, values)


def _fetch(url: str, organization: int, headers: dict[str, str]) -> str:
    """The text of a template, by HTTP: the object store checks the signature of a URL into it."""
    body = fetching.fetch_url(url, rendering.LARGEST_TEMPLATE, organization, headers)
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise BadInput("template: it is not text in UTF-8.") from None
