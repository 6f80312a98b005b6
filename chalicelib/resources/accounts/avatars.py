"""Pictures of users: their objects, and the one member of a profile that names them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import Any

import msgspec

from chalicelib.core.keys import object_keys
from chalicelib.core.models.accounts import User
from chalicelib.errors import BadInput, TooLarge
from chalicelib.storage.objects import objects

MAX_AVATAR_BYTES = 1024 * 1024
MEMBER = "avatar"
"""The member of a profile that has the key of the picture; only this module sets it."""
_SIGNATURES = {b"\xff\xd8\xff": "jpg", b"\x89PNG\r\n\x1a\n": "png"}


def check_profile(profile: dict[str, Any]) -> dict[str, Any]:
    """Raise BadInput if a profile in a request has the member that names a picture."""
    _refuse_member(profile)
    return profile


def _refuse_member(names: Iterable[str]) -> None:
    if MEMBER in names:
        raise BadInput(f"{MEMBER}: this key of a profile cannot be set; send the picture as new_avatar.")


def with_url(user: User, seconds: int | None) -> User:
    """The user with a URL in place of the picture's key, null where there is none.

    Args:
        user: the user.
        seconds: how long the URL is valid; None leaves the key.
    """
    if seconds is None:
        return user
    key = object_keys.authorize_avatar_key(user.profile.get(MEMBER), user.id)
    url = objects.presign_get(key, seconds) if key else None
    return msgspec.structs.replace(user, profile={**user.profile, MEMBER: url})


def store(user: int, encoded: str) -> str:
    """Store a picture; its key.

    Args:
        user: whose it is.
        encoded: JPEG or PNG, base64, maybe a data URL.

    Raises:
        BadInput: it is not base64, or neither of the two formats.
        TooLarge: it is larger than 1 MiB.
    """
    if len(encoded) > MAX_AVATAR_BYTES * 4 // 3 + 64:
        raise TooLarge("new_avatar: a picture of at most 1 MiB is needed.")
    try:
        picture = base64.b64decode(encoded.rpartition(",")[2], validate=True)
    except (binascii.Error, ValueError) as failure:
        raise BadInput("new_avatar: it is not base64.", str(failure)) from failure
    if len(picture) > MAX_AVATAR_BYTES:
        raise TooLarge("new_avatar: a picture of at most 1 MiB is needed.")
    ending = next((ending for begins, ending in _SIGNATURES.items() if picture.startswith(begins)), None)
    if ending is None:
        raise BadInput("new_avatar: it is neither a JPEG nor a PNG.")
    key = object_keys.avatar_key(user, ending)
    objects.write(key, picture, f"image/{'jpeg' if ending == 'jpg' else 'png'}")
    return key.path


def remove(user: int, path: object) -> None:
    """Remove a user's old picture; objects that are not a picture of the user are kept."""
    if key := object_keys.authorize_avatar_key(path, user):
        objects.remove([key])
