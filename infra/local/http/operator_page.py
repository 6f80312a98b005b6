"""The operator's page of the local stack: what `python -m infra.admin` asks, for callers with the key in `.limn`.

The stack's data is in its own process, so the command line cannot reach it otherwise. The key is new at every start,
and only the user who started the stack may read its file.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path

from infra.admin import KEY_FILE, Refused, perform
from infra.local.http.reply import Reply

PATH = "/local/admin"


class OperatorPage:
    """Serves the operator's commands."""

    def __init__(self, home: Path) -> None:
        self._key = secrets.token_urlsafe(32)
        place = home / KEY_FILE
        place.unlink(missing_ok=True)
        place.touch(mode=0o600)
        place.write_text(self._key + "\n")

    def serve(self, method: str, _query: str, body: bytes) -> Reply:
        """Do one command: a JSON object of the command's words, and the key."""
        if method != "POST":
            return _reply(405, "The operator's commands come by POST.")
        try:
            given = json.loads(body)
        except ValueError:
            given = None
        if not isinstance(given, dict) or not secrets.compare_digest(
            str(given.get("key", "")).encode(), self._key.encode()
        ):
            return _reply(403, "The key is not that of this stack; it is in .limn/operator.key.")
        try:
            return _reply(200, perform(given))
        except Refused as refusal:
            return _reply(400, str(refusal))


def _reply(status: int, message: str) -> Reply:
    return Reply(status, {"Content-Type": "application/json"}, json.dumps({"message": message}).encode())
