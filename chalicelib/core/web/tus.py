"""Resumable uploads as tus 1.0 describes them (https://tus.io/protocols/resumable-upload): their headers.

An upload is a row with its progress; its bytes are in the object store. `offset` counts the stored bytes: those in
`parts` of a multipart upload, in rows of their own, and those in `chunks`, objects that wait until together they are
large enough for a part.
"""

from __future__ import annotations

import base64
import hashlib
import re
import zlib
from collections.abc import Callable, Mapping

from msgspec import Struct

from chalicelib.core.resource import Timestamp
from chalicelib.errors import BadInput, Damaged, TooLarge, WrongContent, WrongVersion

VERSION = "1.0.0"
EXTENSIONS = "creation,creation-with-upload,expiration,checksum,termination"
CONTENT_TYPE = "application/offset+octet-stream"
MAX_UPLOAD_BYTES = 50_000_000_000
"""Most bytes of an upload: S3 takes 10,000 parts, and ours have at least 5 MiB."""
LARGEST_CHUNK = 4 * 1024 * 1024
"""Most bytes of one request. Lambda takes 6 MB in base64: a body of 4.6 MB."""
SMALLEST_PART = 5 * 1024 * 1024
"""Least bytes of any part except the last, by S3's rule."""
LONGEST_METADATA = 4096
_NUMBER = re.compile(r"[0-9]{1,15}", re.ASCII)
_PROJECT = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_DIGESTS: dict[str, Callable[[bytes], bytes]] = {
    "sha1": lambda body: hashlib.sha1(body).digest(),  # noqa: S324 tus asks for it; it guards against accidents
    "sha256": lambda body: hashlib.sha256(body).digest(),
    "sha512": lambda body: hashlib.sha512(body).digest(),
    "md5": lambda body: hashlib.md5(body).digest(),  # noqa: S324 the same
    "crc32": lambda body: zlib.crc32(body).to_bytes(4, "big"),
}
ALGORITHMS = ",".join(_DIGESTS)


class Chunk(Struct, frozen=True, array_like=True):
    """Bytes that arrived and are in no part yet."""

    key: str
    size: int


class Upload(Struct, kw_only=True):
    """A resumable upload."""

    id: str
    project: int
    user: int
    key: str
    """The key of the future object."""
    length: int
    until: Timestamp
    """When it ends, finished or not."""
    metadata: str = ""
    """The client's metadata, as it was sent."""
    offset: int = 0
    chunks: list[Chunk] = []
    multipart: str = ""
    """The id of the multipart upload; empty before its first part."""
    number: int = 0
    """The last part number given to an attempt. Each attempt has its own, so the remains of a crash do no harm."""
    is_finished: bool = False
    is_gone: bool = False
    n: int = 0
    """Its optimistic lock."""

    @property
    def waiting(self) -> int:
        """Bytes in chunks."""
        return sum(chunk.size for chunk in self.chunks)


def check_version(headers: Mapping[str, str]) -> None:
    """Raise WrongVersion unless the request has `Tus-Resumable: 1.0.0`."""
    if headers.get("tus-resumable") != VERSION:
        raise WrongVersion(f"Tus-Resumable: it must be {VERSION}, the version of tus that the service supports.")


def length_of(headers: Mapping[str, str]) -> int:
    """The total size of an upload in bytes. Raises BadInput, TooLarge."""
    if "upload-defer-length" in headers:
        raise BadInput("Upload-Defer-Length: the length must be known at creation; send Upload-Length.")
    if "upload-concat" in headers:
        raise BadInput("Upload-Concat: uploads are not put together here; send one upload, without this header.")
    length = _count(headers, "Upload-Length")
    if length > MAX_UPLOAD_BYTES:
        raise TooLarge(f"Upload-Length: an upload has at most {MAX_UPLOAD_BYTES} bytes.")
    return length


def offset_of(headers: Mapping[str, str]) -> int:
    """The offset of a request's bytes. Raises BadInput."""
    return _count(headers, "Upload-Offset")


def metadata_of(headers: Mapping[str, str]) -> dict[str, str]:
    """The pairs of Upload-Metadata: `name base64,name base64`. Raises BadInput."""
    text = headers.get("upload-metadata", "")
    if len(text) > LONGEST_METADATA:
        raise BadInput(f"Upload-Metadata: it has at most {LONGEST_METADATA} characters.")
    found: dict[str, str] = {}
    for pair in text.split(",") if text.strip() else []:
        name, _, value = pair.strip().partition(" ")
        try:
            decoded = base64.b64decode(value.strip(), validate=True).decode()
        except ValueError:
            raise BadInput(f"Upload-Metadata: the value of {name!r} must be UTF-8 in base64.") from None
        if not name or name in found:
            raise BadInput("Upload-Metadata: its names must be given, each once.")
        found[name] = decoded
    return found


def project_of(metadata: Mapping[str, str]) -> int | None:
    """The project of an upload; None where the metadata names none. Raises BadInput for what is not an id."""
    text = metadata.get("project", "")
    if not text:
        return None
    if not _PROJECT.fullmatch(text):
        raise BadInput(f"Upload-Metadata: project must be the id of a project, not {text[:100]!r}.")
    return int(text)


def check_chunk(headers: Mapping[str, str], body: bytes) -> None:
    """Raise unless a request's body has the right type, is small enough, and matches its checksum.

    Raises:
        WrongContent: it has another type.
        TooLarge: the message names the size to use.
        BadInput: the checksum cannot be parsed.
        Damaged: the checksum does not match.
    """
    if headers.get("content-type", "").partition(";")[0].strip().lower() != CONTENT_TYPE:
        raise WrongContent(f"Content-Type: it must be {CONTENT_TYPE}.")
    if len(body) > LARGEST_CHUNK:
        message = f"The body has {len(body)} bytes; one request takes {LARGEST_CHUNK}. Upload in chunks of that size."
        raise TooLarge(message)
    checksum = headers.get("upload-checksum")
    if checksum is None:
        return
    name, _, value = checksum.strip().partition(" ")
    if name not in _DIGESTS:
        raise BadInput(f"Upload-Checksum: its algorithm must be one of {ALGORITHMS}.")
    try:
        wanted = base64.b64decode(value.strip(), validate=True)
    except ValueError:
        raise BadInput("Upload-Checksum: the checksum must be in base64.") from None
    if _DIGESTS[name](body) != wanted:
        raise Damaged(f"The body does not have the {name} of Upload-Checksum; it was discarded. Send it again.")


def _count(headers: Mapping[str, str], name: str) -> int:
    text = headers.get(name.lower(), "")
    if not _NUMBER.fullmatch(text):
        raise BadInput(f"{name}: it is required, a number of bytes of at most 15 digits, not {text[:100]!r}.")
    return int(text)
