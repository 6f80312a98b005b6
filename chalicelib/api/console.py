"""The console: the web front end in `chalicelib/console/`, served as files, without a build step.

The page is `/`. Its files are at `/console/{build}/…`, where `build` is the hash of all of them, so browsers may keep
them for a year: a changed file has a new address. Modules import each other by relative paths within a build.
"""

from __future__ import annotations

import gzip
import hashlib
import html
import json
import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from chalicelib.core.permissions import Permission
from chalicelib.errors import NotFound
from chalicelib.http.addresses import plain
from chalicelib.http.operation import Answer, Call, Operations
from chalicelib.resources.algorithms import saved_files
from chalicelib.settings import settings

PAGES = Operations(tag="Pages")
FOLDER = Path(__file__).parent.parent / "console"
TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
"""The served suffixes and their content types."""
FOREVER = "public, max-age=31536000, immutable"
APPLET = "applet.html"
"""The page in which applets run: served with the policy of uploaded files, never with the console's."""
_INDEX = "index.html"
_GZIP_LEVEL = 9
_SHORTEST_ZIPPED = 500
_IMPORT = re.compile(r"""(?:\bfrom|^import)\s*["'](\.[^"']+)["']""", re.MULTILINE)


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """One state of the files.

    Attributes:
        name: the hash of the files, in the addresses of all.
        index: the page, without its gzip.
        files: content by path, such as `views/media.js`.
        first: the modules that the first view loads, in the order of their imports.
    """

    name: str
    index: bytes
    files: Mapping[str, bytes]
    first: tuple[str, ...]


def build() -> Build:
    """The files of this deployment, read once; on the local stack, read again when one changes."""
    return _read(max(path.stat().st_mtime_ns for path in FOLDER.rglob("*")) if settings().stage == "local" else 0)


@lru_cache(maxsize=1)
def _read(_changed: int) -> Build:
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in TYPES or path.name == APPLET)
    files = {path.relative_to(FOLDER).as_posix(): path.read_bytes() for path in paths}
    page = (FOLDER / _INDEX).read_text()
    content = hashlib.sha256(page.encode())
    for path, body in files.items():
        content.update(f"\n{path} {hashlib.sha256(body).hexdigest()}".encode())
    name = content.hexdigest()[:16]
    first = tuple(imports(files, "app.js"))
    styles = (path for path in files if path.endswith(".css"))
    links = [f'<link rel="stylesheet" href="console/{name}/{path}">' for path in styles]
    links += [f'<link rel="modulepreload" href="console/{name}/{path}">' for path in first]
    index = page.replace("{links}", "\n    ".join(links)).replace("{build}", name)
    index = index.replace("{modules}", html.escape(_ahead(files, first)))
    return Build(name=name, index=index.encode(), files=MappingProxyType(files), first=first)


def _ahead(files: Mapping[str, bytes], first: Collection[str]) -> str:
    """What `preload.js` asks for, as JSON: by view and language, the modules that it needs and `app.js` does not."""
    paths = [path for path in files if path.endswith(".js") and path not in first]
    ahead = {
        entry: [paths.index(path) for path in imports(files, entry) if path not in first]
        for entry in paths
        if entry.startswith("views/") or entry.endswith("/index.js")
    }
    return json.dumps({"paths": paths, "ahead": ahead}, separators=(",", ":"))


def imports(files: Mapping[str, bytes], start: str) -> list[str]:
    """A module and all that it imports statically, each once."""
    found, left = dict[str, None](), [start]
    while left:
        path = left.pop(0)
        if path not in found:
            found[path] = None
            folder = Path(path).parent
            names = _IMPORT.findall(files[path].decode())
            left += [_plain_path((folder / name).as_posix()) for name in names]
    return list(found)


def _plain_path(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def policy() -> str:
    """The Content-Security-Policy of the page: scripts and styles from here; media from here and the object stores."""
    stores, place = " ".join(origins()), settings()
    tiles = f" {_origin(place.map_tiles)}" if place.map_tiles else ""
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "font-src 'self'",
            "worker-src 'self'",
            "manifest-src 'self'",
            f"img-src 'self' blob: data: {stores}{tiles}",
            f"media-src 'self' blob: {stores}",
            f"connect-src 'self' {stores}",
            "frame-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    )


def origins() -> list[str]:
    """The origins of presigned URLs: the deployment's buckets, large answers, stores that the operator allows."""
    place = settings()
    found: list[str] = []
    if place.s3_endpoint:
        found.append(place.s3_endpoint)
    else:
        # with and without the region in the host's name: botocore signs for the first, S3 redirects to the second
        found += [
            f"https://{bucket}.s3.{ending}"
            for bucket in (place.media_bucket, place.upload_bucket, place.views_bucket)
            for ending in ("amazonaws.com", f"{_region()}.amazonaws.com")
        ]
    if place.answers_url:
        found.append(_origin(place.answers_url))
    return list(dict.fromkeys([*found, *place.store_origins, *place.console_origins]))


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _region() -> str:
    from chalicelib.storage.objects import s3  # noqa: PLC0415 only where there is no endpoint of our own

    return s3.client().meta.region_name


@PAGES.get("/", "ShowConsole", needs=Permission.ANYONE, returns="text/html")
def page(call: Call[Any, Any, Any]) -> Answer:
    """The console, a web front end.

    Browsers ask for it each time and get 304 while it is unchanged.
    """
    found, allowed = build(), policy()
    named = (settings().map_tiles, settings().map_source)
    tag = f'"{found.name}-{hashlib.sha256(repr((allowed, named)).encode()).hexdigest()[:8]}"'
    headers = {
        "Content-Security-Policy": allowed,
        "Cross-Origin-Opener-Policy": "same-origin",
        "X-Frame-Options": "DENY",
        "ETag": tag,
        "Cache-Control": "no-cache",
    }
    if call.headers.get("if-none-match") == tag:
        return Answer(status=304, content_type="text/html; charset=utf-8", headers=headers)
    tiles, source = (html.escape(each).encode() for each in named)
    body = found.index.replace(b"{tiles}", tiles).replace(b"{tiles_source}", source)
    return Answer(content_type="text/html; charset=utf-8", body=body, headers=headers)


@PAGES.get(
    "/console/{build}/{folder}/{name}",
    "GetConsoleFolderFile",
    needs=Permission.ANYONE,
    addresses=plain(lambda _: None, build=str, folder=str, name=str),
    returns="*/*",
    summary="A file in a folder of the console.",
)
@PAGES.get(
    "/console/{build}/{name}",
    "GetConsoleFile",
    needs=Permission.ANYONE,
    addresses=plain(lambda _: None, build=str, name=str),
    returns="*/*",
)
def asset(call: Call[Any, Any, Any]) -> Answer:
    """A file of the console, by the hash of all its files.

    Raises:
        NotFound: for other files, and for those of another build.
    """
    found = build()
    path = "/".join(call.path[part] for part in ("folder", "name") if part in call.path)
    if call.path["build"] != found.name or path not in found.files:
        raise NotFound.of("asset", path)
    if path == APPLET:
        headers = {"Content-Security-Policy": saved_files.policy(), "Cache-Control": FOREVER}
        return Answer(content_type="text/html; charset=utf-8", body=found.files[path], headers=headers)
    content_type = TYPES[Path(path).suffix]
    headers = {"Cache-Control": FOREVER, "Vary": "Accept-Encoding"}
    body = found.files[path]
    if (
        len(body) >= _SHORTEST_ZIPPED
        and not path.endswith(".png")
        and "gzip" in call.headers.get("accept-encoding", "")
    ):
        return Answer(content_type=content_type, body=_zipped(body), headers={**headers, "Content-Encoding": "gzip"})
    return Answer(content_type=content_type, body=body, headers=headers)


@lru_cache(maxsize=256)
def _zipped(body: bytes) -> bytes:
    return gzip.compress(body, _GZIP_LEVEL, mtime=0)
