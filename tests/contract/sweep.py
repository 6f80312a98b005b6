"""Every operation, by each of ten callers, on existing objects of somebody else: in the path, the query and the body.

There are two worlds. The callers belong to the second one, or to none; the objects are those of the first, whose names
carry a mark. A sweep counts its attempts and lists what went wrong: an answer that is neither 401 nor 404 for a path, a
mark in any answer, a foreign id that was accepted. `python -m tests.contract` writes the counts to
`docs/security.md`; `test_sweep.py` runs a part with every commit, and all of it by night.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec.inspect as shapes

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.permissions import Level
from chalicelib.http.operation import Operation
from chalicelib.storage.dynamodb import ids
from chalicelib.storage.dynamodb.tables import CounterRow
from tests.contract.examples import body_of, full_body_of, query_of
from tests.contract.world import World
from tests.faults.workflow_calls import overrides
from tests.faults.workflows import build, workflow_of
from tests.service import Api

MARK = "foreignmark"
PAGE = Path(__file__).parents[2] / "docs" / "security.md"
TABLE = re.compile(r"(<!-- sweep -->\n).*?(<!-- end of sweep -->)", re.DOTALL)
LEVELLED = [each for each in OPERATIONS if each.needs.level > Level.NONE and each.addresses is not None]
MARKED = {
    **{name: name.title() for name in ("project", "media", "section", "version", "file", "leaf", "organization")},
    "media_type": "MediaType",
    "localization_type": "LocalizationType",
    "state_type": "StateType",
    "leaf_type": "LeafType",
    "file_type": "FileType",
}
"""What is marked by its name → the word of its path."""
LISTS = {
    "project": "Project Medias Localizations States Leaves Files Sections Versions MediaTypes LocalizationTypes "
    "StateTypes LeafTypes FileTypes Memberships Algorithms Applets Analyses TemporaryFiles",
    "organization": "Organization Affiliations Buckets JobClusters Groups Invitations",
}
"""What the owner of a world sees of it: the words of the paths, by what they address."""
_ID = re.compile(
    r"(^|_)(id|ids|media|parent|bases|type|types|meta|version|versions|section|sections|files?|localizations?|states?|"
    r"bucket|cluster|template|project|organization|group|target_group|job_cluster|hosted_template|algorithm|merge_state_id|"
    r"annotator|drafts|like|made_of|reference)"
    r"(_add|_del|_remove)?$"
)
_NOT_IDS = {"uid", "gid"}
_NARROWS = re.compile(r"(?:(?:List|ById|UpdateAnnotationFrames|UpdateTelemetryValues): (?:\w+_)?ids|_(?:del|remove))$")
"""Members that narrow what is found, or take out what is not there: foreign ids have no effect."""


@dataclass
class Report:
    """What a sweep tried, and what went wrong."""

    attempts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def note(self, place: str, said: Any, what: str, *, accepted: tuple[int, ...] = ()) -> None:
        """Count one attempt, and keep what is wrong with its answer."""
        self.attempts[place] += 1
        if accepted and said.status not in accepted:
            self.faults.append(f"{what}: answered {said.status}")
        if said.status >= 500:
            self.faults.append(f"{what}: answered {said.status}")
        if MARK.encode() in said.body:
            self.faults.append(f"{what}: shows what is foreign")


class Worlds:
    """The foreign world, the callers' own, and the ten callers."""

    def __init__(self) -> None:
        self.here = build()
        _spread_ids()
        self.there = build()
        for name, word in MARKED.items():
            said = self.there.owner.patch(
                f"{word}/{self.there.things[name]}", {"name": f"{MARK}{name}".replace("_", "")}
            )
            assert said.status == 200, (name, said.body)
        self.before = self.state()
        self.callers: dict[str, Api] = {
            "no credentials": Api(None),
            "a token of nobody": Api(None, token="0" * 40),
            "an account switched off": self.there.inactive,
            "a stranger": self.here.stranger,
            "staff": self.here.superuser,
            "an administrator elsewhere": self.here.owner,
            **{f"{level} elsewhere": member for level, member in self.here.members.items() if level != "Can Execute"},
        }

    def state(self) -> str:
        """All that the owner of the foreign world sees of it."""
        there = self.there
        paths = [f"{word}/{there.things[what]}" for what, words in LISTS.items() for word in words.split()]
        return json.dumps([there.owner.get(path).body.decode() for path in paths])


def in_paths(worlds: Worlds, report: Report, operations: list[Operation]) -> None:
    """Address the foreign objects."""
    for operation in operations:
        path = worlds.there.path(operation)
        for name, caller in worlds.callers.items():
            said = caller.ask(operation.method, path, body_of(operation), **query_of(operation))
            accepted = (404,) if caller.user and caller is not worlds.there.inactive else (401,)
            report.note("path", said, f"{name}: {operation.id}", accepted=accepted)


def in_open_paths(worlds: Worlds, report: Report) -> None:
    """Address what has no level: users, row protections and permalinks, whose handlers decide."""
    there = worlds.there
    spec = {"section": there.things["section"], "user": there.owner.user.id, "permission": 1}  # type: ignore[union-attr]
    numbers = {
        "User": there.things["user"],
        "RowProtection": there.owner.made("RowProtections", spec),
        "Permalink": there.things["media"],
    }
    for operation in OPERATIONS:
        word = operation.path.split("/")[2]
        if operation in LEVELLED or "{id}" not in operation.path or word not in numbers:
            continue
        for name, caller in worlds.callers.items():
            if word == "User" and caller.user and caller.user.is_staff:
                continue  # staff administers all accounts
            path = operation.path.replace("{id}", str(numbers[word]))
            said = caller.ask(operation.method, path, body_of(operation), **query_of(operation))
            report.note("path", said, f"{name}: {operation.id}", accepted=(401, 403, 404))


def _spread_ids() -> None:
    """Let no id of what is made from here on be that of anything older, nor of anything new of another kind."""
    kinds = sorted(str(row.pk).removeprefix("ids|") for row in CounterRow.scan() if str(row.pk).startswith("ids|"))
    highest = max(map(ids.last, kinds))
    for place, kind in enumerate(kinds, 1):
        ids.reserve(kind, highest + 1000 * place - ids.last(kind))


def _planted(value: Any, number: int, name: str = "") -> Iterator[tuple[str, Any]]:
    """A body with a foreign id in the place of one of its own, for each place below the first level."""
    if isinstance(value, dict):
        for member, item in value.items():
            if name and _ID.search(member) and member not in _NOT_IDS and isinstance(item, int | list):
                yield f"{name}.{member}", {**value, member: [number] if isinstance(item, list) else number}
            for place, planted in _planted(item, number, f"{name}.{member}" if name else member):
                yield place, {**value, member: planted}
    elif isinstance(value, list) and value:
        for place, planted in _planted(value[0], number, f"{name}[]"):
            yield place, [planted, *value[1:]]


def in_deep_bodies(worlds: Worlds, report: Report, operations: list[Operation]) -> None:
    """Name foreign objects in bodies of requests to the callers' own, below the first level."""
    for operation in operations:
        whole = full_body_of(operation)
        if operation.body in (None, bytes) or not isinstance(whole, dict):
            continue
        for member in whole:
            for place, _ in _planted(whole[member], 1, member):
                last = place.rpartition(".")[2]
                for number in _foreign(last, worlds.there):
                    planted = dict(_planted(whole[member], number, member))[place]
                    path, body, query = _own(operation, worlds.here)
                    lie = {member: planted}
                    sent = [{**each, **lie} for each in body] if isinstance(body, list) else {**(body or {}), **lie}
                    said = worlds.here.owner.ask(operation.method, path, sent, **query)
                    report.note("deep body", said, f"{operation.id}: {place}")
                    if said.status < 300:
                        report.faults.append(f"{operation.id}: {place}: a foreign id was accepted")


def in_bodies(worlds: Worlds, report: Report, operations: list[Operation]) -> None:
    """Name the foreign objects in bodies of requests to the callers' own, one member at a time."""
    for operation in operations:
        if operation.body in (None, bytes):
            continue
        path, body, query = _own(operation, worlds.here)
        whole = full_body_of(operation)
        for member in whole if isinstance(whole, dict) else ():
            if not _ID.search(member) or member in _NOT_IDS:
                continue
            for number in _foreign(member, worlds.there):
                value = [number] if isinstance(whole[member], list) else number
                lie = {member: value}
                planted = [{**each, **lie} for each in body] if isinstance(body, list) else {**(body or {}), **lie}
                said = worlds.here.owner.ask(operation.method, path, planted, **query)
                what = f"{operation.id}: {member}"
                report.note("body", said, what)
                if said.status < 300 and not _NARROWS.search(what):
                    report.faults.append(f"{what}: a foreign id was accepted")


def in_queries(worlds: Worlds, report: Report, operations: list[Operation]) -> None:
    """Name the foreign objects in parameters of requests to the callers' own, one at a time."""
    for operation in operations:
        path, body, query = _own(operation, worlds.here)
        sent = {"raw": body} if isinstance(body, bytes) else {"body": body}
        for item in shapes.type_info(operation.query).fields:  # type: ignore[attr-defined]
            if not _ID.search(item.encode_name) or item.encode_name in _NOT_IDS:
                continue
            for number in _foreign(item.encode_name, worlds.there):
                asked = {**query, item.encode_name: number}
                said = worlds.here.owner.ask(operation.method, path, **sent, **asked)
                report.note("query", said, f"{operation.id}?{item.encode_name}")


def sweep(worlds: Worlds, operations: list[Operation]) -> Report:
    """All attempts with some operations."""
    report = Report()
    in_paths(worlds, report, operations)
    in_queries(worlds, report, [each for each in operations if each.method == "GET" or "List" in each.id])
    in_bodies(worlds, report, operations)
    in_deep_bodies(worlds, report, operations)
    in_open_paths(worlds, report)
    if worlds.state() != worlds.before:
        report.faults.append("the foreign world has changed")
    return report


def _own(operation: Operation, world: World) -> tuple[str, Any, dict[str, Any]]:
    """Path, body and query of a request of the callers' own: one that works, where `overrides` has it."""
    known = overrides(world)
    request = workflow_of(operation, world, known.get(operation.id, {}))
    return (
        request.path,
        request.body if operation.id in known else _named(operation, request.body, world),
        request.query,
    )


def _named(operation: Operation, body: Any, world: World) -> Any:
    """The smallest body, with ids of the caller's own world."""
    if isinstance(body, list):
        return [_named(operation, each, world) for each in body]
    if not isinstance(body, dict):
        return body
    things = world.things
    kind = next((word for word in ("Media", "Localization", "State", "Leaf", "File") if word in operation.id), "")
    ids = {"type": things.get(f"{kind.lower()}_type", things["localization_type"])}
    ids |= {"media_id": things["media"], "media_ids": [things["media"]], "media_types": [things["media_type"]]}
    ids |= {"version": things["version"], "user": things["user"]}
    return {name: ids.get(name, value) for name, value in body.items()}


def _foreign(member: str, there: World) -> Iterator[Any]:
    """The foreign ids that a member may be taken for: of the kind it is called after, else of several kinds."""
    words = member.removesuffix("_ids").removesuffix("_id").split("_")
    called = [name for name, value in there.things.items() if isinstance(value, int) and name in {member, *words}]
    several = ("media", "localization", "state", "section", "version", "file", "leaf", "localization_type")
    yield from dict.fromkeys(there.things[name] for name in called or several)


def write(report: Report) -> None:
    """Put the counts into the page."""
    lines = [
        "| Foreign objects in | Attempts |",
        "|---|---|",
        *(f"| {place} | {count:,} |" for place, count in sorted(report.attempts.items())),
        f"| all | {report.attempts.total():,} |",
    ]
    text = PAGE.read_text()
    PAGE.write_text(TABLE.sub(lambda found: found[1] + "\n".join(lines) + "\n" + found[2], text))


def main() -> None:
    """Sweep everything and write the counts; exit with what went wrong."""
    done = sweep(Worlds(), LEVELLED)
    if done.faults:
        raise SystemExit("\n".join(done.faults))
    write(done)
