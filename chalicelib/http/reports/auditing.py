"""Entries of the audit log, from the declarations of operations and their requests.

An operation that declares `audits`, and a deletion of anything but annotations and personal records, has an entry when
it succeeds; any operation has one when it refuses a caller who signed in. Refusals of one caller and operation that
come fast are counted and not all written, so that nobody can fill the log of an organization.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Struct

from chalicelib.access.authentication import Caller
from chalicelib.core.log.audit import PERSONAL
from chalicelib.core.resource import given
from chalicelib.errors import Forbidden, LimnError, NotFound
from chalicelib.http.operation import Call, Located, Operation
from chalicelib.storage.audit import chain
from chalicelib.storage.audit.concern import concern, name_of

_MOST_VALUES = 50
"""Members of a list that an entry repeats."""
REFUSALS, WINDOW_SECONDS = 10, 60
"""How many refusals of one caller, operation and organization are written one by one in a while."""
_MOST_REFUSED = 1_000


def identify(operation: Operation, caller: Caller) -> None:
    """Record caller and operation in the draft of this request's entry."""
    draft = chain.current()
    draft.kind = operation.audited
    draft.members = {
        "operation": operation.id,
        "status": operation.success,
        "user": caller.id or None,
        "username": caller.username or None,
        "credential": name_of(caller.credential),
        "network_address": caller.network_address or None,
    }


def address(operation: Operation, path: dict[str, Any], found: Located[Any]) -> None:
    """Record in the draft what the path names."""
    draft = chain.current()
    draft.place = (found.organization or 0, found.project or 0)
    if operation.addresses is not None and path:
        what = operation.addresses.kind or operation.path.split("/")[2]
        draft.members["target"] = " ".join([what.replace("_", " "), *map(str, path.values())])[:200]


def begin(operation: Operation, call: Call[Any, Any, Any]) -> None:
    """Have the first transaction of an audited request write its entry along."""
    if operation.audited is not None:
        organization, project = chain.current().place
        concern(organization=organization, project=project, **_told(call.body, call.query))
        if operation.audited in PERSONAL:
            subject = call.path.get("id") if operation.audited == "account" else None
            concern(affiliated=subject if isinstance(subject, int) else call.caller.id)


def finish() -> None:
    """Append the entry of an audited request that no transaction wrote. Raises Unavailable: it could not be."""
    draft = chain.find_waiting()
    if draft is not None:
        chain.append(draft)


def refuse(operation: Operation, path: dict[str, Any], error: LimnError) -> None:
    """Append an entry for a refusal: the caller may not do this, or not see the object.

    Raises:
        Unavailable: it could not be written.
    """
    draft = chain.current()
    draft.members["status"] = error.status
    if draft.is_written:  # its transaction was written, and what followed failed
        chain.append(draft)
        return
    if draft.kind != "refusal":
        if not isinstance(error, Forbidden) and not (isinstance(error, NotFound) and error.is_hidden):
            return
        if not draft.members.get("credential"):
            return
        draft.kind = "refusal"
    if not draft.organizations:
        _find_place(operation, path)
    if draft.organizations and _is_written(draft):
        chain.append(draft)


def _find_place(operation: Operation, path: dict[str, Any]) -> None:
    """Tell the draft of a refusal whose log it is for; the path may not have been looked up yet."""
    draft, where = chain.current(), operation.addresses
    if draft.place == (0, 0) and where is not None and where.locate_by is None:
        with suppress(LimnError):
            address(operation, path, where.find(path))
    concern(organization=draft.place[0], project=draft.place[1])


@dataclass
class _Refused:
    since: float
    written: int = 0
    left_out: int = 0


_refused: dict[tuple[Any, ...], _Refused] = {}
_lock = threading.Lock()


def _is_written(draft: chain.Draft) -> bool:
    """Whether a refusal is written, or counted for the next one that is."""
    told = draft.members
    key = (told.get("credential") or told.get("network_address"), told["operation"], draft.organizations)
    with _lock:
        if len(_refused) > _MOST_REFUSED:
            _refused.clear()
        seen = _refused.setdefault(key, _Refused(time.monotonic()))
        if time.monotonic() - seen.since > WINDOW_SECONDS:
            seen.since, seen.written = time.monotonic(), 0
        if seen.written >= REFUSALS:
            seen.left_out += 1
            return False
        seen.written += 1
        if seen.left_out:
            draft.members["repeats"], seen.left_out = seen.left_out, 0
        return True


def _told(*parts: Any) -> dict[str, Any]:
    """The names of the members that a request gives, and the values of those that cannot be secrets."""
    names: list[str] = []
    values: dict[str, Any] = {}
    for part in parts:
        if not isinstance(part, Struct):
            continue
        members = {name: value for name, value in given(part).items() if value != getattr(_blank(type(part)), name, ())}
        names += members
        values |= {name: value for name, value in members.items() if _is_harmless(value, _choices(type(part), name))}
    return {"members": sorted(names) or None, "values": values or None}


@cache
def _blank(struct: type[Struct]) -> Struct | None:
    """A Struct without members, as a request gives that names none; None where it requires some."""
    try:
        return struct()
    except TypeError:
        return None


def _is_harmless(value: Any, choices: frozenset[str]) -> bool:
    if isinstance(value, list | tuple):
        return len(value) <= _MOST_VALUES and all(_is_harmless(each, choices) for each in value)
    return isinstance(value, int) or (isinstance(value, str) and value in choices)


@cache
def _choices(struct: type[Struct], name: str) -> frozenset[str]:
    """The texts that a member of a Struct may be where it is one of several choices."""
    found: set[str] = set()
    waiting = [get_type_hints(struct).get(name)]
    while waiting:
        hint = waiting.pop()
        if get_origin(hint) is Literal:
            found.update(choice for choice in get_args(hint) if isinstance(choice, str))
        else:
            waiting += [each for each in get_args(hint) if not isinstance(each, str)]
    return frozenset(found)
