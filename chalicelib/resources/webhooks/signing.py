"""Secrets and signatures of webhooks, as Standard Webhooks 1.0 defines them. Pure.

webhook-id         the id of the event, the same at every attempt
webhook-timestamp  seconds since 1970, of this attempt
webhook-signature  v1,<base64 of HMAC-SHA256 of "id.timestamp.body"> for each valid secret, with spaces between
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """A random secret: `whsec_` and 32 bytes in base64."""
    return PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def headers(keys: Iterable[str], message: str, moment: int, body: bytes) -> dict[str, str]:
    """The headers of a message, signed with each secret."""
    content = b"%s.%d.%s" % (message.encode(), moment, body)
    return {
        "webhook-id": message,
        "webhook-timestamp": str(moment),
        "webhook-signature": " ".join(f"v1,{_signature(key, content)}" for key in keys),
    }


def _signature(key: str, content: bytes) -> str:
    raw = base64.b64decode(key.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(raw, content, hashlib.sha256).digest()).decode()
