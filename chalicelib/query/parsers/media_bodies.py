"""The body of a bulk change of media: what is changed, and which media beside the query parameters (`spec/4` §14.3)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.resource import Uuid
from chalicelib.query.parsers.bodies import MediaIdQuery


class MediaBulkUpdate(MediaIdQuery, kw_only=True):
    """What is changed of many media, and which."""

    names: ClassVar = {"primary_section": "section"}

    attributes: dict[str, Any] | None = None
    null_attributes: list[str] | None = None
    reset_attributes: list[str] | None = None
    archive_state: Literal["to_archive", "to_live"] | None = None
    user_elemental_id: Uuid | None = None
    primary_section: Annotated[int, Meta(ge=-1)] | None = None
    """The folder they go to; −1 for none."""
