"""How far the caller of this request may go with one thing, and which things of a kind a question of theirs may find.

    visibility.begin(caller, needed)       the dispatcher, before it looks at what is addressed
    visibility.level(…)                    addresses, for the one thing addressed
    visibility.scope(project)              questions to the view that a caller asked

Where fine-grained permissions are off, the first are the membership's or affiliation's level and the last is empty.
Both are made of the same masks, so a list holds what a single read answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from chalicelib.domain.kinds import Kind
from chalicelib.domain.masks import BITS_OF, Grants, below, level_of
from chalicelib.domain.permissions import Level
from chalicelib.query.operators import Op
from chalicelib.query.tree import Related, Test, Tree, both, either
from chalicelib.services import access, grants
from chalicelib.services.access import Caller
from chalicelib.settings import settings
from chalicelib.storage import entities

Source = tuple[Callable[[tuple[int, ...]], Tree], Mapping[int, int]]
"""From ids of something to the things that it passes bits to, and the bits it passes by id."""


@dataclass(frozen=True)
class _Request:
    caller: Caller
    needed: Level
    projects: dict[int, Grants] = field(default_factory=dict)

    def grants(self, project: int) -> Grants:
        """The caller's masks in a project, read once."""
        if project not in self.projects:
            self.projects[project] = grants.in_project(self.caller.id, project)
        return self.projects[project]


_request: ContextVar[_Request | None] = ContextVar("request", default=None)


def begin(caller: Caller, needed: Level) -> None:
    """A request begins; what it asks for it needs this level on."""
    _request.set(_Request(caller, needed) if settings().fine_grained_permissions else None)


def project_level(caller: Caller, project: int, what: str, thing: Any) -> Level:
    """How far a caller may go with a thing of a project. Who may not even see the project goes nowhere in it."""
    if not settings().fine_grained_permissions:
        return access.project_level(caller, project)
    request = _request.get()
    known = request.grants(project) if request and request.caller == caller else grants.in_project(caller.id, project)
    if level_of(known.whole) is Level.NONE:
        return Level.NONE
    return level_of(mask_on(known, what, thing))


def organization_level(caller: Caller, organization: int, what: str, thing: Any) -> Level:
    """How far a caller may go with a thing of an organization."""
    if not settings().fine_grained_permissions:
        return access.organization_level(caller, organization)
    known = grants.in_organization(caller.id, organization)
    if what == "organization":
        return level_of(known.whole)
    return level_of(known.on(_MEMBER_OF.get(what, what), thing.id))


_MEMBER_OF = {"group": "target_group", "jobcluster": "job_cluster", "hostedtemplate": "hosted_template"}
"""What records call themselves → the member that names them in a row protection, where that differs."""


def mask_on(known: Grants, what: str, thing: Any) -> int:
    """The mask on a thing of a project: by its kind's word and itself."""
    if isinstance(thing, entities.Stored):
        thing = thing.entity
    if what == Kind.MEDIA:
        return known.on_media(thing.id, thing.primary_section)
    if what in (Kind.LOCALIZATION, Kind.STATE):
        media = thing.media if isinstance(thing.media, list) else [thing.media]
        return known.on_annotation(Kind(what), thing.id, thing.version, media, _sections(known, media))
    if what in ("section", "version", "algorithm", "file"):
        return known.on(what, thing.id)
    return known.whole


def scope(project: int) -> Mapping[Kind, Tree]:
    """What of each kind the caller of this request may do with as it needs; of kinds it does not name, everything."""
    request = _request.get()
    if request is None or request.needed is Level.NONE:
        return {}
    known, bits = request.grants(project), BITS_OF[request.needed]
    found = {}
    for kind, depth in ((Kind.MEDIA, 2), (Kind.LOCALIZATION, 3), (Kind.STATE, 3), (Kind.FILE, 1)):
        missing = bits & ~below(known.whole, depth)
        if missing:
            found[kind] = _having(missing, _sources(known, kind))
    return found


def _having(bits: int, sources: list[Source]) -> Tree:
    """True of things to which sources pass all the bits, each from wherever it comes."""
    terms = []
    for place in range(bits.bit_length()):
        bit = bits & (1 << place)
        if bit:
            from_any = []
            for passed_to, masks in sources:
                numbers = tuple(sorted(number for number, mask in masks.items() if mask & bit))
                if numbers:
                    from_any.append(passed_to(numbers))
            terms.append(either(*from_any))
    return both(*dict.fromkeys(terms))


def _sources(known: Grants, kind: Kind) -> list[Source]:
    def masks(name: str, levels: int) -> dict[int, int]:
        return {number: below(mask, levels) for number, mask in known.parts.get(name, {}).items()}

    def is_one(numbers: tuple[int, ...]) -> Tree:
        return Test("id", Op.IN, numbers)

    def in_section(numbers: tuple[int, ...]) -> Tree:
        return Test("section", Op.IN, numbers)

    own: Source = (is_one, masks(kind.value, 0))
    if kind is Kind.FILE:
        return [own]
    if kind is Kind.MEDIA:
        return [own, (in_section, masks("section", 1))]
    return [
        own,
        (lambda numbers: Test("version", Op.IN, numbers), masks("version", 2)),
        (lambda numbers: Related(Kind.MEDIA, is_one(numbers)), masks("media", 1)),
        (lambda numbers: Related(Kind.MEDIA, in_section(numbers)), masks("section", 2)),
    ]


def _sections(known: Grants, media: Iterable[int]) -> list[int]:
    """The folders of media, where that matters."""
    if "section" not in known.parts:
        return []
    rows = entities.many(Kind.MEDIA, media).values()
    return [row.entity.primary_section for row in rows if row.entity.primary_section is not None]
