"""The parts of an import: rows that are checked, stored together, and created by one message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from chalicelib.core.models.entities import LocalizationSpec, StateSpec
from chalicelib.errors import BadInput

PART = 5_000
"""Localizations of one part."""
MEDIA_PART = 100
"""Media of one part: each has its file copied from the archive."""
STATE_PART = 500
MOST_MEMBERS = 20_000
"""Localizations of one track, and of the tracks of one part."""
BYTES_A_PART = 1024**3
"""Bytes of files of one part, if it has several: each is copied to the uploads in one run of the queue function."""

LARGEST_ROW = 400_000
"""Characters of the attributes and points of one row: the database takes no larger one."""
LARGEST_PART = 32 * 1024**2
"""The same of the localizations of one part."""
MOST_KEPT = 256 * 1024**2
"""The same of all media and states, which are kept until all localizations were read."""


class MediaRow(Struct, kw_only=True, array_like=True):
    """A media that is created from a file of the archive, or a video from a folder of pictures."""

    path: str
    name: str
    type: int
    elemental_id: str
    section: str
    md5: str
    attributes: dict[str, Any]
    dtype: str = "image"
    fps: float | None = None
    """Pictures a second of a folder."""


class LabelRow(Struct, kw_only=True, array_like=True):
    """A localization that is created; its media is an id, or the elemental id of a media that is created first."""

    media: int | str
    spec: LocalizationSpec


class StateRow(Struct, kw_only=True, array_like=True):
    """A state that is created, with the elemental ids of its localizations, 16 bytes each."""

    media: list[int | str]
    spec: StateSpec
    members: bytes


class Held:
    """How much of an archive is in memory."""

    def __init__(self) -> None:
        self.labels = 0
        """Characters of the localizations of the part that is being read."""
        self._kept = 0

    def add_label(self, spec: LocalizationSpec) -> None:
        """Count a localization. Raises ValueError for a row that is too large."""
        self.labels += _size(spec.attributes, spec.points)

    def count(self, attributes: dict[str, Any] | None) -> None:
        """Count a media or state. Raises ValueError for a row that is too large, BadInput where there are too many."""
        self._kept += _size(attributes)
        if self._kept > MOST_KEPT:
            message = f"The media and states of the archive have more than {MOST_KEPT} characters. Import it in parts."
            raise BadInput(message)


def _size(attributes: dict[str, Any] | None, points: Any = None) -> int:
    values = (attributes or {}).values()
    size = 16 * len(points or ()) + sum(len(value) if isinstance(value, str | list) else 8 for value in values)
    if size > LARGEST_ROW:
        raise ValueError(f"its attributes and points have {size} characters; at most {LARGEST_ROW} are held")
    return size


Phase = Literal["media", "labels", "states"]
PHASES: tuple[Phase, ...] = ("media", "labels", "states")
"""In the order in which parts are created."""
Write = Callable[[Phase, int, Sequence[Any]], None]
"""Stores the rows of a part, by its phase and its number there."""
