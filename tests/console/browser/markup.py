"""A project in which every text is markup."""

from __future__ import annotations

import io
import itertools
import uuid
from typing import Any

from PIL import Image

from tests.console.browser.waits import until

NASTY = (
    "<img src=x onerror=window.hit=1>",
    "<script>window.hit=1</script>",
    '"><svg onload=window.hit=1>',
    "javascript:window.hit=1//",
    "${window.hit=1}{{window.hit=1}}",
    "&lt;b&gt;\u202e<b>bold</b>",
)
REVIEW = (
    {"name": "Assigned to", "dtype": "string"},
    {"name": "Work status", "dtype": "enum", "choices": ["To do", "In progress", "Done"], "default": "To do"},
    {"name": "Review", "dtype": "enum", "choices": ["Open", "Accepted", "Rejected"], "default": "Open"},
    {"name": "Review comment", "dtype": "string", "default": "<b>blurred</b>"},
)
"""What review adds to types, so that its views show lists."""
MANIFEST = b"""apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: count-}
spec:
  entrypoint: count
  templates:
    - name: count
      container: {image: "alpine:3", command: [echo]}
"""
_turns = itertools.cycle(NASTY)


def word() -> str:
    """A name with markup, another one each time."""
    return f"{next(_turns)} {uuid.uuid4().hex[:6]}"


def fill(stack: Any) -> dict[str, Any]:
    """A project with an image, a box on it, and one record of each kind: the ids of `views.ALL`."""
    api = stack.api
    organization = api.create("Organizations", {"name": word()})
    project = api.create("Projects", {"name": word(), "summary": word(), "organization": organization})
    enum = {"name": "<svg onload(1)> &lt;b>", "dtype": "enum", "choices": [word(), word()], "description": word()}
    attributes = [enum, {"name": "<b>bold", "dtype": "string", "default": word()}]
    common = {"description": word(), "attribute_types": [*attributes, *REVIEW]}
    photo = api.create(f"MediaTypes/{project}", {**common, "name": word(), "dtype": "image"})
    box, track = (
        api.create(f"{kind}s/{project}", {**common, "name": word(), "media_types": [photo], **more})
        for kind, more in (("LocalizationType", {"dtype": "box"}), ("StateType", {"association": "Localization"}))
    )
    api.create(f"FileTypes/{project}", {"name": word(), "description": word()})
    leaves = api.create(
        f"LeafTypes/{project}",
        {"name": word(), "attribute_types": [{"name": "<b>bold", "dtype": "string", "default": word()}]},
    )
    api.create(f"Leaves/{project}", [{"name": "Animalia", "type": leaves}])
    version = api.create(f"Versions/{project}", {"name": word(), "description": word()})
    media = image(api, project, {"type": photo, "name": word(), "attributes": {enum["name"]: enum["choices"][0]}})
    api.create(f"Sections/{project}", {"name": word(), "dtype": "saved_search", "lucene_string": "_id:>0"})
    shape = {"media_id": media, "type": box, "frame": 0, "x": 0.1, "y": 0.1, "width": 0.2, "height": 0.2}
    shape |= {"version": version, "attributes": {enum["name"]: enum["choices"][1]}}
    kept, gone = api.create(f"Localizations/{project}", [shape, shape])
    spec = {"type": track, "media_ids": [media], "localization_ids": [kept], "version": version}
    api.create(f"States/{project}", [{**spec, "attributes": {"<b>bold": word()}}])
    api.ask("DELETE", f"Localization/{gone}")
    tasks = {"name": word(), "media_ids": [media], "copies": 2, "instructions": word(), "checklist": [word()]}
    api.ask("POST", f"Tasks/{project}", {**tasks, "versions": [version]})
    task = api.ask("POST", f"NextTask/{project}", {})["id"]
    first = api.create(f"Comments/{project}", {"text": f"{word()} @admin **{word()}**", "localization_id": kept})
    api.create(f"Comments/{project}", {"text": word(), "parent": first})
    compared = {"reference": version, "versions": [api.create(f"Versions/{project}", {"name": word()})]}
    report = api.create(f"QualityReports/{project}", {**compared, "class_attribute": enum["name"]})
    until(lambda: api.ask("GET", f"QualityReport/{report}")["status"] == "succeeded", "the report is made")
    applet = _records(stack, project)
    return {
        "organization": organization,
        "project": project,
        "media": media,
        "box": kept,
        "applet": applet,
        "version": version,
        "task": task,
        "report": report,
    }


def image(api: Any, project: int, spec: dict[str, Any]) -> int:
    """An image that has been read."""
    picture = io.BytesIO()
    Image.new("RGB", (64, 48), (20, 90, 160)).save(picture, "JPEG")
    spec |= {"md5": "", "gid": str(uuid.uuid4()), "uid": str(uuid.uuid1()), "section": word()}
    made = api.create(f"Medias/{project}", {**spec, "url": api.upload(project, picture.getvalue())})
    number = made[0] if isinstance(made, list) else made
    until(lambda: (api.ask("GET", f"Media/{number}")["media_files"] or {}).get("image"), "the image is read")
    return int(number)


def _records(stack: Any, project: int) -> int:
    """One of each: member, algorithm, rule, webhook, version of a dataset, export, applet. The id of the applet."""
    api = stack.api
    number, _ = stack.user(f"u{uuid.uuid4().hex[:8]}", first_name=word()[:30], last_name=word()[:30])
    api.create(f"Memberships/{project}", {"user": number, "permission": "Can Edit"})
    sent = {"name": "count.yaml", "upload_url": api.upload(project, MANIFEST)}
    manifest = api.ask("POST", f"SaveAlgorithmManifest/{project}", sent)["url"]
    algorithm = {"name": word(), "description": word(), "user": 1, "manifest": manifest, "files_per_job": 1}
    api.create(f"Algorithms/{project}", {**algorithm, "categories": [word()]})
    types = ["limn.media.*"]
    api.create(f"TriggerRules/{project}", {"name": word(), "types": types, "algorithm": algorithm["name"]})
    api.create(f"Webhooks/{project}", {"name": word(), "types": types, "url": f"http://127.0.0.1:{stack.hooks}/x"})
    api.create(f"Datasets/{project}", {"name": word(), "description": word()})
    api.create(f"Exports/{project}", {"format": "coco", "name": word()})
    page = {"name": f"{uuid.uuid4().hex}.html", "upload_url": api.upload(project, b"<p>page</p>")}
    saved = api.ask("POST", f"SaveGenericFile/{project}", page)["url"]
    return int(api.create(f"Applets/{project}", {"name": word(), "description": word(), "html_file": saved}))
