"""What users say of themselves: names, address, profile and avatar (`spec/3` §2.6)."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from chalicelib.access import users
from chalicelib.core import email_addresses
from chalicelib.core.accounts import USER, User, UserUpdate
from chalicelib.errors import BadInput, TooLarge
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import objects

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
    avatar = _store_avatar(user, body.new_avatar) if body.new_avatar is not None else None
    old_avatar = user.profile.get("avatar")

    def replace(current: User) -> User:
        profile = {**current.profile, **(body.set_profile_keys or {})}
        for name in body.clear_profile_keys or []:
            profile.pop(name, None)
        if body.clear_avatar:
            profile.pop("avatar", None)
        if avatar:
            profile["avatar"] = avatar
        return msgspec.structs.replace(current, profile=profile, **change)

    changed = records.edit(USER, user.id, replace)
    if old_avatar and changed.profile.get("avatar") != old_avatar:
        objects.remove([old_avatar])
    return changed


def with_avatar_url(user: User, seconds: int | None) -> User:
    """The user with the avatar's key replaced by a URL that lives so long, null where there is none."""
    if seconds is None:
        return user
    key = user.profile.get("avatar")
    url = objects.presign_get(key, seconds) if key else None
    return msgspec.structs.replace(user, profile={**user.profile, "avatar": url})


def _free_address(user: User, email: str) -> str:
    if email_addresses.parse(email).name:
        raise BadInput("email: give the address alone, without a name.")
    if any(other.id != user.id for other in users.with_address(email)):
        raise BadInput("email: another user has this address.")
    return email.strip()


def _store_avatar(user: User, encoded: str) -> str:
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
    key = f"user_data/{user.id}/avatar.{ending}"
    objects.write(key, picture, f"image/{'jpeg' if ending == 'jpg' else 'png'}")
    return key
