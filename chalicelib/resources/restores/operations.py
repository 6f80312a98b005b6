"""Undoing changes by their numbers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, NoQuery, Operations
from chalicelib.resources.entities.service import Writer
from chalicelib.resources.restores import service as restores_service

OPERATIONS = Operations(tag="Change logs")


MOST_CHANGES = 100


class RestoreSpec(Resource, kw_only=True):
    """Which changes to undo."""

    changes: Annotated[
        list[Annotated[int, Meta(ge=1)]],
        Meta(
            min_length=1,
            max_length=MOST_CHANGES,
            description="Numbers of commits: `commit` of an event, `change` of an entry of History.",
        ),
    ]


class RestoreResponse(Resource, kw_only=True):
    """The restored ids."""

    message: Annotated[str, Meta(description="What the operation did.")]
    restored: Annotated[dict[str, int], Meta(description="The number of entities of each kind, and of sections.")]
    skipped: Annotated[
        int, Meta(description="How many annotations stay as they are, because they were changed since.")
    ] = 0


@OPERATIONS.post(
    "/rest/Restore/{project}",
    "Restore",
    is_past_gone=True,
    needs=Permission.EDIT,
    addresses=WITHIN_PROJECT,
    status=200,
)
def restore(call: Call[Project, NoQuery, RestoreSpec]) -> RestoreResponse:
    """Undo deletions of media, localizations, states, leaves and sections, and bulk changes of annotations.

    A media comes back with the annotations that were deleted with it, a leaf with those below it (which needs Full
    Control), a section with its media. Deleted entities are kept for 30 days: 410 where they were purged, or where
    their type or version was deleted. 409 where a change deleted nothing that is still deleted, or where what it
    deleted was replaced since. A change of attributes or of the version of annotations gives them what they had before,
    but for those that were changed since. All of the changes are checked before the first is undone; each part is a
    commit of its own, of at most 97 entities.
    """
    restored, skipped = restores_service.restore(Writer.from_call(call), call.body.changes)
    message = f"Restored {sum(restored.values())} of what was changed or deleted."
    return RestoreResponse(message=message, restored=restored, skipped=skipped)
