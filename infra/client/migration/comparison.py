"""Counts and samples of both projects, side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from . import source
from .media import OURS, ROLES
from .move import Move
from .source import Row

COUNTED = ("media", "localization", "state", "leaf", "file")
SAMPLE = 200
"""Objects of each kind whose values are compared."""
BYTES = 65_536
"""Bytes at the beginning of each file of a sampled media that are compared."""
FILES_OF = 20
"""Media whose files are compared."""
SAME = {
    "media": ("name", "md5", "num_frames", "fps", "codec", "width", "height", "gid", "uid"),
    "localization": (
        *("x", "y", "width", "height", "u", "v", "points", "mask", "angle", "form", "closed", "holes", "visible"),
        *("frame", "elemental_id"),
    ),
    "state": ("frame", "elemental_id", "segments"),
    "leaf": ("name",),
    "file": ("name", "description", "elemental_id"),
}
"""The members that have the same values."""
REFERRED = {
    "media": {"type": "media_type", "primary_section": "section"},
    "localization": {"type": "localization_type", "media": "media", "version": "version"},
    "state": {"type": "state_type", "version": "version", "media": "media", "localizations": "localization"},
    "leaf": {"type": "leaf_type", "parent": "leaf"},
    "file": {"type": "file_type"},
}
"""The members that are ids, and of what."""


@dataclass
class Compared:
    """One kind: how many there are, how many came, and in what samples differ."""

    source: int
    copied: int
    refused: int
    target: int
    before: int
    """How many the target had before the first run."""
    sampled: int = 0
    differences: list[str] | None = None

    @property
    def agrees(self) -> bool:
        """Whether all came, once, as they are."""
        return self.source == self.copied and self.target == self.before + self.copied and not self.differences


def note_before(move: Move) -> None:
    """Record how many objects of each kind the target has of its own, in the first run."""
    for kind in COUNTED:
        if move.ledger.fact(f"before {kind}") is None:
            held = count(move.target, kind, move.target_project) - _copied(move, kind)
            move.ledger.store_fact(f"before {kind}", max(0, held))


def _copied(move: Move, kind: str) -> int:
    """How many copies the target shows: a layer hides what was deleted in it."""
    return move.ledger.count(kind) - move.ledger.count(f"hidden {kind}")


def compare(move: Move) -> dict[str, Any]:
    """Compare counts of all kinds, the values of samples, and the first bytes of files of sampled media."""
    found = {}
    for kind in COUNTED:
        there = Compared(
            source=count(move.source, kind, move.source_project),
            copied=_copied(move, kind),
            refused=len(move.ledger.refused(kind)),
            target=count(move.target, kind, move.target_project),
            before=int(move.ledger.fact(f"before {kind}") or 0),
        )
        sample = move.ledger.sample(kind, SAMPLE)
        there.sampled, there.differences = len(sample), _differences(move, kind, sample)
        if kind == "media" and move.options.files == "copy":
            there.differences += _files(move, dict(list(sample.items())[:FILES_OF]))
        found[kind] = {**asdict(there), "agrees": there.agrees}
    return found


def count(client: Any, kind: str, project: int) -> int:
    """How many objects of a kind a project shows."""
    query = {"archive_lifecycle": "all"} if kind == "media" else {}
    selection = getattr(client.project(project), {"leaf": "leaves", "media": "media"}.get(kind, f"{kind}s"))
    return int(selection(**query).count())


def _differences(move: Move, kind: str, sample: dict[int, int]) -> list[str]:
    """In what samples differ, each as a sentence. What is gone at the source or deleted since is left out."""
    before = {row["id"]: row for row in source.by_id(move.source, kind, move.source_project, list(sample))}
    after = {row["id"]: row for row in source.by_id(move.target, kind, move.target_project, list(sample.values()))}
    found = []
    for number, copy in sample.items():
        old, new = before.get(number), after.get(copy)
        if old is None or old.get("variant_deleted"):
            continue
        if new is None:
            found.append(f"{kind} {number}: its copy {copy} is not there.")
            continue
        wanted = _expected(move, kind, old)
        for name, value in wanted.items():
            if not _is_same(new.get(name), value):
                found.append(f"{kind} {number}: {name} is {value!r}, and of its copy {copy} {new.get(name)!r}.")
    return found


def _expected(move: Move, kind: str, row: Row) -> Row:
    """The values that the copy of a row has."""
    wanted = {name: row[name] for name in SAME[kind] if row.get(name) is not None}
    for name, of in REFERRED[kind].items():
        value = row.get(name)
        if isinstance(value, list):
            known = move.ledger.targets(of, value)
            wanted[name] = sorted(known[each] for each in value if each in known)
        elif value is not None:
            wanted[name] = move.ledger.target(of, value)
    wanted["attributes"] = _values(row)
    return wanted


def _values(row: Row) -> Row:
    held = row.get("attributes") or {}
    return {name: value for name, value in held.items() if value is not None and not name.startswith(OURS)}


def _is_same(new: Any, value: Any) -> bool:
    if isinstance(value, dict):
        return _values({"attributes": new}) == value
    if isinstance(value, list) and isinstance(new, list) and all(isinstance(each, int) for each in (*value, *new)):
        return sorted(new) == sorted(value)
    return bool(new == value)


def _files(move: Move, sample: dict[int, int]) -> list[str]:
    """In what the files of media differ: their number, and their first bytes."""
    found = []
    for number, copy in sample.items():
        pair = [
            client.get_media(each, presigned=3600).get("media_files") or {}
            for client, each in ((move.source, number), (move.target, copy))
        ]
        for role in ROLES:
            old, new = (files.get(role) or [] for files in pair)
            if len(old) != len(new):
                found.append(f"media {number}: it has {len(old)} files as {role}, and its copy {copy} has {len(new)}.")
            for left, right in zip(old, new, strict=False):
                if left.get("reference_only"):
                    continue
                parts = [
                    client.read_bytes(each["path"], 0, BYTES)
                    for client, each in ((move.source, left), (move.target, right))
                ]
                if parts[0] != parts[1]:
                    found.append(f"media {number}: a file as {role} begins with other bytes than that of its copy.")
    return found
