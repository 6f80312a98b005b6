"""Read JSON of any size value by value: an array element by element, an object entry by entry where it is asked for."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO

from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive

LARGEST_VALUE = 16 * 1024 * 1024
"""Characters of one value of a JSON document: an element of an array, or a member that is not an array."""
BLOCK = 1024 * 1024
_blanks = re.compile(r"[ \t\r\n]*")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)


def json_value(text: str) -> Any:
    """A JSON value. Raises ValueError, also where it is nested too deeply."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def json_members(
    archive: Archive, path: str, opened: Collection[str] = ()
) -> Iterator[tuple[str, int | str | None, Any]]:
    """The members of a JSON document, in order: an array element by element, and so an object that `opened` names.

    Yields:
        the name, the position in the array or the name in the object (None for other members, and for an empty one),
        the value.

    Raises:
        BadInput: it is not a JSON object, or a value is too large or nested too deeply.
    """
    with archive.open(path) as file:
        scanner = _Scanner(file, path)
        yield from scanner.members(opened)


def json_elements(archive: Archive, path: str) -> Iterator[tuple[int, Any]]:
    """The elements of a JSON document that is an array, with their positions.

    Raises:
        BadInput: it is not an array, or a value is too large or nested too deeply.
    """
    with archive.open(path) as file:
        yield from _Scanner(file, path, "array").array()


class _Scanner:
    """Reads a JSON document value by value."""

    def __init__(self, file: BinaryIO, path: str, noun: str = "object") -> None:
        self._file, self._path, self._noun = file, path, noun
        self._decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self._text, self._at, self._is_over = "", 0, False

    def array(self) -> Iterator[tuple[int, Any]]:
        self._expect("[")
        for _, index, value in self._elements(""):
            if index is not None:
                yield index, value

    def members(self, opened: Collection[str]) -> Iterator[tuple[str, int | str | None, Any]]:
        self._expect("{")
        if self._next() == "}":
            return
        while True:
            name = self._value()
            if not isinstance(name, str):
                raise self._malformed()
            self._expect(":")
            if self._next() == "[":
                self._at += 1
                yield from self._elements(name)
            elif name in opened and self._next() == "{":
                yield from self._entries(name)
            else:
                yield name, None, self._value()
            if self._separator("}"):
                return

    def _elements(self, name: str) -> Iterator[tuple[str, int | None, Any]]:
        index = 0
        if self._next() == "]":
            self._at += 1
            yield name, None, []
            return
        while True:
            yield name, index, self._value()
            index += 1
            if self._separator("]"):
                return

    def _entries(self, name: str) -> Iterator[tuple[str, str | None, Any]]:
        self._expect("{")
        if self._next() == "}":
            self._at += 1
            yield name, None, {}
            return
        while True:
            key = self._value()
            if not isinstance(key, str):
                raise self._malformed()
            self._expect(":")
            yield name, key, self._value()
            if self._separator("}"):
                return

    def _separator(self, end: str) -> bool:
        sign = self._next()
        if sign not in (",", end):
            raise self._malformed()
        self._at += 1
        return sign == end

    def _expect(self, sign: str) -> None:
        if self._next() != sign:
            raise self._malformed()
        self._at += 1

    def _next(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            self._at = _blanks.match(self._text, self._at).end()  # type: ignore[union-attr]  # it matches anywhere
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = _decoder.raw_decode(self._text, self._at)
            except RecursionError:
                raise BadInput(f"{self._path}: a value is nested too deeply.") from None
            except ValueError:
                if not self._more():
                    raise self._malformed() from None
                continue
            if end == len(self._text) and self._more():  # a number may go on in the next block
                continue
            self._at = end
            return value

    def _more(self) -> bool:
        """Read another block, as large as what is held, so that a value is tried few times; whether there was one."""
        if self._is_over:
            return False
        held = len(self._text) - self._at
        if held > LARGEST_VALUE:
            raise BadInput(f"{self._path}: a value has more than {LARGEST_VALUE} characters, or the JSON is malformed.")
        block = self._file.read(max(BLOCK, min(held, LARGEST_VALUE + 1 - held)))
        self._is_over = not block
        try:
            self._text = self._text[self._at :] + self._decode(block, final=not block)
        except UnicodeDecodeError:
            raise BadInput(f"{self._path} is not UTF-8.") from None
        self._at = 0
        return bool(block)

    def _malformed(self) -> BadInput:
        return BadInput(f"{self._path} is not a JSON {self._noun}, or is cut off.")


def members_of(value: Any) -> Mapping[str, Any]:
    """An element of an array as an object. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError(f"{repr(value)[:60]} is not an object")  # noqa: TRY004 one error for all that is wrong with a row
    return value
