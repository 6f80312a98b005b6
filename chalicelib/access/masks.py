"""Fine-grained permissions: bit masks, and the sum of a caller's masks on each record or entity.

A mask has eight bits for the record that it is given on, and eight more for each level of its content:

    project → section, version, algorithm, file → media → annotations → their content
    organization → group, bucket, job cluster, hosted template

A container passes its mask down, shifted right by eight bits for each level; the masks that reach a record or entity
are combined by OR. A membership or affiliation is such a mask on the project or organization too. No mask takes a bit
away: to show a user only a part of a project, give a mask of eight bits on the project, and more on that part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level
from chalicelib.query.operators import Op
from chalicelib.query.tree import Related, Test, Tree, both, either

Source = tuple[Callable[[tuple[int, ...]], Tree], Mapping[int, int]]
"""From ids of containers to a term that is true of their content, and the bits that each container passes down."""

EXIST, READ, CREATE, MODIFY, DELETE, EXECUTE, UPLOAD, ACL = (1 << place for place in range(8))
FULL = 0xFF
WIDTH = 8
DEPTHS = 5

BITS_OF: dict[Level, int] = {
    Level.NONE: 0,
    Level.VIEW: EXIST | READ,
    Level.EDIT: EXIST | READ | CREATE | MODIFY | DELETE,
    Level.TRANSFER: EXIST | READ | CREATE | MODIFY | DELETE | UPLOAD,
    Level.EXECUTE: EXIST | READ | CREATE | MODIFY | DELETE | UPLOAD | EXECUTE,
    Level.FULL: FULL,
}
"""The bits of a level, for the record itself."""
DEPTH_OF: dict[str, int] = {
    **dict.fromkeys(("section", "version", "algorithm", "file", "leaf"), 1),
    "media": 2,
    **dict.fromkeys(("localization", "state"), 3),
    **dict.fromkeys(("target_group", "bucket", "job_cluster", "hosted_template"), 1),
}
"""The depth of a kind in its project or organization; kinds not listed have depth 1."""


def mask_of(level: Level) -> int:
    """The mask of a level on a project or an organization: the same bits for all of its content."""
    return sum(BITS_OF[level] << WIDTH * depth for depth in range(DEPTHS))


def level_of(mask: int) -> Level:
    """The highest level all of whose bits a mask has for the record itself."""
    return max(level for level, bits in BITS_OF.items() if mask & bits == bits)


def below(mask: int, levels: int = 1) -> int:
    """The part of a mask that applies a number of levels deeper."""
    return mask >> WIDTH * levels


@dataclass(frozen=True, kw_only=True)
class Grants:
    """A caller's masks within one project or organization.

    Attributes:
        whole: the mask on the project or organization itself.
        parts: the masks on its content: member of a row protection → id → mask.
    """

    whole: int = 0
    parts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    @property
    def anywhere(self) -> int:
        """An upper bound: the bits that some mask on the whole or on its content gives."""
        masks = [self.whole, *(mask for masks in self.parts.values() for mask in masks.values())]
        return reduce(or_, (below(mask, depth) & FULL for mask in masks for depth in range(DEPTHS)), 0)

    def direct_mask(self, name: str, numbers: Iterable[int]) -> int:
        """The sum of the masks given directly on any of these ids."""
        masks = self.parts.get(name)
        return reduce(or_, (masks.get(number, 0) for number in numbers), 0) if masks else 0

    def on(self, name: str, number: int) -> int:
        """The mask on direct content of the project or organization, such as a section or a bucket."""
        return below(self.whole, DEPTH_OF.get(name, 0)) | self.direct_mask(name, [number])

    def on_media(self, number: int, section: int | None) -> int:
        """The mask on a media in a folder."""
        return self.on("media", number) | below(self.direct_mask("section", [] if section is None else [section]))

    def on_annotation(
        self, kind: Kind, number: int, version: int, media: Iterable[int], sections: Iterable[int]
    ) -> int:
        """The mask on an annotation in a version, on media in folders."""
        return (
            self.on(kind.value, number)
            | below(self.direct_mask("version", [version]), 2)
            | below(self.direct_mask("media", media))
            | below(self.direct_mask("section", sections), 2)
        )


def term_for(bits: int, known: Grants, kind: Kind) -> Tree:
    """A term that is true of rows of a kind that get all the bits from their masks, each bit from any of them."""
    sources, terms = _sources(known, kind), []
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
