"""Ask annotators about frames while a person waits: shapes, the shape of clicks, the boxes of the next frames, vectors.

Nothing is written. These run in the function with FFmpeg, so they ask no view (decision 195).
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import msgspec

from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import TYPE_RECORD, LocalizationType
from chalicelib.core.models.entities import Localization, Media
from chalicelib.core.records import padded
from chalicelib.core.time import deadline
from chalicelib.errors import BadInput, NotFound, Unavailable
from chalicelib.formats.model import Label
from chalicelib.resources.annotations.regions import region
from chalicelib.resources.annotators import conventions, found, interactive, service
from chalicelib.resources.annotators.conventions import Asked
from chalicelib.resources.annotators.found import Detection, Size
from chalicelib.resources.annotators.schemas import (
    Annotator,
    Box,
    EmbeddingsSpec,
    Prediction,
    Segmentation,
    SegmentationSpec,
    Sides,
    TrackedFrame,
    Tracking,
    TrackingSpec,
    Vectors,
)
from chalicelib.resources.frames import service as frames_service
from chalicelib.resources.frames.service import FrameRequest
from chalicelib.storage.dynamodb import entities, records

LARGEST_MASK = 16_000_000
"""Bytes of an interactor's answer: one of CVAT has a number and a comma for each pixel."""
ENOUGH_SECONDS = 6.0
"""Seconds of the request's time that a further frame needs."""
CROP = 224
"""Pixels of a side of a crop, which most embedders take."""


def predict(media: Media, number: int, frame: int) -> Prediction:
    """Ask a detector about a frame.

    Raises:
        BadInput: the annotator or frame does not exist, or the answer cannot be read.
        Unavailable: the annotator does not answer.
    """
    annotator = service.of_kind(media.project, number, "detector")
    asked = _frame(media, frame)
    said = service.ask(annotator, conventions.question(annotator.convention, asked))
    answer = conventions.read(annotator.convention, said, asked.size)
    model, layer, of = (
        service.model_of(annotator, answer.model),
        service.layer_of(annotator),
        service.type_of(annotator),
    )
    made = Prediction(
        boxes=[box for each in answer.found if (box := _box(each)) is not None],
        localizations=[],
        states=[],
        tracks=[],
        version=layer,
        model=model,
        left_out=answer.left_out,
    )
    for each in answer.found:
        members = {"type": annotator.type, "version": layer, "attributes": found.attributes(each, annotator, model)}
        if isinstance(of, LocalizationType):
            place = each.shape and found.geometry(each.shape, of, asked.size, _size(media, asked.size))
            if place:
                made.localizations.append({"frame": frame, **place, **members})
                made.tracks.append(each.track if annotator.track_type else None)
                continue
        elif each.shape is None:
            made.states.append(members | ({"frame": frame} if of.association == "Frame" else {}))
            continue
        made.left_out += 1
    return made


def segment(media: Media, spec: SegmentationSpec) -> Segmentation:
    """Ask an interactor for the object that was clicked on.

    Raises:
        BadInput: as `predict`, or there is no click, or none that the annotator takes.
        Unavailable: the annotator does not answer.
    """
    annotator = service.of_kind(media.project, spec.annotator, "interactor")
    of = _localization_type(annotator)
    _check_prompts(annotator, spec)
    _check_form(of, spec.form)
    file = frames_service.picture_source(media)
    height, width = file.resolution
    key = sha256(f"{annotator.id}|{media.id}|{spec.frame}|{file!r}".encode()).hexdigest()
    asked = Asked(media=media.id, frame=spec.frame, size=(width, height), key=key)
    said = None
    if annotator.convention == "limn":
        question = interactive.ask_object("limn", asked, spec.points, spec.box)
        said = service.ask(annotator, question, is_by_key=True)
    if was_sent := said is None:
        asked = msgspec.structs.replace(_frame(media, spec.frame), key=key)
        question = interactive.ask_object(annotator.convention, asked, spec.points, spec.box)
        said = service.ask(annotator, question, most=LARGEST_MASK)
    answer = interactive.read_object(annotator.convention, said, asked.size)
    model = service.model_of(annotator, answer.model)
    best = next(iter(answer.found), None)
    place = best and best.shape and found.geometry(best.shape, of, asked.size, _size(media, asked.size))
    if best is None or not place:
        return Segmentation(localization=None, model=model, was_sent=was_sent)
    attributes = found.attributes(best, annotator, model)
    body = {"type": annotator.type, "frame": spec.frame, **place, "attributes": attributes}
    return Segmentation(localization=body, confidence=best.confidence, model=model, was_sent=was_sent)


def _check_prompts(annotator: Annotator, spec: SegmentationSpec) -> None:
    given = [name for name, value in (("points", spec.points), ("box", spec.box)) if value]
    if not given:
        raise BadInput("points, box: give clicks, a box, or both.")
    for name in given:
        if name not in (annotator.prompts or ()):
            accepted = " and ".join(annotator.prompts or ())
            raise BadInput(f"{name}: the annotator {annotator.name!r} takes {accepted}.")
    if spec.box is not None:
        check_sides(spec.box, "box")


def check_sides(sides: Sides, member: str) -> None:
    """Raise BadInput for a box without an area, or beyond the picture."""
    if not (sides.width and sides.height) or sides.x + sides.width > 1 or sides.y + sides.height > 1:
        raise BadInput(f"{member}: it has a width and a height above 0, and x + width and y + height are at most 1.")


def _check_form(of: LocalizationType, form: str | None) -> None:
    has = {"mask": of.dtype == "box" and "mask" in of.refinements, "polygon": of.dtype == "poly"}
    if form is not None and not has[form]:
        held = [name for name, is_held in has.items() if is_held]
        raise BadInput(f"form: the type {of.name!r} holds no {form}; it holds {held[0] if held else 'boxes or dots'}.")


def track(media: Media, spec: TrackingSpec) -> Tracking:
    """Follow boxes through the frames after or before one, as far as the time of the request goes.

    Raises:
        BadInput: as `predict`, or there is no frame to follow to.
        Unavailable: the annotator does not answer.
    """
    annotator = service.of_kind(media.project, spec.annotator, "tracker")
    if spec.stop == spec.frame:
        raise BadInput("stop: give the last frame to follow to; it must differ from frame.")
    if spec.states is not None and len(spec.states) != len(spec.boxes):
        raise BadInput(f"states: as many as boxes are needed, {len(spec.boxes)}.")
    for place, box in enumerate(spec.boxes):
        if box is not None:
            check_sides(box, f"boxes[{place}]")
    boxes: list[Sides | None] = list(spec.boxes)
    states: list[Any] = [None] * len(boxes) if spec.states is None else list(spec.states)
    if spec.states is None:
        _follow(annotator, _frame(media, spec.frame), boxes, states, is_first=True)
    step = 1 if spec.stop > spec.frame else -1
    made = Tracking(frames=[], states=states, next=None, model=service.model_of(annotator, (None, None)))
    for frame in range(spec.frame + step, spec.stop + step, step):
        left = deadline.remaining()
        if made.frames and left is not None and left < ENOUGH_SECONDS:
            made.next = frame
            break
        seen = _follow(annotator, _frame(media, frame), boxes, states)
        made.frames.append(TrackedFrame(frame=frame, boxes=[None if each is None else _box(each) for each in seen]))
        if not any(seen):
            break
    return made


def _follow(
    annotator: Annotator, asked: Asked, boxes: list[Sides | None], states: list[Any], *, is_first: bool = False
) -> list[Detection | None]:
    """Ask for the boxes of a frame: those that are not lost, and their states, are replaced."""
    living = [place for place, box in enumerate(boxes) if box is not None]
    if not living:
        return [None] * len(boxes)
    question = interactive.ask_boxes(
        annotator.convention,
        asked,
        [box for box in boxes if box is not None],
        None if is_first else [states[place] for place in living],
    )
    answer = service.ask(annotator, question)
    seen, after = interactive.read_boxes(annotator.convention, answer, asked.size, len(living))
    result: list[Detection | None] = [None] * len(boxes)
    for place, each, state in zip(living, seen, after, strict=True):
        states[place] = state
        if is_first:
            continue
        result[place], box = each, None if each is None else _box(each)
        boxes[place] = None if box is None else Sides(x=box.x, y=box.y, width=box.width, height=box.height)
    return result


def embed(media: Media, spec: EmbeddingsSpec, scope: Scope) -> Vectors:
    """The vectors of the crops of localizations on a media.

    Raises:
        BadInput: as `predict`, or a vector has another length than the attribute.
        NotFound: a localization is not on the media, or the caller may not see it.
        Unavailable: the annotator does not answer.
    """
    annotator = service.of_kind(media.project, spec.annotator, "embedder")
    of = _localization_type(annotator)
    rows = [row.entity for row in entities.many(Kind.LOCALIZATION, spec.localization_ids).values()]
    there = {row.id: row for row in scope.visible(Kind.LOCALIZATION.value, rows) if row.media == media.id}
    if missing := [number for number in spec.localization_ids if number not in there]:
        raise NotFound(f"localization_ids: media {media.id} has no localization {missing[0]}.")
    chosen = [there[number] for number in spec.localization_ids]
    if other := next((row for row in chosen if row.type != annotator.type), None):
        raise BadInput(f"localization_ids: localization {other.id} is not of the annotator's type {annotator.type}.")
    crops = _crops(media, chosen, of.dtype)
    vectors, said = interactive.read_vectors(service.ask(annotator, interactive.pictures(crops)), len(crops))
    attribute = of.attribute(annotator.embedding_attribute or "")
    size = attribute.size if attribute else None
    if size and len(vectors[0]) != size:
        raise BadInput(
            f"embedding_attribute: the annotator answers vectors of {len(vectors[0])} numbers; "
            f"{annotator.embedding_attribute!r} takes {size}."
        )
    return Vectors(vectors=vectors, model=service.model_of(annotator, said))


def _crops(media: Media, rows: Sequence[Localization], dtype: str) -> list[bytes]:
    """Squares of `CROP` pixels with what is within the boxes around localizations, as JPEGs, drawn at once."""
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    height, width = frames_service.picture_source(media).resolution
    rois = ",".join(":".join(map(str, region(row, dtype, (width, height)))) for row in rows)
    request = FrameRequest(
        frames=tuple(row.frame for row in rows),
        form="png",
        roi=rois,
        tile=f"{len(rows)}x1",
        force_scale=f"{CROP}x{CROP}",
    )
    strip = Image.open(io.BytesIO(frames_service.render(media, request)[0])).convert("RGB")
    found = []
    for place in range(len(rows)):
        out = io.BytesIO()
        strip.crop((place * CROP, 0, (place + 1) * CROP, CROP)).save(out, "JPEG", quality=95)
        found.append(out.getvalue())
    return found


def _localization_type(annotator: Annotator) -> LocalizationType:
    found_type = records.find(TYPE_RECORD[Kind.LOCALIZATION], annotator.project, padded(annotator.type))
    if found_type is None:
        raise Unavailable(f"The type of the annotator {annotator.name} was deleted.")
    return found_type  # type: ignore[no-any-return]


def _frame(media: Media, frame: int) -> Asked:
    """A frame as a JPEG."""
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    picture, _ = frames_service.render(media, FrameRequest(frames=(frame,), form="jpg"))
    return Asked(media=media.id, frame=frame, size=Image.open(io.BytesIO(picture)).size, picture=picture)


def _size(media: Media, picture: Size) -> Size:
    return (media.width, media.height) if media.width and media.height else picture


def _box(each: Detection) -> Box | None:
    sides = found.bounds(each.shape) if isinstance(each.shape, Label) else None
    if sides is None:
        return None
    x, y, width, height = sides
    return Box(x=x, y=y, width=width, height=height, label=each.label, confidence=each.confidence)
