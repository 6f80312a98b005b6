"""What a view is as of a commit, beside its tables. A log is applied to a copy, which then takes its place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from chalicelib.core.definitions import Definitions
from chalicelib.core.kinds import Kind
from chalicelib.query.layout import Layout
from chalicelib.storage.view.deleted_definitions import Lost
from chalicelib.storage.view.rows import Rows


class Gap(Exception):
    """The commits that were to be applied do not follow on the last one applied."""


@dataclass
class State:
    """A view as of commit `seq`. What it refers to is replaced, never changed."""

    definitions: Definitions
    seq: int = 0
    lost: Lost = field(default_factory=Lost)
    layout: Layout = field(default_factory=Layout)
    highest: dict[Kind, int] = field(default_factory=dict)
    """By kind: no entity has an id above this."""
    makers: dict[Kind, Rows] = field(default_factory=dict)
    """What makes rows under this layout."""

    @property
    def project(self) -> int:
        """The project."""
        return self.definitions.project

    def copy(self) -> State:
        """One whose members may be replaced."""
        return replace(self, highest=dict(self.highest), makers=dict(self.makers))
