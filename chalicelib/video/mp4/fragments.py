"""Runs of MP4 fragments that a piece makes, numbered and timed for their place in the whole.

The whole is the plain concatenation of its pieces' files. Piece 0's starts with the header; the others' headers must be
the same, which `video.encoding.assemble` verifies by their digests.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from msgspec import Struct

from chalicelib.video.mp4 import boxes
from chalicelib.video.mp4.segments import Fragment


class Output(Struct, frozen=True):
    """The output of one piece for one rendition, or for the audio.

    `file` is its name in the given folder; `header` the sizes of `ftyp` and `moov` (which only piece 0's file holds)
    and `header_digest` the digest of their content; `size` the file's bytes.
    """

    rendition: str
    file: str
    size: int
    header: tuple[int, int]
    header_digest: str
    fragments: tuple[Fragment, ...]

    @property
    def samples(self) -> int:
        """The number of its video or audio frames."""
        return sum(fragment.samples for fragment in self.fragments)


class RunPosition(Struct, frozen=True):
    """The position of a piece's run: whether it is first, its first fragment (from 1) and sample (from 0).

    `ticks` is the duration of each sample and `whole` the total duration of all pieces, in units of the track's clock.
    """

    is_first: bool
    fragment: int
    sample: int
    ticks: int
    whole: int


class FragmentFile:
    """The file that the muxer writes to: takes fragments as they come, renumbers them and drops the rest.

    At most one fragment is held in memory. It has no `seek`, so that the muxer never goes back.
    """

    def __init__(self, path: Path, rendition: str, place: RunPosition) -> None:
        self._path = path
        self._rendition = rendition
        self._file = path.open("wb")
        self._place = place
        self._pending = bytearray()
        self._ftyp = b""
        self._moof = b""
        self._header = (0, 0)
        self._digest = ""
        self._fragments: list[Fragment] = []
        self._samples = 0
        self._size = 0

    def write(self, data: bytes) -> int:
        """Take the muxer's next bytes."""
        self._pending += data
        while len(self._pending) >= boxes.HEADER:
            box = boxes.box_at(bytes(self._pending[: boxes.HEADER]), 0, 0)
            if len(self._pending) < box.size:
                break
            content = bytes(self._pending[: box.size])
            del self._pending[: box.size]
            self._add_box(box.name, content)
        return len(data)

    def close(self) -> None:
        """Close the file on disk."""
        self._file.close()

    def output(self) -> Output:
        """The output, once the muxer is closed."""
        return Output(self._rendition, self._path.name, self._size, self._header, self._digest, tuple(self._fragments))

    def _add_box(self, name: str, content: bytes) -> None:
        """Use one whole top-level box."""
        place = self._place
        if name == "ftyp":
            self._ftyp = content
        elif name == "moov":
            header = boxes.with_duration(self._ftyp + content, place.whole)
            self._header = (len(self._ftyp), len(header) - len(self._ftyp))
            self._digest = hashlib.sha256(header).hexdigest()
            if place.is_first:
                self._put(header)
        elif name == "moof":
            time = (place.sample + self._samples) * place.ticks
            self._moof = boxes.renumber(content, place.fragment + len(self._fragments), time)
        elif name == "mdat":
            samples = boxes.sample_count(self._moof)
            self._put(self._moof)
            self._put(content)
            self._fragments.append(Fragment(len(self._moof), len(content), samples))
            self._samples += samples

    def _put(self, content: bytes) -> None:
        """Write to disk."""
        self._file.write(content)
        self._size += len(content)
