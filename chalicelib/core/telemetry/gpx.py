"""Tracks in GPX 1.0 and 1.1, streamed: position, elevation, time and numbers of extensions of each point."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, BinaryIO, NoReturn
from xml.parsers import expat

from chalicelib.core.telemetry.table import Gathered, Table, instant_seconds
from chalicelib.errors import BadInput

_BLOCK = 64 * 1024
_DEEPEST = 64
_MAX_CHARACTERS = 64 * 1024
"""Characters of a point, and bytes of a tag."""
_FARTHEST = {"lat": 90.0, "lon": 180.0}


def read(source: BinaryIO, wanted: Collection[str] | None) -> Table:
    """The points of all tracks: `longitude`, `latitude`, `elevation` in m, and the elements in them by name.

    Raises:
        BadInput: it is not well formed, has a document type, or a point lacks its position or time.
    """
    points = _Points(wanted)
    size = 0
    while True:
        block = source.read(_BLOCK)
        size += len(block)
        try:
            points.parser.Parse(block, not block)
        except expat.ExpatError as error:
            message = expat.ErrorString(error.code)
            raise BadInput(f"file: line {error.lineno} of the GPX is malformed: {message}.") from None
        if size - points.parser.CurrentByteIndex > _MAX_CHARACTERS + _BLOCK:
            points.refuse(f"a tag or comment has more than {_MAX_CHARACTERS} bytes")
        if not block:
            return points.found.table()


class _Points:
    """Handlers of the parser; one point is held at a time."""

    def __init__(self, wanted: Collection[str] | None) -> None:
        self.found = Gathered(wanted)
        self._open: list[str] = []
        self._point: dict[str, str] | None = None
        self._text: list[str] = []
        self._size = 0
        self.parser: Any = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse_type

    def refuse(self, rule: str) -> NoReturn:
        """Raise BadInput with the line."""
        raise BadInput(f"file: line {self.parser.CurrentLineNumber} of the GPX: {rule}.")

    def _refuse_type(self, *_: Any) -> NoReturn:
        self.refuse("a document type is not read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rsplit(":", 1)[-1]
        if not self._open and name != "gpx":
            self.refuse(f"the root is <{name[:50]}>, not <gpx>")
        if len(self._open) == _DEEPEST:
            self.refuse(f"it is deeper than {_DEEPEST} elements")
        self._open.append(name)
        self._text.clear()
        if name == "trkpt":
            self._size = 0
            self._point = {
                "longitude": self._degrees(attributes, "lon"),
                "latitude": self._degrees(attributes, "lat"),
            }

    def _end(self, _: str) -> None:
        name, text = self._open.pop(), "".join(self._text).strip()
        self._text.clear()
        if self._point is None:
            return
        if name != "trkpt":
            if text:
                self._point["elevation" if name == "ele" else name] = text
            return
        time = instant_seconds(self._point.pop("time", ""))
        if time is None:
            self.refuse("a <trkpt> needs a <time> in ISO 8601")
        self.found.add(time, self._point)
        self._point = None

    def _characters(self, text: str) -> None:
        if self._point is not None:
            self._size += len(text)
            if self._size > _MAX_CHARACTERS:
                self.refuse(f"a <trkpt> has more than {_MAX_CHARACTERS} characters")
            self._text.append(text)

    def _degrees(self, attributes: dict[str, str], name: str) -> str:
        try:
            value = float(attributes[name])
        except (KeyError, ValueError):
            value = 999.0
        if not abs(value) <= _FARTHEST[name]:
            self.refuse(f"a <trkpt> needs {name} in degrees, at most {_FARTHEST[name]:g}")
        return repr(value)
