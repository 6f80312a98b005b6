"""A server on this machine that webhooks are sent to. It verifies each message with the reference library."""

from __future__ import annotations

import json
import threading
import time
from contextlib import AbstractContextManager, closing
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from tests.loopback import Handler, Server


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

        class Endpoint(Handler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                answer = owner.take(self.path, dict(self.headers), self.read_body())
                if callable(answer):
                    answer(self)
                    return
                status, headers = answer if isinstance(answer, tuple) else (answer, {})
                self.answer(status, b"ok", headers)

        server = Server(Endpoint)
        self.url, self.close = server.url, server.close

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


def running() -> AbstractContextManager[Receiver]:
    """A receiver that listens."""
    return closing(Receiver())


def hang(handler: Handler) -> None:
    """Answer nothing for a long time."""
    time.sleep(3)


def drip(handler: Handler) -> None:
    """Send headers without an end, byte by byte."""
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-A: ")
        for _ in range(60):
            handler.wfile.write(b"a")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        pass
