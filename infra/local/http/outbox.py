"""The mail that was sent on the local stack, as a person would read it: `/outbox`, and `/outbox?format=json`."""

from __future__ import annotations

import email
import email.policy
import html
import json
from email.message import EmailMessage
from typing import Any
from weakref import WeakKeyDictionary

from moto.core import DEFAULT_ACCOUNT_ID
from moto.ses.models import ses_backends

from infra.local.http.reply import Reply

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Outbox</title>
<style>body{{font:16px/1.5 system-ui;max-width:50rem;margin:2rem auto;padding:0 1rem}}
article{{border:1px solid #ccc;border-radius:.5rem;padding:1rem;margin:1rem 0}}pre{{white-space:pre-wrap}}</style>
<h1>Outbox</h1>{mails}</html>"""
_MAIL = """<article><h2>{subject}</h2><p>to {to}, from {sender}</p><pre>{text}</pre>{attachments}</article>"""


_parsed: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()
"""What was read of mails: to parse one takes milliseconds."""


def sent(region: str) -> list[dict[str, Any]]:
    """Every mail that SES took, oldest first: sender, recipients, subject, text, attachments as name and size."""
    mails = []
    for message in ses_backends[DEFAULT_ACCOUNT_ID][region].sent_messages:
        raw = getattr(message, "raw_data", None)
        if raw is None:
            continue
        if message not in _parsed:
            _parsed[message] = _read(raw, list(message.destinations))
        mails.append(_parsed[message])
    return mails


def page(region: str, *, as_json: bool) -> Reply:
    """The outbox as HTML or as JSON."""
    mails = sent(region)
    if as_json:
        return Reply(200, {"Content-Type": "application/json"}, json.dumps(mails).encode())
    shown = "".join(_html(mail) for mail in reversed(mails)) or "<p>No mail was sent yet.</p>"
    headers = {
        "Content-Type": "text/html; charset=utf-8",
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    }
    return Reply(200, headers, _PAGE.format(mails=shown).encode())


def _read(raw: str | bytes, recipients: list[str]) -> dict[str, Any]:
    data = raw.encode("utf-8", "surrogateescape") if isinstance(raw, str) else raw
    message = email.message_from_bytes(data, policy=email.policy.default)
    if not isinstance(message, EmailMessage):
        raise TypeError("the default policy makes EmailMessages")
    body = message.get_body(("plain", "html"))
    return {
        "from": str(message["From"]),
        "to": recipients or [str(message["To"])],
        "subject": str(message["Subject"]),
        "text": body.get_content() if body else "",
        "attachments": [
            {"name": part.get_filename(), "size": len(part.get_payload(decode=True) or b"")}
            for part in message.iter_attachments()
        ],
    }


def _html(mail: dict[str, Any]) -> str:
    names = "".join(f"<li>{html.escape(str(part['name']))}, {part['size']} bytes</li>" for part in mail["attachments"])
    return _MAIL.format(
        subject=html.escape(mail["subject"]),
        to=html.escape(", ".join(mail["to"])),
        sender=html.escape(mail["from"]),
        text=html.escape(mail["text"]),
        attachments=f"<ul>{names}</ul>" if names else "",
    )
