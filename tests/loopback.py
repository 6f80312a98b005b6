"""HTTP servers on loopback that answer as a test says."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """One request; `do_POST` and the like are the test's. Prints nothing."""

    def read_body(self) -> bytes:
        """The body of the request, by its Content-Length."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def answer(self, status: int, body: Any = b"", headers: Mapping[str, str] | None = None) -> None:
        """Send an answer: bytes as they are, another body as JSON; the length is added."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


class Server(ThreadingHTTPServer):
    """Answers at `url` from its creation until `close`, or to the end of a `with`; `tls` makes it HTTPS."""

    def __init__(self, handler: type[Handler], port: int = 0, *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(("127.0.0.1", port), handler)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        """Stop to answer, and free the port."""
        self.shutdown()
        self.server_close()

    def __exit__(self, *_: object) -> None:
        self.close()
