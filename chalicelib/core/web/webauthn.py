"""The checks of WebAuthn (Level 2, 7.1 and 7.2): what a browser and an authenticator send, against what was asked.

All functions are pure. The public key of a passkey is the one in the attested credential data, never one that the page
gives beside it. Attestation statements are not looked at: none is asked for (docs/decisions/189).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from chalicelib.core.web import cbor
from chalicelib.errors import BadInput, Forbidden

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

EDDSA, ES256, RS256 = -8, -7, -257
ALGORITHMS = (EDDSA, ES256, RS256)
"""The accepted signatures by their COSE numbers, the best first: Ed25519, P-256, RSA of 2,048 to 4,096 bits."""
_PRESENT, _VERIFIED, _MAY_SYNC, _IS_SYNCED, _HAS_CREDENTIAL, _HAS_EXTENSIONS = 1, 4, 8, 16, 64, 128
_HEAD, _ID_PLACE = 37, 55
"""Bytes of authenticator data before the credential, and before its id."""
_LONGEST_ID = 1023
_KEY_TYPE, _ALGORITHM, _CURVE, _X, _Y, _N, _E = 1, 3, -1, -2, -3, -1, -2
_OKP, _EC2, _RSA = 1, 2, 3
_P256, _ED25519 = 1, 6
_COORDINATE = 32
_RSA_BITS = range(2048, 4097)
_EXPONENT = 65537


@dataclass(frozen=True)
class RelyingParty:
    """The service, as browsers and authenticators know it.

    Attributes:
        id: its host; a passkey is for this host alone.
        origin: the origin of its pages, `https://limn.example.org`.
    """

    id: str
    origin: str


@dataclass(frozen=True)
class NewCredential:
    """What a registration makes known.

    Attributes:
        id: of the credential, 1 to 1,023 bytes.
        algorithm: one of `ALGORITHMS`.
        public_key: SubjectPublicKeyInfo in DER.
        counter: the number of signatures so far; 0 where the authenticator does not count.
        is_synced: whether copies lie on other devices of the user.
    """

    id: bytes
    algorithm: int
    public_key: bytes
    counter: int
    is_synced: bool


@dataclass(frozen=True)
class Signed:
    """What a signature of a passkey makes known: the number of signatures so far, and whether copies exist."""

    counter: int
    is_synced: bool


class ClientData(msgspec.Struct, kw_only=True, rename="camel"):
    """What a browser says of a ceremony; the authenticator signs its hash."""

    type: str
    challenge: str
    origin: str
    cross_origin: bool = False


class _AuthenticatorData(msgspec.Struct, kw_only=True):
    flags: int
    counter: int
    rest: bytes


def read_client_data(data: bytes, type_: Literal["webauthn.create", "webauthn.get"], party: RelyingParty) -> ClientData:
    """What a browser says of a ceremony.

    Raises:
        BadInput: it is not its JSON. Forbidden: it is of another ceremony, or of a page of another origin.
    """
    try:
        found = msgspec.json.decode(data, type=ClientData)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise BadInput("client_data: the clientDataJSON of the browser is needed, in base64url.") from None
    if found.type != type_:
        raise Forbidden(f"The browser did {found.type[:50]!r}; {type_!r} was asked for.")
    if found.origin != party.origin or found.cross_origin:
        raise Forbidden(f"This was done on a page of another origin than {party.origin}.")
    return found


def verify_registration(attestation: bytes, party: RelyingParty) -> NewCredential:
    """The passkey that an authenticator made. The client data beside it have passed `read_client_data`.

    Raises:
        BadInput: the attestation object is malformed, or its key is of no accepted kind.
        Forbidden: it is for another host, or nobody touched the authenticator.
    """
    try:
        return _read_credential(cbor.read_all(attestation)["authData"], party)
    except (ValueError, TypeError, KeyError):
        raise BadInput(
            "attestation: the attestationObject of a passkey is needed, in base64url, with a key for Ed25519 (-8), "
            "ES256 (-7) or RS256 (-257)."
        ) from None


def verify_signature(
    public_key: bytes,
    algorithm: int,
    *,
    client_data: bytes,
    authenticator_data: bytes,
    signature: bytes,
    party: RelyingParty,
    needs_verification: bool,
) -> Signed:
    """Check the signature of a passkey. Its `client_data` has passed `read_client_data`, its challenge is ours.

    Args:
        public_key: SubjectPublicKeyInfo in DER, as it was registered.
        algorithm: as it was registered; what the caller says of it does not count.
        client_data: clientDataJSON.
        authenticator_data: what the authenticator says.
        signature: of both.
        party: the service.
        needs_verification: whether the authenticator must have verified its user, by PIN or fingerprint.

    Raises:
        BadInput: the authenticator data are malformed.
        Forbidden: they are for another host, nobody touched the authenticator, it did not verify its user, or the
            signature is none of the key's.
    """
    try:
        head = _read_head(authenticator_data, party)
        _check_extensions(head.rest, head.flags)
    except ValueError:
        raise BadInput("authenticator_data: those of the browser's answer are needed, in base64url.") from None
    if needs_verification and not head.flags & _VERIFIED:
        raise Forbidden(
            "The passkey did not verify you. Use its PIN, fingerprint or face, or sign in with your password."
        )
    if not _is_signed(public_key, algorithm, authenticator_data + hashlib.sha256(client_data).digest(), signature):
        raise Forbidden("The signature is none of this passkey's.")
    return Signed(head.counter, bool(head.flags & _IS_SYNCED))


def _read_credential(data: Any, party: RelyingParty) -> NewCredential:
    head = _read_head(data, party)
    size = int.from_bytes(data[_ID_PLACE - 2 : _ID_PLACE], "big")
    identity = data[_ID_PLACE : _ID_PLACE + size]
    _demand(bool(head.flags & _HAS_CREDENTIAL) and 0 < size <= _LONGEST_ID and len(identity) == size, "a credential")
    key, end = cbor.read(data, _ID_PLACE + size)
    _check_extensions(data[end:], head.flags)
    _demand(isinstance(key, dict), "a map")
    algorithm, public_key = _public_key(key)
    return NewCredential(identity, algorithm, public_key, head.counter, bool(head.flags & _IS_SYNCED))


def _read_head(data: Any, party: RelyingParty) -> _AuthenticatorData:
    _demand(isinstance(data, bytes) and len(data) >= _HEAD, "37 bytes")
    if data[:32] != hashlib.sha256(party.id.encode()).digest():
        raise Forbidden(f"The passkey is for another host than {party.id}.")
    flags = data[32]
    if not flags & _PRESENT:
        raise Forbidden("Nobody touched the authenticator.")
    _demand(bool(flags & _MAY_SYNC) or not flags & _IS_SYNCED, "a backup is of what may have one")
    return _AuthenticatorData(flags=flags, counter=int.from_bytes(data[33:_HEAD], "big"), rest=data[_HEAD:])


def _check_extensions(rest: bytes, flags: int) -> None:
    """Raise ValueError unless what is left is the map of extensions that the flags announce."""
    if flags & _HAS_EXTENSIONS:
        _demand(isinstance(cbor.read_all(rest), dict), "a map of extensions")
    else:
        _demand(not rest, "nothing follows")


def _demand(is_so: bool, rule: str) -> None:
    if not is_so:
        raise ValueError(rule)


def _public_key(key: Any) -> tuple[int, bytes]:
    """The algorithm of a COSE key, and the key as SubjectPublicKeyInfo. Raises ValueError: it is not accepted."""
    from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 only passkeys need it

    algorithm = key[_ALGORITHM]
    made = _build_key(key, algorithm)
    der = made.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return int(algorithm), der


def _build_key(key: Any, algorithm: Any) -> PublicKeyTypes:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa  # noqa: PLC0415

    stated = (algorithm, key[_KEY_TYPE])
    if stated == (ES256, _EC2) and key[_CURVE] == _P256 and len(key[_X]) == len(key[_Y]) == _COORDINATE:
        x, y = int.from_bytes(key[_X], "big"), int.from_bytes(key[_Y], "big")
        return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    if stated == (EDDSA, _OKP) and key[_CURVE] == _ED25519:
        return ed25519.Ed25519PublicKey.from_public_bytes(key[_X])
    if stated == (RS256, _RSA):
        n, e = int.from_bytes(key[_N], "big"), int.from_bytes(key[_E], "big")
        if n.bit_length() in _RSA_BITS and e == _EXPONENT:
            return rsa.RSAPublicNumbers(e, n).public_key()
    message = "the kind of the key"
    raise ValueError(message)


def _is_signed(public_key: bytes, algorithm: int, message: bytes, signature: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 only passkeys need it
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa  # noqa: PLC0415

    key = serialization.load_der_public_key(public_key)
    try:
        if algorithm == ES256 and isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
        elif algorithm == EDDSA and isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, message)
        elif algorithm == RS256 and isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
        else:
            return False
    except InvalidSignature:
        return False
    return True
