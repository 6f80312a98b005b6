"""The API in a browser: Swagger UI from its package, on a page that runs no external code.

The page has no inline script, so that its Content-Security-Policy need not allow any; the asset `start.js` starts
Swagger UI. All addresses are relative, so they also work behind API Gateway's stage.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from chalicelib.core.permissions import Permission
from chalicelib.errors import NotFound
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Answer, Call, Operations

PAGES = Operations(tag="Pages")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What the page may load and run: only our own files.

Swagger UI's icons have style attributes, no other inline code.
"""

ASSETS = {
    "swagger-ui.css": "text/css; charset=utf-8",
    "index.css": "text/css; charset=utf-8",
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "start.js": "text/javascript; charset=utf-8",
    "favicon-16x16.png": "image/png",
    "favicon-32x32.png": "image/png",
}
"""The served files: name → content type."""

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


@PAGES.get("/docs", "BrowseDocs", needs=Permission.ANYONE, returns="text/html")
def page(call: Call[Any, Any, Any]) -> Answer:
    """The interface in a browser."""
    headers = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}
    return _cached(call, "text/html; charset=utf-8", _PAGE.encode(), headers)


@PAGES.get(
    "/docs/{asset}", "GetDocsAsset", needs=Permission.ANYONE, addresses=plain(lambda _: None, asset=str), returns="*/*"
)
def asset(call: Call[Any, Any, Any]) -> Answer:
    """A file that the browser page needs, by its name.

    Raises:
        NotFound: the file is not on the list.
    """
    name = call.path["asset"]
    if name not in ASSETS:
        raise NotFound.of("asset", name)
    return _cached(call, ASSETS[name], _content(name), {})


def _cached(call: Call[Any, Any, Any], content_type: str, body: bytes, headers: dict[str, str]) -> Answer:
    """A response that browsers may cache for an hour and then revalidate."""
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
