"""Comparison of secrets."""

from __future__ import annotations

import hmac


def are_equal(given: str, secret: str) -> bool:
    """Whether a text from outside is a secret, in a time that tells nothing of where they differ.

    `hmac.compare_digest` alone raises a TypeError for texts with characters beyond ASCII.
    """
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode("utf-8", "surrogatepass"))
