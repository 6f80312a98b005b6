"""Models over HTTP: a WSGI application for waitress. Each request needs the token."""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import cv2

from . import conventions
from .conventions import UnknownPicture
from .models import Model, Recent
from .pictures import BadRequest

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes: 64 crops, or a picture of 8k, in base64."""
REMEMBERED = 16
"""Pictures whose embeddings are kept: one of Segment Anything takes 4 MB."""
THREADS = 4
_STATUS = {
    200: "200 OK",
    400: "400 Bad Request",
    401: "401 Unauthorized",
    404: "404 Not Found",
    405: "405 Method Not Allowed",
    409: "409 Conflict",
    413: "413 Content Too Large",
    500: "500 Internal Server Error",
}
_logger = logging.getLogger("limn.annotator")
_ASKED: dict[str, Callable[[Model, dict[str, Any], conventions.Pictures], Any]] = {
    "": conventions.limn, "predict": conventions.label_studio, "nuclio": conventions.nuclio
}  # fmt: skip


def application(models: Mapping[str, Model], token: str) -> Callable[..., Iterable[bytes]]:
    """The application that serves models, each below its name; one of the name "" at the root."""
    seen: conventions.Pictures = Recent(REMEMBERED)

    def serve(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        try:
            status, document = 200, _answer(environ, models, token, seen)
        except _Refusal as refusal:
            status, document = refusal.status, {"message": str(refusal)}
        except BadRequest as refusal:
            status, document = 400, {"message": str(refusal)}
        except UnknownPicture:
            status, document = 409, {"message": "image: the picture of this key is not known; send it."}
        except cv2.error as error:
            _logger.warning("OpenCV refused a picture: %s", error)
            status, document = 400, {"message": "image: OpenCV cannot work on this picture."}
        except Exception:
            _logger.exception("a model failed")
            status, document = 500, {"message": "The model failed; the output of its server says how."}
        data = json.dumps(document, allow_nan=False).encode()
        start(_STATUS[status], [("Content-Type", "application/json"), ("Content-Length", str(len(data)))])
        return [data]

    return serve


class _Refusal(Exception):
    """A request that is refused before a model is asked."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _answer(environ: Mapping[str, Any], models: Mapping[str, Model], token: str, seen: conventions.Pictures) -> Any:
    given = str(environ.get("HTTP_AUTHORIZATION", "")).encode("latin-1", "replace")
    if not hmac.compare_digest(given, f"Bearer {token}".encode()):
        raise _Refusal(401, "The header Authorization: Bearer with the token of this server is needed.")
    parts = [part for part in str(environ.get("PATH_INFO", "")).split("/") if part]
    name = parts.pop(0) if parts and parts[0] in models else ""
    action = parts[0] if parts else ""
    if name not in models or len(parts) > 1 or action not in (*_ASKED, "setup", "health"):
        known = ", ".join(f"/{each}" for each in models)
        raise _Refusal(404, f"Nothing is served at this path: models are at {known}, and below predict and nuclio.")
    if environ["REQUEST_METHOD"] == "GET" and action in ("", "health"):
        return conventions.describe(models[name])
    if environ["REQUEST_METHOD"] != "POST" or action == "health":
        raise _Refusal(405, "POST a request of a convention, or GET /health.")
    if action == "setup":
        return {"model_version": models[name].version}
    return _ASKED[action](models[name], _body(environ), seen)


def _body(environ: Mapping[str, Any]) -> dict[str, Any]:
    size = int(environ.get("CONTENT_LENGTH") or 0)
    if size > LARGEST_BODY:
        raise _Refusal(413, f"A request has at most {LARGEST_BODY} bytes.")
    try:
        body = json.loads(environ["wsgi.input"].read(size))
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise BadRequest("The body must be a JSON object.")
    return body
