"""Keys of objects that the service may act on; `key_forms.py` has the form of each.

A caller can guess the form of a key, so a key in a request or in a stored document is only text (`str`). The functions
of `storage/objects` take an `ObjectKey`, and there are three ways to one (docs/decisions/043):

- the service builds it: `media_key`, `upload_key`, …;
- an `authorize_…` function compares the text with the owner it must belong to;
- it was listed below an `ObjectPrefix`, which the service built.
"""

from __future__ import annotations

import re
import secrets
import uuid
from dataclasses import InitVar, dataclass
from typing import final

from chalicelib.core.keys.key_forms import (
    ANSWERS,
    BUCKET_PARTS,
    BUCKETS,
    DATASETS,
    DAY,
    EXPORTS,
    GENERIC,
    MEDIA_PARTS,
    NUMBER,
    PIECES,
    REFERENCE_PARTS,
    TEMPORARY,
    UPLOAD_PARTS,
    UPLOADS,
    VIEWS,
    is_in,
    is_referable,
    is_reference,
    is_sound,
    owner_of,
)
from chalicelib.errors import BadInput, Forbidden

_LONGEST_PREFIX = 1000
_AVATAR = re.compile(r"avatar\.(?:jpg|png)")


class _Proof:
    """A sentinel that only this module can pass to the constructors of keys."""


_PROOF = _Proof()


@final
@dataclass(frozen=True, order=True, slots=True)
class ObjectKey:
    """The name of an object that the service may sign, read, write or remove.

    Attributes:
        path: the key as the store knows it.
    """

    path: str
    proof: InitVar[_Proof]

    def __post_init__(self, proof: _Proof) -> None:
        """Refuse construction outside this module."""
        if proof is not _PROOF:
            raise TypeError("An ObjectKey is made by the functions of core/keys/object_keys.py.")

    def __str__(self) -> str:
        """The key as text, for documents and messages."""
        return self.path

    @property
    def is_reference(self) -> bool:
        """Whether the object was written by others and is only read."""
        return is_reference(self.path)

    @property
    def name(self) -> str:
        """The key of the object in its bucket."""
        return self.path.split("/", REFERENCE_PARTS - 1)[-1] if self.is_reference else self.path


@final
@dataclass(frozen=True, order=True, slots=True)
class ObjectPrefix:
    """A prefix of keys built by the service, with a slash at the end: `prefix + "name"` is a key below it."""

    path: str
    proof: InitVar[_Proof]

    def __post_init__(self, proof: _Proof) -> None:
        """Refuse construction outside this module."""
        if proof is not _PROOF or not self.path.endswith("/"):
            raise TypeError("An ObjectPrefix is made by the functions of core/keys/object_keys.py.")

    def __str__(self) -> str:
        """The prefix as text."""
        return self.path

    @property
    def name(self) -> str:
        """The prefix in its bucket."""
        is_source = self.path.startswith(f"{BUCKETS}/")
        return self.path.split("/", BUCKET_PARTS - 1)[-1] if is_source else self.path

    def __add__(self, name: str) -> ObjectKey:
        """The key of an object below the prefix; `name` may have folders.

        Raises BadInput for relative parts such as `..`.
        """
        return _made(self.path + name)

    def folder(self, name: str) -> ObjectPrefix:
        """The prefix of a folder below this one."""
        return _folder(f"{self.path}{name}/")

    def holds(self, key: ObjectKey) -> bool:
        """Whether a key is below the prefix."""
        return key.path.startswith(self.path)


# --- names ---------------------------------------------------------------------------------------------------------


# --- keys that the service builds ----------------------------------------------------------------------------------


def upload_key(organization: int, project: int, user: int, name: str, day: str) -> ObjectKey:
    """The key of an upload that is not part of a media or File yet; `day` is `YYYY-MM-DD`."""
    return _made(f"{UPLOADS}/{day}/{organization}/{project}/{user}/{name}")


def media_key(organization: int, project: int, media: int, name: str) -> ObjectKey:
    """The key of a file of a media."""
    return media_prefix(organization, project, media) + name


def media_prefix(organization: int, project: int, media: int) -> ObjectPrefix:
    """The folder of a media."""
    return _folder(f"{organization}/{project}/{media}/")


def project_prefix(organization: int, project: int) -> ObjectPrefix:
    """The folder of a project's files that are kept until the project is purged."""
    return _folder(f"{organization}/{project}/")


def file_key(organization: int, project: int, file: int, name: str) -> ObjectKey:
    """The key of a File's object."""
    return _made(f"{organization}/{project}/files/{file}/{name}")


def generic_key(organization: int, project: int, name: str) -> ObjectKey:
    """The key of an algorithm's manifest or of an applet's page."""
    return _made(f"{organization}/{project}/{GENERIC}/{name}")


def job_prefix(organization: int, project: int, job: str) -> ObjectPrefix:
    """The key of a file of an algorithm's run, or of its launch."""
    return _folder(f"{organization}/{project}/jobs/{job}/")


def project_picture_key(organization: int, project: int, name: str) -> ObjectKey:
    """The key of a project's picture."""
    return _made(f"{organization}/{project}/{name}")


def organization_key(organization: int, name: str) -> ObjectKey:
    """The key of an upload for an organization, such as its picture."""
    return _made(f"{organization}/{name}")


def avatar_prefix(user: int) -> ObjectPrefix:
    """The folder of a user's picture."""
    return _folder(f"user_data/{user}/")


def avatar_key(user: int, extension: str) -> ObjectKey:
    """The key of a user's picture."""
    return _made(f"user_data/{user}/avatar.{extension}")


def temporary_key(project: int, name: str) -> ObjectKey:
    """The key of a temporary file."""
    return temporary_prefix(project) + name


def temporary_prefix(project: int) -> ObjectPrefix:
    """The folder of a project's temporary files."""
    return _folder(f"{TEMPORARY}/{project}/")


def pieces_prefix(project: int, job: str = "") -> ObjectPrefix:
    """The folder of a transcode's intermediate files, or without a job those of the project."""
    return _folder(f"{PIECES}/{project}/{job}/" if job else f"{PIECES}/{project}/")


def reference_key(organization: int, bucket: int, project: int, media: int, name: str) -> ObjectKey:
    """The key of an object in a registered bucket, by its name there, that a media was made to refer to.

    Raises:
        BadInput: a media may not refer to it (`is_referable`).
    """
    if not is_referable(name, bucket):
        raise BadInput(f"prefix: a media cannot refer to an object named {name[:200]!r}.")
    return ObjectKey(f"{BUCKETS}/{organization}/{bucket}/{project}/{media}/{name}", _PROOF)


def source_prefix(organization: int, bucket: int, prefix: str) -> ObjectPrefix:
    """A prefix of keys in a registered bucket whose objects media refer to; empty for the whole bucket.

    Raises:
        BadInput: it does not end with a slash, or no object below it may be referred to.
    """
    if prefix and (not prefix.endswith("/") or not is_sound(prefix[:-1])):
        message = f"prefix: {prefix[:200]!r} must be folders with a slash at the end, such as surveys/2026/, or empty."
        raise BadInput(message)
    if len(prefix.encode(errors="replace")) > _LONGEST_PREFIX:
        raise BadInput(f"prefix: it has more than {_LONGEST_PREFIX} bytes, which leaves no room for names of objects.")
    return ObjectPrefix(f"{BUCKETS}/{organization}/{bucket}/{prefix}", _PROOF)


def exports_prefix(project: int, export: str = "") -> ObjectPrefix:
    """The folder of an export, or without one those of the project."""
    return _folder(f"{EXPORTS}/{project}/{export}/" if export else f"{EXPORTS}/{project}/")


def datasets_prefix(project: int, dataset: str = "") -> ObjectPrefix:
    """The folder of a version of a dataset, or without one those of the project."""
    return _folder(f"{DATASETS}/{project}/{dataset}/" if dataset else f"{DATASETS}/{project}/")


def chunks_prefix(upload: str) -> ObjectPrefix:
    """The folder of a resumable upload's bytes that are in no part yet."""
    return _folder(f"{UPLOADS}/chunks/{upload}/")


def view_prefix(project: int) -> ObjectPrefix:
    """The folder of a project's objects in the views bucket."""
    return _folder(f"{VIEWS}/{project}/")


def answer_key(end: int) -> ObjectKey:
    """A new key in the views bucket for a response that is too large for the API.

    Args:
        end: when it expires, in seconds since 1970 (decision 50).
    """
    return _made(f"{ANSWERS}/{end}/{secrets.token_hex(32)}")


def trial_key() -> ObjectKey:
    """A new key for an object that tests whether a bucket is usable."""
    return _made(f"_trial/{uuid.uuid4().hex}")


def listed(prefix: ObjectPrefix, path: str) -> ObjectKey:
    """A key that a store listed below a prefix, with any characters."""
    if not path.startswith(prefix.path):
        raise ValueError(f"{path!r} is not below {prefix.path!r}")
    return ObjectKey(path, _PROOF)


def noted(path: str) -> ObjectKey:
    """A key that the service made and noted in a row of its own, which holds no text of a caller."""
    return _made(path)


# --- keys that callers name -----------------------------------------------------------------------------------------


def authorize_project_key(path: str, organization: int, project: int) -> ObjectKey:
    """The key of an upload, a media's file, a File's object or a generic file of one project.

    Raises:
        BadInput: the text has none of these forms.
        Forbidden: it is a key of another project, or begins with another organization.
    """
    parts = path.split("/")
    owners: list[str] = []
    if parts[0] == UPLOADS:
        if len(parts) == UPLOAD_PARTS and DAY.fullmatch(parts[1]):
            owners = parts[2:5]
    elif owner_of(path) or (len(parts) == MEDIA_PARTS and parts[2] == GENERIC):
        owners = parts[:2]
    if not owners or not all(map(NUMBER.fullmatch, owners)) or not is_sound(path):
        message = (
            f"key: {path[:200]!r} is malformed; a key is organization/project/media/name or begins with {UPLOADS}/."
        )
        raise BadInput(message)
    if owners[:2] != [str(organization), str(project)]:
        raise Forbidden(f"key: {path!r} does not belong to project {project}.")
    return _made(path)


def authorize_media_key(path: str, organization: int, project: int, media: int) -> ObjectKey:
    """The key of a file of one media: `organization/project/media/name`. Raises Forbidden for any other text."""
    if not is_in(path, f"{organization}/{project}/{media}"):
        raise Forbidden(f"path: {path[:200]!r} is not one of media {media}: {organization}/{project}/{media}/name.")
    return _made(path)


def authorize_reference(path: str, organization: int, project: int, media: int) -> ObjectKey:
    """The key of an object that a media of a project refers to; whether it was made to is for the caller to check.

    Raises Forbidden for any other text.
    """
    parts = path.split("/", REFERENCE_PARTS - 1)
    owners = [str(organization), str(project), str(media)]
    if not is_reference(path) or [parts[1], parts[3], parts[4]] != owners or not is_referable(parts[5], int(parts[2])):
        raise Forbidden(f"path: {path[:200]!r} is not an object that media {media} refers to.")
    return ObjectKey(path, _PROOF)


def authorize_file_key(path: str, organization: int, project: int, file: int) -> ObjectKey:
    """The key of a File's object: `organization/project/files/file/name`. Raises Forbidden for any other text."""
    if not is_in(path, f"{organization}/{project}/files/{file}"):
        raise Forbidden(f"path: {path[:200]!r} is not one of File {file}: {organization}/{project}/files/{file}/name.")
    return _made(path)


def authorize_organization_key(path: str, organization: int) -> ObjectKey:
    """The key of an organization's own object: `organization/name`. Raises Forbidden for any other text.

    A deeper key, `organization/project/…`, is a project's: an administrator of the organization may not even be a
    member there.
    """
    if not is_in(path, str(organization)):
        raise Forbidden(f"key: {path[:200]!r} does not belong to organization {organization}: {organization}/name.")
    return _made(path)


def authorize_picture_key(path: str, organization: int, project: int) -> ObjectKey:
    """The key of a project's own picture: `organization/project/name`. Raises Forbidden for any other text."""
    if not is_in(path, f"{organization}/{project}"):
        raise Forbidden(f"thumb: {path[:200]!r} is not a picture of project {project}.")
    return _made(path)


def authorize_avatar_key(path: object, user: int) -> ObjectKey | None:
    """The key of a user's own avatar; None for any other value, such as one that an older release stored unchecked."""
    if not isinstance(path, str) or not is_in(path, f"user_data/{user}"):
        return None
    return _made(path) if _AVATAR.fullmatch(path.rpartition("/")[2]) else None


def authorize_own_upload(path: str, organization: int, project: int, user: int, member: str) -> ObjectKey:
    """The key of an upload that a user made for a project.

    Raises:
        BadInput: it is not such a key; the message begins with `member`.
    """
    parts = path.split("/")
    if len(parts) != UPLOAD_PARTS or parts[0] != UPLOADS or not DAY.fullmatch(parts[1]) or not is_sound(path):
        raise BadInput(f"{member}: the key of an upload is needed, {UPLOADS}/day/organization/project/user/name.")
    owners = (("organization", organization), ("project", project), ("user", user))
    for (word, own), given in zip(owners, parts[2:5], strict=True):
        if given != str(own):
            raise BadInput(f"{member}: the upload belongs to another {word} ({given[:30]}).")
    return _made(path)


def authorize_view_key(path: str, project: int) -> ObjectKey:
    """The key of a project's object in the views bucket, as a row of its log names it. Raises ValueError."""
    return listed(view_prefix(project), path)


def _made(path: str) -> ObjectKey:
    if not is_sound(path):
        raise BadInput(f"key: {path[:200]!r} cannot be the key of an object.")
    return ObjectKey(path, _PROOF)


def _folder(path: str) -> ObjectPrefix:
    _made(path.removesuffix("/"))
    return ObjectPrefix(path, _PROOF)
