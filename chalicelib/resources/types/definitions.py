"""What types, versions and sections share: their place in a project, and what they may name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from chalicelib.core.definitions import TYPE_RECORD
from chalicelib.core.kinds import Kind
from chalicelib.core.records import RecordKind, padded
from chalicelib.errors import BadInput, NotFound
from chalicelib.storage.dynamodb import records


def of_project(kind: RecordKind[Any], project: int, number: int) -> Any:
    """A definition of a project by its id, in one call.

    Raises:
        NotFound: the project has none of this id.
    """
    found = records.find(kind, project, padded(number))
    if found is None:
        raise NotFound.of(kind.title, number)
    return found


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
    """A default annotation type must be a localization type of the project.

    Raises:
        NotFound: there is no such type. BadInput: it is another project's.
    """
    if number is None:
        return
    if records.get(TYPE_RECORD[Kind.LOCALIZATION], number).project != project:
        raise BadInput(f"{member}: localization type {number} belongs to another project.")
