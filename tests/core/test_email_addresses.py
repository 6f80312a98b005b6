"""Addresses as people write them."""

from __future__ import annotations

import pytest

from chalicelib.core.text.email_addresses import Mailbox, parse
from chalicelib.errors import BadInput


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ada@example.org", Mailbox("", "ada@example.org")),
        ("  ada@example.org ", Mailbox("", "ada@example.org")),
        ("Ada <ada@example.org>", Mailbox("Ada", "ada@example.org")),
        ("Ada Lovelace<ada@example.org>", Mailbox("Ada Lovelace", "ada@example.org")),
        ("<ada@example.org>", Mailbox("", "ada@example.org")),
        ('"Lovelace, Ada" <ada@example.org>', Mailbox("Lovelace, Ada", "ada@example.org")),
        (r'"The \"Countess\"" <ada@example.org>', Mailbox('The "Countess"', "ada@example.org")),
        ("Émilie du Châtelet <e.d+cirey@exa-mple.co.uk>", Mailbox("Émilie du Châtelet", "e.d+cirey@exa-mple.co.uk")),
        ("limn@localhost", Mailbox("", "limn@localhost")),
    ],
)
def test_both_forms_are_read(text, expected):
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ada",
        "@example.org",
        "ada@",
        "ada@@example.org",
        "ada@exa mple.org",
        "ada@-example.org",
        "ada@example..org",
        ".ada@example.org",
        "a..b@example.org",
        "ada.@example.org",
        "Ada ada@example.org",
        "Ada <ada@example.org",
        "Ada <ada@example.org> <eve@example.org>",
        "ada@example.org\n",
        "ada@example.org\r\nBcc: eve@example.org",
        "Ada\nBcc: eve@example.org <ada@example.org>",
        "Ada\x00 <ada@example.org>",
        "Ada\u2028 <ada@example.org>",
        "a" * 65 + "@example.org",
        "ada@" + ".".join(["a" * 60] * 6),
        "x" * 201 + " <ada@example.org>",
        "ada@exämple.org",
    ],
    ids=repr,
)
def test_anything_else_is_refused(text):
    with pytest.raises(BadInput, match="is not an email address"):
        parse(text)


@pytest.mark.parametrize("name", ["", "Ada", "Lovelace, Ada", 'The "Countess"', "Émilie", "a\\b"])
def test_a_mailbox_can_stand_in_a_header_and_be_read_again(name):
    assert parse(str(Mailbox(name, "ada@example.org").header())) == Mailbox(name, "ada@example.org")


def test_a_member_that_has_no_address_is_named():
    with pytest.raises(BadInput, match=r"^recipients: 'x' is not an email address"):
        parse("x", "recipients")
