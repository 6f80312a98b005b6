"""Files of calibrations, in the formats of OpenCV and VIAME."""

import contextlib
import io
import json
import math
import random
import struct
import time
import warnings
import zipfile

import pytest

from chalicelib.core.measuring.calibrations import read_camera, read_rig
from chalicelib.core.measuring.cameras import IDENTITY, Camera, product, rotation_of, times
from chalicelib.errors import BadInput
from tests.core.measuring.test_cameras import LEFT, RIG, RIGHT


def rows(camera):
    return [camera.fx, 0.0, camera.cx, 0.0, camera.fy, camera.cy, 0.0, 0.0, 1.0]


MATRICES = {
    "M1": (3, 3, rows(LEFT)),
    "D1": (1, 5, list(LEFT.distortion)),
    "M2": (3, 3, rows(RIGHT)),
    "D2": (1, 5, list(RIGHT.distortion)),
    "R": (3, 3, [number for row in RIG.rotation for number in row]),
    "T": (3, 1, list(RIG.translation)),
}
TO_VIAME = {
    "M1": "cameraMatrixL", "D1": "distCoeffsL", "M2": "cameraMatrixR", "D2": "distCoeffsR", "R": "R", "T": "T",
}  # fmt: skip


def opencv_yaml():
    parts = [
        f"{name}: !!opencv-matrix\n   rows: {high}\n   cols: {wide}\n   dt: d\n   data: {numbers}\n"
        for name, (high, wide, numbers) in MATRICES.items()
    ]
    return ("%YAML:1.0\n---\n" + "".join(parts)).encode()


def opencv_json():
    return json.dumps(
        {
            name: {"type_id": "opencv-matrix", "rows": high, "cols": wide, "dt": "d", "data": numbers}
            for name, (high, wide, numbers) in MATRICES.items()
        }
    ).encode()


def npy(high, wide, numbers):
    """An array as NumPy stores it, version 1."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({high}, {wide}), }}"
    header += " " * ((64 - (10 + len(header) + 1) % 64) % 64) + "\n"
    return (
        b"\x93NUMPY\x01\x00"
        + struct.pack("<H", len(header))
        + header.encode()
        + struct.pack(f"<{len(numbers)}d", *numbers)
    )


def viame_npz(names=TO_VIAME):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, of in names.items():
            archive.writestr(f"{of}.npy", npy(*MATRICES[name]))
    return out.getvalue()


def krtd(camera, rotation=IDENTITY, translation=(0.0, 0.0, 0.0)):
    """A camera as KWIVER writes it: rows of K, of R, T and D, with blank lines between."""
    matrix = rows(camera)
    blocks = [[matrix[at : at + 3] for at in (0, 3, 6)], rotation, [translation], [camera.distortion or (0.0,)]]
    return "\n\n".join("\n".join(" ".join(map(repr, row)) for row in block) for block in blocks) + "\n"


def viame_json(**more):
    found = {"image_width": 1920, "image_height": 1080, "R": MATRICES["R"][2], "T": MATRICES["T"][2]}
    for side, camera in (("left", LEFT), ("right", RIGHT)):
        found |= {f"{name}_{side}": getattr(camera, name) for name in ("fx", "fy", "cx", "cy")}
        found |= {
            f"{name}_{side}": value
            for name, value in zip(("k1", "k2", "p1", "p2", "k3"), camera.distortion, strict=True)
        }
    return json.dumps({**found, **more}).encode()


@pytest.mark.parametrize("made", [opencv_yaml, opencv_json, viame_npz, viame_json])
def test_every_format_gives_the_same_rig(made):
    found = read_rig(made())
    for one, two in ((found.left, LEFT), (found.right, RIGHT)):
        assert (one.fx, one.fy, one.cx, one.cy) == (two.fx, two.fy, two.cx, two.cy)
        assert one.distortion[:5] == two.distortion
    assert (found.rotation, found.translation) == (RIG.rotation, RIG.translation)
    assert found.size == ((1920, 1080) if made is viame_json else None)


@pytest.mark.parametrize("made", [opencv_yaml, opencv_json, viame_npz, viame_json])
def test_one_camera_of_two_is_taken_by_its_side(made):
    for side, camera in (("left", LEFT), ("right", RIGHT)):
        found, size = read_camera(made(), side)
        assert (found.fx, found.cy, found.distortion[:5]) == (camera.fx, camera.cy, camera.distortion)
        assert size == ((1920, 1080) if made is viame_json else None)


def test_a_calibration_of_one_camera_is_of_either_side():
    yaml = opencv_yaml().replace(b"M1:", b"camera_matrix:").replace(b"D1:", b"distortion_coefficients:")
    for data in (yaml + b"image_width: 1920\nimage_height: 1080\n", viame_npz({"M1": "mtx", "D1": "dist"})):
        for side in ("left", "right"):
            found, size = read_camera(data, side)
            assert (found.fx, found.distortion) == (LEFT.fx, LEFT.distortion)
            assert size == ((1920, 1080) if data.startswith(b"%YAML") else None)


def test_a_rotation_vector_is_taken_too():
    assert read_rig(viame_json(R=[0.004, -0.12, 0.003])).rotation == rotation_of((0.004, -0.12, 0.003))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no members"),
        (b"{", "cannot be read"),
        (b"\x00\xff", "cannot be read"),
        (b"PK\x03\x04junk", "cannot be read"),
        (viame_npz({"M1": "cameraMatrixL"}), "cameraMatrixR"),
        (viame_json(fx_left=0), "focal length"),
        (viame_json(fx_left="wide"), "where a number is needed"),
        (viame_json(R=[1, 0, 0, 0, 1, 0, 0, 0, 2]), "orthonormal"),
        (viame_json(T=[0, 0, 0]), "apart"),
        (viame_json(T=[0, 0]), "translation"),
        (b"a: !!python/object/apply:os.system ['true']", "cannot be read"),
        (b"a: &a [1, 2]\nb: [*a, *a]", "cannot be read"),
        (b'{"a":' + b"[" * 100_000, "cannot be read"),
        (b" " * 1_100_000, "at most"),
    ],
)
def test_what_is_no_calibration_is_refused_with_its_reason(data, words):
    with pytest.raises(BadInput, match=words):
        read_rig(data)


def npz(arrays):
    """An archive of arrays, by name; a name may stand several times."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in arrays:
            archive.writestr(f"{name}.npy", data)
    return file.getvalue()


def array(header, numbers=b""):
    return b"\x93NUMPY\x02\x00" + struct.pack("<I", len(header)) + header + numbers


ALL = [(name, npy(*matrix)) for name, matrix in MATRICES.items()]
HARMFUL = {
    "an array that ends at once": npz([("M1", b"\x93NUMPY")]),
    "an object": npz([("M1", array(b"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"cos\nsystem\n."))]),
    "a negative shape": npz([("M1", array(b"{'descr': '<f8', 'fortran_order': False, 'shape': (-5,)}"))]),
    "an endless header": npz([("M1", array(b"(" * 900))]),
    "a header of a megabyte": npz([("M1", array(b"[" + b"0," * 500_000 + b"]"))]),
    "one array many times": npz([*ALL, *[("R", ALL[4][1])] * 500]),
    "encrypted": npz(ALL).replace(b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"),
    "a long list": b"a:\n" + b"- 1\n" * 100_000,
    "nested lists": b"[" * 100_000,
    "nested JSON": b'{"M1":' + b"[" * 300_000,
    "a number of a million digits": b'{"M1": ' + b"9" * 900_000 + b"}",
    "an alias": b"a: &a [1]\nM1: [*a, *a]\n",
    "not a number": json.dumps({"M1": [math.nan] * 9}).encode(),
}


@pytest.mark.parametrize("data", HARMFUL.values(), ids=HARMFUL.keys())
def test_harmful_files_are_refused_soon(data):
    began = time.thread_time()
    with pytest.raises(BadInput):
        read_rig(data)
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("good", [opencv_yaml(), opencv_json(), npz(ALL)], ids=["yaml", "json", "npz"])
def test_damaged_files_are_read_or_refused(good):
    chance = random.Random(5)
    for _ in range(400):
        data = bytearray(good)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.choice((0, 255, chance.randrange(256)))
        with contextlib.suppress(BadInput):
            read_rig(bytes(data[: chance.randrange(len(data))] if chance.random() < 0.2 else data))


def test_two_krtd_files_one_after_the_other_are_a_rig_wherever_the_world_is():
    turn, away = rotation_of((0.3, -0.2, 0.1)), (4.0, 5.0, 6.0)
    moved = times(RIG.rotation, away)
    right = tuple(a + b for a, b in zip(moved, RIG.translation, strict=True))
    text = krtd(LEFT, turn, away) + "\n" + krtd(RIGHT, product(RIG.rotation, turn), right)
    found = read_rig(text.encode())
    assert (found.left, found.right, found.size) == (LEFT, RIGHT, None)
    assert sum(found.rotation, ()) == pytest.approx(sum(RIG.rotation, ()))
    assert found.translation == pytest.approx(RIG.translation)
    assert read_camera(krtd(RIGHT).encode(), "left") == (RIGHT, None)
    pinhole = Camera(1000.0, 1000.0, 500.0, 400.0)
    assert read_camera(krtd(pinhole).encode(), "left")[0].distortion == (0.0,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (krtd(LEFT), "has no"),
        (krtd(LEFT) * 3, "3 cameras"),
        (krtd(LEFT).replace("1400.0 0.0", "1400.0 3.0") + krtd(RIGHT, translation=(-1, 0, 0)), "skew of 3"),
        ("1 2 3\n4 5 6\n", "has no members"),
    ],
)
def test_krtd_that_is_no_rig_is_refused(text, message):
    with pytest.raises(BadInput) as refusal:
        read_rig(text.encode())
    assert message in f"{refusal.value.message} {refusal.value.details}"


def test_coefficients_that_the_model_does_not_have_must_be_zero():
    lens = {"camera_matrix": rows(LEFT), "distortion_coefficients": [0.1] * 8 + [0.0] * 6}
    assert read_camera(json.dumps(lens).encode(), "left")[0].distortion == (0.1,) * 8
    lens["distortion_coefficients"][11] = 0.01
    with pytest.raises(BadInput, match="those after the first 8 must be 0"):
        read_camera(json.dumps(lens).encode(), "left")
