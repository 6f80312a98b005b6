"""The archive of an import: an object that a child process reads by ranges (`formats.readers.tasks`)."""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from collections.abc import Iterator, Sequence

from chalicelib.core.keys.object_keys import ObjectKey
from chalicelib.errors import BadInput
from chalicelib.formats.readers import tasks
from chalicelib.formats.readers.reading import Rows
from chalicelib.formats.readers.tasks import ArchiveOptions, Listing
from chalicelib.resources.imports.schemas import ImportSpec
from chalicelib.resources.uploads.fetching import ObjectSource
from chalicelib.video.process import isolation
from chalicelib.video.process.isolation import GIGABYTE, Limits

_ON_LAMBDA = "AWS_LAMBDA_FUNCTION_NAME" in os.environ
LIMITS = Limits(seconds=840.0 if _ON_LAMBDA else 6 * 3600.0, memory=2 * GIGABYTE, file_size=4 * GIGABYTE)
"""Limits of the child process. A queue function ends after 15 minutes; on one machine nothing ends it."""


class OpenArchive:
    """An archive that a child process has opened: its files, then its rows."""

    def __init__(self, frames: Iterator[bytes]) -> None:
        self._frames = frames
        self.listing: Listing = tasks.decode_listing(next(frames, b""))
        """Its files."""

    def rows(self) -> Rows:
        """All rows. Raises BadInput where the archive cannot be read, or ends the child."""
        while frame := next(self._frames, b""):
            yield from tasks.decode_rows(frame)


@contextlib.contextmanager
def opened(spec: ImportSpec, key: ObjectKey, passes: int) -> Iterator[OpenArchive]:
    """The archive of an import, to read its rows a number of times.

    Raises:
        BadInput, TooLarge: it cannot be read.
        Conflict: the object was replaced meanwhile.
    """
    with tempfile.TemporaryDirectory(prefix="limn-import-") as folder:
        wanted = ArchiveOptions(format=spec.format, first_pixel=spec.first_pixel, folder=folder)
        frames = isolation.stream(tasks.read_rows, _source(key), wanted, passes, limits=LIMITS)
        with contextlib.closing(frames):
            yield OpenArchive(frames)


@contextlib.contextmanager
def contents(
    spec: ImportSpec, key: ObjectKey, files: Sequence[tuple[str, float | None]], block: int
) -> Iterator[Iterator[Iterator[bytes]]]:
    """The blocks of some files, one after the other; take all of a file before the next file.

    Args:
        spec: the import.
        key: of its archive.
        files: as of `tasks.read_files`.
        block: bytes of all blocks but the last of a file.
    """
    frames = isolation.stream(
        tasks.read_files, _source(key), ArchiveOptions(format=spec.format), files, block, limits=LIMITS
    )
    with contextlib.closing(frames):
        yield (iter(lambda: next(frames, b""), b"") for _ in files)


def namespace(listing: Listing) -> uuid.UUID:
    """The namespace of the elemental ids of rows without one: the same for the same files in another zip."""
    return uuid.UUID(bytes=listing.digest[:16], version=5)


def _source(key: ObjectKey) -> ObjectSource:
    """The object with the archive. Raises BadInput if it does not exist."""
    try:
        return ObjectSource(key)
    except BadInput:
        raise BadInput(f"key: there is no object {key.path}.") from None
