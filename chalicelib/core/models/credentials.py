"""Credentials: what a request proves its authority with. Each has a subject, a scope, a level and an end."""

from __future__ import annotations

import ipaddress
import re
import secrets
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable
from hashlib import sha256
from itertools import accumulate, pairwise
from typing import Any, Literal

from msgspec import Struct

from chalicelib.core.permissions import Level
from chalicelib.core.resource import Resource, Timestamp

CredentialKind = Literal["session", "access", "job", "guest"]
"""The credential of a sign-in, an access token, a job, or a share link."""
ALL, READ = "all", "read"
"""Names in `operations`: every operation, and those that only read."""
_USERS = 1 << 32
_SESSION = re.compile(r"[0-9a-f]{32}(?P<user>[0-9a-f]{8})")
_MARKED = re.compile(r"(?P<text>limn_(?:(?P<kind>job|guest)_)?[0-9a-f]{32}(?P<user>[0-9a-f]{8}))(?P<sum>[0-9a-f]{8})")


class GuestView(Struct, kw_only=True, frozen=True):
    """What a guest of a share link, or a reader of a public project, is shown.

    Attributes:
        is_whole: all media and annotations of the project.
        section: the id of a folder; 0 for none.
        media: ids of media.
        frames: the first frame and the one after the last; other frames and files are not shown. None for all.
        versions, types: ids of the layers and of the types of annotations; None for all.
        has_annotations: whether annotations are shown as they are now.
        dataset: the uid of the version of a dataset whose rows are shown; empty for none.
        comment: the id of the first comment of the thread that is shown; 0 for none.
        downloads: whether originals and attachments can be downloaded.
    """

    is_whole: bool = False
    section: int = 0
    media: tuple[int, ...] = ()
    frames: tuple[int, int] | None = None
    versions: tuple[int, ...] | None = None
    types: tuple[int, ...] | None = None
    has_annotations: bool = True
    dataset: str = ""
    comment: int = 0
    downloads: bool = False

    def shows(self, row: Any) -> bool:
        """Whether an annotation is shown on media that are shown."""
        return (
            self.has_annotations
            and (self.frames is None or (row.frame is not None and self.frames[0] <= row.frame < self.frames[1]))
            and (self.versions is None or row.version in self.versions)
            and (self.types is None or row.type in self.types)
        )


class Credential(Struct, kw_only=True, omit_defaults=True):
    """A credential as it is stored: what every request needs of its subject and its limits.

    Attributes:
        id: its key: the kind and the SHA-256 of its token.
        user: the subject; 0 for a guest.
        provider: the id of the identity provider of a sign-in; 0 for a password.
        holder: the id of the record that it belongs to: an access token, a job, a share link.
        projects: the ids of the projects that it reaches, and no organization; None for all that the subject reaches.
        level: the highest level that it gives anywhere.
        name: what a sign-in is for, as its user said.
        operations: the groups of operations (tags) that it may call, or `all`, or `read`.
        networks: the networks (CIDR) that it may come from; any where empty.
        launches: of a job, how many launches by trigger rules led to it, one after another.
        found: of a guest, the ids of media that a search or dataset had when the link was opened, packed.
        view: what a guest is shown; filled in from the share link or the project with each request.
    """

    id: str
    kind: CredentialKind
    user: int = 0
    username: str = ""
    is_staff: bool = False
    name: str = ""
    provider: int = 0
    holder: int | str = 0
    projects: list[int] | None = None
    level: Level = Level.FULL
    operations: tuple[str, ...] = (ALL,)
    networks: tuple[str, ...] = ()
    created_datetime: Timestamp
    launches: int = 0
    found: str = ""
    view: GuestView | None = None

    @property
    def is_limited(self) -> bool:
        """Whether it gives less than a sign-in of its user: then it never changes accounts or administers."""
        return self.kind != "session"

    @property
    def is_whole(self) -> bool:
        """Whether it is an access token without limits of place, level and operations."""
        return self.kind == "access" and self.projects is None and self.level >= Level.FULL and ALL in self.operations

    def allows(self, group: str, *, is_read: bool) -> bool:
        """Whether it may call an operation of a group."""
        return ALL in self.operations or group in self.operations or (is_read and READ in self.operations)

    def comes_from(self, address: str) -> bool:
        """Whether it may come from a network address; from an unknown one only where any will do."""
        if not self.networks:
            return True
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(found in ipaddress.ip_network(each) for each in self.networks)


class SecondFactor(Resource, kw_only=True):
    """What a user proves at a sign-in beside the password: a code of an authenticator app, or a recovery code."""

    sealed: str
    """The secret that the app has too, encrypted; empty where the user proves passkeys alone."""
    confirmed_datetime: Timestamp | None = None
    """When a first code proved that the app has it; sign-ins ask for codes from then on."""
    last_step: int = 0
    """The step of the code that was taken last."""
    recovery: list[str] = []
    """The hashes of the recovery codes that are left."""


class Passkey(Resource, kw_only=True):
    """A key that an authenticator of a user holds (WebAuthn), as it is stored with the user."""

    id: str
    """The id of the credential, in base64url; it is no secret."""
    name: str
    algorithm: int
    """The COSE number of its signatures."""
    public_key: str
    """SubjectPublicKeyInfo in DER, in base64."""
    counter: int = 0
    """The number of its signatures, as its last one told; 0 where the authenticator does not count."""
    is_synced: bool = False
    """Whether copies lie on other devices of the user."""
    created_datetime: Timestamp
    used_on: str | None = None
    """The day on which it last signed in, in UTC."""


def public_reader(project: int, *, downloads: bool) -> Credential:
    """What reads a public project without an account. It is made for a request, and never stored."""
    view = GuestView(is_whole=True, downloads=downloads)
    return Credential(id="public#", kind="guest", projects=[project], level=Level.VIEW, created_datetime="", view=view)


def pack_ids(numbers: Iterable[int]) -> str:
    """Ids as a short text: their differences in ascending order, compressed."""
    ordered = sorted(numbers)
    steps = [after - before for before, after in pairwise([0, *ordered])]
    return b64encode(zlib.compress(",".join(map(str, steps)).encode())).decode()


def unpack_ids(packed: str) -> tuple[int, ...]:
    """The ids in a text of `pack_ids`, in ascending order."""
    text = zlib.decompress(b64decode(packed)).decode() if packed else ""
    return tuple(accumulate(map(int, text.split(",")))) if text else ()


def new_token(kind: CredentialKind, user: int = 0) -> str:
    """A random token (128 bits) that names its kind and the id of its probable user.

    That of a sign-in is 40 hexadecimal digits, as clients expect. The others begin with `limn_` and end with a CRC-32,
    so that scanners find them in text, and typing errors cost no read. The user is never trusted: what is stored says
    whose it is; it lets a request read the membership beside the credential.
    """
    digits = f"{secrets.token_hex(16)}{user % _USERS:08x}"
    if kind == "session":
        return digits
    text = f"limn_{digits}" if kind == "access" else f"limn_{kind}_{digits}"
    return f"{text}{zlib.crc32(text.encode()):08x}"


def key_of(token: str) -> str:
    """The key that a token is stored under: its kind, and its hash. It is random enough to need no salt."""
    found = _marked(token)
    kind = (found["kind"] or "access") if found else "session"
    return f"{kind}#{hash_of(token)}"


def session_key(hashed: str) -> str:
    """The key of a sign-in whose token has a hash."""
    return f"session#{hashed}"


def hash_of(token: str) -> str:
    """The SHA-256 of a token, in hexadecimal digits."""
    return sha256(token.encode()).hexdigest()


def is_well_formed(token: str) -> bool:
    """Whether a token may be one: a text that begins as ours do has its checksum."""
    return not token.startswith("limn_") or _marked(token) is not None


def probable_user(token: str) -> int | None:
    """The user whom a token names, if it is of the form of `new_token`."""
    found = _SESSION.fullmatch(token) or _marked(token)
    return int(found["user"], 16) if found else None


def _marked(token: str) -> re.Match[str] | None:
    found = _MARKED.fullmatch(token)
    return found if found and zlib.crc32(found["text"].encode()) == int(found["sum"], 16) else None
