"""The state of a view at a commit, besides its tables. A log is applied to a copy, which then replaces it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import Definitions
from chalicelib.query.layout import Layout
from chalicelib.storage.view.deleted_definitions import DeletedDefinitions
from chalicelib.storage.view.rows import Rows


class Gap(Exception):
    """The commits to apply do not follow the last one applied."""


@dataclass
class ViewState:
    """The state of a view at commit `seq`. Referenced objects are replaced, never changed."""

    definitions: Definitions
    seq: int = 0
    lost: DeletedDefinitions = field(default_factory=DeletedDefinitions)
    layout: Layout = field(default_factory=Layout)
    highest: dict[Kind, int] = field(default_factory=dict)
    """By kind: no entity has an id above this."""
    makers: dict[Kind, Rows] = field(default_factory=dict)
    """Make the rows under this layout."""

    @property
    def project(self) -> int:
        """The id of the project."""
        return self.definitions.project

    def copy(self) -> ViewState:
        """A copy whose members may be replaced."""
        return replace(self, highest=dict(self.highest), makers=dict(self.makers))
