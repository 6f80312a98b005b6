"""A project with something of every kind that a migration copies, made of a seed."""

from __future__ import annotations

import io
import random
import uuid
from types import SimpleNamespace

from PIL import Image

ATTRIBUTES = [
    {"name": "Species", "dtype": "string", "default": "none"},
    {"name": "Depth", "dtype": "float"},
    {"name": "Seen", "dtype": "datetime"},
]


def upload(client, project, name, data):
    """The address of uploaded bytes."""
    made = client.get_upload_info(project, num_parts=1, filename=name)
    client.put_bytes(made["urls"][0], data)
    [link] = client.get_download_info(project, {"keys": [made["key"]]})
    return link["url"]


def fill(client, api, project, seed, *, boxes=30):
    """A project with something of every kind that moves, made of a seed."""
    dice = random.Random(seed)
    kinds = SimpleNamespace()
    kinds.image = api.made(
        f"MediaTypes/{project}", {"name": "Picture", "dtype": "image", "attribute_types": ATTRIBUTES}
    )
    shape = {"media_types": [kinds.image], "attribute_types": ATTRIBUTES}
    kinds.box = api.made(f"LocalizationTypes/{project}", {"name": "Box", "dtype": "box", **shape})
    kinds.poly = api.made(f"LocalizationTypes/{project}", {"name": "Poly", "dtype": "poly", **shape})
    kinds.track = api.made(f"StateTypes/{project}", {"name": "Track", "association": "Localization", **shape})
    kinds.leaf = api.made(f"LeafTypes/{project}", {"name": "Taxon"})
    kinds.file = api.made(f"FileTypes/{project}", {"name": "Report", "attribute_types": ATTRIBUTES})
    assert api.patch(f"MediaType/{kinds.image}", {"default_box": kinds.box}).status == 200
    versions = [client.get_version_list(project)[0]["id"]]
    versions.append(api.made(f"Versions/{project}", {"name": "Review", "bases": versions, "description": "2nd"}))
    dive = api.made(f"Sections/{project}", {"name": "Dive 1", "path": "Dive_1"})
    picture = io.BytesIO()
    Image.new("RGB", (64, 48), (seed % 256, 20, 30)).save(picture, "PNG")
    media = []
    for number in range(3):
        url = upload(client, project, f"{number}.png", picture.getvalue())
        body = {"type": kinds.image, "name": f"{number}.png", "md5": "a" * 32, "url": url, "section": "Dive 1"}
        media.append(api.made(f"Medias/{project}", [{**body, "attributes": {"Depth": number / 2}}])[0])
    api.drain()
    about = {"attribute": "$section", "operation": "eq", "value": dive}
    deep = {"method": "and", "operations": [about, {"attribute": "Depth", "operation": "gt", "value": 0.2}]}
    api.made(f"Sections/{project}", {"name": "Deep", "path": "Deep", "object_search": deep})
    playlist = {"name": "Best", "path": "Best", "dtype": "playlist", "media": media[:2]}
    api.made(f"Sections/{project}", playlist)
    specs = []
    for _ in range(boxes):
        values = {"Depth": dice.choice([None, dice.random()]), "Seen": dice.choice([None, "2024-05-06T07:08:09+00:00"])}
        common = {
            "media_id": dice.choice(media),
            "frame": 0,
            "version": dice.choice(versions),
            "attributes": {name: value for name, value in values.items() if value is not None},
        }
        if dice.random() < 0.3:
            points = [[dice.random() / 2, dice.random() / 2] for _ in range(4)]
            specs.append({**common, "type": kinds.poly, "points": points})
        else:
            x, y = dice.random() / 2, dice.random() / 2
            specs.append({**common, "type": kinds.box, "x": x, "y": y, "width": 0.25, "height": 0.125})
    made = api.made(f"Localizations/{project}", specs)
    boxed = [number for number, spec in zip(made, specs, strict=True) if spec["type"] == kinds.box]
    bare = {"ids": boxed[:3], "null_attributes": ["Species"], "in_place": 1}
    assert api.patch(f"Localizations/{project}", bare).status == 200
    world = SimpleNamespace(media=media, boxes=made, versions=versions, types=kinds)
    alike = [number for number, spec in zip(made, specs, strict=True) if spec["media_id"] == media[0]]
    _fill_others(client, api, project, world, alike)
    return world


def _fill_others(client, api, project, world, alike):
    """What a layer hides, a track, leaves, a file, a bookmark."""
    media, versions, kinds = world.media, world.versions, world.types
    base = {"media_id": media[0], "frame": 0, "type": kinds.box, "x": 0.5, "y": 0.5, "width": 0.1, "height": 0.1}
    element = str(uuid.uuid4())
    [below] = api.made(f"Localizations/{project}", [{**base, "version": versions[0], "elemental_id": element}])
    [above] = api.made(
        f"Localizations/{project}", [{**base, "version": versions[1], "elemental_id": element, "parent": below}]
    )
    assert api.delete(f"Localization/{above}", {"prune": 0}).status == 200
    state = {"type": kinds.track, "media_ids": [media[0]], "version": versions[0], "localization_ids": alike}
    api.made(f"States/{project}", [{**state, "attributes": {"Species": "Cod"}}])
    [animal] = api.made(f"Leaves/{project}", [{"name": "Animal", "type": kinds.leaf}])
    [fish] = api.made(f"Leaves/{project}", [{"name": "Fish", "type": kinds.leaf, "parent": animal}])
    api.made(f"Leaves/{project}", [{"name": "Cod", "type": kinds.leaf, "parent": fish}])
    report = {"name": "r.txt", "description": "d", "type": kinds.file, "attributes": {"Depth": 3.5}}
    file = api.made(f"Files/{project}", report)
    key = client.get_upload_info(project, num_parts=1, filename="r.txt", file_id=file)
    client.put_bytes(key["urls"][0], b"a report")
    assert api.patch(f"File/{file}", {"path": key["key"]}).status == 200
    api.made(f"Bookmarks/{project}", {"name": "Look", "uri": f"/{project}/annotation/{media[1]}?frame=0"})
