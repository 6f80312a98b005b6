"""Fine-grained permissions: masks of bits, and what a caller's add up to on each thing (`spec/3` §15).

A mask has eight bits for the thing it is given on, and eight more for each level of what lies in it:

    project → section, version, algorithm, file → media → annotations → what lies in those
    organization → group, bucket, job cluster, hosted template

Whatever holds a thing passes its mask down, eight bits shorter for each level; all that reaches the thing is added up.
A membership or affiliation is such a mask on the project or organization too. Nothing ever takes a bit away: who is to
see a part of a project only gets a mask on the project that ends after the first eight bits, and more on that part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from chalicelib.core.kinds import Kind
from chalicelib.core.permissions import Level

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
"""The bits that a level stands for, on the thing itself."""
DEPTH_OF: dict[str, int] = {
    **dict.fromkeys(("section", "version", "algorithm", "file", "leaf"), 1),
    "media": 2,
    **dict.fromkeys(("localization", "state"), 3),
    **dict.fromkeys(("target_group", "bucket", "job_cluster", "hosted_template"), 1),
}
"""How deep a thing lies in its project or organization; what is not named here is one with it."""


def mask_of(level: Level) -> int:
    """What a level on a project or an organization is as a mask: the same for all that lies in it."""
    return sum(BITS_OF[level] << WIDTH * depth for depth in range(DEPTHS))


def level_of(mask: int) -> Level:
    """The highest level all of whose bits a mask has for the thing itself."""
    return max(level for level, bits in BITS_OF.items() if mask & bits == bits)


def below(mask: int, levels: int = 1) -> int:
    """What is left of a mask for what lies so many levels deeper."""
    return mask >> WIDTH * levels


@dataclass(frozen=True, kw_only=True)
class Grants:
    """A caller's masks within one project or organization.

    Attributes:
        whole: the mask on the project or organization itself.
        parts: on things in it: member of a row protection → id → mask.
    """

    whole: int = 0
    parts: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    @property
    def anywhere(self) -> int:
        """The first eight bits of a mask that no mask on the whole or on anything in it goes beyond."""
        masks = [self.whole, *(mask for masks in self.parts.values() for mask in masks.values())]
        return reduce(or_, (below(mask, depth) & FULL for mask in masks for depth in range(DEPTHS)), 0)

    def given(self, name: str, numbers: Iterable[int]) -> int:
        """What was given on any of the things themselves."""
        masks = self.parts.get(name)
        return reduce(or_, (masks.get(number, 0) for number in numbers), 0) if masks else 0

    def on(self, name: str, number: int) -> int:
        """The mask on what lies directly in the project or organization, such as a section or a bucket."""
        return below(self.whole, DEPTH_OF.get(name, 0)) | self.given(name, [number])

    def on_media(self, number: int, section: int | None) -> int:
        """The mask on a media in a folder."""
        return self.on("media", number) | below(self.given("section", [] if section is None else [section]))

    def on_annotation(
        self, kind: Kind, number: int, version: int, media: Iterable[int], sections: Iterable[int]
    ) -> int:
        """The mask on an annotation in a version, on media in folders."""
        return (
            self.on(kind.value, number)
            | below(self.given("version", [version]), 2)
            | below(self.given("media", media))
            | below(self.given("section", sections), 2)
        )
