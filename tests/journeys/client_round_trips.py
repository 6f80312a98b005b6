"""What clients do all day: create, read, and send back: `python client_round_trips.py '<JSON of the stack>'`.

It runs in an environment of one generation of the client, and imports nothing of this project. It prints one line for
each call that was refused, and ends with 1 if there was one.
"""

from __future__ import annotations

import inspect
import json
import sys
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import tator  # type: ignore[import-untyped, unused-ignore]

FAILED: list[str] = []
DONE: list[str] = []
ATTRIBUTES = [
    {"name": "Species", "dtype": "enum", "choices": ["Cod", "Eel"], "default": "Cod"},
    {"name": "Depth", "dtype": "float", "minimum": 0, "maximum": 100},
    {"name": "Note", "dtype": "string"},
    {"name": "Seen", "dtype": "bool"},
    {"name": "At", "dtype": "datetime"},
    {"name": "Where", "dtype": "geopos"},
]


def plain(value: Any) -> Any:
    """An entity as the dictionary that a client makes of it."""
    return value if isinstance(value, dict) else value.to_dict()


def attempt(what: str, call: Callable[[], Any]) -> Any:
    """Make one call; a refusal is noted."""
    DONE.append(what)
    try:
        return call()
    except Exception as error:  # noqa: BLE001 of any client
        FAILED.append(f"{what}: {type(error).__name__} {str(getattr(error, 'body', None) or error)[:300]}")
        return None


def call(api: Any, name: str, *places: Any, body: Any = None) -> Any:
    """Call an operation, whatever this generation calls its body."""
    function = getattr(api, name)
    if body is None:
        return function(*places)
    named = [
        each
        for each in inspect.signature(function).parameters
        if each.endswith(("_spec", "_update", "body", "_addition", "_query"))
    ]
    return function(*places, **{named[0] if named else "body": body})


def made(answer: Any) -> Any:
    """The id of what was created, the first of several."""
    number = answer["id"] if isinstance(answer, dict) else answer.id
    return number[0] if isinstance(number, list) else number


def there_and_back(api: Any, word: str, parent: Any, spec: dict[str, Any], create: str = "", **change: Any) -> Any:
    """Create, list, read, send back as read, change, read again; the id."""
    answer = attempt(f"create {word}", lambda: call(api, create or f"create_{word}", parent, body=spec))
    if answer is None:
        return None
    number = made(answer)
    listed = attempt(f"list {word}", lambda: getattr(api, f"get_{word}_list")(parent))
    if listed is not None and number not in [plain(each)["id"] for each in listed]:
        FAILED.append(f"list {word}: {number} is not in it")
    read = attempt(f"get {word}", lambda: plain(getattr(api, f"get_{word}")(number)))
    if read is None:
        return number
    whole = {name: value for name, value in read.items() if value is not None}
    attempt(f"send {word} back", lambda: call(api, f"update_{word}", number, body=whole))
    if change:
        attempt(f"change {word}", lambda: call(api, f"update_{word}", number, body={**whole, **change}))
        after = attempt(f"get {word} again", lambda: plain(getattr(api, f"get_{word}")(number)))
        for name, value in change.items():
            if after is not None and after.get(name) != value:
                FAILED.append(f"change {word}: {name} is {after.get(name)!r}, not {value!r}")
    return number


def main() -> None:  # noqa: PLR0915 one line for each kind of thing
    """Make a project, all kinds of things in it, and send each back."""
    place = json.loads(sys.argv[1])
    api = tator.get_api(place["url"], place["token"])
    name = uuid.uuid4().hex[:12]
    me = plain(api.whoami())
    organization = made(call(api, "create_organization", body={"name": name}))
    project = made(call(api, "create_project", body={"name": name, "organization": organization}))
    whole = plain(api.get_project(project))
    kept = {key: whole[key] for key in ("name", "summary", "enable_downloads") if key in whole}
    attempt("send project back", lambda: call(api, "update_project", project, body={**kept, "summary": "a"}))
    more: dict[str, Any] = {"attribute_types": ATTRIBUTES}
    video = there_and_back(api, "media_type", project, {"name": "Video", "dtype": "video", **more}, name="Videos")
    on = {"media_types": [video], **more}
    box = there_and_back(api, "localization_type", project, {"name": "Box", "dtype": "box", **on}, description="b")
    track_spec = {"name": "Track", "association": "Localization", **on}
    track = there_and_back(api, "state_type", project, track_spec, description="t")
    leaf_type = there_and_back(api, "leaf_type", project, {"name": "Leaf", **more}, description="l")
    file_type = there_and_back(api, "file_type", project, {"name": "File", **more}, description="f")
    version = there_and_back(api, "version", project, {"name": "Second", "description": ""}, description="v")
    there_and_back(api, "section", project, {"name": "A section"}, visible=False)
    there_and_back(api, "bookmark", project, {"name": "here", "uri": f"/{project}"}, name="there")
    favorite = {"name": "f", "page": 1, "type": box, "values": {"Species": "Cod"}, "entity_type_name": "Localization"}
    there_and_back(api, "favorite", project, favorite, name="g")
    values = {"Species": "Eel", "Depth": 12.5, "Note": "a", "Seen": True, "Where": [4.0, 52.0]}
    media_spec = {"type": video, "name": "a.mp4", "md5": "", "num_frames": 100, "fps": 25.0, "attributes": values}
    media = there_and_back(api, "media", project, [media_spec], "create_media_list", name="b.mp4")
    shape = {"x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2, "frame": 5}
    spec = {"type": box, "media_id": media, "version": version, **shape, "attributes": values}
    boxes = [
        there_and_back(api, "localization", project, [spec], "create_localization_list", frame=7) for _ in range(2)
    ]
    state = {"type": track, "media_ids": [media], "localization_ids": boxes, "version": version, "frame": 0}
    there_and_back(api, "state", project, [{**state, "attributes": values}], "create_state_list")
    there_and_back(api, "leaf", project, [{"type": leaf_type, "name": "a", "attributes": values}], "create_leaf_list")
    there_and_back(api, "file", project, {"type": file_type, "name": "f", "description": "", "attributes": values})
    for word, query in (
        ("media", {"attribute": ["Species::Eel"]}),
        ("localization", {"attribute_gt": ["Depth::1"], "media_id": [media], "frame": 7}),
        ("state", {"attribute_null": ["Note::false"], "version": [version]}),
    ):
        found = attempt(f"count {word}", partial(getattr(api, f"get_{word}_count"), project, **query))
        if found is not None and not int(found):
            FAILED.append(f"count {word}: none")
    again = {"type": box, "media_id": media, **shape, "attributes": {}}
    copy = attempt("read localization", lambda: plain(api.get_localization(boxes[0])))
    if copy is not None:
        copied = {**{key: value for key, value in copy.items() if value is not None}, **again}
        attempt("create from what was read", lambda: call(api, "create_localization_list", project, body=[copied]))
    membership = attempt("memberships", lambda: plain(api.get_membership_list(project)[0]))
    if membership is not None:
        level = {"permission": "Full Control"}
        attempt("send membership back", lambda: call(api, "update_membership", membership["id"], body=level))
    attempt("user back", lambda: call(api, "update_user", me["id"], body={"first_name": me["first_name"]}))
    attempt("bulk change", lambda: api.update_localization_list(
        project, type=box, **{_bulk(api): {"attributes": {"Note": "bulk"}}}))  # fmt: skip
    attempt("delete list", lambda: api.delete_localization_list(project, type=box))
    attempt("delete project", lambda: api.delete_project(project))
    print("\n".join(FAILED))  # noqa: T201
    print(tator.__version__, len(DONE), "calls,", len(FAILED), "refused")  # noqa: T201
    sys.exit(1 if FAILED else 0)


def _bulk(api: Any) -> str:
    named = inspect.signature(api.update_localization_list).parameters
    return next((each for each in named if "bulk" in each), "localization_bulk_update")


if __name__ == "__main__":
    main()
