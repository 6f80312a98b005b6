"""Codes of authenticator apps: time-based one-time passwords (RFC 6238) of six digits, by HMAC-SHA-1, every 30 s."""

from __future__ import annotations

import base64
import hmac
import re
import secrets
from urllib.parse import quote, urlencode

STEP_SECONDS = 30
DIGITS = 6
DRIFT = 1
"""How many steps a phone's clock may be ahead or behind."""
_SECRET_BYTES = 20
_RECOVERY_BYTES = 10


def new_secret() -> bytes:
    """A random secret of 160 bits, as RFC 4226 recommends."""
    return secrets.token_bytes(_SECRET_BYTES)


def as_text(secret: bytes) -> str:
    """A secret as people type it: base32 without padding."""
    return base64.b32encode(secret).decode().rstrip("=")


def address(secret: bytes, issuer: str, account: str) -> str:
    """The `otpauth` address that authenticator apps read, as a QR code or a link."""
    query = urlencode({"secret": as_text(secret), "issuer": issuer}, quote_via=quote)
    return f"otpauth://totp/{quote(f'{issuer}:{account}', safe='')}?{query}"


def code_at(secret: bytes, step: int, digits: int = DIGITS) -> str:
    """The code of a step: seconds since the epoch, divided by 30 (RFC 4226, 5.3)."""
    digest = hmac.digest(secret, step.to_bytes(8, "big"), "sha1")
    start = digest[-1] & 15
    number = int.from_bytes(digest[start : start + 4], "big") & 0x7FFFFFFF
    return f"{number % 10**digits:0{digits}}"


def step_of(secret: bytes, code: str, moment: float, after: int = 0) -> int | None:
    """The step that a code is of, around a time in seconds since the epoch; None where it is of none.

    Args:
        secret: of the authenticator.
        code: six digits.
        moment: the present time.
        after: the step of the code that was taken last: a code counts once, and none before it.
    """
    present = int(moment // STEP_SECONDS)
    for step in range(max(after + 1, present - DRIFT), present + DRIFT + 1):
        if hmac.compare_digest(code_at(secret, step).encode(), code.encode()):
            return step
    return None


def new_recovery_code() -> str:
    """A random code of 80 bits for the day on which the phone is lost: `abcd-efgh-ijkl-mnop`, once only."""
    text = base64.b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode().lower()
    return "-".join(text[start : start + 4] for start in range(0, len(text), 4))


def is_of_app(code: str) -> bool:
    """Whether a code is one of an app, by its form: digits alone."""
    return re.fullmatch(rf"[0-9]{{{DIGITS}}}", code) is not None
