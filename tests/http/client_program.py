"""What a client of one generation does in an environment of its own: `python client_program.py '<JSON of the stack>'`.

It imports nothing of this project. It prints the versions of its libraries, and fails at the first wrong answer.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

import tator  # type: ignore[import-untyped, unused-ignore]
from PIL import Image

BOXES, FRAMES, TRACK = 10_000, [0, 1, 2, 3], 100
FFMPEG = f"""#!{sys.executable}
import sys
from PIL import Image
Image.new("RGB", (64, 48)).save(sys.argv[-1])
"""
"""What stands for ffmpeg, by which `make_multi_stream` draws its thumbnails: without it, it asks for a file that its
package lacks."""


def member(entity, name):
    return entity[name] if isinstance(entity, dict) else getattr(entity, name)


def picture(answer):
    """The picture of an answer: generated clients answer the path of a file."""
    with Image.open(answer) as opened:
        opened.load()
        return opened.size


def main() -> None:
    place = json.loads(sys.argv[1])
    api = tator.get_api(place["url"], place["token"])
    boxes = api.get_localization_list(place["project"], type=place["many"])
    assert len(boxes) == BOXES, len(boxes)
    assert len({member(box, "id") for box in boxes}) == BOXES
    assert picture(api.get_frame(place["video"], frames=FRAMES)) == (2560, 1440)
    width, height = picture(api.get_state_graphic(place["state"], mode="tile"))
    assert width * height >= TRACK * 64 * 64, (width, height)
    if tuple(map(int, tator.__version__.split(".")[:2])) == (1, 0):
        upload(api, place)
    print(tator.__version__, "urllib3", version("urllib3"), "requests", version("requests"), "passed")  # noqa: T201


def upload(api, place) -> None:
    """The uploads that send a list of one media and read one id."""
    Image.new("RGB", (64, 48), "red").save("one.png")
    *_, (_, response) = tator.util.upload_media(api, place["images"], "one.png")
    assert api.get_media(response.id).name == "one.png", response
    Path("ffmpeg").write_text(FFMPEG, encoding="utf-8")
    Path("ffmpeg").chmod(0o755)
    os.environ["PATH"] = f"{Path.cwd()}{os.pathsep}{os.environ['PATH']}"
    videos = [place["video"], place["clone"]]
    made = tator.util.make_multi_stream(api, place["multi"], [1, 2], "two.mp4", videos, "several")
    assert api.get_media(made.id).media_files.ids == videos, made


if __name__ == "__main__":
    main()
