"""The forms of object keys: the folder of every file, and what the text of a key names. Nothing here allows anything.

    _uploads/{day}/{organization}/{project}/{user}/{name}    an upload that is not part of a media or File yet
    _uploads/chunks/{upload}/{name}                          bytes of a resumable upload; removed with it
    {organization}/{project}/{media}/{name}                  the files of a media
    {organization}/{project}/files/{file}/{name}             the object of a File
    {organization}/{project}/generic/{name}                  manifests of algorithms and pages of applets
    {organization}/{project}/jobs/{job}/{name}               files of runs of algorithms
    {organization}/{project}/{name}                          the picture of a project
    {organization}/{name}                                    the picture of an organization
    user_data/{user}/avatar.{extension}                      the picture of a user
    _temporary/{project}/{name}                              clips and temporary files
    _pieces/{project}/{job}/{name}                           intermediate files of a transcode; removed with it
    _exports/{project}/{export}/{name}                       an export and its parts; removed with it
    _datasets/{project}/{dataset}/{name}                     the rows of a version of a dataset; removed with it
    projects/{project}/{name}, answers/{name}                in the views bucket: commits, snapshots, large answers
    _buckets/{organization}/{bucket}/{project}/{media}/{name}    an object that a media refers to, where it lies

A name that ends with `@` and a number, before its extension, is stored in the organization's bucket of that number:
`1/2/3/720_AbCdEfGhIj@12.mp4`. All others are in the buckets of the deployment.

A reference (`_buckets/…`) names an object that others wrote into a registered bucket: `name` is its key there, folders
included. The service only reads it (docs/decisions/091).
"""

from __future__ import annotations

import posixpath
import re
import secrets
import string
import uuid

UPLOADS = "_uploads"
PIECES = "_pieces"
TEMPORARY = "_temporary"
EXPORTS = "_exports"
DATASETS = "_datasets"
BUCKETS = "_buckets"
VIEWS = "projects"
ANSWERS = "answers"
GENERIC = "generic"
_MAX_KEY_BYTES = 1024
_LONGEST_NAME = 200
_LONGEST_EXTENSION = 16
_UNSAFE = re.compile(r"[^\w.()+=@,!' -]", re.ASCII)
NUMBER = re.compile(r"[1-9][0-9]{0,18}", re.ASCII)
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_NAME = re.compile(r"[^/\x00-\x1f\x7f]{1,512}")
UPLOAD_KEY = rf"{UPLOADS}/{DAY.pattern}(/{NUMBER.pattern}){{3}}/{_NAME.pattern}"
"""The form of keys of uploads: day, organization, project, user and name."""
_MARK = re.compile(r"@([1-9][0-9]{0,14})(?:\.[^.@/]*)?")
UPLOAD_PARTS = 6
MEDIA_PARTS = 4
_FILE_PARTS = 5
REFERENCE_PARTS = 6
BUCKET_PARTS = 4


def name_for(filename: str | None) -> str:
    """A new name: the caller's name with ten random letters, or a uuid where none is given.

    Folders are dropped, and characters other than ASCII letters, digits and a few marks become `_`.
    """
    if not filename:
        return str(uuid.uuid4())
    base = _UNSAFE.sub("_", re.split(r"[/\\]", filename.partition("?")[0])[-1])
    stem, extension = posixpath.splitext(base)
    salt = "".join(secrets.choice(string.ascii_letters) for _ in range(10))
    return f"{stem[:_LONGEST_NAME]}_{salt}{extension[:_LONGEST_EXTENSION].replace('@', '_')}"


def in_bucket(name: str, bucket: int | None) -> str:
    """A name, marked with the number of the registered bucket that holds its object, if any."""
    if bucket is None:
        return name
    stem, extension = posixpath.splitext(name)
    return f"{stem}@{bucket}{extension}"


def bucket_of(key: str) -> int | None:
    """The registered bucket of a key's object; None for an object in the buckets of the deployment."""
    parts = key.split("/", BUCKET_PARTS - 1)
    if parts[0] == BUCKETS and len(parts) == BUCKET_PARTS and all(map(NUMBER.fullmatch, parts[1:3])):
        return int(parts[2])
    name = key.rpartition("/")[2]
    found = _MARK.fullmatch(name, name.rfind("@")) if "@" in name else None
    return int(found[1]) if found else None


def home_of(key: str) -> int | None:
    """The organization that a key begins with; None where it does not begin with one."""
    parts = key.split("/")
    place = {UPLOADS: 2, BUCKETS: 1}.get(parts[0], 0)
    return int(parts[place]) if len(parts) > place and NUMBER.fullmatch(parts[place]) else None


def owner_of(key: str) -> tuple[int, str, int] | None:
    """The owner of a key: the project, `media` or `file`, and its id; None for any other key."""
    parts = key.split("/")
    if is_reference(key):
        return int(parts[3]), "media", int(parts[4])
    if len(parts) == MEDIA_PARTS and all(map(NUMBER.fullmatch, parts[:3])):
        return int(parts[1]), "media", int(parts[2])
    if len(parts) == _FILE_PARTS and parts[2] == "files" and all(map(NUMBER.fullmatch, (*parts[:2], parts[3]))):
        return int(parts[1]), "file", int(parts[3])
    return None


def uploader_of(key: str) -> int | None:
    """The user whose upload a key is; None for any other key."""
    parts = key.split("/")
    is_upload = len(parts) == UPLOAD_PARTS and parts[0] == UPLOADS and NUMBER.fullmatch(parts[4])
    return int(parts[4]) if is_upload else None


def is_organizations(key: str) -> bool:
    """Whether a key has the form of an organization's own: `organization/name`."""
    first, _, name = key.partition("/")
    return bool(name) and "/" not in name and NUMBER.fullmatch(first) is not None


def is_reference(key: str) -> bool:
    """Whether a key has the form of a reference: `_buckets/organization/bucket/project/media/name`."""
    parts = key.split("/", REFERENCE_PARTS - 1)
    return len(parts) == REFERENCE_PARTS and parts[0] == BUCKETS and all(map(NUMBER.fullmatch, parts[1:5]))


def is_referable(name: str, bucket: int) -> bool:
    """Whether a media may refer to the object with this key in a bucket.

    Not to a folder, to a key that tools read differently, such as one with `..`, or to a file of the service itself.
    """
    number = bucket_of(name)
    # an organization may register one bucket twice, under two numbers
    is_own = number is not None and (number == bucket or owner_of(name) or uploader_of(name))
    return is_sound(name) and not is_own


def is_url(path: str) -> bool:
    """Whether a path is a URL rather than a key."""
    return "://" in path


def is_in(path: str, folder: str) -> bool:
    """Whether a text names an object directly in a folder."""
    return path.rpartition("/")[0] == folder and is_sound(path)


def is_sound(path: str) -> bool:
    """Whether every reader takes a key for the same object: no empty or relative part, no control character."""
    return len(path.encode(errors="replace")) <= _MAX_KEY_BYTES and all(
        _NAME.fullmatch(part) and part not in (".", "..") for part in path.split("/")
    )
