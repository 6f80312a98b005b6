# ruff: noqa: PLR2004 numbers of frames and pixels of one picture
"""`make demo`: fill a running stack with a small project, so that the console shows something on the first visit.

The project has the shipped clip with boxes and two tracks, a set of images cut from it with boxes of their own, label
colors, saved searches and a second version. Everything is created through the REST interface, as a user would do it.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import requests

from infra.local.folder import read_place

CLIP = Path(__file__).parent.parent / "tests" / "data" / "bigbuckbunny.mp4"
PROJECT = "Meadow watch"
ORGANIZATION = "Limn demo"
SPECIES = ("Rabbit", "Bird", "Squirrel", "Butterfly")
BEHAVIOR = ("Emerging", "Stretching", "Yawning", "Resting")
_SECONDS = 300

# Of a picture of 320 by 180: frame → left, top, right, bottom. Between them, positions are interpolated.
BODY = {
    0: (58, 62, 134, 140),
    12: (38, 54, 142, 140),
    24: (38, 46, 146, 148),
    36: (38, 28, 172, 150),
    48: (56, 6, 154, 154),
    60: (44, 8, 154, 154),
    72: (40, 14, 156, 154),
    96: (38, 16, 158, 156),
    108: (72, 10, 156, 156),
    131: (64, 10, 150, 154),
}
HEAD = {
    0: (72, 62, 110, 118),
    12: (88, 54, 130, 112),
    24: (100, 46, 140, 112),
    36: (120, 28, 160, 92),
    48: (82, 8, 140, 60),
    60: (84, 12, 140, 58),
    72: (88, 14, 142, 58),
    96: (92, 18, 148, 58),
    108: (78, 10, 134, 72),
    131: (64, 10, 132, 66),
}
ROCKS = ((28, 62, 68, 134), (198, 68, 318, 108))
TREE = [[0.6, 0.0], [0.82, 0.0], [0.8, 0.2], [0.83, 0.44], [0.63, 0.42], [0.58, 0.2]]
HORIZON = {"x": 0.78, "y": 0.36, "u": 0.22, "v": 0.04}
PARTS = {"whole": (0, 0, 1280, 720), "burrow": (0, 0, 720, 720), "wall": (560, 120, 1280, 600)}


class Service:
    """The REST interface of the stack."""

    def __init__(self, url: str, token: str) -> None:
        self.url = url
        self._session = requests.Session()
        self._session.headers["Authorization"] = f"Token {token}"

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """Send one request. Raises SystemExit with the message of an error."""
        answer = self._session.request(method, f"{self.url}/rest/{path}", json=body, params=query, timeout=60)
        if not answer.ok:
            sys.exit(f"{method} {path}: {answer.status_code} {answer.text[:400]}")
        return answer.json() if answer.content else None

    def create(self, path: str, body: Any) -> Any:
        """Create something; its id, or the ids of all."""
        return self.ask("POST", path, body)["id"]

    def upload(self, project: int, content: bytes) -> str:
        """Upload a file; the URL of what was uploaded."""
        info = self.ask("GET", f"UploadInfo/{project}")
        requests.put(info["urls"][0], data=content, timeout=60).raise_for_status()
        [found] = self.ask("POST", f"DownloadInfo/{project}", {"keys": [info["key"]]}, expiration=86400)
        return str(found["url"])


def main() -> None:
    """Fill the stack that `.limn/local.json` names, once."""
    folder = Path(os.environ.get("LIMN_HOME", ".")) / ".limn"
    place = read_place(folder)
    if not place.get("url") or not place.get("token"):
        sys.exit(f"{folder / 'local.json'} does not say where the stack is. Start it with `make run`, which writes it.")
    service = Service(place["url"], place["token"])
    try:
        known = service.ask("GET", "Projects")
    except requests.ConnectionError:
        sys.exit(f"Nothing answers at {place['url']}. Start the stack with `make run` first.")
    number = next((each["id"] for each in known if each["name"] == PROJECT), None)
    if number is None:
        number = fill(service)
    [clip, *_] = service.ask("GET", f"Medias/{number}", dtype="video", fields="id")
    print(f"{PROJECT}: {place['url']}/#/projects/{number}")
    print(f"A tour with the hands: {place['url']}/#/projects/{number}/media/{clip['id']}?frame=40&tour=1")


def fill(service: Service) -> int:
    """Create the project; its id. Waits until the clip is transcoded."""
    mine = (each["id"] for each in service.ask("GET", "Organizations") if each["name"] == ORGANIZATION)
    organization = next(mine, None) or service.create("Organizations", {"name": ORGANIZATION})
    summary = "A rabbit wakes up. The shipped clip with tracks and boxes on it, and a set of stills."
    project: int = service.create("Projects", {"name": PROJECT, "organization": organization, "summary": summary})
    types = create_types(service, project)
    print("uploading the clip and its stills")
    clip = upload_clip(service, project, types["video"])
    stills = upload_stills(service, project, types["image"])
    wait(service, project, clip["id"], stills)
    annotate_clip(service, project, types, clip["media"])
    annotate_stills(service, project, types, stills)
    save_searches(service, project)
    return project


def create_types(service: Service, project: int) -> dict[str, int]:
    """The types of the project; their ids by name."""
    about = [
        {"name": "Site", "dtype": "enum", "choices": ["Burrow", "Clearing", "Wall"], "default": "Burrow", "order": 0},
        {"name": "Weather", "dtype": "enum", "choices": ["Sun", "Cloud", "Rain"], "order": 1},
        {"name": "Recorded", "dtype": "datetime", "order": 2},
        {"name": "Position", "dtype": "geopos", "order": 3},
        {"name": "Checked", "dtype": "bool", "default": False, "order": 4},
    ]
    video = service.create(f"MediaTypes/{project}", {"name": "Clip", "dtype": "video", "attribute_types": about})
    image = service.create(f"MediaTypes/{project}", {"name": "Still", "dtype": "image", "attribute_types": about})
    media = [video, image]
    hues = ("#3aa0ff", "#ffc21a", "#ff5a3c", "#c678ff")
    colors = {"default": "#3aa0ff", "key": "Species", "map": dict(zip(SPECIES, hues, strict=True))}
    animal = [
        {"name": "Species", "dtype": "enum", "choices": list(SPECIES), "default": "Rabbit", "order": 0},
        {"name": "Behavior", "dtype": "enum", "choices": list(BEHAVIOR), "order": 1},
        {"name": "Confidence", "dtype": "float", "minimum": 0, "maximum": 1, "default": 1.0, "order": 2},
        {"name": "Note", "dtype": "string", "style": "long_string", "order": 3},
    ]
    rock = [{"name": "Mossy", "dtype": "bool", "default": False}]
    shapes = (
        ("box", {"name": "Animal", "dtype": "box", "color_map": colors, "attribute_types": animal}),
        ("rock", {"name": "Rock", "dtype": "box", "color_map": {"default": "#a4d03c"}, "attribute_types": rock}),
        ("eye", {"name": "Eye", "dtype": "dot", "color_map": {"default": "#ff7ab8"}}),
        ("horizon", {"name": "Horizon", "dtype": "line", "color_map": {"default": "#ffc21a"}}),
        ("outline", {"name": "Outline", "dtype": "poly", "color_map": {"default": "#2fce8f"}}),
    )
    made = {
        name: service.create(f"LocalizationTypes/{project}", {**spec, "media_types": media}) for name, spec in shapes
    }
    by_track = {"name": "Track", "association": "Localization", "attribute_types": animal[:1]}
    by_frame = {"name": "Scene", "association": "Frame", "interpolation": "latest", "attribute_types": animal[1:2]}
    states = (("track", by_track), ("scene", by_frame))
    made |= {name: service.create(f"StateTypes/{project}", {**spec, "media_types": media}) for name, spec in states}
    service.create(f"Versions/{project}", {"name": "Second look", "description": "Boxes of the second annotator."})
    return {**made, "video": video, "image": image}


def upload_clip(service: Service, project: int, media_type: int) -> dict[str, Any]:
    """Upload the clip and start its transcode; the id of the transcode, and the media as `media`."""
    content = CLIP.read_bytes()
    attributes = {"Site": "Burrow", "Weather": "Sun", "Recorded": "2026-05-03T06:12:00Z", "Position": [7.44, 46.95]}
    spec = {
        **_file(service, project, "rabbit-wakes-up.mp4", content),
        "type": media_type,
        "size": len(content),
        "section": "Burrow camera",
        "attributes": attributes,
    }
    job = service.ask("POST", f"Transcode/{project}", spec)
    return {"id": job["id"], "media": job["object"]["spec"]["media_id"]}


def upload_stills(service: Service, project: int, media_type: int) -> list[int]:
    """Upload frames of the clip, and parts of them, as images; their ids."""
    sites, weathers = ("Burrow", "Clearing", "Wall"), ("Sun", "Cloud", "Rain")
    specs = []
    for count, (name, content) in enumerate(stills()):
        attributes = {
            "Site": sites[count % 3],
            "Weather": weathers[count // 5 % 3],
            "Checked": count % 4 == 0,
            "Recorded": f"2026-05-{3 + count % 20:02}T{6 + count % 12:02}:12:00Z",
            "Position": [7.4 + count * 0.011, 46.9 + count % 7 * 0.013],
        }
        section = ("Stills", "Stills to check")[count % 4 == 3]
        specs.append(
            {**_file(service, project, name, content), "type": media_type, "section": section, "attributes": attributes}
        )
    ids: list[int] = service.create(f"Medias/{project}", specs)
    return ids


def _file(service: Service, project: int, name: str, content: bytes) -> dict[str, Any]:
    """Upload a file; the members that name it."""
    return {
        "name": name,
        "gid": str(uuid.uuid4()),
        "uid": str(uuid.uuid4()),
        "url": service.upload(project, content),
        "md5": hashlib.md5(content, usedforsecurity=False).hexdigest(),
    }


def stills() -> Iterator[tuple[str, bytes]]:
    """Names and JPEG contents: every eleventh frame whole, and its left and right part."""
    import av
    from PIL import Image

    with av.open(str(CLIP)) as clip:
        for number, frame in enumerate(clip.decode(video=0)):
            if number % 11 != 0:
                continue
            picture: Image.Image = frame.to_image()  # type: ignore[no-untyped-call]
            for part, box in PARTS.items():
                buffer = io.BytesIO()
                picture.crop(box).save(buffer, "JPEG", quality=85)
                yield f"{part}-{number:03}.jpg", buffer.getvalue()


def wait(service: Service, project: int, transcode: str, images: list[int]) -> None:
    """Wait for the transcode and the images. Raises SystemExit when they take too long."""
    print("waiting for the transcode")
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        status = service.ask("GET", f"Transcode/{transcode}")["job"]["status"]
        if status == "failed":
            sys.exit("The transcode failed; the log of the stack says why.")
        found = service.ask("GET", f"Medias/{project}", media_id=",".join(map(str, images)), fields="id,media_files")
        if status == "succeeded" and all((each.get("media_files") or {}).get("image") for each in found):
            return
        time.sleep(0.5)
    sys.exit(f"The media are not ready after {_SECONDS} s.")


def annotate_clip(service: Service, project: int, types: dict[str, int], media: int) -> None:
    """Boxes on every fourth frame, in two tracks, with other shapes."""
    print("drawing")

    def shape(name: str, frame: int, place: dict[str, Any], **attributes: Any) -> dict[str, Any]:
        return {"media_id": media, "type": types[name], "frame": frame, **place, "attributes": attributes}

    def rabbit(place: dict[str, Any], frame: int, **more: Any) -> dict[str, Any]:
        return shape("box", frame, place, Species="Rabbit", Behavior=_behavior(frame), **more)

    bodies = [rabbit(_box_at(BODY, frame), frame, Confidence=round(0.7 + frame / 440, 2)) for frame in range(0, 132, 4)]
    heads = [rabbit(_box_at(HEAD, frame), frame, Note="head") for frame in range(0, 132, 6)]
    rocks = [
        shape("rock", frame, _relative(rock), Mossy=number == 0)
        for frame in range(0, 132, 24)
        for number, rock in enumerate(ROCKS)
    ]
    butterfly = {"x": 0.53, "y": 0.32, "width": 0.1, "height": 0.13}
    others = [
        shape("outline", 0, {"points": TREE}),
        shape("horizon", 0, HORIZON),
        shape("eye", 24, {"x": 0.375, "y": 0.475}),
        shape("box", 48, butterfly, Species="Butterfly", Confidence=0.4),
    ]
    ids = service.create(f"Localizations/{project}", [*bodies, *heads, *rocks, *others])
    tracks = (ids[: len(bodies)], ids[len(bodies) : len(bodies) + len(heads)])
    common = {"media_ids": [media]}
    rabbits = {**common, "type": types["track"], "frame": 0, "attributes": {"Species": "Rabbit"}}
    scenes = [
        {**common, "type": types["scene"], "frame": frame, "attributes": {"Behavior": name}}
        for frame, name in zip((0, 30, 64, 100), BEHAVIOR, strict=True)
    ]
    service.create(f"States/{project}", [*({**rabbits, "localization_ids": track} for track in tracks), *scenes])


def annotate_stills(service: Service, project: int, types: dict[str, int], stills_: list[int]) -> None:
    """A box on each whole still and on each part."""
    boxes = []
    for count, media in enumerate(stills_):
        frame, part = count // 3 * 11, count % 3
        place = _box_at(BODY, min(frame, 131))
        if part == 1:
            place = _within(place, 0, 0, 720 / 1280, 1)
        elif part == 2:
            place = _relative((20, 25, 300, 110))
        species = {"Species": SPECIES[0 if count % 5 else 2], "Confidence": round(0.5 + count % 10 / 20, 2)}
        kind, attributes = (types["rock"], {"Mossy": count % 2 == 0}) if part == 2 else (types["box"], species)
        boxes.append({"media_id": media, "type": kind, "frame": 0, **place, "attributes": attributes})
    service.create(f"Localizations/{project}", boxes)


def save_searches(service: Service, project: int) -> None:
    """Saved searches beside the folders of the uploads."""
    searches = (
        ("Sunny stills", "object_search", {"attribute": "Weather", "operation": "eq", "value": "Sun"}),
        ("Checked", "object_search", {"attribute": "Checked", "operation": "eq", "value": True}),
        ("With a squirrel", "related_search", {"attribute": "Species", "operation": "eq", "value": "Squirrel"}),
    )
    for name, member, search in searches:
        service.create(f"Sections/{project}", {"name": name, "dtype": "saved_search", member: search})


def _behavior(frame: int) -> str:
    """What the rabbit does in a frame."""
    return BEHAVIOR[0 if frame < 30 else 1 if frame < 64 else 2 if frame < 100 else 3]


def _box_at(keys: dict[int, tuple[int, int, int, int]], frame: int) -> dict[str, float]:
    """The box of a frame, between the keys around it."""
    before = max(key for key in keys if key <= frame)
    after = min((key for key in keys if key >= frame), default=before)
    share = (frame - before) / (after - before) if after > before else 0
    return _relative(tuple(a + (b - a) * share for a, b in zip(keys[before], keys[after], strict=True)))


def _relative(box: tuple[float, ...]) -> dict[str, float]:
    """A box of the picture of 320 by 180 as the members of a localization, from 0 to 1."""
    left, top, right, bottom = box
    return {"x": left / 320, "y": top / 180, "width": (right - left) / 320, "height": (bottom - top) / 180}


def _within(place: dict[str, float], left: float, top: float, right: float, bottom: float) -> dict[str, float]:
    """A box of the whole picture in a part of it."""
    x, y = (place["x"] - left) / (right - left), (place["y"] - top) / (bottom - top)
    return {"x": x, "y": y, "width": place["width"] / (right - left), "height": place["height"] / (bottom - top)}


if __name__ == "__main__":
    main()
