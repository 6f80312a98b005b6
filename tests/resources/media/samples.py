"""Media types, uploads and videos for the tests of media operations, made without going through other operations."""

from __future__ import annotations

import io
import itertools
import math
import struct
import uuid
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image

from chalicelib.core.models.definitions import (
    LOCALIZATION_TYPE,
    MEDIA_TYPE,
    STATE_TYPE,
    LocalizationType,
    MediaType,
    StateType,
)
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import TAG_ATTRIBUTE
from chalicelib.core.resource import now
from chalicelib.storage.dynamodb import ids, records
from tests import objects

BUNNY = Path(__file__).parents[2] / "data" / "bigbuckbunny.mp4"
_names = itertools.count(1)


def media_type(project: int, dtype: str = "video", **more: Any) -> int:
    """A new media type; its attributes by default are one string and one int."""
    more.setdefault("attribute_types", [])
    made = MediaType(
        id=ids.reserve(MEDIA_TYPE.name)[0],
        project=project,
        name=f"{dtype} {next(_names)}",
        dtype=dtype,  # type: ignore[arg-type]
        elemental_id=str(uuid.uuid4()),
        **more,
    )
    return records.create(MEDIA_TYPE, made).id


def box_type(project: int, media: int) -> int:
    number = ids.reserve(LOCALIZATION_TYPE.name)[0]
    made = LocalizationType(
        id=number, project=project, name=f"box {number}", dtype="box", media=[media], elemental_id=str(uuid.uuid4())
    )
    return records.create(LOCALIZATION_TYPE, made).id


def state_type(project: int, media: int) -> int:
    number = ids.reserve(STATE_TYPE.name)[0]
    made = StateType(
        id=number,
        project=project,
        name=f"state {number}",
        association="Media",
        media=[media],
        elemental_id=str(uuid.uuid4()),
    )
    return records.create(STATE_TYPE, made).id


def bare_media(project: int, type_: int, number: int) -> Media:
    """A media with nothing but what every media has, not stored yet; its name is its number."""
    return Media(
        id=number,
        project=project,
        type=type_,
        name=f"{number:09d}",
        created_datetime=now(),
        created_by=None,
        modified_datetime=now(),
        modified_by=None,
        attributes={TAG_ATTRIBUTE: ""},
        elemental_id=str(uuid.uuid4()),
    )


def uploaded(api: Any, project: int, data: bytes, name: str = "file.bin") -> str:
    """An upload of the project, as a client makes one; the URL to read it by."""
    info = api.get(f"UploadInfo/{project}", filename=name).json
    objects.write(info["key"], data)
    return api.post(f"DownloadInfo/{project}", {"keys": [info["key"]]}).json[0]["url"]


def picture(width: int = 640, height: int = 480, form: str = "JPEG", **more: Any) -> bytes:
    """An image file."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(out, form, **more)
    return out.getvalue()


def transcode(api: Any, project: int, type_: int, data: bytes | None = None, **more: Any) -> Any:
    """A transcode started; its answer."""
    data = BUNNY.read_bytes() if data is None else data
    spec = {
        "type": type_,
        "gid": str(uuid.uuid4()),
        "uid": str(uuid.uuid1()),
        "url": more.pop("url", None) or uploaded(api, project, data, "bunny.mp4"),
        "name": "bunny.mp4",
        "md5": "",
        **more,
    }
    return api.post(f"Transcodes/{project}", spec)


@cache
def video(
    frames: int = 75, width: int = 96, height: int = 64, rate: int = 25, keyframes: int = 10, *, sound: bool = False
) -> bytes:
    """A video whose frame n is grey of brightness `shade(n)`, so that a picture tells which frame it is."""
    import av

    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "10", "g": str(keyframes)})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        track = container.add_stream("aac", rate=8000, layout="mono") if sound else None
        for number in range(frames):
            grey = Image.new("RGB", (width, height), (shade(number),) * 3)
            container.mux(stream.encode(av.VideoFrame.from_image(grey)))
        container.mux(stream.encode(None))
        if track:
            for at in range(0, 8000 * frames // rate, 1024):
                frame = av.AudioFrame("fltp", "mono", 1024)
                frame.planes[0].update(struct.pack("1024f", *(math.sin(at + n) / 4 for n in range(1024))))
                frame.sample_rate, frame.pts = 8000, at
                container.mux(track.encode(frame))
            container.mux(track.encode(None))
    return out.getvalue()


def shade(frame: int) -> int:
    """The brightness of a frame of `video`."""
    return 20 + 3 * (frame % 75)


def frame_shown(data: bytes) -> int:
    """Which frame of `video` a picture shows, by its middle."""
    image = Image.open(io.BytesIO(data)).convert("L")
    return round((image.getpixel((image.width // 2, image.height // 2)) - 20) / 3)
