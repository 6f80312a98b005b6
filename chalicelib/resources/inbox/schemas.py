"""The structs of a user's inbox."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from chalicelib.core.resource import Id, Resource, Timestamp
from chalicelib.resources.notifications.schemas import Topic, Way

_MENTIONS = Meta(description="Comments that mention the user: `console`, `mail` at once, a `daily` mail, or `none`.")
_TASKS = Meta(description="Tasks of the user whose state another person changed.")
_JOBS = Meta(description="Jobs of the user that failed.")
_IMPORTS = Meta(description="Imports of the user that failed.")
_QUALITY = Meta(description="People who are below the threshold of honeypots, for members with Full Control.")


class NotificationSettings(Resource, kw_only=True):
    """How a user is notified of each kind; the console shows all notifications."""

    mentions: Annotated[Way, _MENTIONS] = "console"
    tasks: Annotated[Way, _TASKS] = "console"
    jobs: Annotated[Way, _JOBS] = "console"
    imports: Annotated[Way, _IMPORTS] = "console"
    quality: Annotated[Way, _QUALITY] = "console"


class NotificationSettingsUpdate(Resource, kw_only=True):
    """The body of a PATCH of the settings."""

    mentions: Annotated[Way | UnsetType, _MENTIONS] = UNSET
    tasks: Annotated[Way | UnsetType, _TASKS] = UNSET
    jobs: Annotated[Way | UnsetType, _JOBS] = UNSET
    imports: Annotated[Way | UnsetType, _IMPORTS] = UNSET
    quality: Annotated[Way | UnsetType, _QUALITY] = UNSET


class Notice(Resource, kw_only=True):
    """A notification as its reader sees it."""

    id: Id
    topic: Topic
    project: int
    text: Annotated[str, Meta(description="What happened.")]
    link: Annotated[str, Meta(description="The address of it in the console, below its root.")]
    created_datetime: Timestamp
    is_read: bool


class NoticeQuery(Resource, kw_only=True):
    """Which notifications."""

    unread: Annotated[bool | None, Meta(description="Only those that were not read.")] = None


class NoticesRead(Resource, kw_only=True):
    """The body that marks notifications as read."""

    may_be_empty: ClassVar = True

    ids: Annotated[
        Annotated[list[Id], Meta(max_length=200)] | None, Meta(description="Which; all where none are given.")
    ] = None
