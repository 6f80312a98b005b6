"""A small Google Cloud Storage on loopback: its XML API in memory, every request's V4 signature verified.

It verifies with the public key, by an implementation of the published rules that shares nothing with the signer.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import xml.etree.ElementTree as ET
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from tests.loopback import Handler, Server

ACCOUNT = "limn@example.iam.gserviceaccount.com"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PEM = KEY.private_bytes(
    serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
).decode()
CONFIG = {
    "type": "service_account",
    "project_id": "example",
    "private_key_id": "1",
    "private_key": PEM,
    "client_email": ACCOUNT,
    "client_id": "1",
    "auth_uri": "https://accounts.google.com/o/oauth2/auth",
    "token_uri": "http://169.254.169.254/token",  # nobody may ever connect to it
    "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
    "client_x509_cert_url": "https://www.googleapis.com/robot/v1/metadata/x509/limn",
}
PAGE = 2
"""Keys in a page of a listing: few, so that tests see several pages."""


class GcsServer:
    """The server; `objects` is what it holds, by bucket and key, `classes` each one's storage class."""

    def __init__(self) -> None:
        self._server = Server(_Handler)
        self.objects: dict[str, dict[str, tuple[bytes, str]]] = {}
        self.classes: dict[tuple[str, str], str] = {}
        self.refused: list[str] = []
        self._server.home = self  # type: ignore[attr-defined]
        self._server.uploads = {}  # type: ignore[attr-defined]
        self.url, self.stop = self._server.url, self._server.close


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        self._handle()

    do_PUT = do_POST = do_HEAD = do_DELETE = do_GET

    def _handle(self) -> None:
        body = self.read_body()
        parts = urlsplit(self.path)
        self.query = dict(parse_qsl(parts.query, keep_blank_values=True))
        problem = self._problem(parts.path, parts.query)
        if problem:
            self.server.home.refused.append(problem)
            self._error(403, "SignatureDoesNotMatch")
            return
        _, bucket, *rest = unquote(parts.path).split("/", 2)
        held = self.server.home.objects.get(bucket)
        if held is None:
            self._error(404, "NoSuchBucket")
            return
        getattr(self, f"_{self.command.lower()}")(bucket, held, rest[0] if rest else "", body)

    def _problem(self, path: str, query: str) -> str:
        """What is wrong with the signature; nothing if it is right."""
        asked = self.query
        if asked.get("X-Goog-Algorithm") != "GOOG4-RSA-SHA256":
            return "algorithm"
        account, _, scope = asked["X-Goog-Credential"].partition("/")
        stamp = asked["X-Goog-Date"]
        if account != ACCOUNT or scope != f"{stamp[:8]}/auto/storage/goog4_request":
            return "credential"
        begun = dt.datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.UTC)
        if dt.datetime.now(dt.UTC) > begun + dt.timedelta(seconds=int(asked["X-Goog-Expires"])):
            return "expired"
        names = asked["X-Goog-SignedHeaders"].split(";")
        unsigned = [name.lower() for name in self.headers if name.lower().startswith("x-goog-")]
        if "host" not in names or any(name not in names for name in unsigned):
            return "headers"
        pairs = [
            (name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "X-Goog-Signature"
        ]
        encoded = sorted((quote(name, safe="-_.~"), quote(value, safe="-_.~")) for name, value in pairs)
        canonical = f"{self.command}\n{path}\n" + "&".join("=".join(pair) for pair in encoded) + "\n"
        canonical += "".join(f"{name}:{self.headers[name].strip()}\n" for name in sorted(names))
        canonical += "\n" + ";".join(names) + "\nUNSIGNED-PAYLOAD"
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = f"GOOG4-RSA-SHA256\n{stamp}\n{scope}\n{digest}".encode()
        try:
            signature = bytes.fromhex(asked["X-Goog-Signature"])
            KEY.public_key().verify(signature, text, padding.PKCS1v15(), hashes.SHA256())
        except InvalidSignature:
            return "signature"
        return ""

    def _get(self, bucket: str, held: dict[str, tuple[bytes, str]], key: str, _: bytes) -> None:
        if not key:
            self._listing(held)
            return
        if key not in held:
            self._error(404, "NoSuchKey")
            return
        data, mime = held[key]
        if self.headers.get("If-Match", _etag(data)) != _etag(data):
            self._error(412, "PreconditionFailed")
            return
        status = 200
        if span := self.headers.get("Range"):
            first, last = map(int, span.removeprefix("bytes=").split("-"))
            if first >= len(data):
                self._error(416, "InvalidRange")
                return
            data, status = data[first : last + 1], 206
        more = {"Content-Disposition": value} if (value := self.query.get("response-content-disposition")) else {}
        more["x-goog-storage-class"] = self.server.home.classes.get((bucket, key), "STANDARD")
        self.answer(status, data, {"ETag": _etag(held[key][0]), "Content-Type": mime, **more})

    _head = _get

    def _put(self, bucket: str, held: dict[str, tuple[bytes, str]], key: str, body: bytes) -> None:
        if "uploadId" in self.query:
            upload = self.server.uploads.get(self.query["uploadId"])
            if upload is None:
                self._error(404, "NoSuchUpload")
                return
            upload[2][int(self.query["partNumber"])] = body
        elif source := self.headers.get("x-goog-copy-source"):
            held[key] = (held[unquote(source).partition("/")[2]][0], self.headers["Content-Type"])
        else:
            held[key] = (body, self.headers.get("Content-Type", ""))
        if "uploadId" not in self.query:
            self.server.home.classes[bucket, key] = self.headers.get("x-goog-storage-class", "STANDARD")
        self.answer(200, headers={"ETag": _etag(body)})

    def _post(self, bucket: str, held: dict[str, tuple[bytes, str]], key: str, body: bytes) -> None:
        if "uploads" in self.query:
            number = f"upload/{len(self.server.uploads)}+="
            self.server.uploads[number] = (key, self.headers.get("Content-Type", ""), {})
            self.answer(200, _xml("InitiateMultipartUploadResult", f"<UploadId>{number}</UploadId>"))
            return
        found = self.server.uploads.get(self.query["uploadId"])
        if found is None:
            self._error(404, "NoSuchUpload")
            return
        key, mime, parts = found
        data = b""
        listed = ET.fromstring(body).findall("Part")
        for index, part in enumerate(listed):
            one = parts.get(int(part.findtext("PartNumber") or 0), b"")
            if (part.findtext("ETag") or "").strip('"') != _etag(one).strip('"'):
                self._error(400, "InvalidPart")
                return
            if len(one) < 5 * 1024 * 1024 and index < len(listed) - 1:
                self._error(400, "EntityTooSmall")
                return
            data += one
        del self.server.uploads[self.query["uploadId"]]
        held[key] = (data, mime)
        self.answer(200, _xml("CompleteMultipartUploadResult", ""))

    def _delete(self, bucket: str, held: dict[str, tuple[bytes, str]], key: str, _: bytes) -> None:
        gone = self.server.uploads if "uploadId" in self.query else held
        if gone.pop(self.query.get("uploadId", key), None) is None:
            self._error(404, "NoSuchKey")
        else:
            self.answer(204)

    def _listing(self, held: dict[str, tuple[bytes, str]]) -> None:
        after = self.query.get("continuation-token", "")
        found = [key for key in sorted(held) if key.startswith(self.query["prefix"]) and key > after]
        more = f"<NextContinuationToken>{found[PAGE - 1]}</NextContinuationToken>" if len(found) > PAGE else ""
        rows = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in found[:PAGE])
        self.answer(200, _xml("ListBucketResult", rows + more))

    def _error(self, status: int, code: str) -> None:
        self.answer(status, f"<Error><Code>{code}</Code></Error>".encode())


def _etag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def _xml(name: str, inside: str) -> bytes:
    return f'<?xml version="1.0"?><{name} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{inside}</{name}>'.encode()
