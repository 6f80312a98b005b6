"""Addresses of mail, as people write them: `ada@example.org` or `Ada Lovelace <ada@example.org>`."""

from __future__ import annotations

import re
from email.headerregistry import Address
from typing import NamedTuple

from chalicelib.errors import BadInput

MAX_ADDRESS_LENGTH = 320
"""Characters of an address: 64 before the @, 255 after it (RFC 5321)."""
LONGEST_NAME = 200

_LOCAL = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_ADDRESS = re.compile(rf"{_LOCAL}@{_LABEL}(?:\.{_LABEL})*", re.ASCII)
_NAMED = re.compile(r"(?P<name>[^<>]*)<(?P<address>[^<>]*)>")


class Mailbox(NamedTuple):
    """A sender or recipient. `name` is empty where none was given."""

    name: str
    address: str

    def header(self) -> Address:
        """The form for `From` and `To` of an `EmailMessage`, which quotes or encodes it."""
        local, _, domain = self.address.rpartition("@")
        return Address(display_name=self.name, username=local, domain=domain)


def parse(text: str, member: str = "") -> Mailbox:
    """Read `address` or `Name <address>`, the name quoted or not.

    Line ends and other control characters are refused everywhere: they would end a header and begin another.

    Raises:
        BadInput: the text has neither form; the message repeats it, after the name of the member that has it.
    """
    given = text.strip()
    named = _NAMED.fullmatch(given)
    name, address = (named["name"].strip(), named["address"].strip()) if named else ("", given)
    if len(name) > 1 and name[0] == name[-1] == '"':
        name = re.sub(r"\\(.)", r"\1", name[1:-1])
    good = (
        is_one_line(text)
        and len(name) <= LONGEST_NAME
        and len(address) <= MAX_ADDRESS_LENGTH
        and _ADDRESS.fullmatch(address)
        and not address.startswith(".")
        and ".." not in address
        and ".@" not in address
    )
    if not good:
        place = f"{member}: " if member else ""
        raise BadInput(
            f"{place}{text[:MAX_ADDRESS_LENGTH]!r} is not an email address: "
            "write 'name@example.org' or 'Name <name@example.org>'."
        )
    return Mailbox(name, address)


def is_one_line(text: str) -> bool:
    """Whether a text is allowed in a header: no control characters and no Unicode line ends."""
    return not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", text)
