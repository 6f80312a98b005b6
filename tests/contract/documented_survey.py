"""A survey of a reef from its first account to its end: the calls that the reference shows."""

from __future__ import annotations

import uuid
from typing import Any

from tests import objects
from tests.contract.documented_accounts import accounts, people, personal, records
from tests.contract.documented_team import team
from tests.resources.media.samples import picture, uploaded, video
from tests.service import Api

SPECIES = {"name": "Species", "dtype": "string", "description": "Scientific name"}
SCORE = {"name": "Score", "dtype": "float", "minimum": 0, "maximum": 1}
MANIFEST = b"""
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: count-}
spec:
  entrypoint: count
  templates:
    - name: count
      container: {image: alpine, command: [echo], args: ["{{workflow.parameters.media_ids}}"]}
"""


def run(api: Api, calls: dict[str, Any]) -> None:
    """Make the calls.

    Args:
        api: a member of staff; its calls are recorded in `calls`.
        calls: what is recorded so far, by operation.
    """
    accounts(api)
    organization = api.post("Organizations", {"name": "Reef Institute"}).json["id"]
    project = api.post(
        "Projects", {"name": "Reef 2026", "summary": "Transects of May", "organization": organization}
    ).json["id"]
    people(api, organization, project)
    kinds = types(api, project)
    media, image = bring_in(api, project, kinds)
    sources(api, organization, project, kinds)
    annotate(api, project, kinds, media, image)
    look(api, project, kinds, media)
    team(api, project, media)
    automate(api, organization, project, media)
    personal(api, project, kinds, media)
    take_down(api, organization, project, media, image)


def types(api: Api, project: int) -> dict[str, int]:
    kinds = {}
    videos = records(
        api,
        "MediaTypes",
        "MediaType",
        project,
        {"name": "Transect", "dtype": "video", "attribute_types": [SCORE]},
        {"description": "A dive"},
    )
    images = api.post(f"MediaTypes/{project}", {"name": "Quadrat", "dtype": "image"}).json["id"]
    box = {"name": "Animal", "dtype": "box", "media_types": [videos, images], "attribute_types": [SPECIES, SCORE]}
    kinds["box"] = records(api, "LocalizationTypes", "LocalizationType", project, box, {"description": "One animal"})
    state = {
        "name": "Track",
        "association": "Localization",
        "interpolation": "none",
        "media_types": [videos],
        "attribute_types": [SPECIES],
    }
    kinds["track"] = records(api, "StateTypes", "StateType", project, state, {"description": "One animal over time"})
    kinds["leaf"] = records(
        api,
        "LeafTypes",
        "LeafType",
        project,
        {"name": "Taxon", "attribute_types": [SPECIES]},
        {"description": "A taxon"},
    )
    kinds["file"] = records(api, "FileTypes", "FileType", project, {"name": "Report"}, {"description": "A report"})
    spare = {"entity_type": "LocalizationType", "addition": {"name": "Depth", "dtype": "float"}}
    api.post(f"AttributeType/{kinds['box']}", spare)
    change = {"entity_type": "LocalizationType", "current_name": "Depth"}
    api.patch(
        f"AttributeType/{kinds['box']}",
        {**change, "attribute_type_update": {"name": "Depth", "dtype": "float", "description": "Metres"}},
    )
    api.put(
        f"AttributeType/{kinds['box']}",
        {
            **change,
            "attribute_type_update": {"name": "Depth", "dtype": "float", "description": "Metres below the surface"},
        },
    )
    api.delete(f"AttributeType/{kinds['box']}", {"entity_type": "LocalizationType", "name": "Depth"})
    kinds["version"] = records(
        api,
        "Versions",
        "Version",
        project,
        {"name": "Reviewed", "description": "Checked by a second person"},
        {"description": "Checked"},
    )
    kinds["section"] = records(
        api, "Sections", "Section", project, {"name": "North", "tator_user_sections": "north"}, {"visible": True}
    )
    api.patch(f"Sections/{project}", {"path_substitution": {"old": "North", "new": "Northern"}}, name="North")
    spare = {
        "MediaType": ("MediaTypes", {"name": "Spare", "dtype": "image"}),
        "LocalizationType": ("LocalizationTypes", {"name": "Spare", "dtype": "dot", "media_types": [videos]}),
        "StateType": ("StateTypes", {"name": "Spare", "association": "Media", "media_types": [videos]}),
        "LeafType": ("LeafTypes", {"name": "Spare"}),
        "FileType": ("FileTypes", {"name": "Spare"}),
        "Version": ("Versions", {"name": "Spare"}),
        "Section": ("Sections", {"name": "Spare"}),
    }
    for one, (plural, body) in spare.items():
        number = api.post(f"{plural}/{project}", body).json["id"]
        api.delete(f"{one}/{number}")
    api.post(f"Sections/{project}", {"name": "Spare again"})
    api.delete(f"Sections/{project}", name="Spare again")
    return {**kinds, "video": videos, "image": images}


def bring_in(api: Api, project: int, kinds: dict[str, int]) -> tuple[int, int]:
    api.get(f"UploadInfo/{project}", filename="transect.mp4")
    url = uploaded(api, project, video(50), "transect.mp4")
    body = {
        "type": kinds["video"],
        "url": url,
        "name": "transect.mp4",
        "gid": str(uuid.uuid4()),
        "uid": str(uuid.uuid4()),
        "section": "North",
    }
    started = api.post(f"Transcodes/{project}", body).json
    api.get(f"Transcode/{started['id']}")
    api.get(f"Transcodes/{project}")
    api.put(f"Transcodes/{project}", {"ids": [started["media_id"]]})
    api.drain()
    url = uploaded(api, project, picture(), "quadrat.jpg")
    photo = api.post(
        f"Medias/{project}", {"type": kinds["image"], "url": url, "name": "quadrat.jpg", "section": "North", "md5": "…"}
    ).json
    api.drain()
    uid = api.post(f"Transcodes/{project}", {**body, "name": "again.mp4", "uid": str(uuid.uuid4())}).json["id"]
    api.delete(f"Transcode/{uid}")
    api.delete(f"Transcodes/{project}", media_id=started["media_id"])
    return started["media_id"], photo["id"] if isinstance(photo["id"], int) else photo["id"][0]


def sources(api: Api, organization: int, project: int, kinds: dict[str, int]) -> None:
    store = {
        "access_key": "AKEXAMPLE",
        "secret_key": "EXAMPLE",
        "endpoint_url": "https://s3.example.org",
        "region": "eu",
    }
    bucket = api.post(f"Buckets/{organization}", {"name": "lake-archive", **store}).json["id"]
    body = {
        "name": "Lake 2026",
        "bucket": bucket,
        "prefix": "lake/2026/",
        "media_types": [
            {"extension": "mp4", "type": kinds["video"]},
            {"extension": "jpg", "type": kinds["image"]},
        ],
        "section": kinds["section"],
    }
    number = records(api, "BucketSources", "BucketSource", project, body, {"pattern": "*/transect-*"})
    api.delete(f"BucketSource/{number}")


def annotate(api: Api, project: int, kinds: dict[str, int], media: int, image: int) -> None:
    boxes = [
        {"type": kinds["box"], "media_id": media, "frame": frame, "x": 0.1, "y": 0.2, "width": 0.3, "height": 0.2,
         "attributes": {"Species": "Gadus morhua", "Score": 0.9}}
        for frame in (0, 5, 10, 15)
    ]  # fmt: skip
    made = api.post(f"Localizations/{project}", boxes).json["id"]
    for word, plural, number in (("Localization", "Localizations", made[0]),):
        api.get(f"{plural}/{project}", attribute="Species::Gadus morhua", stop=2)
        api.put(f"{plural}/{project}", {"object_search": {"attribute": "Score", "operation": "gt", "value": 0.5}})
        api.get(f"{word}Count/{project}", media_id=media)
        api.put(f"{word}Count/{project}", {"ids": made})
        api.get(f"{word}/{number}")
        api.patch(f"{word}/{number}", {"x": 0.15})
    api.patch(f"Localizations/{project}", {"ids": made[1:3], "attributes": {"Score": 0.95}})
    shown = api.get(f"Localization/{made[1]}").json
    element = f"Localization/{shown['version']}/{shown['elemental_id']}"
    api.get(element)
    api.patch(element, {"y": 0.25})
    track = {"type": kinds["track"], "media_ids": [media], "frame": 0, "attributes": {"Species": "Gadus morhua"}}
    tracks = api.post(
        f"States/{project}",
        [
            {**track, "localization_ids": made[:2]},
            {**track, "localization_ids": made[2:]},
            {**track, "localization_ids": []},
        ],
    ).json["id"]
    api.get(f"States/{project}", media_id=media)
    api.put(f"States/{project}", {"ids": tracks})
    api.get(f"StateCount/{project}")
    api.put(f"StateCount/{project}", {"ids": tracks})
    api.get(f"State/{tracks[0]}")
    api.patch(f"State/{tracks[0]}", {"attributes": {"Species": "Gadus macrocephalus"}})
    api.patch(f"States/{project}", {"ids": tracks, "attributes": {"Species": "Gadus morhua"}})
    shown = api.get(f"State/{tracks[2]}").json
    element = f"State/{shown['version']}/{shown['elemental_id']}"
    api.get(element)
    api.patch(element, {"frame": 3})
    api.delete(element, {"prune": 0})
    api.patch(f"MergeStates/{tracks[0]}", {"merge_state_id": tracks[1]})
    api.patch(f"TrimStateEnd/{tracks[0]}", {"frame": 10, "endpoint": "end"})
    root = api.post(f"Leaves/{project}", [{"name": "Animalia", "type": kinds["leaf"], "parent": None}]).json["id"][0]
    leaves = api.post(f"Leaves/{project}", [{"name": "Chordata", "type": kinds["leaf"], "parent": root}]).json["id"]
    api.get(f"Leaves/{project}", depth=0)
    api.put(f"Leaves/{project}", {"ids": leaves})
    api.get(f"LeafCount/{project}")
    api.put(f"LeafCount/{project}", {"ids": leaves})
    shown = api.get(f"Leaf/{leaves[0]}").json
    api.patch(f"Leaf/{leaves[0]}", {"name": "Chordates"})
    api.patch(f"Leaves/{project}", {"ids": leaves, "attributes": {"Species": ""}})
    api.get(f"Leaves/Suggestion/{shown['path'].split('.')[0]}/{project}", query="Cho")
    api.delete(f"Leaf/{leaves[0]}")
    api.delete(f"Leaves/{project}", {"ids": [root]})
    api.get(f"LocalizationGraphic/{made[0]}")
    api.get(f"StateGraphic/{tracks[0]}", mode="tile")
    shown = api.post(f"Localizations/{project}", [{**boxes[0], "frame": 20}, {**boxes[0], "frame": 21}]).json["id"]
    api.delete(f"Localization/{shown[0]}", {"prune": 0})
    shown = api.get(f"Localization/{shown[1]}").json
    api.delete(f"Localization/{shown['version']}/{shown['elemental_id']}", {"prune": 0})
    [spare] = api.post(f"States/{project}", [track]).json["id"]
    api.delete(f"State/{spare}", {"prune": 0})


def look(api: Api, project: int, kinds: dict[str, int], media: int) -> None:
    api.get(f"Medias/{project}", section=kinds["section"])
    api.put(f"Medias/{project}", {"ids": [media]})
    api.get(f"MediaCount/{project}")
    api.put(f"MediaCount/{project}", {"ids": [media]})
    api.get(f"Media/{media}", presigned=3600)
    api.patch(f"Media/{media}", {"attributes": {"Score": 0.8}})
    api.patch(f"Medias/{project}", {"ids": [media], "attributes": {"Score": 0.7}})
    video_file = api.get(f"VideoFile/{media}", role="streaming", index=0).json
    image_file = api.get(f"ImageFile/{media}", role="thumbnail", index=0).json
    key = api.get(f"UploadInfo/{project}", media_id=media, filename="notes.txt").json["key"]
    objects.write(key, b"Notes of the dive")
    definitions = {
        "Video": ("archival", {**video_file, "segment_info": None}),
        "Image": ("image", image_file),
        "Audio": ("audio", {"path": key, "codec": "aac"}),
        "Auxiliary": ("attachment", {"path": key, "name": "notes.txt", "mime": "text/plain"}),
    }
    for word, (role, body) in definitions.items():
        found = {name: value for name, value in body.items() if value is not None}
        api.post(f"{word}Files/{media}", found, role=role)
        api.get(f"{word}Files/{media}", role=role)
        api.get(f"{word}File/{media}", role=role, index=0)
        api.patch(f"{word}File/{media}", found, role=role, index=0)
        api.delete(f"{word}File/{media}", role=role, index=0)
    upload = api.get(f"UploadInfo/{project}", filename="transect.mp4", num_parts=2).json
    parts = [
        {"PartNumber": part, "ETag": objects.put_part(upload["key"], upload["upload_id"], part, b"x" * 5_242_880)}
        for part in (1, 2)
    ]
    api.post(f"UploadCompletion/{project}", {"key": upload["key"], "upload_id": upload["upload_id"], "parts": parts})
    moved = {"attachment": [{"path": upload["key"], "name": "transect.mp4"}]}
    api.post(f"MoveVideo/{media}", {"media_files": moved})
    api.post(
        f"CloneMedia/{project}",
        {"dest_project": project, "dest_type": kinds["video"], "dest_section": "Copies"},
        media_id=media,
    )
    api.get(f"VideoFiles/{media}", role="streaming")
    api.get(f"VideoFile/{media}", role="streaming", index=0)
    api.get(f"ImageFiles/{media}", role="thumbnail")
    api.get(f"ImageFile/{media}", role="thumbnail", index=0)
    api.get(f"AudioFiles/{media}")
    api.get(f"AuxiliaryFiles/{media}")
    api.get(f"MediaNext/{media}")
    api.get(f"MediaPrev/{media}")
    api.get(f"MediaStats/{project}")
    api.get(f"GetClonedMedia/{media}")
    api.get(f"GetFrame/{media}", frames="10")
    api.get(f"FrameTimes/{media}", start="10", stop="12")
    api.get(f"GetClip/{media}", frameRanges="0:24")
    api.get(f"Permalink/{media}", element="thumbnail")
    api.get(f"ChangeLog/{project}", entity_type="media", entity_id=media)
    api.get(f"Events/{project}", after=0, limit=2)
    api.get(f"History/{project}/media/{media}")
    api.patch(f"AnnotationFrames/{project}", {"shift": 1}, media_id=media, dry_run="true")
    csv = f"id,Score\n{media},0.6\n".encode()
    api.ask("PATCH", f"AttributeValues/{project}", raw=csv, kind="media")
    api.get(f"Statistics/{project}", kind="localization", group_by="Species", measure="count")
    search = {"attribute": "Score", "operation": "gt", "value": 0.5}
    api.put(f"Statistics/{project}", {"object_search": search}, facets="Species")


def assist(api: Api, project: int) -> None:
    kind = next(each["id"] for each in api.get(f"LocalizationTypes/{project}").json if each["dtype"] == "box")
    body = {"name": "fish", "type": kind, "algorithm": "Count animals", "label_attribute": "Species"}
    body |= {"confidence_attribute": "Score", "model_version": "2.1"}
    number = records(api, "Annotators", "Annotator", project, body, {"name": "Fish"})
    api.post(f"Drafts/{number}", {"decision": "reject", "labels": ["Gadus morhua"], "most": 0.5})
    api.post(f"ReviewQueue/{project}", {"order": "uncertain", "type": kind, "attribute": "Score", "count": 2})
    api.delete(f"Annotator/{number}")


def automate(api: Api, organization: int, project: int, media: int) -> None:
    url = uploaded(api, project, MANIFEST, "count.yaml")
    manifest = api.post(f"SaveAlgorithmManifest/{project}", {"name": "count.yaml", "upload_url": url}).json["url"]
    assert api.user
    body = {"name": "Count animals", "user": api.user.id, "manifest": manifest, "files_per_job": 10}
    algorithm = records(api, "Algorithms", "Algorithm", project, body, {"description": "Counts animals"})
    api.get(f"Jobs/{project}")
    api.get(f"JobGroups/{project}")
    page = api.post(
        f"SaveGenericFile/{project}", {"name": "chart.html", "upload_url": uploaded(api, project, b"<p>", "chart.html")}
    ).json["url"]
    number = records(
        api, "Applets", "Applet", project, {"name": "Chart", "html_file": page}, {"description": "A chart"}
    )
    api.delete(f"Applet/{number}")
    number = records(
        api, "Analyses", "Analysis", project, {"name": "Cod", "data_query": "Species:Gadus*"}, {"name": "Cods"}
    )
    api.delete(f"Analysis/{number}")
    rule = {"name": "Count", "types": ["limn.media.ready"], "algorithm": "Count animals"}
    number = records(api, "TriggerRules", "TriggerRule", project, rule, {"active": False})
    api.delete(f"TriggerRule/{number}")
    assist(api, project)
    api.delete(f"Algorithm/{algorithm}")
    frozen = api.post(f"Datasets/{project}", {"name": "Cod of May"}).json["id"]
    api.get(f"Datasets/{project}")
    api.drain()
    other = api.post(f"Datasets/{project}", {"name": "Cod of June"}).json["id"]
    api.drain()
    api.get(f"Dataset/{frozen}")
    api.get(f"DatasetComparison/{other}", base=frozen)
    share(api, project, frozen)
    api.delete(f"Dataset/{other}")
    started = api.post(f"Exports/{project}", {"format": "coco"}).json["id"]
    api.get(f"Exports/{project}")
    api.drain()
    api.get(f"Export/{started}")
    api.delete(f"Export/{started}")


def take_down(api: Api, organization: int, project: int, media: int, image: int) -> None:
    [cod] = api.get(f"Localizations/{project}", stop=1).json
    api.delete(f"Localization/{cod['id']}", {"prune": 0})
    entries = api.get(f"History/{project}/localization/{cod['id']}").json
    api.post(f"Restore/{project}", {"changes": [each["change"] for each in entries if each["action"] == "deleted"]})
    api.delete(f"States/{project}")
    api.delete(f"Localizations/{project}")
    api.delete(f"Media/{image}")
    api.delete(f"Medias/{project}", {"ids": [media]})
    api.drain()
    api.delete(f"Project/{project}")
    api.delete(f"Organization/{organization}")


def share(api: Api, project: int, frozen: str) -> None:
    """Share a version, and open the project; the tokens of links are not recorded."""
    boxes = api.get(f"Localizations/{project}").json
    api.get(f"DatasetRows/{frozen}", media_id=boxes[0]["media"])
    number = Api(api.user, api.token).made(f"ShareLinks/{project}", {"dataset": frozen, "name": "For the museum"})
    api.get(f"ShareLinks/{project}")
    api.get(f"ShareLink/{number}")
    api.patch(f"ShareLink/{number}", {"most_openings": 20})
    api.delete(f"ShareLink/{number}")
    Api(api.user, api.token).patch(f"Project/{project}", {"public": "listed"})
    api.get("PublicProjects")
    Api(api.user, api.token).patch(f"Project/{project}", {"public": None})
