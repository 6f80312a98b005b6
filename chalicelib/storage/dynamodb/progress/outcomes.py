"""The end of background work in its record, which has a `status` and a `message`. Cancelled work has no record."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from chalicelib.core.records import RecordKind
from chalicelib.errors import NotFound
from chalicelib.storage.dynamodb import records


def end(
    kind: RecordKind[Any], number: int | str, *, going: tuple[str, ...] = ("pending", "running"), **members: Any
) -> None:
    """Set members of the record of work that has not ended, `status` among them; what has ended stays as it is."""

    def close(current: Any) -> Any:
        return msgspec.structs.replace(current, **members) if current.status in going else None

    with suppress(NotFound):
        records.edit(kind, number, close)


def reopen(kind: RecordKind[Any], number: int | str, *, status: str = "pending", **members: Any) -> None:
    """Restart work that failed, with some members of its record replaced; other work is unchanged."""

    def begin_anew(current: Any) -> Any:
        if current.status != "failed":
            return None
        return msgspec.structs.replace(current, status=status, **members)

    with suppress(NotFound):
        records.edit(kind, number, begin_anew)
