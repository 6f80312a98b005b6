"""AWS Signature Version 4, from the receiving side, as S3 applies it to requests and presigned URLs.

Follows "Authenticating Requests (AWS Signature Version 4)" of the S3 API reference.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, unquote_to_bytes

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.compat import HTTPHeaders
from botocore.credentials import Credentials

ALGORITHM = "AWS4-HMAC-SHA256"
UNSIGNED = "UNSIGNED-PAYLOAD"
LONGEST_EXPIRY = 7 * 24 * 3600
QUERY_NEEDS = (
    "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, "
    "X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters."
)
ONE_MECHANISM = (
    "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter "
    "or the Authorization header should be specified"
)
_QUERY_SIGNATURES = {"X-Amz-Algorithm", "X-Amz-Signature", "Signature"}
CLOCK_SKEW = timedelta(minutes=15)


class Denied(Exception):
    """The request is refused: S3's status, code and message."""

    def __init__(self, code: str, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


@dataclass(frozen=True)
class Request:
    """The signed parts of a request."""

    method: str
    path: str
    """As it arrived, percent-encoded."""
    query: list[tuple[str, str]]
    """Decoded, in the order given."""
    headers: Mapping[str, str]
    """By lower-case name."""


@dataclass(frozen=True)
class Claim:
    """What a signature claims: the signer, what was signed, and when."""

    access_key: str
    scope: str
    """date/region/s3/aws4_request"""
    moment: str
    signed: tuple[str, ...]
    signature: str
    payload: str
    """Hash of the body, or one of S3's words for none."""
    expires: int | None
    """Seconds; None for a signature in the header."""


def split_query(text: str) -> list[tuple[str, str]]:
    """The parameters of a query string. A plus sign is a plus sign."""
    pairs = (piece.partition("=") for piece in text.split("&") if piece)
    return [(_decode(name), _decode(value)) for name, _, value in pairs]


def _decode(text: str) -> str:
    return unquote_to_bytes(text).decode("utf-8", "surrogateescape")


def verify(request: Request, secrets: Mapping[str, str], moment: datetime | None = None) -> Claim:
    """Verify the signature of a request.

    Args:
        request: the request.
        secrets: secret key by access key.
        moment: the time of day, in UTC; None is now.

    Raises:
        Denied: it is anonymous, expired, altered or signed with an unknown key.
    """
    claim = _claim(request)
    moment = datetime.now(UTC) if moment is None else moment
    try:
        signed_at = datetime.strptime(claim.moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise Denied("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header") from None
    if claim.expires is None:
        if abs(moment - signed_at) > CLOCK_SKEW:
            raise Denied(
                "RequestTimeTooSkewed", "The difference between the request time and the current time is too large."
            )
    elif signed_at - moment > CLOCK_SKEW:
        raise Denied("AccessDenied", "Request is not valid yet")
    elif moment > signed_at + timedelta(seconds=claim.expires):
        raise Denied("AccessDenied", "Request has expired")
    secret = secrets.get(claim.access_key)
    if secret is None:
        raise Denied("InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records.")
    _check_headers(request, claim)
    if not hmac.compare_digest(
        signature(request, claim, secret).encode(), claim.signature.encode(errors="surrogatepass")
    ):
        raise Denied(
            "SignatureDoesNotMatch",
            "The request signature we calculated does not match the signature you provided. "
            "Check your key and signing method.",
        )
    return claim


def _claim(request: Request) -> Claim:
    authorization = request.headers.get("authorization")
    query = dict(request.query)
    if authorization is not None and _QUERY_SIGNATURES & query.keys():
        raise Denied("InvalidArgument", ONE_MECHANISM, 400)
    if authorization is not None:
        return _from_header(request, authorization)
    if "X-Amz-Signature" not in query or query.get("X-Amz-Algorithm") != ALGORITHM:
        raise Denied("AccessDenied", "Access Denied")
    try:
        expires = int(query["X-Amz-Expires"])
        access_key, scope = _credential(query["X-Amz-Credential"])
        signed = tuple(query["X-Amz-SignedHeaders"].split(";"))
        signed_at = query["X-Amz-Date"]
    except (KeyError, ValueError):
        raise Denied("AuthorizationQueryParametersError", QUERY_NEEDS, 400) from None
    if not 0 <= expires <= LONGEST_EXPIRY:
        raise Denied("AuthorizationQueryParametersError", "X-Amz-Expires must be between 0 and 604800 seconds", 400)
    payload = query.get("X-Amz-Content-Sha256") or request.headers.get("x-amz-content-sha256", UNSIGNED)
    return Claim(access_key, scope, signed_at, signed, query["X-Amz-Signature"], payload, expires)


def _from_header(request: Request, authorization: str) -> Claim:
    algorithm, _, rest = authorization.partition(" ")
    if not algorithm.startswith("AWS"):
        raise Denied("InvalidArgument", "Unsupported Authorization Type", 400)
    parts = dict(piece.strip().partition("=")[::2] for piece in rest.split(","))
    try:
        access_key, scope = _credential(parts["Credential"])
        signed = tuple(parts["SignedHeaders"].split(";"))
        given = parts["Signature"]
        payload = request.headers["x-amz-content-sha256"]
    except (KeyError, ValueError):
        algorithm = ""
    if algorithm != ALGORITHM:
        raise Denied("AuthorizationHeaderMalformed", "The authorization header is malformed", 400)
    return Claim(access_key, scope, request.headers.get("x-amz-date", ""), signed, given, payload, None)


def _credential(text: str) -> tuple[str, str]:
    access_key, scope = text.split("/", 1)
    _, _, service, end = scope.split("/")
    if (service, end) != ("s3", "aws4_request"):
        raise ValueError(text)
    return access_key, scope


def _check_headers(request: Request, claim: Claim) -> None:
    """Everything that S3 acts upon must be signed."""
    unsigned = [name for name in request.headers if name.startswith("x-amz-") and name not in claim.signed]
    # a presigned URL may be used with the hash of its body, which S3 then checks
    if claim.expires is not None:
        unsigned = [name for name in unsigned if name != "x-amz-content-sha256"]
    if unsigned or "host" not in claim.signed:
        raise Denied("AccessDenied", "There were headers present in the request which were not signed")


class _Signer(S3SigV4Auth):
    """botocore's signer, for the headers that were signed and no others."""

    def __init__(self, secret: str, claim: Claim) -> None:
        super().__init__(Credentials(claim.access_key, secret), "s3", claim.scope.split("/")[1])
        self._claim = claim

    def headers_to_sign(self, request: AWSRequest) -> HTTPHeaders:
        """The signed headers; one that is missing is empty."""
        found = HTTPHeaders()
        for name in self._claim.signed:
            found[name] = request.headers.get(name, "")
        return found

    def payload(self, _: AWSRequest) -> str:
        """The hash of the body that was signed."""
        return self._claim.payload


def signature(request: Request, claim: Claim, secret: str) -> str:
    """The signature that a request with this claim should carry: it is signed again, by botocore."""
    query = "&".join(f"{_quote(name)}={_quote(value)}" for name, value in request.query if name != "X-Amz-Signature")
    path = _quote(_decode(request.path), safe="/")
    again = AWSRequest(request.method, f"http://host{path}?{query}", dict(request.headers))
    again.context["timestamp"] = claim.moment
    signer = _Signer(secret, claim)
    found: str = signer.signature(signer.string_to_sign(again, signer.canonical_request(again)), again)
    return found


def _quote(text: str, safe: str = "") -> str:
    return quote(text.encode("utf-8", "surrogateescape"), safe=f"{safe}-_.~")


def byte_range(header: str, size: int) -> tuple[int, int] | None:
    """What a Range header asks for, as (start, length); None where it must be ignored.

    Raises:
        Denied: it lies outside the object.
    """
    unit, _, text = header.partition("=")
    first, dash, last = text.strip().partition("-")
    if unit.strip() != "bytes" or not dash or "," in text or not first + last:
        return None
    if any(not re.fullmatch(r"[0-9]{1,18}", number) for number in (first, last) if number):
        return None
    if first and last and int(last) < int(first):
        return None
    if not first:
        length = min(int(last), size)
        start = size - length
    else:
        start = int(first)
        length = min(int(last) if last else size, size - 1) - start + 1
    if length <= 0:
        raise Denied("InvalidRange", "The requested range is not satisfiable", 416)
    return start, length
