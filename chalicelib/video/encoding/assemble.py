"""Join the pieces of a rendition, by copying bytes only.

Pieces are already numbered and timed for their place (see `video.encoding.encode`), so a rendition is the concatenation
of its pieces. Object storage copies large pieces itself (multipart copy); its parts must be 5 MiB or more, so runs of
small pieces are fetched and sent as one part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from msgspec import Struct

from chalicelib.video.encoding.encode import PieceResult
from chalicelib.video.mp4.fragments import Output
from chalicelib.video.mp4.segments import segment_info
from chalicelib.video.plan import TranscodePlan
from chalicelib.video.sound import audio

SMALLEST_PART = 5 * 1024 * 1024
LARGEST_PART = 5 * 1024 * 1024 * 1024
# Small pieces are gathered up to this size, so that a rendition of any length stays far below 10,000 parts.
GATHERED_PART = 32 * 1024 * 1024


class Part(Struct, frozen=True):
    """One part of a multipart upload: the whole of these pieces' files, in order.

    A single file of at least 5 MiB can be copied by storage; several must be read and uploaded as one.
    """

    files: tuple[str, ...]
    size: int

    @property
    def copied(self) -> bool:
        """Whether storage can copy it without our reading it."""
        return len(self.files) == 1 and SMALLEST_PART <= self.size <= LARGEST_PART


class Assembly(Struct, frozen=True):
    """The parts of a rendition, its size in bytes, its segment file (for video) and its mean bits per second."""

    rendition: str
    parts: tuple[Part, ...]
    size: int
    segment_info: dict[str, Any]
    bit_rate: int


def assemble(plan: TranscodePlan, results: Iterable[PieceResult]) -> tuple[Assembly, ...]:
    """The assembly of each rendition of the plan from all pieces' results, in any order.

    Raises ValueError if a piece is missing or was made with other encoder settings than its neighbours: both are
    internal errors, not the caller's.
    """
    ordered = _ordered(plan, results)
    made = []
    for number in range(len(plan.renditions)):
        outputs = [result.outputs[number] for result in ordered]
        if sum(output.samples for output in outputs) != plan.frames:
            raise ValueError(f"the pieces of {outputs[0].rendition} do not add up to {plan.frames} frames")
        fragments = [fragment for output in outputs for fragment in output.fragments]
        seconds = plan.frames / plan.probe.fps
        made.append(_assembled(outputs, seconds, segment_info(outputs[0].header, fragments)))
    return tuple(made)


def assemble_sound(plan: TranscodePlan, results: Iterable[PieceResult]) -> Assembly | None:
    """The assembly of the audio; None if there is none. Raises as `assemble`."""
    sounds = [result.sound for result in _ordered(plan, results) if result.sound]
    if plan.sound is None or not any(sound.heard for sound in sounds):
        return None
    outputs = [sound.output for sound in sounds]
    samples = sum(output.samples for output in outputs) * audio.FRAME
    return _assembled(outputs, Fraction(samples, audio.rate_of(plan.sound)), {})


def _ordered(plan: TranscodePlan, results: Iterable[PieceResult]) -> list[PieceResult]:
    """The results of all pieces of the plan in order."""
    ordered = sorted({result.index: result for result in results}.values(), key=lambda result: result.index)
    if [result.index for result in ordered] != [piece.index for piece in plan.pieces]:
        raise ValueError("not every piece of the plan has a result")
    return ordered


def _assembled(outputs: Sequence[Output], seconds: Fraction, segments: dict[str, Any]) -> Assembly:
    """One rendition from its pieces in order."""
    if len({(output.rendition, output.header, output.header_digest) for output in outputs}) != 1:
        raise ValueError(f"the pieces of {outputs[0].rendition} have different headers")
    size = sum(output.size for output in outputs)
    return Assembly(
        rendition=outputs[0].rendition,
        parts=tuple(parts_of([(output.file, output.size) for output in outputs])),
        size=size,
        segment_info=segments,
        bit_rate=int(size * 8 / seconds),
    )


def parts_of(files: Iterable[tuple[str, int]]) -> list[Part]:
    """Group (name, size) files, in order, into parts that object storage accepts; only the last may be small."""
    parts: list[Part] = []
    names: list[str] = []
    gathered = 0
    for name, size in files:
        # A large file is copied by storage unless small ones before it still need company.
        if names and gathered >= SMALLEST_PART and (size >= SMALLEST_PART or gathered + size > GATHERED_PART):
            parts.append(Part(tuple(names), gathered))
            names, gathered = [], 0
        names.append(name)
        gathered += size
        if len(names) == 1 and size >= SMALLEST_PART:
            parts.append(Part((name,), size))
            names, gathered = [], 0
    if names:
        parts.append(Part(tuple(names), gathered))
    return parts
