"""From the rows of an archive to specs of localizations and states: types, classes, attributes, geometry."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import Definitions
from chalicelib.core.models.entities import LocalizationSpec, Mask, StateSpec
from chalicelib.core.resource import now
from chalicelib.core.values.attribute_values import converter
from chalicelib.core.values.frames import refuse_beyond
from chalicelib.core.values.shapes import SHAPES
from chalicelib.errors import BadInput
from chalicelib.formats.model import OCCLUDED, Attributes, Label, LabelKind, Refined, State, box_of, members_of_shape
from chalicelib.formats.refined import members_of
from chalicelib.resources.imports.outside import within
from chalicelib.resources.imports.schemas import ClassTarget, ImportSpec, Target

ASSOCIATION = {"track": "Localization", "frame": "Frame", "media": "Media"}
TARGET: dict[str, Target] = {"track": "track", "frame": "frame", "media": "note"}
ASSOCIATION_OF: dict[str, str] = {TARGET[name]: association for name, association in ASSOCIATION.items()}
"""By target, the association of the state types that take it."""
TITLES: dict[str, str] = {
    **{kind: shape.title for kind, shape in SHAPES.items()}, "track": "Track", "frame": "Frame", "note": "Note",
    "image": "Image", "video": "Video",
}  # fmt: skip
"""The names of types that an import creates for rows that name none."""
_JSON_DTYPES = ("geopos", "float_array")


class Skipped(Exception):
    """The row is left out because the body says so."""


_EARLY = 0.0011
"""Seconds by which a time may be before its frame: many are cut to milliseconds, which is a little more in floats."""


class Size(Struct, frozen=True):
    """The sizes that a row's pixels may be of: those of the archive, else those of the project. 0 is unknown."""

    width: int
    height: int
    frames: int | None
    """The frames of the media; None where they are not known."""
    fps: float | None = None


class Chosen(Struct, frozen=True):
    """The type and attribute that a class of one kind is mapped to."""

    type: int
    fill: Callable[..., dict[str, Any]]
    dtypes: Mapping[str, str]
    constants: Attributes
    becomes_box: bool = False
    refinements: frozenset[str] = frozenset()


class Mapper:
    """Maps the rows of one import. Its methods raise ValueError with the reason why a row is refused."""

    def __init__(self, spec: ImportSpec, definitions: Definitions) -> None:
        self._spec, self._definitions = spec, definitions
        self._now = now()
        self._chosen: dict[tuple[str, str, str], Chosen | str] = {}
        self._versions = {version.name: version.id for version in definitions.versions.values()}

    def label(self, row: Label, size: Size, elemental_id: str) -> tuple[LocalizationSpec, str]:
        """The spec of a localization without its media, and a note on what is left out. A gap has no shape."""
        chosen = self.choose(row.kind, row.class_name, row.type)
        frame = frame_of(row, size)
        _check_frame(frame, size)
        kind: LabelKind = "box" if chosen.becomes_box else row.kind
        shape = _fractions(row, size)
        if chosen.becomes_box and shape:
            shape = _fractions_of_box(row, size)
        attributes, note = self._attributes(row, chosen, in_track=row.track is not None)
        refined, clipped = None if chosen.becomes_box else _refinement_of(row, size), ""
        if shape:
            sides, clips = (size.width, size.height), self._spec.outside == "clip"
            shape, refined, clipped = within(kind, shape, refined, chosen.refinements, sides, clips=clips)
        members = members_of_shape(kind, shape) if shape else {}
        more, lost = members_of(refined, chosen.refinements)
        if "mask" in more:
            shape = tuple(_snap(shape, size))
            members |= members_of_shape(kind, shape)
            more["mask"] = Mask(**more["mask"])
        note = note or clipped or (f"{', '.join(lost)} was left out: the type does not allow it" if lost else "")
        spec = LocalizationSpec(
            media_id=1,  # set when it is created
            type=chosen.type,
            frame=frame,
            version=self._version(row.version),
            elemental_id=elemental_id,
            attributes=attributes,
            **members,
            **more,
        )
        return spec, "the polygon became its box" if chosen.becomes_box else note

    def state(self, row: State, size: Size, elemental_id: str) -> tuple[StateSpec, str]:
        """The spec of a state without its media and localizations, and a note on what is left out."""
        chosen = self.choose(TARGET[row.association], row.class_name, row.type)
        attributes, note = self._attributes(row, chosen, in_track=row.association == "track")
        if row.association == "frame" and row.frame is None:
            raise ValueError("frame is missing")
        frame = None if row.frame is None else frame_of(row, size)
        if frame is not None:
            _check_frame(frame, size)
        spec = StateSpec(
            type=chosen.type,
            media_ids=[1],  # set when it is created
            frame=frame if row.association == "frame" else None,
            version=self._version(row.version),
            elemental_id=elemental_id,
            attributes=attributes,
        )
        return spec, note

    def media_type(self, name: str, dtype: str) -> int:
        """The type of an image or video that is created."""
        types = _of_dtype(self._definitions.types(Kind.MEDIA), dtype)
        wanted = type_of_media(self._spec, dtype)
        return self._type_for(types, wanted, name, f"{dtype} types", dtype, is_unnamed=not name)

    def media_attributes(self, number: int, attributes: Attributes) -> Attributes:
        """The attributes of a media that is created."""
        of = self._definitions.types(Kind.MEDIA)[number]
        dtypes = {each.name: str(each.dtype) for each in of.attribute_types}
        known = self._known_attributes(_decode(attributes, dtypes), dtypes, ())
        try:
            converter(of.attribute_types).fill(known, self._now)
        except BadInput as refusal:
            raise ValueError(refusal.message) from None
        return known

    def choose(self, kind: Target, class_name: str, type_name: str) -> Chosen:
        """The type and attribute that a class of one kind is mapped to."""
        target = self._spec.classes.get(class_name)
        if target is not None and target.skip:
            raise Skipped
        key = (kind, class_name, type_name)
        if key not in self._chosen:
            try:
                self._chosen[key] = self._choose(kind, class_name, type_name, target or ClassTarget())
            except ValueError as reason:
                self._chosen[key] = str(reason)
        chosen = self._chosen[key]
        if isinstance(chosen, str):
            raise ValueError(chosen)  # noqa: TRY004 the reason why rows of this class are refused
        return chosen

    # --- types ------------------------------------------------------------------------------------------------------

    def _choose(self, kind: Target, class_name: str, type_name: str, target: ClassTarget) -> Chosen:
        if kind in ASSOCIATION_OF:
            association = ASSOCIATION_OF[kind]
            types = {
                number: each
                for number, each in self._definitions.types(Kind.STATE).items()
                if getattr(each, "association", "") == association
            }
            number = self._type_for(types, self._spec.types.get(kind), type_name or class_name, "state types", kind,
                                is_unnamed=not type_name)  # fmt: skip
            return self._compile(types[number], class_name, target)
        every = self._definitions.types(Kind.LOCALIZATION)
        types = _of_dtype(every, kind)
        wanted = target.type or self._spec.types.get(kind)
        becomes_box = False
        if kind == "poly" and wanted is not None and getattr(every.get(wanted), "dtype", "") == "box":
            types, becomes_box = _of_dtype(every, "box"), True
        elif kind == "poly" and not types and wanted is None:
            types, becomes_box = _of_dtype(every, "box"), True
            wanted = self._spec.types.get("box")
        names = [name for name in (type_name, class_name) if name]
        matches = [number for number, each in types.items() if each.name in names]
        if wanted is None and len(matches) == 1:
            wanted = matches[0]
        word = "types of " + SHAPES["box" if becomes_box else kind].plural
        number = self._type_for(types, wanted, "", word, kind, is_unnamed=not names)
        self._check_class(types[number], class_name, target)
        return self._compile(types[number], class_name, target, becomes_box=becomes_box)

    def _type_for(self, types: Mapping[int, Any], wanted: int | None, name: str, word: str, member: str, *,
              is_unnamed: bool = False) -> int:  # fmt: skip
        """The type that is wanted, else that of a name, else the only one.

        With `create_types`, rows that name neither a type nor a class take that of the title, as `planning` says.
        """
        if wanted is not None:
            if wanted not in types:
                raise ValueError(f"types.{member}: {wanted} is not one of the project's {word}")
            return wanted
        named = [number for number, each in types.items() if name and each.name == name]
        found = named or list(types)
        if len(found) > 1 and is_unnamed and self._spec.create_types:
            found = [number for number in found if types[number].name == TITLES[member]] or found
        if len(found) != 1:
            known = ", ".join(f"{number} {each.name!r}" for number, each in list(types.items())[:5])
            message = f"the project has {len(types)} {word}{f' ({known})' if known else ''}: give types.{member}"
            raise ValueError(message)
        return found[0]

    def _check_class(self, of: Any, class_name: str, target: ClassTarget) -> None:
        """Refuse a class whose name would be lost."""
        attribute = self._spec.class_attribute
        is_kept = class_name in ("", of.name) or target.type or target.attributes
        if not is_kept and (attribute is None or of.attribute(attribute) is None):
            message = (
                f"class {class_name!r} is neither the name of a type nor in classes, and the type {of.name!r} has no "
                "class_attribute to take it"
            )
            raise ValueError(message)

    def _compile(self, of: Any, class_name: str, target: ClassTarget, *, becomes_box: bool = False) -> Chosen:
        constants = dict(target.attributes)
        attribute = self._spec.class_attribute
        # The class of a label without a value is the name of its type, as exports have it.
        if attribute is not None and class_name not in ("", of.name) and of.attribute(attribute) is not None:
            constants.setdefault(attribute, class_name)
        return Chosen(
            type=of.id,
            fill=converter(of.attribute_types).fill,
            dtypes={each.name: str(each.dtype) for each in of.attribute_types},
            constants=constants,
            becomes_box=becomes_box,
            refinements=frozenset(getattr(of, "refinements", ())),
        )

    def _version(self, name: str) -> int | None:
        return self._spec.version or self._versions.get(name)

    # --- attributes -------------------------------------------------------------------------------------------------

    def _attributes(self, row: Label | State, chosen: Chosen, *, in_track: bool) -> tuple[Attributes, str]:
        """The attributes of a row by the type's rules.

        CVAT has the attributes of a track and those of its labels in one place: each row takes its own. Every shape of
        CVAT may be occluded, so that is dropped, and not refused, where no type has an attribute for it.
        """
        is_cvat = self._spec.format == "cvat"
        others = self._names_of_others(row) if in_track and is_cvat else set()
        given = {**chosen.constants, **_decode(row.attributes, chosen.dtypes)}
        known = self._known_attributes(given, chosen.dtypes, others | ({OCCLUDED} if is_cvat else set()))
        try:
            # The filled values are made again at the creation: defaults belong to that time.
            chosen.fill(known, self._now)
        except BadInput as refusal:
            raise ValueError(refusal.message) from None
        is_whole = known.keys() >= given.keys() - set(others)
        dropped = ", ".join(repr(name) for name in given if name not in known and name not in others)
        return known, "" if is_whole else f"attributes that the type does not have were dropped: {dropped}"

    def _known_attributes(self, given: Attributes, dtypes: Mapping[str, str], others: Iterable[str]) -> Attributes:
        known = {name: value for name, value in given.items() if name in dtypes and value is not None}
        unknown = [name for name in given if name not in dtypes and name not in others]
        if unknown and self._spec.unknown_attributes == "refuse":
            raise ValueError(f"attribute {unknown[0]!r} is not one of its type; unknown_attributes may drop it")
        return known

    def _names_of_others(self, row: Label | State) -> set[str]:
        kind = Kind.STATE if isinstance(row, Label) else Kind.LOCALIZATION
        return {each.name for of in self._definitions.types(kind).values() for each in of.attribute_types}


def type_of_media(spec: ImportSpec, dtype: str) -> int | None:
    """The type that the body gives for images or videos."""
    if dtype == "video":
        return spec.types.get("video")
    return spec.types.get("image", spec.types.get("media"))


def frame_of(row: Label | State, size: Size) -> int:
    """The frame of a row; a time is within the frame that the video shows then."""
    if row.seconds is None:
        return row.frame or 0
    if not size.fps:
        raise ValueError("the rate of its video is not known, so its time has no frame; upload the video first")
    return math.floor((row.seconds + _EARLY) * size.fps) + (row.frame or 0)


def _check_frame(frame: int, size: Size) -> None:
    if frame < 0:
        raise ValueError(f"frame: {frame} is below 0")
    try:
        refuse_beyond(frame, [size.frames])
    except BadInput as refusal:
        raise ValueError(refusal.message) from None


def _of_dtype(types: Mapping[int, Any], dtype: str) -> dict[int, Any]:
    return {number: each for number, each in types.items() if each.dtype == dtype}


def _fractions(row: Label, size: Size) -> tuple[float, ...]:
    if not all(map(math.isfinite, row.shape)):
        raise ValueError("it has a number that is not finite")
    if row.unit == "fraction":
        return row.shape
    if not (size.width and size.height):
        raise ValueError("the size of its picture is not known, so its pixels have no place")
    sides = (size.width, size.height)
    return tuple(divide(number, sides[index % 2]) for index, number in enumerate(row.shape))


def _refinement_of(row: Label, size: Size) -> Refined | None:
    """What refines a label, its holes in fractions."""
    if row.refined is None or row.unit == "fraction" or not row.refined.holes:
        return row.refined
    holes = tuple(
        tuple(divide(number, (size.width, size.height)[index % 2]) for index, number in enumerate(hole))
        for hole in row.refined.holes
    )
    return msgspec.structs.replace(row.refined, holes=holes)


def _snap(shape: tuple[float, ...], size: Size) -> Iterator[float]:
    """A box in fractions whose edges are those of pixels, as those of a mask are."""
    for index, number in enumerate(shape):
        side = (size.width, size.height)[index % 2]
        yield divide(round(number * side), side)


def _fractions_of_box(row: Label, size: Size) -> tuple[float, ...]:
    return _fractions(msgspec.structs.replace(row, kind="box", shape=box_of(row)), size)


def divide(pixels: float, side: int) -> float:
    """The fraction that an export writes as these very pixels, if there is one, else the nearest."""
    found = pixels / side
    if found * side != pixels:
        for other in (math.nextafter(found, math.inf), math.nextafter(found, -math.inf)):
            if other * side == pixels:
                return other
    return found


def _decode(attributes: Attributes, dtypes: Mapping[str, str]) -> Attributes:
    """Attributes with lists that formats of text hold as JSON."""
    found = {}
    for name, value in attributes.items():
        if isinstance(value, str) and dtypes.get(name) in _JSON_DTYPES and value.startswith("["):
            try:
                value = json.loads(value)  # noqa: PLW2901 the value of this attribute
            except (ValueError, RecursionError):
                raise ValueError(f"attribute {name!r} is not JSON") from None
        found[name] = value
    return found
