"""The files of a project that belong to no media: manifests of algorithms, pages of applets.

They are named `{project}/{name}` in the interface and served at `/media/{project}/{name}`: a page that a user
uploaded may run its scripts, but as an origin of its own, which reaches nothing of who looks at it.
"""

from __future__ import annotations

import posixpath
import re
import secrets
from dataclasses import dataclass
from mimetypes import guess_type

from chalicelib.access.scope import Scope
from chalicelib.core.keys import object_keys
from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.core.models.accounts import Project
from chalicelib.core.models.algorithms import ALGORITHM, APPLET
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.uploads import fetching
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects

MAX_SAVED_BYTES = 4_000_000
"""Bytes of a file: what the API can serve."""
PATH = "/media"
_UNSAFE = re.compile(r"[^\w.()+=@,!-]", re.ASCII)
_NAME = re.compile(r"[\w.()+=@,!-]{1,240}", re.ASCII)
_LONGEST_STEM = 150
_LONGEST_EXTENSION = 16


@dataclass(frozen=True, kw_only=True)
class Page:
    """A stored file with its headers."""

    body: bytes
    content_type: str
    headers: dict[str, str]


def save(project: Project, name: str, url: str, scope: Scope) -> str:
    """Fetch a file and keep it under a new name; that name.

    Raises:
        Forbidden: the URL is not from an allowed origin.
        BadInput: there is nothing.
        TooLarge: it has more than `LARGEST` bytes.
    """
    body = fetching.fetch(url, project.id, MAX_SAVED_BYTES, scope)
    stem, extension = posixpath.splitext(_UNSAFE.sub("_", re.split(r"[/\\]", name)[-1]))
    stored = f"{stem[:_LONGEST_STEM]}_{secrets.token_hex(8)}{extension[:_LONGEST_EXTENSION]}"
    objects.write(_key(project, stored), body, guess_type(stored)[0] or "application/octet-stream")
    return stored


def url_of(project: int, name: str) -> str:
    """A file as the interface names it."""
    return f"{project}/{name}"


def name_of(project: Project, url: str, member: str) -> str:
    """The name of a file of a project, however it is given: `2/x.html`, `/media/2/x.html`, with the host before it.

    Raises:
        BadInput: it is no file of this project; the message names `member`.
    """
    path = url.removeprefix(settings().public_url).removeprefix(PATH).strip("/")
    folder, _, name = path.rpartition("/")
    if folder not in ("", str(project.id)) or not _is_kept(project, name):
        raise BadInput(f"{member}: {url[:200]!r} is no file that was saved in project {project.id}.")
    return name


def read(project: Project, name: str) -> bytes:
    """A file of a project. Raises BadInput where it is gone."""
    try:
        return objects.read(_key(project, name))
    except NotFound:
        raise BadInput(f"The file {url_of(project.id, name)} does not exist any more.") from None


def remove_unused(project: Project, url: str | None) -> None:
    """Remove a file that no algorithm or applet of the project names any more; a missing one is no error."""
    name = _base_name(url)
    users = (
        *(each.manifest for each in records.list_children(ALGORITHM, project.id)),
        *(each.html_file for each in records.list_children(APPLET, project.id)),
    )
    if _NAME.fullmatch(name) and name not in (".", "..", *map(_base_name, users)):
        objects.remove([_key(project, name)])


def page(project: Project, name: str) -> Page:
    """A file as it is served to browsers. Raises NotFound.

    Scripts and styles are bytes without a type: the console's policy lets it load those of its origin, which this is.
    """
    if not _is_kept(project, name):
        raise NotFound.of("File", url_of(project.id, name))
    kind = guess_type(name)[0] or "application/octet-stream"
    is_page = kind in ("text/html", "text/plain", "application/json") or kind.startswith("image/")
    kind = kind if is_page else "application/octet-stream"
    headers = {
        "Content-Security-Policy": policy(),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "private, no-cache",
        "Content-Disposition": "inline" if is_page else "attachment",
    }
    charset = "; charset=utf-8" if kind.startswith("text/") else ""
    return Page(body=objects.read(_key(project, name)), content_type=f"{kind}{charset}", headers=headers)


def policy() -> str:
    """The Content-Security-Policy of files that users uploaded.

    `sandbox` without `allow-same-origin` makes the page an origin of its own: no cookies, no storage, no windows of
    ours. It may speak to the API and the object store, with whatever token it is given by who embeds it.
    """
    own = " ".join(dict.fromkeys(text for text in (settings().public_url, settings().s3_endpoint) if text))
    stores = own if settings().s3_endpoint else f"{own} https://*.amazonaws.com"
    return "; ".join(
        (
            "sandbox allow-scripts allow-forms allow-modals allow-downloads",
            "default-src 'none'",
            "script-src 'unsafe-inline' blob:",
            "worker-src blob:",
            "style-src 'unsafe-inline'",
            f"img-src data: blob: {stores}",
            f"media-src data: blob: {stores}",
            f"connect-src {stores}",
            "font-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            f"frame-ancestors {settings().public_url}",
        )
    )


def _base_name(url: str | None) -> str:
    return (url or "").rpartition("/")[2]


def _is_kept(project: Project, name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name not in (".", "..") and objects.size(_key(project, name)) is not None


def _key(project: Project, name: str) -> ObjectKey:
    return object_keys.generic_key(project.organization, project.id, name)
