"""`effective_permission`: what a caller's masks come to on each thing that an answer shows (`spec/3` §15).

It is 0 on everything where permissions are not fine-grained; then nothing here does anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from chalicelib.access import scope
from chalicelib.core.accounts import ORGANIZATION, PROJECT
from chalicelib.core.algorithms import ALGORITHM, APPLET
from chalicelib.core.definitions import SECTION, TYPE_RECORD, VERSION
from chalicelib.core.entities import Localization, Media, State
from chalicelib.core.integrations import BUCKET, HOSTED_TEMPLATE, JOB_CLUSTER
from chalicelib.core.kinds import Kind
from chalicelib.core.records import RecordKind
from chalicelib.core.resource import Resource

MEMBER = "effective_permission"
AT_ONCE = 100
"""Documents whose media are looked up together."""
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
"""What shows its effective permission → its word."""


class _Placed(msgspec.Struct):
    """What of a document decides about its mask."""

    id: int
    primary_section: int | None = None
    version: int = 0
    media: int | list[int] = []


_placed = msgspec.json.Decoder(_Placed).decode


def marked(answer: Any) -> Any:
    """An answer whose things tell what the caller may do with them: a thing, a list, or a message with an object."""
    request = scope.current()
    return answer if request is None else _marked(request, answer)


def _marked(request: scope.Request, answer: Any) -> Any:
    if isinstance(answer, list):
        return [_marked(request, each) for each in answer]
    if not isinstance(answer, Resource):
        return answer
    if type(answer) in WORD_OF:
        mask = scope.mask(request, WORD_OF[type(answer)], answer)
        return msgspec.structs.replace(answer, **{MEMBER: mask})
    if isinstance(shown := getattr(answer, "object", None), Resource | list):
        return msgspec.structs.replace(answer, object=_marked(request, shown))
    return answer


def documents(project: int, kind: Kind, found: Iterable[bytes]) -> Iterable[bytes]:
    """Documents of a kind from the view, each with what the caller may do with it."""
    request = scope.current()
    if request is None or kind.value not in WORD_OF.values():
        return found
    return _documents(request, project, kind, found)


def _documents(request: scope.Request, project: int, kind: Kind, found: Iterable[bytes]) -> Iterator[bytes]:
    known = request.in_project(project)
    left = iter(found)
    while part := list(islice(left, AT_ONCE)):
        masks = scope.masks_on(known, kind.value, [_placed(document) for document in part])
        for document, mask in zip(part, masks, strict=True):
            yield msgspec.json.encode({**msgspec.json.decode(document), MEMBER: mask})
