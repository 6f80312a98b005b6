"""What users say of themselves: names, address, profile and avatar (`spec/3` §2.6)."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from chalicelib.access import users
from chalicelib.core import email_addresses, object_keys
from chalicelib.core.accounts import USER, User, UserUpdate
from chalicelib.core.object_keys import ObjectKey
from chalicelib.errors import BadInput, TooLarge
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects

AVATAR = "avatar"
"""The key of a profile that names the object of the avatar; only the service sets it."""
LARGEST_AVATAR = 1024 * 1024
_SIGNATURES = {b"\xff\xd8\xff": "jpg", b"\x89PNG\r\n\x1a\n": "png"}


def change_user(user: User, body: UserUpdate) -> User:
    """Replace what a change gives, the password apart.

    Raises:
        BadInput: another user has the address, or the avatar is no picture we take.
        TooLarge: the avatar is larger than 1 MiB.
    """
    change: dict[str, Any] = {}
    if body.first_name is not None:
        change["first_name"] = body.first_name
    if body.last_name is not None:
        change["last_name"] = body.last_name
    if body.email is not None:
        change["email"] = _free_address(user, body.email)
    given = body.set_profile_keys or {}
    if AVATAR in given and given[AVATAR] != user.profile.get(AVATAR):
        raise BadInput("set_profile_keys: avatar is the key of a stored picture; send the picture as new_avatar.")
    avatar = _store_avatar(user, body.new_avatar) if body.new_avatar is not None else None
    old_avatar = object_keys.authorize_avatar_key(user.profile.get(AVATAR), user.id)

    def replace(current: User) -> User:
        profile = {**current.profile, **given}
        for name in body.clear_profile_keys or []:
            profile.pop(name, None)
        if body.clear_avatar:
            profile.pop(AVATAR, None)
        if avatar:
            profile[AVATAR] = avatar.path
        return msgspec.structs.replace(current, profile=profile, **change)

    changed = records.edit(USER, user.id, replace)
    if old_avatar and changed.profile.get(AVATAR) != old_avatar.path:
        objects.remove([old_avatar])
    return changed


def with_avatar_url(user: User, seconds: int | None) -> User:
    """The user with the avatar's key replaced by a URL that lives so long, null where the user has none."""
    if seconds is None:
        return user
    key = object_keys.authorize_avatar_key(user.profile.get(AVATAR), user.id)
    url = objects.presign_get(key, seconds) if key else None
    return msgspec.structs.replace(user, profile={**user.profile, AVATAR: url})


def _free_address(user: User, email: str) -> str:
    if email_addresses.parse(email).name:
        raise BadInput("email: give the address alone, without a name.")
    if any(other.id != user.id for other in users.with_address(email)):
        raise BadInput("email: another user has this address.")
    return email.strip()


def _store_avatar(user: User, encoded: str) -> ObjectKey:
    if len(encoded) > LARGEST_AVATAR * 4 // 3 + 4:
        raise TooLarge("new_avatar: a picture of at most 1 MiB is needed.")
    try:
        picture = base64.b64decode(encoded.rpartition(",")[2], validate=True)
    except (binascii.Error, ValueError) as failure:
        raise BadInput("new_avatar: it is not base64.", str(failure)) from failure
    if len(picture) > LARGEST_AVATAR:
        raise TooLarge("new_avatar: a picture of at most 1 MiB is needed.")
    ending = next((ending for begins, ending in _SIGNATURES.items() if picture.startswith(begins)), None)
    if ending is None:
        raise BadInput("new_avatar: it is neither a JPEG nor a PNG.")
    key = object_keys.avatar_key(user.id, ending)
    objects.write(key, picture, f"image/{'jpeg' if ending == 'jpg' else 'png'}")
    return key
