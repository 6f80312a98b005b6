"""Code shared by types, versions and sections: their project, and the records that they may name."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import TYPE_RECORD
from chalicelib.errors import BadInput, NotFound
from chalicelib.storage.dynamodb import records

RESERVED = "filename"
"""No type may have this name: search strings use it for the name of a media."""


def check_media_types(project: int, numbers: Iterable[int]) -> list[int]:
    """The ids without repetitions, if each is a media type of the project.

    Raises:
        NotFound: some are not; nothing was changed.
    """
    wanted = list(dict.fromkeys(numbers))
    known = records.definitions(project).types(Kind.MEDIA)
    missing = [number for number in wanted if number not in known]
    if missing:
        raise NotFound(f"media_types: could not find media type ids {missing}.")
    return wanted


def check_default(project: int, member: str, number: int | None) -> None:
    """Check that a default annotation type is a localization type of the project.

    Raises:
        NotFound: the type does not exist.
        BadInput: it belongs to another project.
    """
    if number is None:
        return
    if records.get(TYPE_RECORD[Kind.LOCALIZATION], number).project != project:
        raise BadInput(f"{member}: localization type {number} belongs to another project.")
