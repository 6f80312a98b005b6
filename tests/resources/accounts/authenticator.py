"""An authenticator in software: it makes passkeys and signs with them, and does wrong what a test asks for."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

ORIGIN, HOST = "http://localhost:8000", "localhost"
PRESENT, VERIFIED, CREDENTIAL = 1, 4, 64
EDDSA, ES256, RS256 = -8, -7, -257


def text(data: bytes) -> str:
    """Bytes in base64url."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def cbor(value: Any) -> bytes:
    """A value in CBOR."""
    if isinstance(value, dict):
        return _head(5, len(value)) + b"".join(cbor(key) + cbor(item) for key, item in value.items())
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(map(cbor, value))
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    return _head(0, value) if value >= 0 else _head(1, -1 - value)


def _head(kind: int, number: int) -> bytes:
    if number < 24:
        return bytes([kind << 5 | number])
    size = next(size for size in (1, 2, 4, 8) if number < 1 << 8 * size)
    return bytes([kind << 5 | 23 + size.bit_length()]) + number.to_bytes(size, "big")


class Authenticator:
    """One passkey, with a counter that each signature raises by 1, or without one."""

    def __init__(self, algorithm: int = ES256, *, counts: bool = True) -> None:
        self.id = secrets.token_bytes(32)
        self.algorithm, self.counter, self.counts = algorithm, 0, counts
        self.handle: str | None = None
        self.key: Any = {
            ES256: lambda: ec.generate_private_key(ec.SECP256R1()),
            EDDSA: ed25519.Ed25519PrivateKey.generate,
            RS256: lambda: rsa.generate_private_key(65537, 2048),
        }[algorithm]()

    def cose_key(self) -> dict[int, Any]:
        """The public key as authenticators write it (COSE)."""
        key = self.key.public_key()
        if self.algorithm == EDDSA:
            return {1: 1, 3: EDDSA, -1: 6, -2: key.public_bytes_raw()}
        numbers = key.public_numbers()
        if self.algorithm == RS256:
            return {1: 3, 3: RS256, -1: numbers.n.to_bytes(256, "big"), -2: numbers.e.to_bytes(3, "big")}
        return {1: 2, 3: ES256, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}

    def make(self, asked: dict[str, Any], *, name: str = "phone", key: Any = None, **wrong: Any) -> dict[str, Any]:
        """The body that registers it, by the answer of `POST /rest/PasskeyRegistration`."""
        self.handle = asked["user_handle"]
        credential = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cbor(key or self.cose_key())
        data = self._data({"flags": PRESENT | VERIFIED | CREDENTIAL, **wrong}) + credential
        return {
            "name": name,
            "client_data": text(self._client_data("webauthn.create", asked, wrong)),
            "attestation": text(cbor({"fmt": "none", "attStmt": {}, "authData": data})),
        }

    def sign(self, asked: dict[str, Any], **wrong: Any) -> dict[str, Any]:
        """The body that proves it, by what the service asked."""
        self.counter += self.counts
        client_data = self._client_data("webauthn.get", asked, wrong)
        data = self._data({"flags": PRESENT | VERIFIED, **wrong})
        return {
            "id": text(self.id),
            "client_data": text(client_data),
            "authenticator_data": text(data),
            "signature": text(self.signature(data + hashlib.sha256(client_data).digest())),
            "user_handle": self.handle,
        }

    def signature(self, message: bytes) -> bytes:
        if self.algorithm == ES256:
            return self.key.sign(message, ec.ECDSA(hashes.SHA256()))
        if self.algorithm == RS256:
            return self.key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        return self.key.sign(message)

    def _data(self, given: dict[str, Any]) -> bytes:
        host = hashlib.sha256(given.get("host", HOST).encode()).digest()
        return host + bytes([given["flags"]]) + given.get("counter", self.counter).to_bytes(4, "big")

    @staticmethod
    def _client_data(kind: str, asked: dict[str, Any], wrong: dict[str, Any]) -> bytes:
        told = {"type": kind, "challenge": asked["challenge"], "origin": ORIGIN, "crossOrigin": False}
        made = json.dumps(told | {name: wrong[name] for name in told if name in wrong}).encode()
        return made[:-1] + wrong.get("more", b"") + b"}"
