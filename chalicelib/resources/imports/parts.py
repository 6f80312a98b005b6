"""The parts of an import: rows that are checked, stored together, and created by one message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from chalicelib.core.models.entities import LocalizationSpec, StateSpec

PART = 5_000
"""Localizations of one part."""
MEDIA_PART = 100
"""Media of one part: each has its file copied from the archive."""
STATE_PART = 500
MOST_MEMBERS = 20_000
"""Localizations of one track, and of the tracks of one part."""
BYTES_A_PART = 1024**3
"""Bytes of files of one part, if it has several: each is copied to the uploads in one run of the queue function."""


class MediaRow(Struct, kw_only=True, array_like=True):
    """A media that is created from a file of the archive."""

    path: str
    name: str
    type: int
    elemental_id: str
    section: str
    md5: str
    attributes: dict[str, Any]
    dtype: str = "image"


class LabelRow(Struct, kw_only=True, array_like=True):
    """A localization that is created; its media is an id, or the elemental id of a media that is created first."""

    media: int | str
    spec: LocalizationSpec


class StateRow(Struct, kw_only=True, array_like=True):
    """A state that is created, with the elemental ids of its localizations, 16 bytes each."""

    media: list[int | str]
    spec: StateSpec
    members: bytes


Phase = Literal["media", "labels", "states"]
PHASES: tuple[Phase, ...] = ("media", "labels", "states")
"""In the order in which parts are created."""
Write = Callable[[Phase, int, Sequence[Any]], None]
"""Stores the rows of a part, by its phase and its number there."""
