"""`/files/`: resumable uploads with tus 1.0; any tus client works.

The creation names the project in Upload-Metadata; a caller who may upload to one project only need not. The address of
a finished upload is accepted where the service takes a URL: for a transcode, a media, a temporary file.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from email.utils import format_datetime
from typing import Any

from chalicelib.access import authentication
from chalicelib.access.authentication import Caller
from chalicelib.access.scope import Scope
from chalicelib.core.permissions import Level, Permission, Verdict, decide
from chalicelib.core.usage_limits import check_exhausted
from chalicelib.core.web import tus
from chalicelib.core.web.tus import Upload
from chalicelib.errors import BadInput, Conflict, Forbidden, NotFound
from chalicelib.http.addresses import PROJECT, WITHIN_PROJECT
from chalicelib.http.operation import Address, Answer, Call, Located, NoQuery, Operations
from chalicelib.resources.uploads import tus as uploads_tus
from chalicelib.settings import settings
from chalicelib.storage.objects import objects
from chalicelib.storage.objects import tus_uploads as rows

LIMIT = f"max-size={tus.MAX_UPLOAD_BYTES}, max-append-size={tus.LARGEST_CHUNK}"
"""Header of the draft standard for resumable uploads; tus 1.0 has none for the size of a chunk."""
ALWAYS = {
    "Tus-Resumable": tus.VERSION,
    "Tus-Version": tus.VERSION,
    "Tus-Extension": tus.EXTENSIONS,
    "Tus-Max-Size": str(tus.MAX_UPLOAD_BYTES),
    "Tus-Checksum-Algorithm": tus.ALGORITHMS,
    "Upload-Limit": LIMIT,
    "Cache-Control": "no-store",
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "Location, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, "
    "Upload-Limit, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, Tus-Checksum-Algorithm",
}
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST, HEAD, PATCH, DELETE, GET, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Tus-Resumable, Upload-Length, Upload-Offset, "
    "Upload-Metadata, Upload-Checksum, X-HTTP-Method-Override",
    "Access-Control-Max-Age": "3600",
}


def _find(path: dict[str, Any]) -> Located[Upload]:
    upload = rows.get(path["id"])
    return Located(target=upload, project=upload.project)


def _level(scope: Scope, found: Located[Upload]) -> Level:
    """The caller's level in the project, if the upload is the caller's or that level is full control.

    For other users the upload does not exist: it is continued, read and ended by its creator, as long as the creator
    may upload to the project.
    """
    level = WITHIN_PROJECT.level(scope, found)
    is_own = found.target.user == scope.caller.id
    return level if is_own or PROJECT.level(scope, _project_of(found)) >= Level.FULL else Level.NONE


def _project_of(found: Located[Upload]) -> Located[Any]:
    return PROJECT.find({"project": found.project})


FILES = "/files"
FILE = FILES + "/{id}"
PAGES = Operations(
    tag="Resumable uploads",
    needs=Permission.TRANSFER,
    addresses=Address(kind="upload", locate=_find, level=_level, variables={"id": str}),
    returns="*/*",
    always=ALWAYS,
)


@PAGES.declare("OPTIONS", FILE, "GetTusUploadOptions", needs=Permission.ANYONE, addresses=None)
@PAGES.declare("OPTIONS", FILES, "GetTusOptions", needs=Permission.ANYONE, addresses=None)
def capabilities(_: Call[None, NoQuery, None]) -> Answer:
    """The version and extensions of tus that the service supports.

    Browsers ask for it before each request.
    """
    return Answer(status=204, headers=_PREFLIGHT)


@PAGES.post(FILES, "CreateTusUpload", body_required=False, needs=Permission.SIGNED_IN, addresses=None, scoped=True)
def create(call: Call[None, NoQuery, bytes]) -> Answer:
    """Begin a resumable upload, with its first bytes if the request has a body.

    Upload-Metadata names the `project`, unless the caller may upload to one only, and the `filename` if there is one.
    """
    headers = call.headers
    tus.check_version(headers)
    metadata = tus.metadata_of(headers)
    number = tus.project_of(metadata) or _only_project(call.caller)
    length = tus.length_of(headers)
    if call.body:
        tus.check_chunk(headers, call.body)
        if len(call.body) > length:
            raise BadInput("Upload-Length: it is less than the bytes sent along.")
    found = PROJECT.find({"project": number})
    _check_may(call.scope, found)
    check_exhausted(found.target.exhausted, ("bytes",))
    upload = uploads_tus.create(
        found.target, call.caller.id, length, metadata.get("filename"), headers.get("upload-metadata", "")
    )
    if call.body:
        upload = uploads_tus.append(upload, 0, call.body)
    return Answer(status=201, headers={"Location": f"{settings().public_url}{FILES}/{upload.id}", **_progress(upload)})


@PAGES.declare("HEAD", FILE, "GetTusUpload")
def progress(call: Call[Upload, NoQuery, None]) -> Answer:
    """The number of bytes that arrived. An upload that lacks only its last step is completed."""
    tus.check_version(call.headers)
    upload = call.target
    uploads_tus.check_alive(upload)
    with suppress(Conflict):  # another request is completing it
        upload = uploads_tus.finish(upload)
    more = {"Upload-Length": str(upload.length)}
    if upload.metadata:
        more["Upload-Metadata"] = upload.metadata
    return Answer(status=200, headers={**more, **_progress(upload)})


@PAGES.patch(FILE, "AppendToTusUpload", body_required=False)
def append(call: Call[Upload, NoQuery, bytes]) -> Answer:
    """Append bytes to a resumable upload, at most 4 MiB in one request."""
    headers = call.headers
    tus.check_version(headers)
    tus.check_chunk(headers, call.body)
    upload = uploads_tus.append(call.target, tus.offset_of(headers), call.body)
    return Answer(status=204, headers=_progress(upload))


@PAGES.delete(FILE, "EndTusUpload")
def end(call: Call[Upload, NoQuery, None]) -> Answer:
    """Abort a resumable upload, or remove a finished one."""
    tus.check_version(call.headers)
    uploads_tus.end(call.target)
    return Answer(status=204)


_OVERRIDES: dict[str, Callable[[Call[Upload, NoQuery, Any]], Answer]] = {
    "PATCH": append,
    "HEAD": progress,
    "DELETE": end,
}


@PAGES.post(FILE, "OverrideTusMethod", body_required=False)
def overridden(call: Call[Upload, NoQuery, bytes]) -> Answer:
    """PATCH, HEAD or DELETE of a resumable upload, as X-HTTP-Method-Override says.

    For clients that can only GET and POST.
    """
    method = call.headers.get("x-http-method-override", "").upper()
    if method not in _OVERRIDES:
        raise BadInput(f"X-HTTP-Method-Override: it must be one of {', '.join(_OVERRIDES)}.")
    return _OVERRIDES[method](call)


@PAGES.get(FILE, "DownloadTusUpload")
def download(call: Call[Upload, NoQuery, None]) -> Answer:
    """Redirect to the content of a finished upload. The URL is valid for an hour."""
    uploads_tus.check_alive(call.target)
    upload = uploads_tus.finish(call.target)
    if not upload.is_finished:
        raise Conflict(f"The upload is not finished: {upload.offset} of {upload.length} bytes are there.")
    return Answer(status=302, headers={"Location": objects.presign_get(uploads_tus.object_of(upload), 3600)})


def _only_project(caller: Caller) -> int:
    """The one project that a caller may upload to. Raises BadInput where there is none or several."""
    found = [number for number, level in authentication.projects_of(caller).items() if level >= Level.TRANSFER]
    if len(found) != 1:
        raise BadInput(
            "Upload-Metadata: project is required, the id of the project that the upload is for (in base64, as "
            f"`project {b64encode(b'12').decode()}` for 12); you may upload to {len(found)} projects."
        )
    return found[0]


def _check_may(scope: Scope, found: Located[Any]) -> None:
    level = WITHIN_PROJECT.level(scope.for_level(Level.TRANSFER), found)
    verdict = decide(Permission.TRANSFER, signed_in=True, is_staff=scope.caller.is_staff, level=level)
    if verdict is Verdict.UNKNOWN:
        raise NotFound.of("Project", found.project)
    if verdict is Verdict.FORBIDDEN:
        raise Forbidden


def _progress(upload: Upload) -> dict[str, str]:
    ends = format_datetime(datetime.fromisoformat(upload.until), usegmt=True)
    return {"Upload-Offset": str(upload.offset), "Upload-Expires": ends}
