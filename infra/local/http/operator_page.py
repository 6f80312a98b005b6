"""The operator's page of the local stack: what `python -m infra.admin` asks.

The stack's data is in its own process, so the command line cannot reach it otherwise. The gateway answers callers with
the key of the pages, and administrators.
"""

from __future__ import annotations

import json

from infra.admin import Refused, perform
from infra.local.http.reply import Reply

PATH = "/local/admin"


def serve(method: str, _query: str, body: bytes) -> Reply:
    """Do one command: a JSON object of the command's words."""
    if method != "POST":
        return _reply(405, "The operator's commands come by POST.")
    try:
        given = json.loads(body)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        return _reply(400, "The body must be a JSON object of the command's words.")
    try:
        return _reply(200, perform(given))
    except Refused as refusal:
        return _reply(400, str(refusal))


def _reply(status: int, message: str) -> Reply:
    return Reply(status, {"Content-Type": "application/json"}, json.dumps({"message": message}).encode())
