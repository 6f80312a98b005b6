"""A server on this machine that webhooks are sent to. It verifies each message with the reference library."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError


class Receiver:
    """`got` has the verified messages in the order in which they came; `answers` says what is answered, by path.

    An answer is a status, a status with headers, or a callable that gets the handler.
    """

    def __init__(self) -> None:
        self.got: list[dict[str, Any]] = []
        self.ids: list[str] = []
        self.refused: list[str] = []
        self.secrets: dict[str, str] = {}
        self.answers: dict[str, Any] = {}
        self.paths: list[str] = []
        self._lock = threading.Lock()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: object) -> None:
                """Nothing."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = owner.take(self.path, dict(self.headers), body)
                if callable(answer):
                    answer(self)
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def take(self, path: str, headers: dict[str, str], body: bytes) -> Any:
        """Verify one message; what to answer."""
        answer = self.answers.get(path, 200)
        with self._lock:
            self.paths.append(path)
            if secret := self.secrets.get(path):
                try:
                    Webhook(secret).verify(body, headers)
                except WebhookVerificationError as failure:
                    self.refused.append(str(failure))
                    return 401
            if not callable(answer) and (answer if isinstance(answer, int) else answer[0]) < 300:
                message = json.loads(body)
                assert message["id"] == headers["webhook-id"]
                assert len(body) < 20_000
                self.got.append({**message, "path": path})
                self.ids.append(message["id"])
        return answer

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def running() -> Iterator[Receiver]:
    """A receiver that listens."""
    server = Receiver()
    try:
        yield server
    finally:
        server.close()


def hang(handler: BaseHTTPRequestHandler) -> None:
    """Answer nothing for a long time."""
    time.sleep(3)


def drip(handler: BaseHTTPRequestHandler) -> None:
    """Send headers without an end, byte by byte."""
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-A: ")
        for _ in range(60):
            handler.wfile.write(b"a")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass
