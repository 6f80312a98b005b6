"""Clips in which textures move on known paths over a real one: what following an object is measured by."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import av
from PIL import Image, ImageDraw

REAL = Path(__file__).parents[1] / "data" / "bigbuckbunny.mp4"


@dataclass(frozen=True)
class Place:
    """Where a texture is on a frame: its middle, its width and height in pixels, its turn clockwise in degrees."""

    x: float
    y: float
    width: float
    height: float
    angle: float = 0


@dataclass(frozen=True)
class Texture:
    """A texture and its path: a place for each frame, None where it is not in the picture."""

    seed: int
    path: Callable[[int], Place | None]
    is_round: bool = False


def speckle(seed: int, size: tuple[int, int]) -> Image.Image:
    """A picture of spots of many colors, the same for the same seed."""
    chance = random.Random(seed)
    rough = Image.new("RGB", (14, 11))
    rough.putdata([tuple(chance.randrange(256) for _ in range(3)) for _ in range(14 * 11)])
    return rough.resize(size, Image.Resampling.BICUBIC)


def paste(frame: Image.Image, texture: Image.Image, mask: Image.Image, at: Place) -> None:
    """Draw a texture at a place, exact to parts of a pixel."""
    sine, cosine = math.sin(math.radians(at.angle)), math.cos(math.radians(at.angle))
    across, down = texture.width / at.width, texture.height / at.height
    a, b = cosine * across, sine * across
    d, e = -sine * down, cosine * down
    inverse = (
        a, b, texture.width / 2 - a * at.x - b * at.y,
        d, e, texture.height / 2 - d * at.x - e * at.y,
    )  # fmt: skip
    how = {"size": frame.size, "method": Image.Transform.AFFINE, "data": inverse, "resample": Image.Resampling.BILINEAR}
    frame.paste(texture.transform(**how), (0, 0), mask.transform(**how))


def real_frames(count: int, size: tuple[int, int]) -> Iterator[Image.Image]:
    """The first frames of the real clip."""
    with av.open(str(REAL)) as container:
        for number, picture in enumerate(container.decode(video=0)):
            if number == count:
                return
            yield picture.to_image().resize(size, Image.Resampling.BILINEAR)


def make(path: Path, textures: Sequence[Texture], count: int, size: tuple[int, int]) -> Path:
    """Write a clip of 25 frames a second with the textures over the real one."""
    drawn = [speckle(texture.seed, (160, 120)) for texture in textures]
    masks = []
    for texture, picture in zip(textures, drawn, strict=True):
        mask = Image.new("L", picture.size, 0 if texture.is_round else 255)
        if texture.is_round:
            ImageDraw.Draw(mask).ellipse((0, 0, *picture.size), fill=255)
        masks.append(mask)
    with av.open(str(path), "w") as out:
        video = out.add_stream("libx264", rate=25, options={"preset": "veryfast", "crf": "20"})
        video.width, video.height, video.pix_fmt = *size, "yuv420p"
        for number, frame in enumerate(real_frames(count, size)):
            for texture, picture, mask in zip(textures, drawn, masks, strict=True):
                if place := texture.path(number):
                    paste(frame, picture, mask, place)
            out.mux(video.encode(av.VideoFrame.from_image(frame)))
        out.mux(video.encode(None))
    return path
