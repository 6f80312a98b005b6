"""Read segmentation pictures of Pascal VOC: `SegmentationObject/*.png` and `SegmentationClass/*.png`, indexed PNG.

Each index of an object is a box with a mask, whose class most of its pixels have. Without pictures of objects, each
class of a picture is one mask. Index 255 is not labelled.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from chalicelib.core.values import rle
from chalicelib.errors import BadInput
from chalicelib.formats.model import Archive, Label
from chalicelib.formats.readers.reading import MediaTable, Placed, Rows, base, matching, refusal, stem, text_lines
from chalicelib.formats.refined import mask_shape
from chalicelib.formats.writers.masks import CLASSES, MAX_CLASSES, MOST_PIXELS

_MAX_FILE_BYTES = 64 * 1024 * 1024


def read(archive: Archive) -> Rows:
    """The rows of an archive. Raises BadInput where it is not of the format at all."""
    paths = matching(archive, r"(.*/)?SegmentationClass/.+\.png")
    table = MediaTable(archive)
    if not paths and not table.is_ours:
        raise BadInput("Masks: the archive has no SegmentationClass/*.png.")
    names = set(archive.names())
    pictures = {stem(name): name for name in matching(archive, r"(.*/)?JPEGImages/.+")}
    classes = _classes(archive)
    for path in paths:
        key, frame = table.locate(stem(path))
        objects = path.replace("SegmentationClass/", "SegmentationObject/")
        try:
            size, of_class = _columns(archive, path)
            same, of_object = _columns(archive, objects) if objects in names else (size, of_class)
        except (OSError, ValueError) as error:
            yield refusal(path, str(error)[:200])
            continue
        if same != size:
            yield refusal(objects, f"its size {same} is not that of the picture of classes, {size}")
            continue
        picture = pictures.get(key, "")
        yield from table.new(path, key, name=base(picture) or key, path=picture, width=size[0], height=size[1])
        for index in sorted(set(of_object) - {0, MAX_CLASSES + 1}):
            runs = rle.runs_of(of_object.translate(_mask_of(index)))
            shape, refined = mask_shape(runs, size[1])
            place = f"{path} object {index}"
            ends = list(accumulate(runs))
            own = b"".join(of_class[start:end] for start, end in zip(ends[0::2], ends[1::2], strict=False))
            number = max(set(own), key=own.count)
            label = Label(
                media=key, kind="box", shape=shape, refined=refined, frame=frame, unit="pixel",
                class_name=classes.get(number, str(number)),
            )  # fmt: skip
            yield Placed(place, label)
    yield from table.rest()


def _mask_of(index: int) -> bytes:
    return bytes(int(each == index) for each in range(256))


def _columns(archive: Archive, path: str) -> tuple[tuple[int, int], bytes]:
    """Width and height, and the index of each pixel, column by column."""
    from PIL import Image  # noqa: PLC0415 kept off the API's cold start

    if archive.size(path) > _MAX_FILE_BYTES:
        raise ValueError(f"{path} has more than {_MAX_FILE_BYTES} bytes")
    try:
        with archive.open(path) as file, Image.open(file, formats=("PNG",)) as image:
            if image.mode in ("P", "L") and image.width * image.height <= MOST_PIXELS:
                found: Any = image.transpose(Image.Transpose.TRANSPOSE)
                return (image.width, image.height), found.tobytes()
            reason = f"it has no indexes, but the mode {image.mode}; or more than {MOST_PIXELS} pixels"
    except BadInput:
        raise
    except Exception as error:  # noqa: BLE001 Pillow raises a dozen kinds for damaged and too large pictures
        reason = str(error)[:200]
    raise ValueError(f"{path} cannot be read: {reason}")


def _classes(archive: Archive) -> dict[int, str]:
    """The names of classes by index."""
    for path in matching(archive, rf"(.*/)?{CLASSES}"):
        lines = [line for _, line in text_lines(archive, path) if not line.startswith("#")]
        return {index: line.split(":")[0] for index, line in enumerate(lines)}
    return {}
