"""Annotators on this machine: one server that answers by each convention."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from typing import Any

from tests import loopback
from tests.loopback import Handler

BOX = {"x": 0.25, "y": 0.5, "width": 0.25, "height": 0.25, "label": "fish", "confidence": 0.75}


class Server:
    """`answer`, where it is set, is sent instead of boxes; `asked` holds what came: path, headers, body."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.answer: bytes | None = None
        self.reply: Callable[[str, Any], Any] | None = None
        """From path and body to the answer's document, or a status."""
        self.status = 200
        self.pause = 0.0
        """Seconds before each byte of the answer."""
        owner = self

        class Model(Handler):
            def do_POST(self) -> None:
                body = json.loads(self.read_body())
                owner.asked.append((self.path, dict(self.headers), body))
                made = owner.reply(self.path, body) if owner.reply else None
                status = made if isinstance(made, int) else owner.status
                document = owner.boxes(self.path, body) if owner.reply is None and owner.answer is None else made
                data = owner.answer if owner.answer is not None else json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                with suppress(OSError):
                    for byte in data if owner.pause else ():
                        self.wfile.write(bytes([byte]))
                        time.sleep(owner.pause)
                    self.wfile.write(b"" if owner.pause else data)

        server = loopback.Server(Model)
        self.port, self.url, self.close = server.server_port, server.url, server.close

    def boxes(self, path: str, body: Any) -> Any:
        """The box by the convention of a path, of a picture of 64×48."""
        if path.endswith("/predict"):
            task = body["tasks"][0]["data"]["image"]
            assert base64.b64decode(task.partition(",")[2])[:2] == b"\xff\xd8"
            value = {"x": 25, "y": 50, "width": 25, "height": 25, "rectanglelabels": ["fish"]}
            return {"results": [{"score": 0.75, "result": [{"type": "rectanglelabels", "value": value}]}]}
        assert base64.b64decode(body["image"])[:2] == b"\xff\xd8"
        if path.endswith("/nuclio"):
            return [{"confidence": "0.75", "label": "fish", "points": [16, 24, 32, 36], "type": "rectangle"}]
        return {"boxes": [BOX]}


def running() -> AbstractContextManager[Server]:
    """A server that answers."""
    return closing(Server())
