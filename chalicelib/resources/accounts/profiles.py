"""Changes that a user makes to its own record: names, elemental id, profile and avatar."""

from __future__ import annotations

from typing import Any

import msgspec

from chalicelib.core.models.accounts import USER, User, UserUpdate
from chalicelib.errors import BadInput
from chalicelib.resources.accounts import avatars
from chalicelib.storage.dynamodb import records


def change_user(user: User, body: UserUpdate) -> User:
    """Replace the given members, except password, address and activity.

    Raises:
        BadInput: a member breaks its rule, or another user has the elemental id.
        TooLarge: the avatar is larger than 1 MiB.
    """
    if body.username is not None and body.username.strip().casefold() != user.username.casefold():
        raise BadInput("username: it cannot be changed.")
    avatars.check_profile(body.set_profile_keys or {})
    change: dict[str, Any] = {
        name: value for name in ("first_name", "last_name") if (value := getattr(body, name)) is not None
    }
    if body.elemental_id is not None:
        change["elemental_id"] = body.elemental_id.lower()
    avatar = avatars.store(user.id, body.new_avatar) if body.new_avatar is not None else None

    def replace(current: User) -> User:
        profile = {**current.profile, **(body.set_profile_keys or {})}
        for name in body.clear_profile_keys or []:
            profile.pop(name, None)
        if body.clear_avatar:
            profile.pop(avatars.MEMBER, None)
        if avatar:
            profile[avatars.MEMBER] = avatar
        return msgspec.structs.replace(current, profile=profile, **change)

    old = user.profile.get(avatars.MEMBER)
    taken = BadInput("elemental_id: another user has it.")
    changed = records.edit(USER, user.id, replace, taken=taken)
    if old and changed.profile.get(avatars.MEMBER) != old:
        avatars.remove(user.id, old)
    return changed
