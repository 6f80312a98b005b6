"""The structs of the operations of honeypots; the records are in `tasks/honeypot_schemas.py`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from chalicelib.core.resource import Resource


class HoneypotScoreQuery(Resource, kw_only=True):
    """Filters of a list of scores; all that are given hold."""

    name: Annotated[str | None, Meta(description="The name of the set of tasks.")] = None
    user: Annotated[int | None, Meta(description="Whose scores.")] = None
    suspended: Annotated[bool | None, Meta(description="Only of people who are suspended, or who are not.")] = None


class HoneypotScoreUpdate(Resource, kw_only=True):
    """The body of a PATCH of a score."""

    suspended: Annotated[
        bool,
        Meta(
            description="`false` lets the person again and drops the results so far; `true` gives them no more of the "
            "set and returns those that they hold."
        ),
    ]
