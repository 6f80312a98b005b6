"""The script that runs an annotator on the media of one job: a step of a workflow, with the standard library only.

`service.manifest` embeds its text in a workflow. What an earlier run of the same job wrote is deleted first, or written
again under the same elemental ids, so the script can be repeated after any failure.
"""
# ruff: noqa: T201, S310

import csv
import io
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any

TRIES = 4
BATCH_SIZE = 500
EMBEDDED = 32
"""Localizations of one request for vectors."""
WRITTEN = 1_000
"""Vectors of one bulk change."""
KINDS = {"States": "StateTypes", "Localizations": "LocalizationTypes"}
SIDES = ("x", "y", "width", "height")


def ask(method: str, path: str, body: Any = None, **query: Any) -> Any:
    """The answer of the API, with retries if it is busy."""
    words = urllib.parse.urlencode({name: value for name, value in query.items() if value is not None})
    url = f"{os.environ['HOST']}/rest/{path}" + (f"?{words}" if words else "")
    headers = {"Authorization": f"Token {os.environ['TOKEN']}", "Content-Type": "application/json"}
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    if isinstance(body, bytes):
        headers["Content-Type"] = "text/csv"
    for left in reversed(range(TRIES)):
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")[:1000]
            if (error.code < 500 and error.code != 429) or not left:  # noqa: PLR2004
                raise SystemExit(f"{method} {path}: {error.code} {said}") from None
        except OSError as error:
            if not left:
                raise SystemExit(f"{method} {path}: {error}") from None
        time.sleep(2.0 ** (TRIES - left))
    return None


def post_all(path: str, bodies: list[dict[str, Any]]) -> list[int]:
    """Create entities; their ids."""
    found: list[int] = []
    for first in range(0, len(bodies), BATCH_SIZE):
        found += ask("POST", path, bodies[first : first + BATCH_SIZE])["id"]
    return found


def environment(name: str) -> int:
    """A number of the workflow's parameters."""
    return int(os.environ[name])


def detect(media: dict[str, Any]) -> str:
    """Write what a detector finds on the frames of a media, and replace earlier annotations there."""
    number, project = media["id"], media["project"]
    annotator, version, start = environment("ANNOTATOR"), environment("VERSION"), environment("START")
    length = max(1, media.get("num_frames") or 1)
    stop = min(length, int(os.environ["STOP"] or length))
    of = ask("GET", f"Annotator/{annotator}")
    whole = (start, stop) == (0, length)
    frames = {} if whole else {"attribute_gte": f"$frame::{start}", "attribute_lt": f"$frame::{stop}"}
    for kind in ("States", "Localizations"):  # a track goes whole, with its localizations beyond the frames
        for type_ in {environment("TYPE"), of.get("track_type")} & set(types(KINDS[kind], project)):
            words = {} if type_ == of.get("track_type") else frames
            ask("DELETE", f"{kind}/{project}", {"prune": 1}, media_id=number, version=version, type=type_, **words)
    shapes: list[dict[str, Any]] = []
    states: list[dict[str, Any]] = []
    tracks: list[Any] = []
    for frame in range(start, stop, environment("EVERY")):
        answer = ask("POST", f"Prediction/{number}", {"annotator": annotator, "frame": frame})
        shapes += [{**each, "media_id": number, "version": version} for each in answer["localizations"]]
        states += [{**each, "media_ids": [number], "version": version} for each in answer.get("states") or ()]
        tracks += answer.get("tracks") or [None] * len(answer["localizations"])
    ids = post_all(f"Localizations/{project}", shapes)
    states += tracks_of(
        of, number, version, [(key, each, shape) for key, each, shape in zip(tracks, ids, shapes, strict=True)]
    )
    post_all(f"States/{project}", states)
    return f"{len(shapes)} shapes and {len(states)} states"


def tracks_of(of: dict[str, Any], media: int, version: int, members: list[tuple[Any, int, dict[str, Any]]]) -> Any:
    """The states of the shapes that have the same key."""
    found: dict[str, dict[str, Any]] = {}
    for key, number, shape in members:
        if key is not None:
            same = {"type": of["track_type"], "media_ids": [media], "version": version}
            state = found.setdefault(key, {**same, "localization_ids": [], "attributes": {}})
            state["localization_ids"].append(number)
            state["attributes"] |= common_values(of, shape)
    return list(found.values())


def common_values(of: dict[str, Any], shape: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a shape that the type of tracks has, too."""
    names = types("StateTypes", of["project"])[of["track_type"]]
    return {name: value for name, value in (shape.get("attributes") or {}).items() if name in names}


_known: dict[tuple[str, int], dict[int, set[str]]] = {}


def types(path: str, project: int) -> dict[int, set[str]]:
    """By id of the types of a project, the names of their attributes."""
    if (path, project) not in _known:
        _known[path, project] = {
            each["id"]: {attribute["name"] for attribute in each["attribute_types"]}
            for each in ask("GET", f"{path}/{project}")
        }
    return _known[path, project]


def follow(media: dict[str, Any]) -> str:
    """Write the boxes that a tracker finds on the frames after the seed boxes."""
    number, project, version = media["id"], media["project"], environment("VERSION")
    seeds = ask("PUT", f"Localizations/{project}", {"ids": [int(each) for each in os.environ["SEEDS"].split(",")]})
    frame = seeds[0]["frame"]
    if any(each["frame"] != frame or each["media"] != number for each in seeds):
        raise SystemExit("localization_ids: they are not all on one frame of the media.")
    of = ask("GET", f"Annotator/{environment('ANNOTATOR')}")
    last = max(1, media.get("num_frames") or 1) - 1
    stop = min(last, int(os.environ["STOP"]) - 1) if os.environ["STOP"] else last
    boxes: list[Any] = [{name: each[name] for name in SIDES} for each in seeds]
    states, found = None, list[dict[str, Any]]()
    while frame < stop and any(boxes):
        body = {"annotator": of["id"], "frame": frame, "stop": stop, "boxes": boxes, "states": states}
        answer = ask("POST", f"Tracking/{number}", {name: value for name, value in body.items() if value is not None})
        for step in answer["frames"]:
            for seed, box in zip(seeds, step["boxes"], strict=True):
                if box is not None:
                    found.append(draft(of, number, version, seed, step["frame"], box, answer.get("model")))
        if not answer.get("next"):
            break
        frame, states = answer["next"] - 1, answer["states"]
        boxes = [box and {name: box[name] for name in SIDES} for box in answer["frames"][-1]["boxes"]]
    ids = post_all(f"Localizations/{project}", found)
    members = [(str(shape["parent"]), each, shape) for each, shape in zip(ids, found, strict=True)]
    tracks = tracks_of(of, number, version, members) if of.get("track_type") else []
    for seed, state in zip(dict.fromkeys(shape["parent"] for shape in found), tracks, strict=bool(tracks)):
        state["elemental_id"] = element("track", seed)
    post_all(f"States/{project}", tracks)
    return f"{len(found)} boxes of {len(seeds)} objects"


def element(*parts: Any) -> str:
    """The elemental id of what this job writes: the same in each run of it."""
    return str(uuid.uuid5(uuid.UUID(os.environ["JOB"]), "|".join(map(str, parts))))


def draft(of: Any, media: int, version: int, seed: Any, frame: int, box: Any, model: Any) -> dict[str, Any]:
    """The body of a followed box; its class is that of the box that it began with."""
    label, chance, made_by = (of.get(f"{name}_attribute") for name in ("label", "confidence", "model"))
    values = {label: (seed["attributes"] or {}).get(label), chance: box.get("confidence"), made_by: model}
    return {
        "type": of["type"],
        "media_id": media,
        "version": version,
        "frame": frame,
        "parent": seed["id"],
        "elemental_id": element(seed["id"], frame),
        "attributes": {name: value for name, value in values.items() if name and value is not None},
        **{name: box[name] for name in SIDES},
    }


def embed(media: dict[str, Any]) -> str:
    """Write the vectors of the localizations on a media."""
    number, project, name = media["id"], media["project"], os.environ["ATTRIBUTE"]
    wanted = {"media_id": number, "type": environment("TYPE"), "version": os.environ["VERSION"] or None}
    if not environment("ANEW"):
        wanted["attribute_null"] = f"{name}::true"
    rows = [each["id"] for each in ask("GET", f"Localizations/{project}", fields="id", **wanted)]
    for begin in range(0, len(rows), WRITTEN):
        text = io.StringIO()
        lines = csv.writer(text)
        lines.writerow(["id", name])
        part = rows[begin : begin + WRITTEN]
        for first in range(0, len(part), EMBEDDED):
            some = part[first : first + EMBEDDED]
            body = {"annotator": environment("ANNOTATOR"), "localization_ids": some}
            vectors = ask("POST", f"Embeddings/{number}", body)["vectors"]
            lines.writerows((each, json.dumps(vector)) for each, vector in zip(some, vectors, strict=True))
        ask("PATCH", f"AttributeValues/{project}", text.getvalue().encode())
    return f"{len(rows)} vectors"


def main() -> None:
    """Annotate each media, and report how many are done."""
    numbers = [int(number) for number in os.environ["MEDIA"].split(",")]
    work = embed if os.environ["ATTRIBUTE"] else follow if os.environ["SEEDS"] else detect
    for done, number in enumerate(numbers):
        media = ask("GET", f"Media/{number}")
        print(f"media {number}: {work(media)}", flush=True)
        progress = {"done": done + 1, "total": len(numbers), "message": str(media.get("name"))[:200]}
        ask("PATCH", f"Job/{os.environ['JOB']}", {"progress": progress})


if __name__ == "__main__":
    main()
