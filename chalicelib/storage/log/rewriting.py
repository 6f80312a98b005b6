"""Commits that are rewritten in place, for erasures: the one exception to a log that is only added to.

Views have applied these commits, or will apply either form: only what views ignore may be changed, such as notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pynamodb.exceptions import PutError

from chalicelib.core.log.commits import Commit
from chalicelib.errors import NotFound, Unavailable
from chalicelib.storage.dynamodb.tables import LogRow
from chalicelib.storage.log.bodies import decode, row_of
from chalicelib.storage.objects import view_objects


def find_changed(project: int, edited: Callable[[Commit], Commit]) -> Iterator[Callable[[], None]]:
    """The commits of a log that a function changes: for each, what writes its other form."""
    for row in LogRow.select(project):
        try:
            [commit] = decode([row])
        except NotFound:  # its body went with a purge
            continue
        changed = edited(commit)
        if changed != commit:
            yield lambda row=row, changed=changed: _write(row, changed)  # type: ignore[misc]


def _write(row: LogRow, commit: Commit) -> None:
    made = row_of(commit)
    values = {**made.attribute_values, "expires": row.expires, "watched": row.watched}
    written = LogRow(**{name: value for name, value in values.items() if value is not None})
    try:
        written.save(LogRow.seq.exists())
    except PutError as failure:
        if failure.cause_response_code != "ConditionalCheckFailedException":  # it expired meanwhile
            raise Unavailable("The database refused the write; try again.", str(failure)) from failure
    if row.object_key is not None:
        view_objects.remove(commit.project, row.object_key)
