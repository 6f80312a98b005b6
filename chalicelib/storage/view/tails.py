"""What changed since the last commit of a view, in memory: bulk changes find their entities without applying it.

To apply 500 changes to the tables takes as long as to write 500 rows. A bulk change that follows another one asks the
view as it is, and the changes after it one by one. The next query of another kind applies them, or the process does
between requests (`following.py`).

    tail = tails.read(project, view.seq)      all commits after a number that were made before the call; None: too many
    view.matches(query, tail)                 as of the last commit of the tail
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from chalicelib.core.kinds import Kind
from chalicelib.core.log.commits import Commit
from chalicelib.core.models.entities import STRUCT_OF

MOST_CHANGES = 5_000
"""Changes up to which a tail is kept. With more, the view has to apply them."""
MOST_BYTES = 4_000_000
"""The same of their documents: an entity in memory takes several times the bytes of its document."""
MOST_TAILS = 8
"""Projects with a tail."""
_decoders = {kind: msgspec.json.Decoder(struct) for kind, struct in STRUCT_OF.items()}


@dataclass(frozen=True)
class Tail:
    """The entities that changed after commit `after` and up to `seq`; None for those that are gone."""

    after: int
    seq: int
    changed: dict[Kind, dict[int, Any]] = field(default_factory=dict)
    bytes: int = 0
    """Of the documents of all changes."""

    @property
    def size(self) -> int:
        """The number of entities."""
        return sum(map(len, self.changed.values()))

    def with_commits(self, commits: Iterable[Commit]) -> Tail | None:
        """The tail with further commits.

        Returns:
            None where a view has to apply them: they are too many, definitions changed, or some have expired.
        """
        seq, left, size = self.seq, MOST_CHANGES - self.size, self.bytes
        found: defaultdict[Kind, dict[int, Any]] = defaultdict(dict)
        for commit in commits:
            left -= len(commit.changes)
            size += sum(len(change.doc) for change in commit.changes)
            if commit.seq != seq + 1 or left < 0 or size > MOST_BYTES:
                return None
            if any(change.is_definition for change in commit.changes):
                return None
            for change in commit.changes:
                kind = Kind(change.kind)
                found[kind][change.id] = None if change.is_gone else _decoders[kind].decode(change.doc)
            seq = commit.seq
        if seq == self.seq:
            return self
        changed = self.changed | {kind: {**self.changed.get(kind, {}), **some} for kind, some in found.items()}
        return replace(self, seq=seq, changed=changed, bytes=size)


class Tails:
    """The tails of the views of this container. Its methods may be called from any thread."""

    def __init__(self, read_after: Callable[[int, int], Iterable[Commit]]) -> None:
        """Begin without tails.

        Args:
            read_after: reads a project's log.
        """
        self._read_after = read_after
        self._tails: dict[int, Tail] = {}
        self._lock = threading.Lock()

    def read(self, project: int, seq: int, found: Sequence[Commit] | None = None) -> Tail | None:
        """What changed after a commit, up to now; None where a view has to apply it.

        Args:
            project: the project.
            seq: the number of the commit.
            found: all commits after it, where they were read for this call.
        """
        with self._lock:
            tail = self._tails.pop(project, None)
        if tail is None or tail.after != seq or found is not None:
            tail = Tail(seq, seq)
        longer = tail.with_commits(self._read_after(project, tail.seq) if found is None else found)
        if longer is not None and longer.size:
            with self._lock:
                while len(self._tails) >= MOST_TAILS:
                    del self._tails[next(iter(self._tails))]
                self._tails[project] = longer
        return longer

    def drop(self, project: int) -> None:
        """Forget the tail of a project whose view has applied it."""
        if project in self._tails:
            with self._lock:
                self._tails.pop(project, None)
