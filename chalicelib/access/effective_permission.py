"""`effective_permission`: the caller's mask on each record and entity of a response.

It stays 0 where permissions are not fine-grained.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from chalicelib.access.scope import Scope, masks_on
from chalicelib.core.kinds import Kind
from chalicelib.core.models.accounts import ORGANIZATION, PROJECT
from chalicelib.core.models.algorithms import ALGORITHM, APPLET
from chalicelib.core.models.definitions import SECTION, TYPE_RECORD, VERSION
from chalicelib.core.models.entities import Localization, Media, State
from chalicelib.core.models.integrations import BUCKET, HOSTED_TEMPLATE, JOB_CLUSTER
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Resource

MEMBER = "effective_permission"
IDS_PER_READ = 100
"""The number of documents whose media are looked up at once."""
_RECORDS: tuple[RecordKind[Any], ...] = (
    PROJECT, ORGANIZATION, SECTION, VERSION, ALGORITHM, APPLET, BUCKET, JOB_CLUSTER, HOSTED_TEMPLATE,
    *TYPE_RECORD.values(),
)  # fmt: skip
WORD_OF: dict[type, str] = {
    **{kind.struct: kind.name for kind in _RECORDS},
    Media: Kind.MEDIA.value,
    Localization: Kind.LOCALIZATION.value,
    State: Kind.STATE.value,
}
"""Structs that show their effective permission → their kind, as in keys."""


class _Placed(msgspec.Struct):
    """The members of a document that determine its mask."""

    id: int
    primary_section: int | None = None
    version: int = 0
    media: int | list[int] = []


_placed = msgspec.json.Decoder(_Placed).decode


def add_masks(scope: Scope, answer: Any) -> Any:
    """A response with `effective_permission` set: a record or entity, a list of them, or a message with an object."""
    if not scope.is_restricted:
        return answer
    if isinstance(answer, list):
        return [add_masks(scope, each) for each in answer]
    if not isinstance(answer, Resource):
        return answer
    if type(answer) in WORD_OF:
        mask = scope.mask(WORD_OF[type(answer)], answer)
        return msgspec.structs.replace(answer, **{MEMBER: mask})
    if isinstance(shown := getattr(answer, "object", None), Resource | list):
        return msgspec.structs.replace(answer, object=add_masks(scope, shown))
    return answer


def documents(scope: Scope, project: int, kind: Kind, found: Iterable[bytes]) -> Iterable[bytes]:
    """Documents of a kind from the view, each with `effective_permission` set."""
    if not scope.is_restricted or kind.value not in WORD_OF.values():
        return found
    return _documents(scope, project, kind, found)


def _documents(scope: Scope, project: int, kind: Kind, found: Iterable[bytes]) -> Iterator[bytes]:
    known = scope.in_project(project)
    left = iter(found)
    while part := list(islice(left, IDS_PER_READ)):
        masks = masks_on(known, kind.value, [_placed(document) for document in part])
        for document, mask in zip(part, masks, strict=True):
            yield msgspec.json.encode({**msgspec.json.decode(document), MEMBER: mask})
