"""The history of one entity or definition."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Annotated

from msgspec import Meta

from chalicelib.core.kinds import DefinitionKind, Kind
from chalicelib.core.models.accounts import Project
from chalicelib.core.permissions import Permission
from chalicelib.core.resource import Resource
from chalicelib.errors import NotFound
from chalicelib.http.addresses import WITHIN_PROJECT
from chalicelib.http.operation import Call, Operations
from chalicelib.resources.events import history
from chalicelib.resources.events.history import KINDS, HistoryEntry

OPERATIONS = Operations(tag="Change logs")
_ENTITY = replace(WITHIN_PROJECT, variables={"project": int, "kind": str, "id": int})


class HistoryQuery(Resource, kw_only=True):
    """The page."""

    after: Annotated[int, Meta(ge=0, description="Changes after this one: the `change` of the last entry.")] = 0
    stop: Annotated[int, Meta(ge=1, le=1000, description="Most entries of the page.")] = 500


@OPERATIONS.get("/rest/History/{project}/{kind}/{id}", "GetHistory", needs=Permission.VIEW, addresses=_ENTITY)
def list_history(call: Call[Project, HistoryQuery, None]) -> list[HistoryEntry]:
    """The changes of one entity or definition, with their authors, oldest first.

    `kind` is media, localization, state, leaf, file, section, version, or a kind of type, such as `media_type`. A
    localization's or state's history is that of all its marks. Deleted ones have a history, too: `change` is the number
    by which `POST /rest/Restore` undoes a deletion.
    """
    word = call.path["kind"]
    if word not in set(KINDS):
        raise NotFound(f"There is no history of the kind {word!r}.", f"Kinds: {', '.join(KINDS)}.")
    kind = Kind(word) if word in set(Kind) else DefinitionKind(word)
    found = list(
        islice(history.history(call.project, kind, call.path["id"], call.scope, call.query.after), call.query.stop)
    )
    if not found and not call.query.after:
        raise NotFound.of(word.replace("_", " ").capitalize(), call.path["id"])
    return found
