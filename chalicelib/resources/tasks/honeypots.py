"""Honeypots of a set of tasks: which they are, who is suspended, and the hiding of their reference (decision 210)."""

from __future__ import annotations

import math
import secrets
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import blake2s
from itertools import islice

import msgspec

from chalicelib.access import view_queries
from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import VERSION
from chalicelib.core.models.entities import Media
from chalicelib.core.models.personal import EVERYBODY, HIDDEN_LAYERS, HiddenLayers
from chalicelib.core.resource import now
from chalicelib.errors import BadInput, Conflict, NotFound
from chalicelib.query.operators import Op
from chalicelib.query.tree import Query, Related, Test
from chalicelib.resources.media.selection import select
from chalicelib.resources.tasks.honeypot_schemas import HONEYPOT_SCORE, HONEYPOT_SET, SUSPENDED, HoneypotSet
from chalicelib.resources.tasks.schemas import TASK, TaskSpec
from chalicelib.storage.dynamodb import limits, records

Unit = tuple[int, int | None, int | None]
"""Media, first frame, last frame."""
_NAMES = uuid.UUID("7d1f4f0e-52a7-4c38-9b5e-1f2f9f6d0a41")


def uid_of(project: int, name: str) -> str:
    """The uid of the honeypots of a set of tasks."""
    return str(uuid.uuid5(_NAMES, f"{project}|{name}"))


def set_of(scope: Scope, project: int, spec: TaskSpec) -> HoneypotSet | None:
    """The honeypots of a set of tasks, for `store` once all of its first request was checked; None for none.

    Raises:
        BadInput: the body does not fit, the set has tasks without honeypots, or other honeypots.
        NotFound: the reference is not in the project.
    """
    found = records.maybe(HONEYPOT_SET, uid_of(project, spec.name))
    if found is None and spec.honeypots is None:
        return None
    if found is None:
        found = _begin(scope, project, spec)
    elif spec.honeypots not in (None, found.spec):
        raise BadInput("honeypots: this set of tasks has other ones; leave them out, or give the set another name.")
    _check_versions(found.spec.reference, spec)
    return found


def store(found: HoneypotSet) -> None:
    """Store a set that is new, and hide its reference: before its tasks, which would show what they are."""
    if records.maybe(HONEYPOT_SET, found.uid) is None:
        records.create(HONEYPOT_SET, found)
    hide_reference(found)


def _begin(scope: Scope, project: int, spec: TaskSpec) -> HoneypotSet:
    wanted = spec.honeypots
    assert wanted is not None  # noqa: S101 the caller checks it
    if (wanted.share is None) == (wanted.media_ids is None):
        raise BadInput("honeypots: give either share or media_ids.")
    if wanted.least > wanted.last:
        raise BadInput(f"honeypots.least: {wanted.least} is above last, {wanted.last}.")
    if records.get(VERSION, wanted.reference).project != project:
        raise NotFound.of("Version", wanted.reference)
    _check_versions(wanted.reference, spec)
    types = records.definitions(project).types(Kind.LOCALIZATION).values()
    known = {each.name for type_ in types for each in type_.attribute_types}
    if wanted.class_attribute is not None and wanted.class_attribute not in known:
        named = ", ".join(sorted(known)) or "no attributes"
        raise BadInput(f"honeypots.class_attribute: no type has {wanted.class_attribute!r}; there are {named}.")
    if any(task.name == spec.name for task in records.list_children(TASK, project)):
        raise BadInput("honeypots: this set has tasks without; honeypots that came later would be recognized.")
    uid = uid_of(project, spec.name)
    made = HoneypotSet(
        uid=uid,
        id=uid,
        project=project,
        name=spec.name,
        spec=wanted,
        seed=secrets.token_hex(16),
        created_by=scope.caller.id,
        created_datetime=now(),
    )
    limits.check(HONEYPOT_SET, made)
    return made


def _check_versions(reference: int, spec: TaskSpec) -> None:
    versions = spec.versions or []
    if len(set(versions)) != spec.copies:
        raise BadInput(f"versions: honeypots need a layer for each copy, {spec.copies}; given {len(set(versions))}.")
    if reference in versions:
        raise BadInput("versions: the reference of honeypots is not a layer to draw in.")


# --- drawing ---------------------------------------------------------------------------------------------------------


def draw(
    scope: Scope, found: HoneypotSet, units: Iterable[Unit], spans: Callable[[Media], Iterator[Unit]], most: int
) -> tuple[list[Unit], set[Unit]]:
    """The units of a request in a random order, with the honeypots among them; the honeypots.

    The seed of the set decides, so that a repetition draws the same. Of two requests of a set, the second adds what the
    share of all units needs.

    Args:
        scope: the manager.
        found: the set.
        units: what was selected.
        spans: the units of a media.
        most: the most units that a request has; one more is returned of a larger one.
    """
    known = _known_media(scope, found)
    ordinary = [unit for unit in units if unit[0] not in known]
    wanted = most + 1
    if found.spec.share is not None:
        there = {
            (task.media_id, task.start_frame, task.end_frame)
            for task in records.list_children(TASK, found.project)
            if task.name == found.name and not task.is_honeypot
        }
        count = len(there.union(ordinary))
        # rounding must not turn a tenth of ninety into eleven
        wanted = min(wanted, math.ceil(round(count * found.spec.share / (1 - found.spec.share), 6)))
    drawn: list[Unit] = []
    for media in select(scope, found.project, sorted(known, key=lambda number: _rank(found, number)), None):
        drawn += islice(spans(media), wanted - len(drawn))  # a media says any number of frames
        if len(drawn) >= wanted:
            break
    honeypots = set(drawn[:wanted])
    return sorted([*ordinary, *honeypots], key=lambda unit: _rank(found, unit)), honeypots


def _known_media(scope: Scope, found: HoneypotSet) -> set[int]:
    if found.spec.media_ids is not None:
        return set(found.spec.media_ids)
    in_reference = Related(Kind.LOCALIZATION, Test("version", Op.IN, (found.spec.reference,)))
    query = Query(kind=Kind.MEDIA, where=in_reference)
    return set(view_queries.ids(view_queries.current(found.project), query, scope))


def _rank(found: HoneypotSet, item: object) -> bytes:
    return blake2s(f"{found.seed}|{item}".encode()).digest()


# --- the reference ---------------------------------------------------------------------------------------------------


def hide_reference(found: HoneypotSet) -> None:
    """Hide the reference of a set, and what is made of it, from members below Full Control."""
    number = found.spec.reference
    derived = [each.id for each in records.list_children(VERSION, found.project) if number in each.made_of]
    wanted = {f"{found.uid}|{each}": each for each in (number, *derived)}
    _edit(found.project, lambda there: {**there, **wanted})


def show_reference(found: HoneypotSet) -> None:
    """Show it again, unless another set hides it."""
    _edit(found.project, lambda there: {key: each for key, each in there.items() if not key.startswith(found.uid)})


def _edit(project: int, edited: Callable[[Mapping[str, int]], dict[str, int]]) -> None:
    uid = f"{project}-{EVERYBODY}"
    if records.maybe(HIDDEN_LAYERS, uid) is None:
        try:
            records.create(HIDDEN_LAYERS, HiddenLayers(uid=uid, project=project, user=EVERYBODY, versions=edited({})))
        except Conflict:
            pass
        else:
            return
    records.edit(HIDDEN_LAYERS, uid, lambda found: msgspec.structs.replace(found, versions=edited(found.versions)))


# --- suspensions -----------------------------------------------------------------------------------------------------


def suspensions(project: int, user: int) -> frozenset[str]:
    """The names of the sets of a project of which a person gets no tasks."""
    found = records.list_linked(HONEYPOT_SCORE, SUSPENDED, user)
    return frozenset(score.name for score in found if score.project == project)
