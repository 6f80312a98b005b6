"""The body of a bulk change of media: the change, and the media it applies to beside the query parameters."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from chalicelib.core.resource import Uuid
from chalicelib.query.parsers.bodies import MediaIdQuery


class MediaBulkUpdate(MediaIdQuery, kw_only=True):
    """The change of many media, and its selection."""

    names: ClassVar = {"primary_section": "section"}

    attributes: dict[str, Any] | None = None
    null_attributes: list[str] | None = None
    reset_attributes: list[str] | None = None
    archive_state: Literal["to_archive", "to_live"] | None = None
    user_elemental_id: Uuid | None = None
    primary_section: Annotated[
        Annotated[int, Meta(ge=-1)] | None, Meta(description="The folder to move the media to; −1 for none.")
    ] = None
