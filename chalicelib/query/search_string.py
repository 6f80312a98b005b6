"""The search string → tree. (Placeholder until written below.)"""

from __future__ import annotations

from chalicelib.domain.kinds import Kind
from chalicelib.query.tree import Everything, Tree


def parse(kind: Kind, text: str, place: str) -> Tree:
    return Everything()
