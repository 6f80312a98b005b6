"""Keys of objects: where every file of a project lies, and whose a key is (`spec/4` §2.1).

_uploads/{day}/{organization}/{project}/{user}/{name}    what was uploaded for the service to take in
_uploads/chunks/{upload}/{name}                          what a resumable upload makes on the way; removed with it
{organization}/{project}/{media}/{name}                  the files of a media
{organization}/{project}/files/{file}/{name}             the object of a File
{organization}/{project}/temporary/{name}                clips and temporary files
{organization}/{name}                                    what an organization has itself, such as its picture
_pieces/{project}/{job}/{name}                           what a transcode makes on the way; removed with it

A name that ends with `@` and a number, before its extension, lies in the organization's bucket of that number:
`1/2/3/720_AbCdEfGhIj@12.mp4`. Every other lies in the buckets of the deployment.
"""

from __future__ import annotations

import posixpath
import re
import secrets
import string
import uuid

from chalicelib.errors import BadInput, Forbidden

UPLOADS = "_uploads"
PIECES = "_pieces"
TEMPORARY = "_temporary"
_LONGEST_NAME = 200
_LONGEST_EXTENSION = 16
_UNSAFE = re.compile(r"[^\w.()+=@,!' -]", re.ASCII)
_NUMBER = re.compile(r"[1-9][0-9]{0,18}")
_UPLOAD_PARTS = 6
_MEDIA_PARTS = 4
_FILE_PARTS = 5
_MARK = re.compile(r"@([1-9][0-9]{0,14})(?:\.[^.@/]*)?")


def name_for(filename: str | None) -> str:
    """A name nobody has used: the caller's with ten random letters, or a uuid where none is given.

    Folders are left out of it, and what is not a plain letter, digit or mark becomes `_`.
    """
    if not filename:
        return str(uuid.uuid4())
    base = _UNSAFE.sub("_", re.split(r"[/\\]", filename.partition("?")[0])[-1])
    stem, extension = posixpath.splitext(base)
    salt = "".join(secrets.choice(string.ascii_letters) for _ in range(10))
    return f"{stem[:_LONGEST_NAME]}_{salt}{extension[:_LONGEST_EXTENSION].replace('@', '_')}"


def in_bucket(name: str, bucket: int | None) -> str:
    """A name, marked with the registered bucket its object is to lie in, where it is one."""
    if bucket is None:
        return name
    stem, extension = posixpath.splitext(name)
    return f"{stem}@{bucket}{extension}"


def bucket_of(key: str) -> int | None:
    """The registered bucket that a key is marked with; None for an object in the buckets of the deployment."""
    name = key.rpartition("/")[2]
    found = _MARK.fullmatch(name, name.rfind("@")) if "@" in name else None
    return int(found[1]) if found else None


def home_of(key: str) -> int | None:
    """The organization whose object a key names; None where the key does not begin with one."""
    parts = key.split("/")
    place = 2 if parts[0] == UPLOADS else 0
    return int(parts[place]) if len(parts) > place and _NUMBER.fullmatch(parts[place]) else None


def upload_key(organization: int, project: int, user: int, name: str, day: str) -> str:
    """Where an upload that belongs to nothing yet lies; `day` is `YYYY-MM-DD`."""
    return f"{UPLOADS}/{day}/{organization}/{project}/{user}/{name}"


def media_key(organization: int, project: int, media: int, name: str) -> str:
    """Where a file of a media lies."""
    return f"{organization}/{project}/{media}/{name}"


def file_key(organization: int, project: int, file: int, name: str) -> str:
    """Where the object of a File lies."""
    return f"{organization}/{project}/files/{file}/{name}"


def temporary_key(project: int, name: str) -> str:
    """Where a temporary file lies."""
    return f"{TEMPORARY}/{project}/{name}"


def pieces_prefix(project: int, job: str) -> str:
    """Where a transcode keeps what it makes on the way, a slash at the end."""
    return f"{PIECES}/{project}/{job}/"


def chunks_prefix(upload: str) -> str:
    """Where a resumable upload keeps what is in no part yet, a slash at the end."""
    return f"{UPLOADS}/chunks/{upload}/"


def project_of(key: str) -> int:
    """The project a key belongs to.

    Raises:
        BadInput: the key has not the form of any key.
    """
    parts = key.split("/")
    if parts[0] == UPLOADS:
        numbers = parts[2:5] if len(parts) == _UPLOAD_PARTS else []
        place = 1
    else:
        numbers = parts[:2] if _MEDIA_PARTS <= len(parts) <= _FILE_PARTS else []
        place = 1
    if not numbers or not all(_NUMBER.fullmatch(number) for number in numbers) or not all(parts):
        message = f"key: {key!r} is malformed; it is to be organization/project/media/name or begin with {UPLOADS}/."
        raise BadInput(message)
    return int(numbers[place])


def organization_of(key: str) -> int | None:
    """The organization whose own a key is, `organization/name`; None where it is a project's or nobody's."""
    first, _, name = key.partition("/")
    return int(first) if name and "/" not in name and _NUMBER.fullmatch(first) else None


def check_project(key: str, project: int) -> None:
    """Raise Forbidden unless a key belongs to a project, BadInput where it is malformed."""
    if project_of(key) != project:
        message = f"key: {key!r} does not belong to project {project}."
        raise Forbidden(message)


def check_media(key: str, organization: int, project: int, media: int) -> None:
    """Raise Forbidden unless a key is one of a media's own: `organization/project/media/name` (`spec/4` §4.2)."""
    parts = key.split("/")
    if len(parts) != _MEDIA_PARTS or parts[:3] != [str(organization), str(project), str(media)] or not parts[3]:
        message = f"path: {key!r} is not one of media {media}: {organization}/{project}/{media}/name."
        raise Forbidden(message)


def check_file(key: str, organization: int, project: int, file: int) -> None:
    """Raise Forbidden unless a key is one of a File's own: `organization/project/files/file/name` (`spec/4` §8.3)."""
    folder, _, name = key.rpartition("/")
    if folder != f"{organization}/{project}/files/{file}" or not name:
        message = f"path: {key!r} is not one of File {file}: {organization}/{project}/files/{file}/name."
        raise Forbidden(message)


def owner_of(key: str) -> tuple[int, str, int] | None:
    """In whose folder a key lies: the project, `media` or `file`, and its id; None where in nobody's."""
    parts = key.split("/")
    if len(parts) == _MEDIA_PARTS and all(map(_NUMBER.fullmatch, parts[:3])):
        return int(parts[1]), "media", int(parts[2])
    if len(parts) == _FILE_PARTS and parts[2] == "files" and all(map(_NUMBER.fullmatch, (*parts[:2], parts[3]))):
        return int(parts[1]), "file", int(parts[3])
    return None


def is_url(path: str) -> bool:
    """Whether a path is a URL rather than a key of ours."""
    return "://" in path
