"""Pages beside the API: console, OpenAPI document, a browser for it, pages of mails, paths of a project's files."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from chalicelib.access import authentication
from chalicelib.api import console, docs
from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.errors import NotFound
from chalicelib.http import openapi
from chalicelib.http.operation import Answer, Call, Located, NoQuery, Operations
from chalicelib.resources.accounts import mailed_pages
from chalicelib.resources.applets import operations as applets_operations
from chalicelib.resources.health import operations as health_operations
from chalicelib.resources.identity_providers import operations as identity_operations
from chalicelib.resources.inbox import pages as inbox_pages
from chalicelib.resources.scim import operations as scim_operations
from chalicelib.resources.temporary_files import operations as temporary_files_operations
from chalicelib.resources.temporary_files.schemas import TemporaryFile
from chalicelib.resources.temporary_files.service import get_by_name
from chalicelib.resources.uploads import tus_operations
from chalicelib.settings import settings

PAGES = Operations(tag="Pages")
PROJECT_FILES = Operations(tag="Applets")
YAML = "application/vnd.oai.openapi; charset=utf-8"


BUILT_SCHEMA = Path(__file__).with_name("schema.json")
"""The schema document of a package: `make package` writes it, for making it takes half a second (decision 223)."""
_SERVER = "https://server.invalid"
"""Placeholder in it for the address of the service."""


def build_schema() -> None:
    """Write the schema document into the package."""
    BUILT_SCHEMA.write_bytes(_made_for(_SERVER))


def schema_for(server: str) -> bytes:
    """The schema document of a service at this address, from the package's file where there is one."""
    if not BUILT_SCHEMA.exists():
        return _made_for(server)
    return BUILT_SCHEMA.read_bytes().replace(msgspec.json.encode(_SERVER), msgspec.json.encode(server))


def _made_for(server: str, *, legacy: bool = True) -> bytes:
    """The document as UTF-8 YAML that is also JSON: the fastest to make and for clients to load."""
    return msgspec.json.encode(openapi.document(OPERATIONS, server=server, legacy=legacy))


@lru_cache(maxsize=2)
def _schema(*, legacy: bool) -> tuple[bytes, str]:
    server = settings().public_url
    body = schema_for(server) if legacy else _made_for(server, legacy=False)
    return body, openapi.etag(body)


class SchemaQuery(Resource, kw_only=True):
    """What the document has."""

    legacy: Annotated[
        bool,
        Meta(
            description="Whether it has deprecated operations, older names of members and parameters, and bodies and "
            "answers of two shapes. Generators of clients do better without."
        ),
    ] = True


@PAGES.get("/schema", "GetSchema", needs=Permission.ANYONE, returns=YAML)
def schema(call: Call[Any, SchemaQuery, Any]) -> Answer:
    """The OpenAPI document of this interface, as YAML.

    The newest client is generated from it. Made once per container.
    """
    body, tag = _schema(legacy=call.query.legacy)
    if call.headers.get("if-none-match") == tag:
        return Answer(status=304, headers={"ETag": tag})
    return Answer(content_type=YAML, body=body, headers={"ETag": tag, "Cache-Control": "no-cache"})


def _find_file(path: dict[str, Any]) -> Located[TemporaryFile | Project]:
    try:
        return Located(target=get_by_name(path["project"], path["name"]), project=path["project"])
    except NotFound:
        project = authentication.project_of(path["project"])
        return Located(target=project, project=project.id, organization=project.organization)


@PROJECT_FILES.get(
    "/media/{project}/{name}",
    "GetProjectFile",
    needs=Permission.VIEW,
    addresses=replace(temporary_files_operations.BY_NAME, locate=_find_file),
    returns="*/*",
)
def serve_file(call: Call[TemporaryFile | Project, NoQuery, None]) -> Answer:
    """A saved file, such as the page of an applet, as an origin of its own; to a temporary file the way."""
    if isinstance(call.target, Project):
        return applets_operations.serve_file(call.target, call.path["name"])
    return temporary_files_operations.download(call)  # type: ignore[arg-type]


PAGES += (
    *console.PAGES,
    *mailed_pages.PAGES,
    *inbox_pages.PAGES,
    *identity_operations.PAGES,
    *scim_operations.PAGES,
    *health_operations.PAGES,
    *PROJECT_FILES,
    *tus_operations.PAGES,
    *docs.PAGES,
)
