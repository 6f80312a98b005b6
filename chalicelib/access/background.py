"""The scope of work in the background, which sees what the user who ordered it may see when it runs."""

from __future__ import annotations

from chalicelib.access.authentication import Caller
from chalicelib.access.scope import Scope
from chalicelib.core.models.accounts import USER
from chalicelib.core.permissions import Level, Permission, name_of_level
from chalicelib.errors import Forbidden
from chalicelib.storage.dynamodb import records


def scope_of(user: int, project: int, work: str, needed: Level = Level.VIEW) -> Scope:
    """What a user may do in a project now.

    Args:
        user: its id.
        project: the project.
        work: the word of the work, for the message.
        needed: the level that the work needs.

    Raises:
        Forbidden: the user was deactivated, left the project, or has a lower level there than the work needs.
    """
    found = records.maybe(USER, user)
    if found is None or not found.is_active:
        raise Forbidden(f"The user of this {work} is no longer active.")
    scope = Scope.from_caller(Caller(id=found.id, username=found.username, is_staff=found.is_staff), needed)
    if (level := scope.within_project(project)) < Level.VIEW:
        raise Forbidden(f"The user of this {work} may no longer see the project.")
    if level < needed:
        name = name_of_level(Permission.VIEW, needed)
        raise Forbidden(f"The user of this {work} no longer has {name!r} in the project.")
    return scope
