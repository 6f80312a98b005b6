"""What tests of accounts share: bodies, and the mails that were sent."""

from __future__ import annotations

import re
import uuid

from infra.emulator import aws
from infra.local.http import outbox

PASSWORD = "correct horse 7"


def mails_to(address):
    """The mails to an address, oldest first."""
    return [mail for mail in outbox.sent(aws.REGION) if address in mail["to"]]


def newest_mail_to(address, part=""):
    """The newest mail to an address that has `part` in its text: mails of several tenants come in any order."""
    return [mail for mail in mails_to(address) if part in mail["text"]][-1]


def spec(address, **more):
    """The body that registers a new user."""
    name = f"u{uuid.uuid4().hex[:8]}"
    return {"username": name, "first_name": "A", "last_name": "B", "email": address, "password": PASSWORD, **more}


def token_in(text, name="registration_token"):
    return re.search(rf"{name}=([0-9a-f-]+)", text)[1]


def link_in(text):
    """The path and query of the one link of a mail."""
    [link] = re.findall(r"https?://[^/\s]+(/\S+)", text)
    return link
