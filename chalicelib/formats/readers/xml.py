"""Read XML element by element, without entities: a document type declaration is refused, depth and text are bounded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn
from xml.parsers import expat

from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive

DEEPEST = 64
"""Levels of elements."""
MAX_ELEMENT_CHARACTERS = 8 * 1024 * 1024
"""Characters of text and attributes held at once: of one streamed element and all its parents."""
BLOCK = 256 * 1024


class Element:
    """An element that has ended, with the elements in it."""

    __slots__ = ("attributes", "before", "children", "line", "name", "owner", "text")

    def __init__(self, name: str, attributes: dict[str, str], line: int, owner: Element | None = None) -> None:
        self.name, self.attributes, self.line = name, attributes, line
        self.owner = owner
        """The element around it, whose attributes are known, and whose other content may follow."""
        self.text = ""
        self.children: list[Element] = []
        self.before = 0
        """Characters that were held when it began."""

    def find(self, *path: str) -> Element | None:
        """The first element at a path below this one."""
        found: Element | None = self
        for name in path:
            found = next((child for child in found.children if child.name == name), None) if found else None
        return found

    def text_of(self, *path: str) -> str:
        """The text of the first element at a path; empty where there is none."""
        found = self.find(*path)
        return found.text.strip() if found else ""


def elements(archive: Archive, path: str, streamed: frozenset[str]) -> Iterator[Element]:
    """The elements of some names, in order; the last is the root without them.

    Args:
        archive: where the file is.
        path: the file.
        streamed: names of elements that are yielded when they end, and not kept in the element around them.

    Raises:
        BadInput: the file is not well formed, has a document type, or is too deep or large.
    """
    builder = _Builder(path, streamed)
    size = 0
    with archive.open(path) as file:
        while True:
            block = file.read(BLOCK)
            size += len(block)
            try:
                builder.parser.Parse(block, not block)
            except expat.ExpatError as error:
                message = f"{path}:{error.lineno}: the XML is malformed: {expat.ErrorString(error.code)}."
                raise BadInput(message) from None
            yield from builder.done
            builder.done.clear()
            if (
                size - builder.parser.CurrentByteIndex > MAX_ELEMENT_CHARACTERS
            ):  # a tag or comment that has not ended is held whole
                raise BadInput(f"{path}: the XML has a tag or comment of more than {MAX_ELEMENT_CHARACTERS} bytes.")
            if not block:
                return


class _Builder:
    def __init__(self, path: str, streamed: frozenset[str]) -> None:
        self._path, self._streamed = path, streamed
        self._open: list[Element] = []
        self._size = 0
        self.done: list[Element] = []
        self.parser: Any = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.EntityDeclHandler = self._refuse

    def _refuse(self, *_: Any) -> NoReturn:
        raise BadInput(f"{self._path}: the XML has a document type or entities, which are not read.")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= DEEPEST:
            raise BadInput(f"{self._path}: the XML is deeper than {DEEPEST} elements.")
        owner = self._open[-1] if self._open else None
        element = Element(name, attributes, self.parser.CurrentLineNumber, owner)
        element.before = self._size
        self._count(sum(len(key) + len(value) for key, value in attributes.items()) + 50)
        self._open.append(element)

    def _end(self, _: str) -> None:
        ended = self._open.pop()
        if ended.name in self._streamed or not self._open:
            self.done.append(ended)
            self._size = ended.before
        else:
            self._open[-1].children.append(ended)

    def _characters(self, text: str) -> None:
        self._count(len(text))
        self._open[-1].text += text

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > MAX_ELEMENT_CHARACTERS:
            raise BadInput(f"{self._path}: the XML has an element of more than {MAX_ELEMENT_CHARACTERS} characters.")
