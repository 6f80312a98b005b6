"""HTTP/1.1 requests read strictly, for both ports of the local stack.

What a request is, and where the next one begins, must not be a matter of opinion: a length that is no number, two
lengths, a length beside chunks, a folded header line or a malformed chunk is answered with 400 and the connection is
closed. A head that is too large is 431, a request that does not arrive in time 408. A client that keeps a connection
open between requests and is silent for `IDLE_SECONDS` is hung up on.
"""

from __future__ import annotations

import io
import logging
import re
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HEAD_BYTES = 64 * 1024
"""The largest request line and headers together."""
HEADERS = 100
"""The most header lines."""
IDLE_SECONDS = 75.0
HEAD_SECONDS = 20.0
"""How long the head of a request may take from its first byte."""
SILENT_SECONDS = 30.0
"""How long a client may send nothing in the middle of a body, or take nothing of an answer."""
DRAINED = 16 * 1024 * 1024
"""Bytes of a refused body that are read, so that the client gets to see the answer."""
BLOCK = 256 * 1024
_REMEMBERED = 4096
"""Bytes of header lines up to which they are read once; a process remembers the last 256."""
_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TARGET = re.compile(rb"[\x21-\x7e]+")
_HEADER = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)")
_LENGTH = re.compile(r"[0-9]{1,18}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;[\t\x20-\x7e]*)?\r\n")
_ONCE = ("content-length", "transfer-encoding", "host", "authorization", "content-type", "expect")
"""Headers that may stand in a request once."""
log = logging.getLogger("limn.local.requests")


class Malformed(Exception):
    """The request cannot be read; has the status of the answer and the reason."""

    def __init__(self, message: str, status: int = HTTPStatus.BAD_REQUEST) -> None:
        super().__init__(message)
        self.message, self.status = message, int(status)


class _Connection(io.RawIOBase):
    """What a client sends, until a point in time."""

    def __init__(self, connection: socket.socket, silent: float) -> None:
        """Read from a connection whose own timeout is `silent` seconds: to change that takes two system calls."""
        self._connection, self._silent = connection, silent
        self.deadline: float | None = None
        """In seconds of `time.monotonic()`; None waits `SILENT_SECONDS` for each piece."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if self.deadline is None:
            return self._connection.recv_into(buffer)
        while (left := self.deadline - time.monotonic()) >= self._silent:
            with suppress(TimeoutError):
                return self._connection.recv_into(buffer)
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        try:
            return self._connection.recv_into(buffer)
        finally:
            self._connection.settimeout(self._silent)


class Handler(BaseHTTPRequestHandler):
    """A connection. Subclasses answer requests in `serve` and say what a refusal looks like in `refuse`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the last packet of an answer waits 40 ms for the client's acknowledgement
    wbufsize = -1  # headers and small bodies leave in one packet
    headers: dict[str, str]  # type: ignore[assignment]  # the base class's parser takes a third of a small request
    """By name, as the client writes it; values of a repeated one are joined by commas. Not to be changed."""
    unread: int
    """Bytes of the body that were not read yet; 0 for one in chunks."""
    is_chunked: bool

    def serve(self) -> None:
        """Answer the request that was read."""
        raise NotImplementedError

    def refuse(self, status: int, message: str) -> None:
        """Answer a request that could not be read."""
        raise NotImplementedError

    def setup(self) -> None:
        """Read with a deadline."""
        self.timeout = SILENT_SECONDS  # type: ignore[misc]  # the base class reads it in setup
        super().setup()
        self._source = _Connection(self.connection, self.timeout)
        self.rfile = self._reader = io.BufferedReader(self._source, BLOCK)

    def handle_one_request(self) -> None:
        """Read a request and answer it, whatever it is."""
        self.close_connection = True
        self.command, self.path, self.request_version = "", "/", self.protocol_version
        self.unread, self.is_chunked, self._expects = 0, False, False
        try:
            self._source.deadline = time.monotonic() + IDLE_SECONDS
            if not self._reader.peek(1):
                return
        except (TimeoutError, ConnectionError):
            return
        try:
            self._source.deadline = time.monotonic() + HEAD_SECONDS
            self._read_head()
            self._source.deadline = None
            self.serve()
            if self.unread or self._expects:
                self.close_connection = True
        except Malformed as error:
            self._refuse(error.status, error.message)
        except TimeoutError:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT, "The request did not arrive in time.")
        except ConnectionError:
            self.close_connection = True
            return
        try:
            self.wfile.flush()
            if self.close_connection:
                self._drain()
        except (TimeoutError, ConnectionError):
            self.close_connection = True

    def blocks(self, limit: int | None = None) -> Iterator[bytes]:
        """The body, block by block.

        Raises:
            Malformed: it is larger than `limit` bytes, ends too early, or its chunks are malformed.
        """
        if limit is not None and self.unread > limit:
            raise _too_large(limit)
        self._invite()
        if self.is_chunked:
            yield from self._chunks(limit)
        while self.unread:
            yield self.read(min(BLOCK, self.unread))

    def read(self, length: int) -> bytes:
        """Up to `length` bytes of a body with a length, at least one."""
        self._invite()
        block = self.rfile.read(min(length, self.unread))
        self.unread -= len(block)
        if not block:
            raise Malformed(f"The body ended {self.unread} bytes before its Content-Length.")
        return block

    def line(self, limit: int = 4096) -> bytes:
        """A line of a body with a length."""
        self._invite()
        line = self.rfile.readline(min(limit, self.unread))
        self.unread -= len(line)
        if not line and self.unread:
            raise Malformed(f"The body ended {self.unread} bytes before its Content-Length.")
        return line

    def send(self, head: bytes, body: bytes) -> None:
        """Send an answer, in one packet where it fits."""
        self.wfile.flush()
        sent = self.connection.sendmsg((head, body))
        if sent < len(head):
            self.connection.sendall(head[sent:])
        if sent < len(head) + len(body):
            self.connection.sendall(memoryview(body)[max(0, sent - len(head)) :])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base class's name
        """Log at the lowest level: there are too many requests to read."""
        log.debug(format, *args)

    # -------------------------------------------------------------------------------------------------- inside

    def _refuse(self, status: int, message: str) -> None:
        self.close_connection = True
        try:
            self.refuse(int(status), message)
        except (TimeoutError, ConnectionError):
            return

    def _invite(self) -> None:
        """Ask for the body of a client that waits to be asked."""
        if self._expects:
            self._expects = False
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wfile.flush()

    def _drain(self) -> None:
        """Read what the client still sends: a connection closed over it would take the answer along."""
        self.connection.shutdown(socket.SHUT_WR)
        self._source.deadline = time.monotonic() + 2.0
        left = DRAINED
        while left > 0 and (block := self.rfile.read1(BLOCK)):
            left -= len(block)

    def _read_head(self) -> None:
        line, block = self._head_at_once() or self._head_by_lines()
        self._read_request_line(line)
        parse = _parse if len(block) <= _REMEMBERED else _parse.__wrapped__
        self.headers, given = parse(block)
        self._judge_headers(given)

    def _head_at_once(self) -> tuple[bytes, bytes] | None:
        """The request line and the header lines, where all of them are there and end as they should."""
        there = self._reader.peek()
        end = there.find(b"\r\n\r\n", 0, HEAD_BYTES)
        head = there[: end + 2]
        line, _, block = head.partition(b"\r\n")
        if end < 0 or not line or head.count(b"\n") != head.count(b"\r\n"):
            return None
        self._reader.read(end + 4)
        return line, block

    def _head_by_lines(self) -> tuple[bytes, bytes]:
        left = HEAD_BYTES
        line = self._head_line(left)
        if not line:  # an empty line before a request must be ignored
            line = self._head_line(left)
        left -= len(line)
        lines = []
        while each := self._head_line(left):
            left -= len(each)
            lines.append(each + b"\r\n")
            _check_number(len(lines))
        return line, b"".join(lines)

    def _head_line(self, limit: int) -> bytes:
        line = self.rfile.readline(limit + 1)
        if len(line) > limit:
            message = f"The request line and the headers are larger than {HEAD_BYTES} bytes."
            raise Malformed(message, HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if not line.endswith(b"\n"):
            raise Malformed("The request ended within its headers.")
        return line[:-2] if line.endswith(b"\r\n") else line[:-1]

    def _read_request_line(self, line: bytes) -> None:
        method, _, rest = line.partition(b" ")
        target, _, version = rest.rpartition(b" ")
        if version not in (b"HTTP/1.1", b"HTTP/1.0") or not _TOKEN.fullmatch(method):
            raise Malformed("The request line must be a method, a path and HTTP/1.1, with one space between them.")
        if not _TARGET.fullmatch(target):
            raise Malformed("The path must be ASCII without spaces; percent-encode everything else.")
        self.command, self.path, self.request_version = method.decode(), target.decode(), version.decode()
        if not self.path.startswith("/"):
            scheme, mark, place = self.path.partition("://")
            if scheme.lower() not in ("http", "https") or not mark:
                raise Malformed("The path must begin with a slash.")
            self.path = "/" + place.partition("/")[2]

    def _judge_headers(self, given: dict[str, str]) -> None:
        if self.request_version == "HTTP/1.1" and "host" not in given:
            raise Malformed("The header Host is missing.")
        tokens = {token.strip() for token in given.get("connection", "").lower().split(",")}
        self.close_connection = "close" in tokens or (self.request_version == "HTTP/1.0" and "keep-alive" not in tokens)
        if "transfer-encoding" in given:
            if given["transfer-encoding"].lower() != "chunked":
                raise Malformed("Transfer-Encoding must be chunked.")
            if "content-length" in given or self.request_version == "HTTP/1.0":
                raise Malformed("Transfer-Encoding cannot be combined with Content-Length, or in HTTP/1.0.")
            self.is_chunked = True
        length = given.get("content-length", "0")
        if not _LENGTH.fullmatch(length):
            raise Malformed("Content-Length must be a number of bytes in decimal digits.")
        self.unread = int(length)
        if "expect" in given:
            if given["expect"].lower() != "100-continue":
                raise Malformed("Expect must be 100-continue.")
            self._expects = bool(self.unread or self.is_chunked)

    def _chunks(self, limit: int | None) -> Iterator[bytes]:
        total = 0
        while True:
            found = _CHUNK.fullmatch(self.rfile.readline(512))
            if found is None:
                raise Malformed("A chunk of the body must begin with its size in hexadecimal digits and a line end.")
            size = int(found[1], 16)
            total += size
            if limit is not None and total > limit:
                raise _too_large(limit)
            if not size:
                break
            block = self.rfile.read(size)
            if len(block) < size or self.rfile.read(2) != b"\r\n":
                raise Malformed("A chunk of the body must be as long as it says, and end with a line end.")
            yield block
        left = HEAD_BYTES
        while trailer := self._head_line(left):
            left -= len(trailer)


def _check_number(lines: int) -> None:
    if lines > HEADERS:
        raise Malformed(f"There are more than {HEADERS} headers.", HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)


@lru_cache(maxsize=256)
def _parse(block: bytes) -> tuple[dict[str, str], dict[str, str]]:
    """Header lines by name as they are written, and by the name in lower case; a client's are mostly the same."""
    headers: dict[str, str] = {}
    names: dict[str, str] = {}
    lines = block.split(b"\r\n")[:-1]
    for line in lines:
        found = _HEADER.fullmatch(line)
        if found is None:
            raise Malformed("A header line is malformed: it must be a name, a colon and a value, on one line.")
        given, text = found[1].decode("ascii"), found[2].strip(b" \t").decode("latin-1")
        name = names.setdefault(given.lower(), given)
        if name not in headers:
            headers[name] = text
        elif given.lower() in _ONCE:
            raise Malformed(f"The header {given} is given more than once.")
        else:
            headers[name] += f",{text}"
    _check_number(len(lines))
    return headers, {lower: headers[name] for lower, name in names.items()}


def _too_large(limit: int) -> Malformed:
    return Malformed(
        f"The request's body is larger than {limit // 1024 // 1024} MB.", HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    )


class Server(ThreadingHTTPServer):
    """A port, with a thread for each connection."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002 -- the base class's signature
        """Log what went wrong in a connection."""
        log.error("The connection of %s failed", client_address, exc_info=sys.exc_info())
