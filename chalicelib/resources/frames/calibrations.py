"""Calibrations of the cameras of media: files of OpenCV and VIAME, and the rectified pictures that they give."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Any, ClassVar

from msgspec import Meta, structs

from chalicelib.access.scope import Scope
from chalicelib.core.kinds import Kind
from chalicelib.core.measuring.cameras import Camera, Rig
from chalicelib.core.models.entities import File, Media
from chalicelib.core.resource import Id, Resource
from chalicelib.errors import BadInput, NotFound
from chalicelib.resources.frames.cameras import Cameras, cameras_of
from chalicelib.storage.dynamodb import entities
from chalicelib.storage.objects import objects, owners

_RATIO_ERROR = 0.02
"""Of the ratio of sides: renditions have even sides, and encoders pad to blocks of 16."""


class CalibrationFile(Resource, kw_only=True):
    """Where the calibration of the cameras is."""

    names: ClassVar = {"file_id": "file"}

    file: Annotated[
        Annotated[str, Meta(min_length=1, max_length=256)] | None,
        Meta(description="The name of an attachment: OpenCV's YAML or JSON, VIAME's npz or JSON, or KRTD."),
    ] = None
    file_id: Annotated[Id | None, Meta(description="In its place, a file of the project, as for a section.")] = None


class StereoRectification(Resource, kw_only=True, omit_defaults=False):
    """How the pictures of two cameras are warped so that rows correspond.

    Each mesh has the corners of `columns` x `rows` equal cells of the rectified picture, row by row: the place of the
    camera's picture that is shown there, as fractions that may lie outside of 0 to 1; null where the camera sees
    nothing.
    """

    size: Annotated[list[int], Meta(description="Width and height of both rectified pictures in pixels.")]
    columns: Annotated[int, Meta(description="Cells of a mesh across.")]
    rows: Annotated[int, Meta(description="Cells of a mesh down.")]
    is_vertical: Annotated[
        bool, Meta(description="One camera is above the other: columns correspond in place of rows.")
    ]
    meshes: Annotated[list[list[list[float] | None]], Meta(description="Of the left and of the right camera.")]


def rig_of(media: Media, scope: Scope, spec: CalibrationFile, within: str = "") -> tuple[Cameras, Rig]:
    """The cameras of a media, and the calibration of the first two in pixels of their pictures.

    Args:
        media: the media.
        scope: the caller's.
        spec: where the calibration is.
        within: what is before the names of its members in messages.

    Raises:
        BadInput: the media shows no two cameras, or has no calibration.
        NotFound: a part or the file does not exist for the caller.
    """
    cameras = cameras_of(media, scope)
    if cameras is None or len(cameras.parts) < 2:  # noqa: PLR2004 a pair
        raise BadInput(f"Media {media.id} does not show two cameras; measures need the left and the right one.")
    rig = _read_rig(calibration_key(media, scope, spec.file, spec.file_id, within))
    left, right = size_of(cameras.parts[0]), size_of(cameras.parts[1])
    width, height = rig.size or left
    for part, size in zip(cameras.parts, (left, right), strict=False):
        check_size(rig.size, size, part)
    scaled = structs.replace(
        rig,
        left=rig.left.scaled(left[0] / width, left[1] / height),
        right=rig.right.scaled(right[0] / width, right[1] / height) if rig.size else rig.right,
        size=None,
    )
    return cameras, scaled


def rectification(media: Media, scope: Scope, spec: CalibrationFile, within: str = "") -> StereoRectification:
    """How the pictures of the first two cameras of a media are rectified.

    Args:
        media: the media.
        scope: the caller's.
        spec: where the calibration is.
        within: what is before the names of its members in messages.

    Raises:
        BadInput: the media shows no two cameras, has no calibration, or the cameras have no rectified pictures.
        NotFound: a part or the file does not exist for the caller.
    """
    from chalicelib.core.measuring.rectification import mesh_cells, rectify  # noqa: PLC0415 kept off the cold start

    cameras, rig = rig_of(media, scope, spec, within)
    sizes = size_of(cameras.parts[0]), size_of(cameras.parts[1])
    try:
        found = rectify(rig, sizes)
        meshes = [
            [None if at is None else [at[0] / size[0], at[1] / size[1]] for at in found.mesh(side, sizes[0])]
            for side, size in enumerate(sizes)
        ]
    except (ValueError, OverflowError, ZeroDivisionError) as failure:
        raise BadInput(f"{within}file: the pictures cannot be rectified: {failure}.") from None
    columns, rows = mesh_cells(sizes[0])
    return StereoRectification(
        size=list(sizes[0]), columns=columns, rows=rows, is_vertical=found.is_vertical, meshes=meshes
    )


def size_of(media: Media) -> tuple[int, int]:
    """Width and height of a media in pixels. Raises BadInput where they are not known."""
    if not media.width or not media.height:
        raise BadInput(f"Media {media.id} has no width and height yet.")
    return media.width, media.height


def check_size(calibrated: tuple[int, int] | None, size: tuple[int, int], media: Media) -> None:
    """Raise BadInput if pictures of a size are not those of a calibration, scaled: the ratio of their sides differs."""
    if calibrated is not None and abs(calibrated[0] * size[1] / (calibrated[1] * size[0]) - 1) > _RATIO_ERROR:
        raise BadInput(
            f"The calibration is of pictures of {calibrated[0]} x {calibrated[1]} pixels, and media {media.id} has "
            f"{size[0]} x {size[1]}; the ratio of the sides must be the same."
        )


def calibration_key(media: Media, scope: Scope, file: str | None, file_id: int | None, within: str = "") -> Any:
    """The key of a calibration: an attachment of a media, or a file of its project.

    Args:
        media: whose attachment it is.
        scope: the caller's.
        file: the name of the attachment.
        file_id: the file.
        within: what is before the names of the members in messages.

    Raises:
        BadInput: both or none are given, or the attachment or the content does not exist.
        NotFound: the file does not exist for the caller.
    """
    if (file is None) == (file_id is None):
        raise BadInput(f"{within}file, {within}file_id: give one of them, the calibration.")
    if file_id is None:
        key = owners.authorize_attachment(media, file or "")
        if key is None:
            raise BadInput(f"{within}file: media {media.id} has no attachment with the name {file!r}.")
        return key
    found: File = entities.get(Kind.FILE, file_id)
    if found.project != media.project or not scope.visible(Kind.FILE.value, [found]):
        raise NotFound.of("File", file_id)
    key = owners.authorize_file(found)
    if key is None:
        raise BadInput(f"{within}file_id: file {file_id} has no content.")
    return key


@lru_cache(maxsize=64)
def _read_rig(key: Any) -> Rig:
    """The calibration of an object. The content of a key never changes."""
    from chalicelib.core.measuring.calibrations import read_rig  # noqa: PLC0415 kept off the cold start

    return read_rig(_bytes_of(key))


@lru_cache(maxsize=64)
def read_camera_of(key: Any, side: str) -> tuple[Camera, tuple[int, int] | None]:
    """The camera of a side in the calibration of an object, and the size of its pictures. Raises BadInput."""
    from chalicelib.core.measuring.calibrations import read_camera  # noqa: PLC0415 kept off the cold start

    return read_camera(_bytes_of(key), side)


def _bytes_of(key: Any) -> bytes:
    from chalicelib.core.measuring.calibrations import LARGEST_FILE  # noqa: PLC0415 kept off the cold start

    try:
        if (size := objects.size(key) or 0) > LARGEST_FILE:
            raise BadInput(f"The calibration has {size} bytes; at most {LARGEST_FILE} are read.")
        return objects.read(key)
    except NotFound:
        raise BadInput("The file of the calibration does not exist any more.") from None
