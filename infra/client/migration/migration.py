"""The order of a migration, and its report.

Whatever names another object comes after it: people, types, versions and sections, leaves, media with their files,
localizations, states, files, algorithms, and what names media by their new ids. The source is only read.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from .. import failures
from ..failures import Failure
from . import comparison, definitions, extras, media, rows
from .move import Move

FULL_CONTROL = "Full Control"
STEPS = (
    definitions.move_people,
    definitions.move_attributes,
    definitions.move_types,
    definitions.move_versions,
    definitions.move_sections,
    rows.move_leaves,
    media.move_media,
    rows.move_localizations,
    rows.move_states,
    extras.move_files,
    extras.move_algorithms,
    media.move_groups,
    extras.move_own,
)
LOST = (
    ("media", "created_datetime and modified_datetime are those of the copy; downloads keep the bytes of all files."),
    ("localization", "created_datetime, modified_datetime and former revisions stay at the source."),
    ("state", "created_datetime, modified_datetime and former revisions stay at the source."),
    ("leaf", "The author of all leaves is the user of the migration."),
)
"""What the interface gives no way to write."""


def run(move: Move) -> dict[str, Any]:
    """Do a migration, or with `move.is_trial` read definitions and a page of each kind; the report.

    Raises:
        Failure: a service does not answer or refuses everything; the next run continues.
    """
    _check(move)
    if not move.is_trial:
        comparison.note_before(move)
    for step in STEPS:
        step(move)
    report: dict[str, Any] = {"trial": move.is_trial, "state": str(move.ledger.place)}
    if move.is_trial:
        report["counts"] = {
            kind: {"source": comparison.count(move.source, kind, move.source_project)} for kind in comparison.COUNTED
        }
    else:
        report["counts"] = comparison.compare(move)
        for kind, sentence in LOST:
            if move.ledger.count(kind):
                move.ledger.remark(kind, 0, sentence)
    problems = move.ledger.problems()
    report["refused"] = [each for each in problems if each["is_refused"]]
    report["remarks"] = [each for each in problems if not each["is_refused"]]
    report["requests"] = move.source.requests
    return report


def _check(move: Move) -> None:
    """Refuse a target that may not name authors, and the state of another migration."""
    level = move.target.get_project(move.target_project).get("permission")
    if level not in (FULL_CONTROL, "Creator"):
        raise Failure(
            f"Project {move.target_project}: you need {FULL_CONTROL} to name the authors of copies, and have {level}.",
            failures.NOT_PERMITTED,
        )
    here = (move.source.profile.url, move.source_project, move.target.profile.url, move.target_project)
    if here[:2] == here[2:]:
        raise Failure("Source and target are the same project.")
    move.ledger.claim("{} project {} to {} project {}".format(*here))


def is_complete(report: dict[str, Any]) -> bool:
    """Whether everything came as it is."""
    if report["refused"]:
        return False
    return report["trial"] or all(each["agrees"] for each in report["counts"].values())


def people(path: Path | None) -> dict[str, str]:
    """The names of a mapping file: a JSON object, names at the target by names at the source.

    Raises:
        Failure: it cannot be read, or is no such object.
    """
    if path is None:
        return {}
    found = failures.read_json(path)
    if not isinstance(found, dict) or not all(isinstance(each, str) for each in found.values()):
        raise Failure(f'{path}: give a JSON object of names, such as {{"ann": "ann.b"}}.')
    return found


def summary(report: dict[str, Any]) -> str:
    """A report as text."""
    lines = []
    for kind, each in report["counts"].items():
        if report["trial"]:
            lines.append(f"{kind + ':':15}{each['source']} to copy")
            continue
        verdict = "" if each["agrees"] else "; THEY DIFFER"
        lines.append(
            f"{kind + ':':15}{each['source']} there, {each['copied']} copied, {each['refused']} refused; "
            f"{each['target']} here, {each['before']} before, {each['sampled']} compared{verdict}"
        )
        lines += [f"  {sentence}" for sentence in each["differences"][:10]]
    why = Counter((each["kind"], each["reason"]) for each in report["refused"])
    lines += [f"refused {kind}, {count}: {reason}" for (kind, reason), count in why.most_common(20)]
    said = Counter((each["kind"], each["reason"]) for each in report["remarks"])
    lines += [f"note on {kind}, {count}: {reason}" for (kind, reason), count in said.most_common(20)]
    return "\n".join(lines)
