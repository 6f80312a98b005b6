"""The S3 port: moto's S3 for browsers, clients and ffmpeg, with signatures and expiry checked as S3 checks them.

Objects and parts go to and from disk block by block, never whole through memory. Everything else (completing uploads,
listings, deletions, conditional requests) is moto's own in-process handler with the request as it came.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import logging
import re
import threading
import uuid
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote, urlencode
from xml.sax.saxutils import escape

from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto.core import DEFAULT_ACCOUNT_ID
from moto.core.models import botocore_stubber
from moto.s3.exceptions import S3ClientError
from moto.s3.models import FakeKey, S3Backend, s3_backends
from moto.s3.utils import metadata_from_headers

from infra.emulator import requests
from infra.emulator.requests import Malformed
from infra.emulator.s3 import index as s3_index
from infra.emulator.s3.contents import BLOCK, Body, Reader
from infra.emulator.s3.objects import open_content
from infra.emulator.s3.signatures import UNSIGNED, Claim, Denied, Request, byte_range, split_query, verify
from infra.emulator.sqlite import database
from infra.emulator.sqlite.integrity import CannotStore, Damaged

ALLOWED_METHODS = "GET, PUT, HEAD, POST, DELETE"
LARGEST_OTHER = 8 * 1024 * 1024
"""Bodies of requests that moto handles whole: lists of parts, of deletions, of tags."""
PUT_HEADERS = {
    "content-type",
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "expires",
}
OVERRIDES = {
    "response-content-type": "Content-Type",
    "response-content-language": "Content-Language",
    "response-expires": "Expires",
    "response-cache-control": "Cache-Control",
    "response-content-disposition": "Content-Disposition",
    "response-content-encoding": "Content-Encoding",
}
PLAIN = {"x-id", *OVERRIDES}
CONDITIONS = {"if-match", "if-none-match", "if-modified-since", "if-unmodified-since"}
MOTO_HEADERS = tuple(
    f"x-amz-{name}"
    for name in (
        "object-lock",
        "tagging",
        "acl",
        "grant",
        "website",
        "sdk-checksum",
        "checksum",
        "server-side",
        "storage",
    )
)
"""Uploads with any header that starts like this are handled by moto, whole."""
LAST_PART = 10_000
METHODS = ("GET", "PUT", "HEAD", "POST", "DELETE", "OPTIONS")
_CODES = {408: "RequestTimeout", 413: "EntityTooLarge", 431: "RequestHeaderSectionTooLarge"}
_HEXADECIMAL = re.compile(rb"[0-9A-Fa-f]{1,8}")
REGION = "us-east-1"
log = logging.getLogger("limn.local.s3")


class S3Front:
    """A server for moto's S3. Not before moto runs; `stop` ends it."""

    def __init__(self, secrets: Mapping[str, str], *, host: str = "127.0.0.1", port: int = 0) -> None:
        """Bind the port.

        Args:
            secrets: secret key by access key: who may sign.
            host: the address to listen on.
            port: the port; 0 takes a free one.
        """
        self._server = _Server((host, port), _Handler)
        self._server.secrets = dict(secrets)
        self.host, self.port = host, int(self._server.server_address[1])
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where clients find it: the `endpoint_url` to presign with."""
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        """Serve in a thread."""
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="s3", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Close the port. Transfers that run are cut off with the process."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None
        self._server.server_close()


class _Server(requests.Server):
    secrets: Mapping[str, str]


def store() -> S3Backend:
    """The S3 that moto holds."""
    backend: S3Backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    return backend


class _Handler(requests.Handler):
    server: _Server

    def serve(self) -> None:
        self._headers = {name.lower(): value for name, value in self.headers.items()}
        path, _, query = self.path.partition("?")
        self._request = Request(self.command, path, split_query(query), self._headers)
        self._answered = False
        try:
            if self.command == "OPTIONS":
                self._preflight()
            else:
                self._serve()
        except Denied as denied:
            self._error(denied.status, denied.code, denied.message)
        except CannotStore as failure:
            self._error(503, "ServiceUnavailable", str(failure))
        except Damaged as failure:
            self.close_connection = True
            if not self._answered:
                self._error(500, "InternalError", str(failure))
        except S3ClientError as error:
            self._error(404 if error.code.startswith("NoSuch") else 400, error.code, error.message)
        except (ConnectionError, TimeoutError, Malformed):
            raise
        except Exception as error:
            self.close_connection = True
            if not self._answered:
                self._error(500, "InternalError", f"{type(error).__name__}: {error}")
            log.exception("%s %s failed", self.command, self._request.path)

    def refuse(self, status: int, message: str) -> None:
        self._request = Request(self.command, self.path.partition("?")[0], [], {})
        self._error(status, _CODES.get(status, "InvalidRequest"), message)

    def _serve(self) -> None:
        if self.command not in METHODS:
            raise Denied("MethodNotAllowed", "The specified method is not allowed against this resource.", 405)
        if self.is_chunked:
            self.close_connection = True
            raise Denied("MissingContentLength", "You must provide the Content-Length HTTP header.", 411)
        claim = verify(self._request, self.server.secrets)
        query = {name: value for name, value in self._request.query if not name.startswith("X-Amz-")}
        bucket, key = self._address()
        if key:
            if self.command in ("GET", "HEAD") and query.keys() <= PLAIN and not CONDITIONS & self._headers.keys():
                self._get(bucket, key, query)
                return
            if self.command == "PUT" and "x-amz-copy-source" not in self._headers:
                part = query.keys() - {"x-id"}
                if (not part and self._plain_put()) or part == {"partNumber", "uploadId"}:
                    self._put(bucket, key, query, claim)
                    return
        self._by_moto(bucket, key, claim)

    def _address(self) -> tuple[str, str]:
        """Bucket and key: from the path, or the bucket from the host's first label if there is such a bucket."""
        path = self._request.path.lstrip("/") if self._request.path.startswith("/") else self._request.path
        label = self._headers.get("host", "").partition(".")[0]
        if label in store().buckets:
            return label, unquote(path)
        bucket, _, key = path.partition("/")
        return unquote(bucket), unquote(key)

    # ------------------------------------------------------------------------------------------- objects out

    def _get(self, bucket: str, name: str, query: Mapping[str, str]) -> None:
        found = open_content(store(), bucket, name)
        if found is None:
            raise Denied("NoSuchKey", "The specified key does not exist.", 404)
        key, content = found
        with content:
            self._send_object(key, content, query)

    def _send_object(self, key: FakeKey, content: Reader, query: Mapping[str, str]) -> None:
        headers = {str(n): str(v) for n, v in {**key.response_dict, **key.metadata}.items()}
        for parameter, header in OVERRIDES.items():
            if parameter in query:
                headers = {n: v for n, v in headers.items() if n.lower() != header.lower()}
                headers[header] = query[parameter]
        headers.setdefault("Accept-Ranges", "bytes")
        size = key.size
        status, start, length = 200, 0, size
        wanted = self._headers.get("range")
        if wanted is not None and self._headers.get("if-range", key.etag) in (key.etag, headers["last-modified"]):
            span = byte_range(wanted, size)
            if span is not None:
                status, (start, length) = 206, span
                headers["Content-Range"] = f"bytes {start}-{start + length - 1}/{size}"
        headers = {n: v for n, v in headers.items() if n.lower() != "content-length"}
        if self.command == "HEAD":
            self._answer(status, headers, b"", length)
            return
        blocks = content.blocks(start, length)
        first = next(blocks, b"")  # damage of it is told before the answer begins
        self._answer(status, headers, itertools.chain((first,), blocks), length)

    # -------------------------------------------------------------------------------------------- objects in

    def _plain_put(self) -> bool:
        headers = self._headers
        return not CONDITIONS & headers.keys() and not any(name.startswith(MOTO_HEADERS) for name in headers)

    def _put(self, bucket: str, name: str, query: Mapping[str, str], claim: Claim) -> None:
        backend = store()
        uploads = backend.get_bucket(bucket).multiparts
        upload = uploads.get(query["uploadId"]) if "uploadId" in query else None
        if "uploadId" in query and (upload is None or upload.key_name != name):
            raise Denied("NoSuchUpload", "The specified upload does not exist.", 404)
        if "content-length" not in self._headers:
            raise Denied("MissingContentLength", "You must provide the Content-Length HTTP header.", 411)
        number = query.get("partNumber", "1")
        if not (number.isascii() and number.isdigit()) or not 1 <= int(number) <= LAST_PART:
            raise Denied("InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive", 400)
        body = self._receive(claim)
        with s3_index.storing():
            if upload is not None:
                s3_index.touch(bucket, query["uploadId"], is_upload=True)
                key = upload.set_part(int(number), body)
            else:
                key = backend.put_object(bucket, name, body)
                given = {n: v for n, v in self._headers.items() if n in PUT_HEADERS or n.startswith("x-amz-meta-")}
                plain = {n.title() if n in PUT_HEADERS else n: v for n, v in given.items()}
                key.set_metadata(metadata_from_headers(plain))
        headers = {
            n: v for n, v in self._reply_headers(key).items() if n.lower() not in ("content-length", "last-modified")
        }
        self._answer(200, headers, b"")

    def _reply_headers(self, key: FakeKey) -> dict[str, str]:
        return {str(n): str(v) for n, v in key.response_dict.items()}

    def _receive(self, claim: Claim) -> Body:
        body = Body()
        try:
            for block in self._content(claim):
                body.write(block)
            self._check_md5(body)
        except BaseException:
            body.close()
            raise
        return body

    def _check_md5(self, body: Body) -> None:
        md5 = self._headers.get("content-md5")
        if md5 is not None and md5 != base64.b64encode(body.md5).decode():
            raise Denied("BadDigest", "The Content-MD5 you specified did not match what we received.", 400)

    def _content(self, claim: Claim) -> Iterator[bytes]:
        """The body as it comes, checked against its hash, and without the frames of `aws-chunked`."""
        if not claim.payload.startswith("STREAMING-"):
            digest = None if claim.payload == UNSIGNED else hashlib.sha256()
            for block in self.blocks():
                if digest is not None:
                    digest.update(block)
                yield block
            if digest is not None and digest.hexdigest() != claim.payload.lower():
                message = "The provided 'x-amz-content-sha256' header does not match what was computed."
                raise Denied("XAmzContentSHA256Mismatch", message, 400)
            return
        while size := self._frame():
            while size:
                block = self.read(min(BLOCK, size))
                size -= len(block)
                yield block
            self.line()
        while self.unread and self.line().strip():
            """Checksums that follow the content; TCP has its own."""

    def _frame(self) -> int:
        """The size of the next frame of an `aws-chunked` body."""
        text = self.line().strip().partition(b";")[0]
        if not _HEXADECIMAL.fullmatch(text):
            raise Malformed("A frame of the body must begin with its size in hexadecimal digits.")
        return int(text, 16)

    # -------------------------------------------------------------------------------------------- all the rest

    def _by_moto(self, bucket: str, key: str, claim: Claim) -> None:
        if self.unread > LARGEST_OTHER:
            raise Denied("EntityTooLarge", "Your proposed upload exceeds the maximum allowed size", 400)
        content = b"".join(self._content(claim))
        left_out = ("host", "authorization", "content-length", "expect", "connection", "x-amz-content-sha256",
                    "x-amz-decoded-content-length", "x-amz-trailer", "content-encoding" if
                    claim.payload.startswith("STREAMING-") else "")  # fmt: skip
        headers = HTTPHeaders()
        for name, value in self._headers.items():
            if name not in left_out:
                headers[name] = value
        headers["Authorization"] = (
            f"AWS4-HMAC-SHA256 Credential={claim.access_key}/{claim.scope}, SignedHeaders=, Signature="
        )
        headers["Content-Length"] = str(len(content))
        query = urlencode([pair for pair in self._request.query if not pair[0].startswith("X-Amz-")], quote_via=quote)
        path = "/".join(quote(part, safe="/") for part in (bucket, key) if part)
        url = f"https://s3.{REGION}.amazonaws.com/{path}" + (f"?{query}" if query else "")
        answer = botocore_stubber.process_request(AWSPreparedRequest(self.command, url, headers, content, False))
        if answer is None:
            raise Denied("NotImplemented", "This is not implemented", 501)
        status, given, body = answer
        body = body.encode() if isinstance(body, str) else body
        kept = {
            n: v
            for n, v in given.items()
            if n.lower() not in ("content-length", "connection", "transfer-encoding", "date")
        }
        length = {n.lower(): v for n, v in given.items()}.get("content-length")
        self._answer(status, kept, body, int(length) if self.command == "HEAD" and length else None)

    def _preflight(self) -> None:
        headers = {
            "Access-Control-Allow-Methods": ALLOWED_METHODS,
            "Access-Control-Allow-Headers": self._headers.get("access-control-request-headers", "*"),
            "Access-Control-Max-Age": "3000",
        }
        self._answer(200, headers, b"")

    def _error(self, status: int, code: str, message: str) -> None:
        body = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f"<Error><Code>{escape(code)}</Code><Message>{escape(message)}</Message>"
            f"<Resource>{escape(self._request.path)}</Resource><RequestId>{uuid.uuid4()}</RequestId></Error>"
        ).encode()
        self._answer(status, {"Content-Type": "application/xml"}, body)

    def _answer(
        self, status: int, headers: Mapping[str, Any], body: bytes | Iterator[bytes], length: int | None = None
    ) -> None:
        """Send a whole answer. What the client still sends of a refused body is read, or the connection given up."""
        if status < HTTPStatus.BAD_REQUEST:
            database.current().sync()
        while 0 < self.unread <= LARGEST_OTHER:
            self.read(BLOCK)
        if self.unread:
            self.close_connection = True
        self._answered = True
        self.send_response_only(status, HTTPStatus(status).phrase)
        self.send_header("Date", self.date_time_string())
        self.send_header("Server", "AmazonS3")
        self.send_header("x-amz-request-id", str(uuid.uuid4()))
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Expose-Headers", "ETag, Content-Range, Accept-Ranges, Content-Length")
        for name, value in headers.items():
            if not name.lower().startswith("access-control-") or self.command == "OPTIONS":
                self.send_header(name, str(value))
        whole = body if isinstance(body, bytes) else None
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(whole or b"") if length is None else length))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        for block in [body] if isinstance(body, bytes) else body:
            self.wfile.write(block)
