"""Versions: the one that a project begins with, and further ones."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence

import msgspec

from chalicelib.core.models.definitions import VERSION, Version
from chalicelib.errors import Conflict, NotFound
from chalicelib.storage.dynamodb import ids, records

BASELINE = "Baseline"
"""Its name."""
NUMBERS_TRIED = 500
"""How many versions others may make meanwhile. A number that is taken is one of theirs, so the next one is tried."""


def baseline(project: int) -> Version:
    """The first version of every project."""
    return Version(
        id=ids.reserve(VERSION.name)[0],
        project=project,
        name=BASELINE,
        description="Initial version",
        number=0,
        elemental_id=str(uuid.uuid4()),
    )


def make(
    project: int,
    name: str,
    user: int,
    *,
    description: str = "",
    show_empty: bool = True,
    bases: Sequence[int] | None = None,
    made_of: Sequence[int] = (),
    elemental_id: str | None = None,
    reserved: int | None = None,
) -> Version:
    """A new version with the next number, above the bases it names; its id may be reserved before.

    Raises:
        NotFound: the project has no such base.
        Conflict: others made versions at the same time, again and again.
    """
    known = {version.id: version for version in records.list_children(VERSION, project)}
    check_bases(known, bases)
    version = Version(
        id=reserved or ids.reserve(VERSION.name)[0],
        project=project,
        name=name,
        description=description,
        number=max((each.number for each in known.values()), default=-1) + 1,
        show_empty=show_empty,
        bases=list(dict.fromkeys(bases or [])),
        made_of=list(made_of),
        elemental_id=(elemental_id or str(uuid.uuid4())).lower(),
        created_by=user,
    )
    taken = Conflict("number: others made versions at the same time. Try again.")
    for _ in range(NUMBERS_TRIED):
        if records.is_free(VERSION, version):
            try:
                records.create(VERSION, version, user=user, taken=taken)
            except Conflict as conflict:
                if conflict is not taken:
                    raise
            else:
                return version
        version = msgspec.structs.replace(version, number=version.number + 1)
    raise taken


def check_bases(known: Collection[int], bases: Sequence[int] | None) -> None:
    """Raise NotFound for a base that is no version of the project."""
    missing = [base for base in bases or [] if base not in known]
    if missing:
        raise NotFound(f"bases: the project has no versions {missing}.")
