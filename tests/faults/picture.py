"""What there is to see: a state of the service as readers and workers would find it, so that two may be compared.

Names that are made anew every time (uuids, times, tokens, hashes) are masked. Ids are not: who compares lets both
states take the same ones.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from dataclasses import dataclass, field

from chalicelib.core.keys.key_forms import DATASETS, EXPORTS
from chalicelib.core.kinds import Kind
from chalicelib.resources.entities import object_cleanup
from chalicelib.settings import settings
from chalicelib.storage.log.log import read_after, rows_after
from infra.emulator import aws
from infra.emulator.sqlite.database import unpack
from tests import objects

_MASKS = (
    (re.compile(r"\$argon2id\$[^\"\\\\]*"), "<password>"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "<day>"),
    (re.compile(r"\b1\d{9}(\.\d+)?\b"), "<seconds>"),
    (re.compile(r"[A-Za-z0-9+/_=-]{28,}"), "<secret>"),
    (re.compile(r"_[0-9a-f]{8}\b"), "<short>"),
    (re.compile(r"(\d/\d+/\d+/[^/\"\s]*_)[A-Za-z]{10}\b"), r"\1<random>"),
)
NOTES = ("released#", "clones#", "presigned-puts")
"""Records that only a sweep looks at: hints, right or not."""


def mask(text):
    """A text without what differs between two runs of the same."""
    for pattern, word in _MASKS:
        text = pattern.sub(word, text)
    return text


@dataclass
class Picture:
    """A state, as far as it differs from the one that was marked."""

    records: dict[str, str | None] = field(default_factory=dict)
    """Rows of the table of records: masked key → masked row, None for one that is gone."""
    things: dict[tuple[str, int], str | None] = field(default_factory=dict)
    """Entities and definitions as the log tells of them: (kind, id) → masked document, None for one that is gone."""
    commits: list[str] = field(default_factory=list)
    """The commits, masked, in order: what they change and what they enter into the change log."""

    def __bool__(self):
        return bool(self.records or self.things or self.commits)


def take(undo):
    """The picture of now, against what `undo` has marked."""
    picture, rows = Picture(), undo.changed()
    masked = [
        (mask(f"{partition} {sort}"), "" if row is None else mask(_text(row)))
        for (table, partition, sort), (_, row) in rows.items()
        if table == settings().records_table and not partition.startswith(NOTES)
    ]
    for number, (key, text) in enumerate(sorted(masked)):
        picture.records[f"{key} {number}" if key in picture.records else key] = text or None
    for commit in commits(rows):
        for kind, number, doc in commit["changes"]:
            picture.things[kind, number] = None if doc is None else mask(json.dumps(doc, sort_keys=True))
        picture.commits.append(mask(json.dumps({**commit, "seq": 0}, sort_keys=True)))
    return picture


def commits(rows, *, empty=False):
    """The commits that were added, by project and number; the empty ones, which nobody sees, only where asked for.

    A log begins to be watched with one (decision 060), and others fill numbers of writers that died (decision 110).
    """
    found = []
    for (table, project, seq), (old, row) in rows.items():
        if table == settings().log_table and old is None and row is not None:
            body = row["body"]["B"] if "body" in row else objects.read(row["object_key"]["S"])
            found.append((project, seq, json.loads(zlib.decompress(body))))
    kept = (commit for _, _, commit in sorted(found, key=lambda each: each[:2]))
    return [
        commit
        for commit in kept
        if empty or commit["changes"] or commit.keys() - {"at", "changes", "project", "seq", "user"}
    ]


def commits_after(project, seq):
    """How many commits that readers notice follow a number."""
    return sum(bool(commit.changes or commit.edits or commit.notes) for commit in read_after(project, seq))


def problems(undo):
    """What contradicts itself in the state as it is now, whoever looks: an empty list of a whole one."""
    rows, told = undo.changed(), []
    records = _table(settings().records_table)
    for (table, partition, sort), (_, row) in rows.items():
        if table != settings().records_table:
            continue
        if row and "home_pk" in row and records.get(row["home_pk"]["S"], row["home_sk"]["S"]) is None:
            told.append(f"{partition} {sort} points to nothing")
    last = {}
    for project in {commit["project"] for commit in commits(rows)}:
        for _ in rows_after(project, 0):  # fills the holes
            pass
    for commit in commits(undo.changed(), empty=True):
        before = last.get(commit["project"], commit["seq"] - 1)
        if commit["seq"] != before + 1:
            told.append(f"commit {commit['seq']} of project {commit['project']} follows {before}")
        last[commit["project"]] = commit["seq"]
        logs = _table(settings().log_table)
        if commit["seq"] > 1 and logs.get(commit["project"], commit["seq"] - 1) is None:
            told.append(f"the log has no commit before {commit['seq']}")
    return told + _rows_that_differ_from_the_log(rows)


def _rows_that_differ_from_the_log(rows):
    told, seen = [], {}
    for commit in commits(rows):
        for kind, number, doc in commit["changes"]:
            if kind in set(Kind):
                seen[f"{kind}#{number}"] = doc
    entities, counters = _table(settings().entities_table), _table(settings().counters_table)
    changed = {partition for (table, partition, _) in rows if table == settings().entities_table}
    for key in changed | set(seen):
        packed = entities.get(key, None)
        row = unpack(packed) if packed else None
        visible = row is not None and "deleted" not in row
        if visible and "batch" in row:
            visible = counters.get(f"batch#{key.partition('#')[0]}#{row['batch']['N']}", "@") is not None
        doc = json.loads(row["doc"]["B"]) if visible else None
        if key in seen and seen[key] != doc:
            told.append(f"{key} is {doc} in its row and {seen[key]} in the log")
        if key not in seen and key in changed and visible:
            told.append(f"{key} changed and the log does not tell")
    return told


def orphans(undo, projects):
    """Objects and uploads that were made and that nothing names, after every sweep there is."""
    if not undo.new_objects():
        return []
    for project in projects:
        object_cleanup.sweep(project)
    named = json.dumps(
        [
            _text(unpack(row))
            for table in (settings().records_table, settings().entities_table, settings().log_table)
            for _, _, row in _table(table).snapshot()
        ]
    )
    named += json.dumps(undo.messages())
    return sorted(
        mask(key)
        for _, key in undo.new_objects()
        if key.removeprefix("upload of ") not in named
        and key.rpartition("/")[2] not in named
        and not _is_of_export(key, undo)
    )


def _is_of_export(key, undo):
    """Whether an object is in the folder of an export or a version of a dataset that a record or a message names."""
    where, _, name = key.partition("/")
    if where not in (EXPORTS, DATASETS):
        return False
    uid = name.split("/")[1]
    rows = _table(settings().records_table).snapshot()
    return uid in json.dumps([_text(unpack(row)) for _, _, row in rows]) + json.dumps(undo.messages())


def messages(undo):
    """The masked messages that wait, as often as they do."""
    return Counter(mask(f"{queue} {body}") for queue, body in undo.messages())


def _table(name):
    for backend in aws._backends(aws.dynamodb_backends):
        if name in backend.tables:
            return backend.tables[name].items
    raise LookupError(name)


def _text(row):
    """A row as one line of text, its documents decoded."""
    plain = {}
    for name, value in sorted(row.items()):
        ((_, inner),) = value.items()
        if isinstance(inner, bytes):
            try:
                inner = json.dumps(json.loads(inner), sort_keys=True)
            except (ValueError, UnicodeDecodeError):
                inner = f"{len(inner)} bytes"
        if name != "n":
            plain[name] = inner
    return json.dumps(plain, sort_keys=True)
