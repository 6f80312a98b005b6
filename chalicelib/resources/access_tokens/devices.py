"""Sign-ins by device (RFC 8628): a program asks, a person confirms in a browser, and the program gets an access token.

The code that the person types is made from the hash of the code that the device keeps, so one row serves both. It is
stored under a hash, for ten minutes. The person's answer is kept there; the token is made in the write that removes it.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import timedelta
from hashlib import sha256
from typing import Literal

import msgspec

from chalicelib.access import rate_limits
from chalicelib.access.authentication import Caller
from chalicelib.core.models.accounts import USER
from chalicelib.core.models.credentials import hash_of
from chalicelib.core.resource import given, now, timestamp
from chalicelib.core.text.secret_texts import are_equal
from chalicelib.core.time import clock
from chalicelib.errors import BadInput, Conflict, NotFound, Unavailable
from chalicelib.resources.access_tokens import service as access_tokens_service
from chalicelib.resources.access_tokens.schemas import (
    ACCESS_TOKEN,
    AccessToken,
    AccessTokenSpec,
    DeviceAnswer,
    DeviceCodes,
    DeviceSignIn,
    DeviceSignInSpec,
)
from chalicelib.settings import settings
from chalicelib.storage.audit.concern import concern
from chalicelib.storage.dynamodb import attempts, limits, records
from chalicelib.storage.dynamodb.progress import device_codes
from chalicelib.storage.dynamodb.tables import RecordRow

SECONDS = 600
INTERVAL_SECONDS = 5
_ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
"""Without vowels, so that no words come up, and without digits, which look like letters."""
_LENGTH = 8
_NEITHER = "user_code: no device waits with this code. Codes count for ten minutes, once; begin again at the device."


class DeviceRefused(BadInput):
    """A device gets no token, now or at all; `error` of the body says why, in the words of RFC 8628."""

    def __init__(
        self, error: Literal["authorization_pending", "slow_down", "access_denied", "expired_token"], message: str
    ) -> None:
        super().__init__(f"device_code: {message}")
        self.more = {"error": error}


class _Waiting(msgspec.Struct):
    """What is stored: who asked, the hash of its code, and what the person said."""

    device: str
    asked: DeviceSignIn
    token: AccessToken | None = None
    """What was approved; None while nothing was said, and where it was denied."""


_decode = msgspec.json.Decoder(_Waiting).decode


def begin(caller: Caller, spec: DeviceSignInSpec) -> DeviceCodes:
    """Let a device wait for a person. Raises TooMany: so many began from this network address within the hour."""
    rate_limits.check(rate_limits.DEVICE_SIGN_IN, caller)
    asked = DeviceSignIn(
        **msgspec.structs.asdict(spec),
        network_address=caller.network_address,
        created_datetime=now(),
        expires_datetime=timestamp(clock.utc_now() + timedelta(seconds=SECONDS)),
    )
    for _ in range(3):
        device = secrets.token_hex(32)
        code = _code_of(device)
        waiting = _Waiting(device=hash_of(device), asked=asked)
        if device_codes.add(hash_of(code), msgspec.json.encode(waiting), SECONDS):
            break
    else:
        raise Unavailable("No code is free; try again.")
    shown = f"{code[:4]}-{code[4:]}"
    page = f"{settings().public_url}/#/device"
    return DeviceCodes(
        device_code=device,
        user_code=shown,
        verification_uri=page,
        verification_uri_complete=f"{page}?code={shown}",
        expires_in=SECONDS,
        interval=INTERVAL_SECONDS,
    )


def show(caller: Caller, code: str) -> DeviceSignIn:
    """The device whose sign-in has this code. Raises NotFound; TooMany: the caller tried too many codes."""
    return _decode(_find(caller, code).doc).asked


def answer(caller: Caller, body: DeviceAnswer, groups: Collection[str]) -> DeviceSignIn:
    """Give a device a token of the caller, within limits, or none; it gets it when it asks next.

    Raises:
        NotFound, TooMany: as `show`. Conflict: the device was answered before.
        BadInput: as `access_tokens.service.create`.
    """
    row = _find(caller, body.user_code)
    waiting = _decode(row.doc)
    if body.decision == "approve":
        asked = waiting.asked
        said = {name: value for name, value in given(body).items() if name not in ("user_code", "decision")}
        limited = {"name": asked.name, "projects": asked.projects, "level": asked.level, "operations": asked.operations}
        planned = access_tokens_service.plan(caller, AccessTokenSpec(**{**limited, **said}), groups)
        limits.check(ACCESS_TOKEN, planned)
        waiting.token = planned
        concern(target=f"access token {planned.id}")
    if not device_codes.answer(row, msgspec.json.encode(waiting)):
        raise Conflict("user_code: this device was answered before.")
    return waiting.asked


def redeem(device_code: str) -> tuple[AccessToken, str]:
    """The access token of a device that a person approved, and its secret; once.

    Raises:
        DeviceRefused: it was not approved, or not yet, or asks too often, or took too long.
        BadInput: the user has as many access tokens as are allowed.
    """
    ended = DeviceRefused("expired_token", "it is unknown, was used, or is older than ten minutes. Begin again.")
    row = device_codes.read(hash_of(_code_of(device_code)))
    if row is None or not are_equal((waiting := _decode(row.doc)).device, hash_of(device_code)):
        raise ended
    if not row.n:
        if attempts.count(f"device|{waiting.device}", 1, INTERVAL_SECONDS - 1) is None:
            raise DeviceRefused("slow_down", f"wait {INTERVAL_SECONDS} s between requests.")
        raise DeviceRefused("authorization_pending", "nobody has confirmed it yet. Ask again.")
    user = records.maybe(USER, waiting.token.user) if waiting.token else None
    if waiting.token is None or user is None or not user.is_active:
        raise DeviceRefused("access_denied", "the sign-in was refused.")
    concern(affiliated=user.id, user=user.id, username=user.username)
    return access_tokens_service.store(
        waiting.token, user.username, lambda change: device_codes.use(change, row, ended)
    )


def _find(caller: Caller, code: str) -> RecordRow:
    rate_limits.check(rate_limits.TOKEN_TRIAL, caller)
    letters = "".join(each for each in code.upper() if each in _ALPHABET)
    row = device_codes.read(hash_of(letters))
    if row is None:
        raise NotFound(_NEITHER)
    rate_limits.give_back(rate_limits.TOKEN_TRIAL, caller)
    return row


def _code_of(device: str) -> str:
    """The code that a person types for a device: 34 bits of a hash of the device's own code."""
    number = int.from_bytes(sha256(f"user code of {device}".encode()).digest())
    letters = ""
    for _ in range(_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        letters += _ALPHABET[digit]
    return letters
