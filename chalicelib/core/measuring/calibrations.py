"""Files of calibrations of one or two cameras: OpenCV's YAML and JSON, VIAME's npz and JSON, and KRTD of KWIVER.

KRTD is text of a line for each row: the matrix K of the camera (3 lines), its rotation R (3) and translation T (1) from
the world, and the distortion D in OpenCV's order (1). Two of them, one after the other, are the left and the right one.
"""

from __future__ import annotations

import ast
import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import yaml

from chalicelib.core.measuring.cameras import (
    Camera,
    Matrix,
    Rig,
    Vector,
    minus,
    product,
    rotation_of,
    times,
    transposed,
)
from chalicelib.core.text import bounded_yaml
from chalicelib.errors import BadInput

LARGEST_FILE = 1024 * 1024
LARGEST_TEXT = 128 * 1024
"""Bytes of YAML, which is read in about a second."""
_LARGEST_ARRAY = 10_000
_LONGEST_HEADER = 1000
"""Characters before the numbers of an array, which are read as Python's literals."""
_DAMAGED = (
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    SyntaxError,
    EOFError,
    RuntimeError,
    MemoryError,
    struct.error,
    zlib.error,
    zipfile.BadZipFile,
    yaml.YAMLError,
)
"""What the readers of the formats raise of files that are damaged, or made to harm."""
_MATRIX_TAG = "tag:yaml.org,2002:opencv-matrix"
_TYPES = {"<f8": "d", "<f4": "f", "<i4": "i", "<i8": "q"}
_NAMES = {
    "left": ("cameraMatrixL", "M1", "K1", "cameraMatrix1", "camera_matrix_left"),
    "right": ("cameraMatrixR", "M2", "K2", "cameraMatrix2", "camera_matrix_right"),
    "left_distortion": ("distCoeffsL", "D1", "distCoeffs1", "dist_coeffs_left"),
    "right_distortion": ("distCoeffsR", "D2", "distCoeffs2", "dist_coeffs_right"),
    "camera": ("camera_matrix", "cameraMatrix", "K", "mtx"),
    "camera_distortion": ("distortion_coefficients", "distCoeffs", "dist_coeffs", "D", "dist"),
    "rotation": ("R", "rotation"),
    "translation": ("T", "translation"),
}
Found = TypeVar("Found")
_COEFFICIENTS = 8
_LARGEST_SKEW = 1e-6
_KRTD = (3, 3, 3, 3, 3, 3, 3)
"""How many numbers each line has before that of the distortion."""
_VIAME = ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")


def read_rig(data: bytes) -> Rig:
    """The cameras of a calibration file, by its content.

    Raises:
        BadInput: it is too large, is of no known format, or lacks a matrix, which the message names.
    """
    return _read(data, lambda members: _from_viame(members) if "fx_left" in members else _from_matrices(members))


def read_camera(data: bytes, side: str) -> tuple[Camera, tuple[int, int] | None]:
    """The camera of a calibration file, by its content, and the size of its pictures if the file has it.

    Args:
        data: the file, of one camera or of two.
        side: `left` or `right`, of two.

    Raises:
        BadInput: as `read_rig`.
    """

    def camera(members: Mapping[str, Any]) -> tuple[Camera, tuple[int, int] | None]:
        if f"fx_{side}" in members:
            found = _viame_camera(members, side)
        else:
            is_single = any(name in members for name in _NAMES["camera"])
            found = _matrix_camera(members, "camera" if is_single else side)
        return found, _size(members)

    return _read(data, camera)


def _read(data: bytes, take: Callable[[Mapping[str, Any]], Found]) -> Found:
    if len(data) > LARGEST_FILE:
        raise BadInput(f"The calibration has {len(data)} bytes; at most {LARGEST_FILE} are read.")
    try:
        members = _members(data)
        if not isinstance(members, dict):
            raise BadInput("The calibration has no members; give OpenCV's YAML or JSON, VIAME's npz or JSON, or KRTD.")
        return take(members)
    except _DAMAGED as failure:
        raise BadInput(
            "The calibration cannot be read; give OpenCV's YAML or JSON, VIAME's npz or JSON, or KRTD.",
            str(failure)[:300],
        ) from failure


def _members(data: bytes) -> Any:
    if data[:4] == b"PK\x03\x04":
        return _read_npz(data)
    text = data.decode("utf-8-sig")
    if text.lstrip()[:1] == "{":
        return json.loads(text)
    if len(data) > LARGEST_TEXT:
        raise BadInput(f"The calibration has {len(data)} bytes of YAML; at most {LARGEST_TEXT} are read. Give JSON.")
    if krtd := _read_krtd(text):
        return krtd
    first, _, rest = text.partition("\n")
    return bounded_yaml.load(rest if first.startswith("%YAML") else text, _Loader, has_aliases=False)


class _Loader(bounded_yaml.Loader):
    """Reads the matrices of OpenCV's files, and no other tags."""


def _construct_matrix(loader: Any, node: Any) -> Any:
    return loader.construct_mapping(node, deep=True)


_Loader.add_constructor(_MATRIX_TAG, _construct_matrix)


def _from_viame(members: Mapping[str, Any]) -> Rig:
    """A rig of the members that VIAME writes: fx_left, k1_left, …, R, T, image_width."""
    return _rig(_viame_camera(members, "left"), _viame_camera(members, "right"), members)


def _viame_camera(members: Mapping[str, Any], side: str) -> Camera:
    missing = [name for name in ("fx", "fy", "cx", "cy") if f"{name}_{side}" not in members]
    if missing:
        raise BadInput(f"The calibration has no {missing[0]}_{side}.")
    fx, fy, cx, cy = (_number(members[f"{name}_{side}"]) for name in ("fx", "fy", "cx", "cy"))
    return _camera(fx, fy, cx, cy, [_number(members.get(f"{name}_{side}", 0)) for name in _VIAME])


def _from_matrices(members: Mapping[str, Any]) -> Rig:
    return _rig(_matrix_camera(members, "left"), _matrix_camera(members, "right"), members)


def _matrix_camera(members: Mapping[str, Any], side: str) -> Camera:
    matrix = _find(members, side, 9)
    if abs(matrix[1]) > _LARGEST_SKEW * abs(matrix[0]):
        raise BadInput(f"The calibration's matrix of the {side} camera has a skew of {matrix[1]:g}; it must be 0.")
    lens = _find(members, f"{side}_distortion", 0)
    if any(lens[_COEFFICIENTS:]):
        raise BadInput(
            f"The calibration's {side}_distortion has {len(lens)} coefficients; those after the first "
            f"{_COEFFICIENTS} must be 0."
        )
    return _camera(matrix[0], matrix[4], matrix[2], matrix[5], lens[:_COEFFICIENTS])


def _camera(fx: float, fy: float, cx: float, cy: float, distortion: Sequence[float]) -> Camera:
    if min(fx, fy) <= 0:
        raise BadInput("The calibration has a focal length that is not positive.")
    return Camera(fx, fy, cx, cy, tuple(distortion))


def _size(members: Mapping[str, Any]) -> tuple[int, int] | None:
    """The size of the pictures, if it is given. Raises BadInput."""
    given: Sequence[Any] = (members.get("image_width"), members.get("image_height"))
    if "image_size" in members and len(given := _values(members["image_size"])) != 2:  # noqa: PLR2004 width and height
        raise BadInput("The calibration's image_size must be a width and a height.")
    width, height = given
    whole = None if width is None or height is None else (int(_number(width)), int(_number(height)))
    if whole and min(whole) < 1:
        raise BadInput("The calibration's image size must be at least 1 x 1.")
    return whole


def _rig(left: Camera, right: Camera, members: Mapping[str, Any]) -> Rig:
    given = _find(members, "rotation", 0)
    if len(given) == 3:  # noqa: PLR2004 a rotation vector
        rotation: Matrix = rotation_of((given[0], given[1], given[2]))
    elif len(given) == 9:  # noqa: PLR2004 a matrix
        one, two, three = (_vector(given[at : at + 3]) for at in (0, 3, 6))
        rotation = one, two, three
        _check_rotation(rotation)
    else:
        raise BadInput(f"The calibration's rotation has {len(given)} numbers; give 9, or the 3 of a rotation vector.")
    translation = _vector(_find(members, "translation", 3))
    if not any(translation):
        raise BadInput("The calibration's translation is 0: the cameras must be apart.")
    return Rig(left, right, rotation, translation, _size(members))


def _check_rotation(rotation: Matrix) -> None:
    for one in range(3):
        for two in range(3):
            product = sum(a * b for a, b in zip(rotation[one], rotation[two], strict=True))
            if abs(product - (one == two)) > 1e-3:  # noqa: PLR2004 files have some digits only
                raise BadInput("The calibration's rotation is no rotation matrix: its rows are not orthonormal.")


def _vector(numbers: Sequence[float]) -> Vector:
    x, y, z = numbers
    return x, y, z


def _find(members: Mapping[str, Any], name: str, count: int) -> list[float]:
    """The numbers of a matrix by any of its names; `count` of them unless 0. Raises BadInput."""
    names = _NAMES[name]
    found = next((members[each] for each in names if each in members), None)
    if found is None:
        if name.endswith("distortion"):
            return []
        raise BadInput(f"The calibration has no {' or '.join(names)}.")
    values = _values(found)
    if count and len(values) != count:
        raise BadInput(f"The calibration's {name} has {len(values)} numbers; {count} are needed.")
    return values


def _values(found: Any) -> list[float]:
    """The numbers of a matrix of OpenCV, or of lists in lists."""
    if isinstance(found, dict):
        found = found["data"]
    if isinstance(found, list | tuple):
        return [number for each in found for number in _values(each)]
    return [_number(found)]


def _number(found: Any) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise BadInput(f"The calibration has {str(found)[:40]!r} where a number is needed.")
    return float(found)


def _read_krtd(text: str) -> dict[str, list[float]] | None:
    """The matrices of one camera or two; None of other text. Raises ValueError for two without an end of the first."""
    try:
        lines = [[float(each) for each in line.split()] for line in text.splitlines() if line.strip()]
    except ValueError:
        return None
    size = len(_KRTD) + 1
    cameras = [lines[start : start + size] for start in range(0, len(lines), size)]
    if not cameras or any(tuple(map(len, camera[: len(_KRTD)])) != _KRTD for camera in cameras):
        return None
    found = [
        (sum(rows[:3], []), rows[3:6], rows[6], sum(rows[len(_KRTD) :], []))  # noqa: RUF017 lists of three
        for rows in cameras
    ]
    if len(found) == 1:
        return {"camera_matrix": found[0][0], "distortion_coefficients": found[0][3]}
    if len(found) != 2:  # noqa: PLR2004 a pair
        raise ValueError(f"the KRTD has {len(found)} cameras; 1 or 2 are read")
    (left, turned, moved, left_lens), (right, rotation, translation, right_lens) = found
    one, two = ((_vector(rows[0]), _vector(rows[1]), _vector(rows[2])) for rows in (turned, rotation))
    way = product(two, transposed(one))
    return {
        "M1": left,
        "D1": left_lens,
        "M2": right,
        "D2": right_lens,
        "R": [each for row in way for each in row],
        "T": list(minus(_vector(translation), times(way, _vector(moved)))),
    }


def _read_npz(data: bytes) -> dict[str, list[float]]:
    """The arrays of a file of NumPy by name, flattened by rows."""
    found: dict[str, list[float]] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        known = {name for names in _NAMES.values() for name in names} | {"image_size"}
        for entry in archive.infolist():
            name = entry.filename.removesuffix(".npy")
            if name in found:
                raise ValueError(f"the array {name!r} is there twice")
            if name in known:
                if entry.file_size > 2 * _LONGEST_HEADER + 8 * _LARGEST_ARRAY:
                    raise ValueError(f"the array {name!r} has more than {_LARGEST_ARRAY} numbers")
                found[name] = _read_array(archive.read(entry))
    return found


def _read_array(data: bytes) -> list[float]:
    """The numbers of an array in NumPy's format, versions 1 to 3. Raises ValueError."""
    if data[:6] != b"\x93NUMPY":
        raise ValueError("an array does not begin as NumPy's do")
    start, size = (10, "<H") if data[6] == 1 else (12, "<I")
    (length,) = struct.unpack_from(size, data, 8)
    if length > _LONGEST_HEADER:
        raise ValueError(f"the header of an array has {length} characters")
    header = ast.literal_eval(data[start : start + length].decode("latin-1").strip())
    kind, shape = header["descr"], header["shape"]
    count = math.prod(shape)
    if kind not in _TYPES or not 0 <= count <= _LARGEST_ARRAY or (header["fortran_order"] and len(shape) > 1):
        raise ValueError(f"an array is of type {kind!r} and shape {shape}")
    return [float(each) for each in struct.unpack_from(f"<{count}{_TYPES[kind]}", data, start + length)]
