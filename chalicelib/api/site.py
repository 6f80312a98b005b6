"""Pages beside the API: the console, the OpenAPI document, a browser for it, the pages of mails."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from chalicelib.api import console, docs, pages
from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.permissions import Permission
from chalicelib.http import openapi
from chalicelib.http.operation import Answer, Call, Operations
from chalicelib.resources.accounts import mailed_pages
from chalicelib.resources.health import operations as health_operations
from chalicelib.resources.uploads import tus_operations
from chalicelib.settings import settings

PAGES = Operations(tag="Pages")
YAML = "application/vnd.oai.openapi; charset=utf-8"


@lru_cache(maxsize=1)
def _schema() -> tuple[bytes, str]:
    body = openapi.as_yaml(openapi.document(OPERATIONS, server=settings().public_url))
    return body, openapi.etag(body)


@PAGES.get("/schema", "GetSchema", needs=Permission.ANYONE, returns=YAML)
def schema(call: Call[Any, Any, Any]) -> Answer:
    """The OpenAPI document of this interface, as YAML.

    The newest client is generated from it. Made once per container.
    """
    body, tag = _schema()
    if call.headers.get("if-none-match") == tag:
        return Answer(status=304, headers={"ETag": tag})
    return Answer(content_type=YAML, body=body, headers={"ETag": tag, "Cache-Control": "no-cache"})


PAGES += (
    *console.PAGES,
    *mailed_pages.PAGES,
    *health_operations.PAGES,
    *pages.PAGES,
    *tus_operations.PAGES,
    *docs.PAGES,
)
