"""A bucket of Google Cloud Storage, by its XML API and the key of a service account.

Every request is a signed URL (V4, RSA), ours as well as those for clients: there is no token to fetch, and nothing in
the account's configuration decides where we connect to. The XML API has S3's multipart uploads, so clients upload the
same way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

import urllib3

from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey, ObjectPrefix
from chalicelib.core.resource import timestamp
from chalicelib.core.time import clock
from chalicelib.core.time.retry import Retry
from chalicelib.core.web import origins
from chalicelib.errors import BadInput, Conflict, NotFound, Unavailable
from chalicelib.settings import settings
from chalicelib.storage import outbound
from chalicelib.storage.objects.protocol import PART, Listed
from chalicelib.storage.outbound import Answer
from chalicelib.storage.store_answers import (
    ANSWER_SECONDS,
    SLOWEST_BYTES,
    check_time,
    largest_answer,
    no_answer,
    too_much,
)

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    from chalicelib.storage.objects.protocol import ObjectStore, Parts

_ALGORITHM = "GOOG4-RSA-SHA256"
_OWN_SECONDS = 900
_OK, _MISSING, _CHANGED, _BEYOND = (200, 201, 204, 206), 404, 412, 416
_AWAY = (429, 500, 502, 503, 504)
_RETRIES = Retry(most=5, first=0.3, longest=3.0)
_PARAMETERS = {
    "ResponseContentDisposition": "response-content-disposition",
    "ResponseContentType": "response-content-type",
}


class GcsStore:
    """One bucket.

    Args:
        bucket: its name.
        config: the service account's key as Google issues it, a JSON object.
        external_host: the host at which clients reach the store, if not Google's own.
        archive: the storage class of archived objects.
    """

    def __init__(
        self, bucket: str, config: Mapping[str, Any], external_host: str | None = None, archive: str = "STANDARD"
    ) -> None:
        self.bucket = bucket
        self._archive = archive
        self._config = config
        endpoint = urlsplit(settings().gcs_endpoint)
        self._scheme, self._host = endpoint.scheme, endpoint.netloc
        self._seen = external_host or self._host

    def presign_get(self, key: ObjectKey, seconds: int, headers: dict[str, str]) -> str:
        """The presigned URL that reads an object."""
        return self._sign("GET", key, seconds, {_PARAMETERS[name]: value for name, value in headers.items()})

    def presign_put(self, key: ObjectKey, seconds: int) -> str:
        """The presigned URL that writes an object."""
        return self._sign("PUT", key, seconds)

    def presign_part(self, key: ObjectKey, upload: str, number: int, seconds: int) -> str:
        """The presigned URL that writes a part."""
        return self._sign("PUT", key, seconds, {"uploadId": upload, "partNumber": str(number)})

    def begin(self, key: ObjectKey, content_type: str) -> str:
        """Begin a multipart upload; returns its id."""
        answer = self._ask("POST", key, {"uploads": ""}, headers={"Content-Type": content_type, "Content-Length": "0"})
        return _text(answer.body, "UploadId")

    def put_part(self, key: ObjectKey, upload: str, number: int, body: bytes) -> str:
        """Store a part; returns its ETag."""
        return self._ask("PUT", key, {"uploadId": upload, "partNumber": str(number)}, body=body).headers["ETag"]

    def copy_part(
        self,
        key: ObjectKey,  # noqa: ARG002 the store has no such request
        upload: str,  # noqa: ARG002
        number: int,  # noqa: ARG002
        home: ObjectStore,  # noqa: ARG002
        source: ObjectKey,  # noqa: ARG002
        span: tuple[int, int] | None = None,  # noqa: ARG002
    ) -> str | None:
        """Not supported: the XML API makes no parts of objects."""
        return None

    def complete(self, key: ObjectKey, upload: str, parts: Parts) -> None:
        """Make one object of the parts. Raises BadInput where the store refuses the upload's id, parts or ETags."""
        listed = "".join(
            f"<Part><PartNumber>{part['PartNumber']}</PartNumber><ETag>{escape(part['ETag'])}</ETag></Part>"
            for part in parts
        )
        body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
        answer = self._send("POST", key, {"uploadId": upload}, body=body)
        if answer.status in _OK or (answer.status == _MISSING and self.head(key) is not None):
            return
        if answer.status < 500:  # noqa: PLR2004 the client's errors end here
            raise BadInput("The multipart upload could not be completed.", _reason(answer))
        raise _away(answer)

    def abort(self, key: ObjectKey, upload: str) -> None:
        """Abort a multipart upload."""
        answer = self._send("DELETE", key, {"uploadId": upload})
        if answer.status not in (*_OK, _MISSING):
            raise _away(answer)

    def head(self, key: ObjectKey) -> tuple[int, str] | None:
        """The size in bytes and the ETag of an object; None where it does not exist."""
        answer = self._send("HEAD", key)
        if answer.status == _MISSING:
            return None
        if answer.status not in _OK:
            raise _away(answer)
        return int(answer.headers["Content-Length"]), answer.headers["ETag"].strip('"')

    def read(self, key: ObjectKey) -> bytes:
        """A whole object."""
        return self._ask("GET", key).body

    def read_range(self, key: ObjectKey, offset: int, length: int, etag: str | None) -> bytes:
        """A part of an object; nothing beyond its end."""
        headers = {"Range": f"bytes={offset}-{offset + length - 1}"}
        if etag:
            headers["If-Match"] = f'"{etag}"'
        answer = self._send("GET", key, headers=headers)
        return b"" if answer.status == _BEYOND else _check_status(answer, key).body

    def download(self, key: ObjectKey, path: Path) -> None:
        """Download a whole object into a file."""
        found = self.head(key)
        if found is None:
            raise NotFound.of("object", str(key))
        size, etag = found
        with path.open("wb") as out:
            for start in range(0, size, PART):
                out.write(self.read_range(key, start, min(PART, size - start), etag))

    def write(self, key: ObjectKey, body: bytes, content_type: str, encoding: str = "") -> None:
        """Store an object in one piece."""
        more = {"Content-Encoding": encoding} if encoding else {}
        self._ask("PUT", key, body=body, headers={"Content-Type": content_type, **more})

    def upload(self, key: ObjectKey, body: BinaryIO, content_type: str) -> None:
        """Store the contents of a file, in parts where it is large."""
        first = body.read(PART)
        if len(first) < PART:
            self.write(key, first, content_type)
            return
        upload = self.begin(key, content_type)
        parts: Parts = []
        while first:
            parts.append({"PartNumber": len(parts) + 1, "ETag": self.put_part(key, upload, len(parts) + 1, first)})
            first = body.read(PART)
        self.complete(key, upload, parts)

    def copy(self, home: ObjectStore, source: ObjectKey, key: ObjectKey, content_type: str) -> bool:
        """Copy an object within the bucket."""
        if home is not self:
            return False
        signed = {
            "x-goog-copy-source": f"{self.bucket}/{quote(source.name, safe='/')}",
            "x-goog-metadata-directive": "REPLACE",
        }
        self._ask("PUT", key, headers={"Content-Type": content_type}, signed=signed)
        return True

    def remove(self, keys: Iterable[ObjectKey]) -> None:
        """Delete objects one by one: the XML API has no batch request."""
        for key in keys:
            answer = self._send("DELETE", key)
            if answer.status not in (*_OK, _MISSING):
                raise _away(answer)

    def freeze(self, key: ObjectKey) -> None:
        """Rewrite an object in the archive's storage class, from which it is read like any other."""
        self._in_class(key, self._archive)

    def thaw(self, key: ObjectKey) -> bool:
        """Rewrite an object in the standard storage class."""
        self._in_class(key, "STANDARD")
        return True

    def _in_class(self, key: ObjectKey, wanted: str) -> None:
        answer = self._send("HEAD", key)
        if answer.status == _MISSING or answer.headers.get("x-goog-storage-class", "STANDARD") == wanted:
            return
        signed = {"x-goog-copy-source": f"{self.bucket}/{quote(key.name, safe='/')}", "x-goog-storage-class": wanted}
        self._ask(
            "PUT", key, headers={"Content-Type": _check_status(answer, key).headers["Content-Type"]}, signed=signed
        )

    def under(self, prefix: ObjectPrefix) -> Iterator[ObjectKey]:
        """The keys that begin with a prefix."""
        asked = {"list-type": "2", "prefix": prefix.path}
        while True:
            page = _parse(self._ask("GET", None, asked).body)
            paths = (found.text for found in page.iterfind("{*}Contents/{*}Key"))
            yield from (object_keys.listed(prefix, path) for path in paths if path)
            token = page.findtext("{*}NextContinuationToken")
            if not token:
                return
            asked["continuation-token"] = token

    def page(self, prefix: str, after: str, limit: int) -> list[Listed]:
        """At most `limit` objects whose keys begin with a prefix and follow `after`."""
        asked = {"list-type": "2", "prefix": prefix, "max-keys": str(limit)}
        if after:
            asked["start-after"] = after
        page = _parse(self._ask("GET", None, asked).body)
        return [
            Listed(
                each.findtext("{*}Key") or "",
                int(each.findtext("{*}Size") or 0),
                (each.findtext("{*}ETag") or "").strip('"'),
                timestamp(datetime.fromisoformat(each.findtext("{*}LastModified") or "")),
            )
            for each in page.iterfind("{*}Contents")
        ]

    def key_of(self, url: str) -> str | None:
        """The key of the object that a URL names."""
        asked, root = origins.take_apart(url), f"/{self.bucket}/"
        if asked.origin != origins.origin_of(f"{self._scheme}://{self._seen}") or not asked.path.startswith(root):
            return None
        return asked.path.removeprefix(root) or None

    def _ask(
        self, method: str, key: ObjectKey | None, parameters: Mapping[str, str] | None = None, **more: Any
    ) -> Answer:
        """The response of the store. Raises where it is an error."""
        return _check_status(self._send(method, key, parameters, **more), key)

    def _send(
        self,
        method: str,
        key: ObjectKey | None,
        parameters: Mapping[str, str] | None = None,
        *,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        signed: Mapping[str, str] | None = None,
    ) -> Answer:
        """The response of the store, whatever its status, read whole; repeated while the store is not there."""
        url = self._sign(method, key, _OWN_SECONDS, parameters, host=self._host, headers=signed)
        address = origins.take_apart(url)
        given = {**(headers or {}), **(signed or {})}
        most = largest_answer(given.get("Range", ""), is_object=method == "GET" and key is not None)
        for attempt in _RETRIES.attempts():
            is_last = attempt == _RETRIES.most - 1
            check_time()
            try:
                answer = outbound.ask(
                    address,
                    method,
                    seconds=ANSWER_SECONDS + (most + len(body or b"")) / SLOWEST_BYTES,
                    most=most,
                    headers=given,
                    body=body,
                    is_inside=outbound.is_inside(address),
                )
            except outbound.TooMuchError as failure:
                raise too_much() from failure
            except (OSError, urllib3.exceptions.HTTPError) as failure:
                if is_last:
                    raise no_answer(type(failure).__name__) from failure
            else:
                if answer.status not in _AWAY or is_last:
                    return answer
        raise AssertionError(attempt)

    def _sign(
        self,
        method: str,
        key: ObjectKey | None,
        seconds: int,
        parameters: Mapping[str, str] | None = None,
        *,
        host: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> str:
        host = host or self._seen
        path = f"/{self.bucket}/{quote(key.name, safe='/~')}" if key else f"/{self.bucket}"
        stamp = clock.utc_now().strftime("%Y%m%dT%H%M%SZ")
        scope = f"{stamp[:8]}/auto/storage/goog4_request"
        lines = {"host": host, **{name.lower(): value for name, value in (headers or {}).items()}}
        names = ";".join(sorted(lines))
        asked = {
            **(parameters or {}),
            "X-Goog-Algorithm": _ALGORITHM,
            "X-Goog-Credential": f"{self._config['client_email']}/{scope}",
            "X-Goog-Date": stamp,
            "X-Goog-Expires": str(seconds),
            "X-Goog-SignedHeaders": names,
        }
        query = "&".join(sorted(f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in asked.items()))
        canonical = "\n".join(
            [method, path, query, *(f"{name}:{lines[name]}" for name in sorted(lines)), "", names, "UNSIGNED-PAYLOAD"]
        )
        text = "\n".join([_ALGORITHM, stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        return f"{self._scheme}://{host}{path}?{query}&X-Goog-Signature={self._signature(text.encode())}"

    def _signature(self, text: bytes) -> str:
        from cryptography.hazmat.primitives import hashes  # noqa: PLC0415 kept off the API's cold start
        from cryptography.hazmat.primitives.asymmetric import padding  # noqa: PLC0415

        return self._key.sign(text, padding.PKCS1v15(), hashes.SHA256()).hex()

    @cached_property
    def _key(self) -> RSAPrivateKey:
        return private_key(str(self._config["private_key"]))


def private_key(text: str) -> RSAPrivateKey:
    """The private key of a service account. Raises BadInput where the text is not one."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 kept off the API's cold start
    from cryptography.hazmat.primitives.asymmetric import rsa  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        found = load_pem_private_key(text.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as failure:
        raise BadInput("private_key: it is not a private key in PEM form.") from failure
    if not isinstance(found, rsa.RSAPrivateKey):
        raise BadInput("private_key: it is not an RSA key.")
    return found


def _check_status(answer: Answer, key: ObjectKey | None) -> Answer:
    if answer.status == _MISSING:
        raise NotFound.of("object", str(key))
    if answer.status == _CHANGED:
        raise Conflict(f"The object {key} was replaced meanwhile.")
    if answer.status not in _OK:
        raise _away(answer)
    return answer


def _away(answer: Answer) -> Unavailable:
    return no_answer(_reason(answer))


def _reason(answer: Answer) -> str:
    """The code of the store's error, never the request."""
    try:
        code = ET.fromstring(answer.body).findtext("{*}Code")  # noqa: S314 expat of today expands no bombs
    except ET.ParseError:
        code = None
    return f"status {answer.status} {code or ''}".strip()


def _parse(body: bytes) -> ET.Element:
    try:
        return ET.fromstring(body)  # noqa: S314 as above
    except ET.ParseError as failure:
        raise Unavailable("The object store's answer cannot be read.", str(failure)) from failure


def _text(body: bytes, name: str) -> str:
    found = _parse(body).findtext("{*}" + name)
    if not found:
        raise Unavailable("The object store's answer cannot be read.", f"it has no {name}")
    return found
