"""The interface in a browser: Swagger UI from its package, on a page that runs nothing from elsewhere.

The page holds no script of its own, so that its Content-Security-Policy need not allow any; what starts Swagger UI is
the asset `start.js`. All addresses are relative, and so hold behind API Gateway's stage as well.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from chalicelib.errors import NotFound
from chalicelib.http.operation import Answer, Call

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load and run: our own files. Swagger UI's icons carry style attributes, nothing else inline."""

ASSETS = {
    "swagger-ui.css": "text/css; charset=utf-8",
    "index.css": "text/css; charset=utf-8",
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "start.js": "text/javascript; charset=utf-8",
    "favicon-16x16.png": "image/png",
    "favicon-32x32.png": "image/png",
}
"""All that is served: name → content type."""

_PAGE = """<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="UTF-8">
    <title>Limn</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="stylesheet" href="docs/index.css">
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png" sizes="32x32">
    <link rel="icon" type="image/png" href="docs/favicon-16x16.png" sizes="16x16">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <noscript>The description of this interface is at <a href="schema">schema</a>.</noscript>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
"""

_START = """SwaggerUIBundle({
  url: "schema",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "none",
  filter: true,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
  validatorUrl: null
});
"""


def page(call: Call[Any, Any, Any]) -> Answer:
    """The page that shows the interface."""
    headers = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}
    return _cached(call, "text/html; charset=utf-8", _PAGE.encode(), headers)


def asset(call: Call[Any, Any, Any]) -> Answer:
    """A file that the page needs, by `asset` in the path. Raises NotFound for all that is not on the list."""
    name = call.path["asset"]
    if name not in ASSETS:
        raise NotFound.of("asset", name)
    return _cached(call, ASSETS[name], _content(name), {})


def _cached(call: Call[Any, Any, Any], content_type: str, body: bytes, headers: dict[str, str]) -> Answer:
    """An answer that browsers may keep for an hour and then ask whether it changed."""
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {**headers, "ETag": tag, "Cache-Control": "public, max-age=3600"}
    if call.headers.get("if-none-match") == tag:
        return Answer(status=304, content_type=content_type, headers=headers)
    return Answer(content_type=content_type, body=body, headers=headers)


@cache
def _content(name: str) -> bytes:
    if name == "start.js":
        return _START.encode()
    from swagger_ui_bundle import swagger_ui_path  # noqa: PLC0415 only the documentation needs it

    return (Path(swagger_ui_path) / name).read_bytes()
