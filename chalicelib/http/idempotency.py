"""The header Idempotency-Key: a request that writes is carried out once for each key, however often it is sent.

`once` stands around every operation that writes; a client sends the same key with each attempt of one request.

- The answer of a request that changed something, or succeeded, is kept for a day and given again, with the header
  `Idempotency-Replayed: true`.
- A request that was refused and changed nothing leaves its key free.
- The same key with another path, query or body is refused with 409, as is one whose first request died after it changed
  something, so that its answer is not known. While the first request runs, others get 503 with Retry-After.

A key is one of the caller's credential. The service keeps only its hash, and the answer encrypted by the key itself, as
answers may hold secrets such as tokens.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec

from chalicelib.access import rate_limits
from chalicelib.access.authentication import authorization_of, caller_of
from chalicelib.errors import BadInput, Conflict, Unavailable
from chalicelib.http.encoding import HttpAnswer
from chalicelib.http.operation import Operation
from chalicelib.storage.dynamodb.progress import idempotency
from chalicelib.storage.dynamodb.progress.idempotency import LARGEST_ANSWER, Earlier, Hold

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    from chalicelib.http.dispatch import Request

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
_KEY = re.compile(r"[!-~]{16,128}")
_NONCE = 12


class _Kept(msgspec.Struct, array_like=True):
    status: int
    headers: dict[str, str]
    body: bytes


def once(operation: Operation, request: Request, answered: Callable[[], HttpAnswer]) -> HttpAnswer:
    """The answer of a request: that of an earlier one with its key, or else what `answered` gives.

    Raises:
        BadInput: the key is malformed, or the caller is anonymous.
        Conflict: the key was used for another request, or the answer of its request was lost.
        TooMany: the caller has used too many keys within an hour.
        Unavailable: the first request with the key still runs, or DynamoDB does not answer.
    """
    key = request.headers.get(HEADER.lower())
    if key is None or operation.is_read:
        return answered()
    if not _KEY.fullmatch(key):
        raise BadInput(f"{HEADER}: give 16 to 128 visible ASCII characters, such as a random UUID.")
    caller = caller_of(request.headers, request.network_address)
    if not caller.signed_in:
        raise BadInput(f"{HEADER}: only requests of users who are signed in are kept. Leave it out.")
    rate_limits.check(rate_limits.KEPT_ANSWERS, caller)
    secret = f"{authorization_of(request.headers)}\n{key}".encode()
    taken = idempotency.claim(caller.id, hashlib.sha256(secret).hexdigest(), _fingerprint(operation, request))
    if isinstance(taken, Earlier):
        return _replayed(taken, _fingerprint(operation, request), secret)
    with idempotency.marking(taken):
        answer = answered()
    _store_answer(taken, answer, secret)
    return answer


def _fingerprint(operation: Operation, request: Request) -> str:
    parts = (operation.id, request.path, sorted(request.query.items()), hashlib.sha256(request.body or b"").hexdigest())
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _store_answer(hold: Hold, answer: HttpAnswer, secret: bytes) -> None:
    if not hold.has_changed and answer.status >= HTTPStatus.BAD_REQUEST:
        idempotency.release(hold)
        return
    if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return  # how much was changed is not known: the mark says that something was
    kept = zlib.compress(msgspec.msgpack.encode(_Kept(answer.status, answer.headers, answer.body)), 1)
    nonce = os.urandom(_NONCE)
    sealed = nonce + _cipher(secret).encrypt(nonce, kept, None)
    if len(sealed) <= LARGEST_ANSWER:
        idempotency.finish(hold, sealed)


def _replayed(earlier: Earlier, fingerprint: str, secret: bytes) -> HttpAnswer:
    if earlier.fingerprint != fingerprint:
        raise Conflict(f"{HEADER}: this key was used for another request. Use a new key for each request.")
    if earlier.answer is not None:
        nonce, sealed = earlier.answer[:_NONCE], earlier.answer[_NONCE:]
        plain = zlib.decompress(_cipher(secret).decrypt(nonce, sealed, None))
        kept = msgspec.msgpack.decode(plain, type=_Kept)
        return HttpAnswer(status=kept.status, headers={**kept.headers, REPLAYED: "true"}, body=kept.body)
    if earlier.seconds_left:
        raise Unavailable(f"{HEADER}: the first request with this key is still running.", retry_after=1)
    raise Conflict(
        f"{HEADER}: the first request with this key changed something, and its answer was lost.",
        "Read what it was to make, then use a new key for what is missing.",
    )


def _cipher(secret: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers import aead  # noqa: PLC0415 kept off the API's cold start

    return aead.AESGCM(hashlib.sha256(b"limn answer\n" + secret).digest())
