"""Permissions: the levels, and the one function that decides.

Levels are cumulative: a membership's five on a project, an affiliation's two on an organization.

Where fine-grained permissions are on, row protections add to that (`access/masks.py`), and the caller's level on a
record or entity is the highest one all of whose bits are set.
"""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Literal

ProjectLevelName = Literal["View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control"]
DefaultLevelName = Literal["No Access", "View Only", "Can Edit", "Can Transfer", "Can Execute", "Full Control"]
OrganizationLevelName = Literal["Member", "Admin"]


class Level(IntEnum):
    """A caller's level in a project or an organization; 0 is none."""

    NONE = 0
    VIEW = 1
    EDIT = 2
    TRANSFER = 3
    EXECUTE = 4
    FULL = 5


LEVEL_OF: dict[str, Level] = {
    "No Access": Level.NONE,
    "View Only": Level.VIEW,
    "Can Edit": Level.EDIT,
    "Can Transfer": Level.TRANSFER,
    "Can Execute": Level.EXECUTE,
    "Full Control": Level.FULL,
    "Member": Level.VIEW,
    "Admin": Level.FULL,
}


class Permission(Enum):
    """The permission that an operation needs. Every operation declares one."""

    ANYONE = "anyone"
    SIGNED_IN = "signed in"
    STAFF = "staff"
    VIEW = "View Only"
    EDIT = "Can Edit"
    TRANSFER = "Can Transfer"
    EXECUTE = "Can Execute"
    FULL = "Full Control"
    MEMBER = "Member"
    ADMIN = "Admin"

    @property
    def level(self) -> Level:
        """The level within the addressed project or organization that is needed; NONE where nothing is addressed."""
        return LEVEL_OF.get(self.value, Level.NONE)


_ORGANIZATION_LEVELS = ("Member", "Admin")


def name_of_level(needs: Permission, level: Level) -> str:
    """The name of a level in a project or an organization, whichever the permission concerns."""
    if needs is Permission.STAFF:
        return Permission.SIGNED_IN.value
    in_organization = needs.value in _ORGANIZATION_LEVELS
    names = [name for name in LEVEL_OF if (name in _ORGANIZATION_LEVELS) == in_organization or name == "No Access"]
    return max((name for name in names if LEVEL_OF[name] <= level), key=lambda name: LEVEL_OF[name])


class Verdict(Enum):
    """The decision on a request."""

    ALLOWED = "allowed"
    NOT_SIGNED_IN = "not signed in"
    FORBIDDEN = "forbidden"
    UNKNOWN = "unknown"
    """The caller has no access to the addressed record or entity, and may not know that it exists."""


def decide(needs: Permission, *, signed_in: bool, is_staff: bool, level: Level) -> Verdict:
    """Whether a caller may do what `needs` the permission.

    Args:
        needs: the operation's permission.
        signed_in: whether the request carried valid credentials.
        is_staff: whether the caller administers the deployment. That opens no project.
        level: the caller's level in the project or organization addressed; NONE where none is addressed.
    """
    if needs is Permission.ANYONE:
        return Verdict.ALLOWED
    if not signed_in:
        return Verdict.NOT_SIGNED_IN
    if needs is Permission.SIGNED_IN:
        return Verdict.ALLOWED
    if needs is Permission.STAFF:
        return Verdict.ALLOWED if is_staff else Verdict.FORBIDDEN
    if level is Level.NONE:
        return Verdict.UNKNOWN
    return Verdict.ALLOWED if level >= needs.level else Verdict.FORBIDDEN
