"""Headers that users let the service send to servers of theirs. They may hold keys: responses never show them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from chalicelib.core.models.integrations import Parameter
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, Forbidden

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
OURS = frozenset(
    (
        *("host", "content-length", "content-encoding", "transfer-encoding", "te", "trailer", "upgrade", "expect"),
        *("connection", "keep-alive", "proxy-connection", "proxy-authorization"),
    )
)
"""Headers that say where a message goes, or where it ends: the service sets them."""


def check(headers: Sequence[Parameter], member: str = "headers") -> None:
    """Raise BadInput for a header that could not be sent, or that the service sets itself."""
    for header in headers:
        if not _NAME.fullmatch(header.name) or header.name.lower() in OURS:
            raise BadInput(
                f"{member}: {header.name[:100]!r} cannot be set. Give the name of a header other than those of the "
                "connection, such as Authorization."
            )
        if not _VALUE.fullmatch(header.value):
            raise BadInput(f"{member}: the value of {header.name} has characters that headers cannot have.")


def check_moved(before: str | None, after: str | None, *, is_given: bool) -> None:
    """Raise BadInput where headers that are kept would be sent to another server.

    Args:
        before: the URL now.
        after: the URL after the change.
        is_given: whether the change gives headers, too.
    """
    if after is not None and not is_given and _origin(before) != _origin(after):
        raise BadInput(
            "headers: give them again, or [] for none: they may hold a key, and the URL is of another server."
        )


def _origin(url: str | None) -> str | None:
    try:
        return origins.take_apart(url).origin if url else None
    except Forbidden:
        return url
