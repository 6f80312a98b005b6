"""A request that works for every operation that writes, made from the catalogue.

It has the smallest valid body, with what must name something that exists.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import msgspec

from chalicelib.access import passwords
from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.accounts import USER
from chalicelib.core.algorithms import ALGORITHM
from chalicelib.core.personal import ANNOUNCEMENT, Announcement
from chalicelib.core.resource import now
from chalicelib.resources.webhooks import delivery
from chalicelib.resources.webhooks.schemas import WEBHOOK
from chalicelib.storage.dynamodb import ids, records, streams
from tests import objects
from tests.contract import world as worlds
from tests.contract.examples import body_of, query_of
from tests.resources.algorithms.test_algorithms import MANIFEST
from tests.resources.media.samples import picture

MANY = 12
"""So many are created as a batch of rows and a commit, not as one transaction."""
READS = frozenset({"GetDownloadInfo", "PredictBoxes"})
"""Operations that only read, though their method is not GET; beside those whose id ends so:"""
READ_ENDINGS = ("ListById", "CountById")
ELSEWHERE = frozenset({"CreateJobList", "AlgorithmLaunch", "Annotate", "DeleteJobList", "UpdateJob"})
"""Writing operations that test_job_sweep.py sweeps, for it looks at their engine as well."""
MORE = ["CreateLocalizationList of one", "CreateMediaList by URL", "CreateMediaList of many"]
"""Other ways through an operation than the shortest. Uploads of tus are swept in test_tus_crashes.py."""
PASSWORD = "Kj3!xm-w92ns"
_CASCADE = "what depends on it goes first, a commit for each hundred; asked again it goes on"
IN_PARTS = {
    "DeleteOrganization": "it is marked as closing, then emptied; asked again it goes on",
    "DeleteProject": "members lose it at once, the purge that was ordered before takes the rest",
    "CreateAttributeType": "the type first, then its things, a commit for each hundred; asked again it goes on",
    "DeleteTranscodeList": "one after the other; asked again it goes on",
    "DeleteMedia": _CASCADE,
    "DeleteMediaList": _CASCADE,
}
"""Workflows that a crash leaves half done, for all to see, until they are asked for again; and why."""
LEAVES = ("_uploads/", "_temporary/")
"""Beginnings of keys whose objects nobody need name: rules of the bucket remove uploads and temporary files
after days.
"""
ANSWERED = {"SaveAlgorithmManifest", "SaveGenericFile"}
"""Workflows whose object is named by their answer alone: a client that was not answered leaves a small file."""
NOTICED = {"CreateMembership", "CreateUser"}
"""Workflows that the operator's people hear of by mail: it stands in nobody's way, and goes after what it tells of."""
LEFT_TO_A_QUEUE = {"DeleteProject"}
"""Of these, those that are not found when asked for again: a message that was sent before the first change goes on."""


@dataclass(frozen=True)
class Workflow:
    """A request, by the operation it asks for."""

    name: str
    method: str
    path: str
    body: Any = None
    who: Any = None
    """Who asks, where it is not the owner of everything."""
    query: dict[str, Any] = field(default_factory=dict)

    def ask(self, api):
        given = {"raw": self.body} if isinstance(self.body, bytes) else {"body": self.body}
        return (self.who or api).ask(self.method, self.path, **given, **self.query)


def writing():
    """Every operation that writes."""
    return [
        operation
        for operation in OPERATIONS
        if operation.method != "GET" and operation.id not in READS and not operation.id.endswith(READ_ENDINGS)
    ]


def build():
    """A world with enough in it that every operation has something to do."""
    world = worlds.build()
    owner, things = world.owner, world.things
    project, organization, media = things["project"], things["organization"], things["media"]
    folder = f"{organization}/{project}/{media}"
    things["folder"] = folder
    for name in ("a.mp4", "a.json", "b.mp4", "b.json", "a.jpg", "b.jpg", "a.m4a", "b.m4a", "a.txt", "b.txt"):
        objects.write(f"{folder}/{name}", b"x" * 10)
    owner.post(f"VideoFiles/{media}", _video(folder, "a"), role="streaming")
    owner.post(f"ImageFiles/{media}", _image(folder, "a"), role="thumbnail")
    owner.post(f"AudioFiles/{media}", _audio(folder, "a"))
    owner.post(f"AuxiliaryFiles/{media}", _other(folder, "a"))
    things["second_media"] = owner.made(f"Medias/{project}", {"type": things["media_type"], "name": "b", "md5": ""})
    state = {"media_ids": [media], "type": things["state_type"]}
    things["image_type"] = owner.made(f"MediaTypes/{project}", {"name": "image", "dtype": "image"})
    things["second_state"] = owner.made(f"States/{project}", state)[0]
    spec = {"name": "track", "association": "Localization", "media_types": [things["media_type"]]}
    track_type = owner.made(f"StateTypes/{project}", spec)
    box = {"media_id": media, "type": things["localization_type"]}
    members = owner.made(f"Localizations/{project}", [{**box, "frame": 10 * number} for number in range(4)])
    track = {"media_ids": [media], "type": track_type, "localization_ids": members}
    things["track"] = owner.made(f"States/{project}", [track])[0]
    announced = Announcement(
        id=ids.reserve(ANNOUNCEMENT.name)[0], user=owner.user.id, markdown="x", created_datetime=now(),
        eol_datetime="2999-01-01T00:00:00.000Z",
    )  # fmt: skip
    things["announcement"] = records.create(ANNOUNCEMENT, announced).id
    boxes = [{"media_id": media, "type": things["localization_type"], "frame": n} for n in range(MANY)]
    owner.made(f"Localizations/{project}", boxes)
    owner.made(f"States/{project}", [state] * MANY)
    owner.made(f"Leaves/{project}", [{"name": f"leaf {n}", "type": things["leaf_type"]} for n in range(MANY)])
    for kind in ("media_type", "localization_type"):
        attribute = {"name": "Kind", "dtype": "string"}
        owner.post(f"AttributeType/{things[kind]}", {"entity_type": _ENTITY[kind], "addition": attribute})
    favorite = {"name": "f", "entity_type_name": "Localization", "type": things["localization_type"], "values": {}}
    things["favorite"] = owner.made(f"Favorites/{project}", favorite)
    for name, content in (("manifest", MANIFEST.encode()), ("page", b"<html></html>"), ("picture", picture(64, 48))):
        key = f"_uploads/2026-01-01/{organization}/{project}/{owner.user.id}/{name}"
        objects.write(key, content)
        things[name] = objects.presign_get(key, 600)
        things["archive"] = key  # of an import, whose messages are not worked off here
    saved = {"name": "m.yaml", "upload_url": things["manifest"]}
    things["saved_manifest"] = owner.post(f"SaveAlgorithmManifest/{project}", saved).json["url"]
    saved = {"name": "p.html", "upload_url": things["page"]}
    things["saved_page"] = owner.post(f"SaveGenericFile/{project}", saved).json["url"]
    _build_more(world)
    return world


def _build_more(world):
    """What few operations need."""
    owner, things = world.owner, world.things
    project, organization = things["project"], things["organization"]
    hashed = passwords.hash_password(PASSWORD)
    records.edit(USER, world.owner.user.id, lambda user: msgspec.structs.replace(user, password_hash=hashed))
    owner.post("Token", {"username": world.owner.user.username, "password": PASSWORD})
    things["second_token"] = owner.get("Token").json[-1]["id"]
    things["empty_organization"] = owner.made("Organizations", {"name": "empty"})
    for kind, spec in (("bucket", _BUCKET), ("jobcluster", _CLUSTER)):
        things[kind] = owner.made(f"{'Buckets' if kind == 'bucket' else 'JobClusters'}/{organization}", spec)
    things["newcomer"] = world.stranger.user.id
    upload = owner.get(f"UploadInfo/{project}", filename="big.bin", num_parts=2).json
    things["upload"] = upload
    place = {"Bucket": objects.bucket_of(upload["key"]), "Key": upload["key"], "UploadId": upload["upload_id"]}
    things["parts"] = [
        {"PartNumber": number, "ETag": objects.client().upload_part(**place, PartNumber=number, Body=body)["ETag"]}
        for number, body in ((1, bytes(5 * 1024 * 1024)), (2, b"y"))
    ]
    for affiliation in owner.get(f"Affiliations/{organization}").json:
        things["other_affiliation" if affiliation["user"] != things["user"] else "affiliation"] = affiliation["id"]
    invited = owner.post(f"Invitations/{organization}", {"email": world.stranger.user.email, "permission": "Member"})
    things["invited"] = invited.json["id"]
    things["registration_token"] = invited.message.rpartition("registration_token=")[2]
    spec = {"permission": 1, "project": project, "user": things["user"]}
    things["row_protection"] = owner.made("RowProtections", spec)
    spec = {"type": things["media_type"], "uid": "11111111-1111-1111-8111-111111111111", "name": "t.mp4", "md5": ""}
    spec |= {"gid": "22222222-2222-1222-8222-222222222222", "url": things["picture"]}
    owner.post(f"Transcodes/{project}", spec)
    things["transcode"] = spec["uid"]
    _build_changes(world)


def _build_changes(world):
    """What checked bulk changes, webhooks and restores need."""
    owner, things = world.owner, world.things
    project, other = things["project"], things["second_media"]
    folder = f"{things['organization']}/{project}/{other}"
    objects.write(f"{folder}/ctd.csv", b"time,depth\n0,10\n2,20\n")
    owner.patch(f"Media/{other}", {"fps": 10.0, "num_frames": 100})
    attachment = {"path": f"{folder}/ctd.csv", "name": "ctd.csv"}
    assert owner.post(f"AuxiliaryFiles/{other}", attachment, role="attachment").status == 201
    linked = {"codec": "h264", "resolution": [1, 1], "reference_only": 1, "path": f"{_OLD}x.mp4"}
    assert owner.post(f"VideoFiles/{other}", linked, role="streaming").status == 201
    box = {"media_id": other, "type": things["localization_type"]}
    *_, gone = owner.made(f"Localizations/{project}", [{**box, "frame": frame} for frame in (0, 19, 20)])
    owner.ask("DELETE", f"Localization/{gone}", {"prune": 1})
    things["deletion"] = owner.get(f"History/{project}/localization/{gone}").json[-1]["change"]
    streams.add(delivery.WORD, project, things[WEBHOOK.name], "0")


def show(world):
    """Add a picture with boxes and a track of them, which operations that draw have something to draw of."""
    owner, things = world.owner, world.things
    project, organization = things["project"], things["organization"]
    shown = owner.made(f"Medias/{project}", {"type": things["image_type"], "name": "shown.jpg", "md5": ""})
    key = f"{organization}/{project}/{shown}/shown.png"
    objects.write(key, picture(64, 48))
    file = {"path": key, "resolution": [48, 64], "mime": "image/png"}
    assert owner.post(f"ImageFiles/{shown}", file, role="image").status == 201
    types = {"media_types": [things["image_type"]]}
    kind = owner.made(f"LocalizationTypes/{project}", {"name": "drawn", "dtype": "box", **types})
    shape = {"x": 0.1, "y": 0.1, "width": 0.5, "height": 0.5, "frame": 0}
    things["drawn"] = owner.made(f"Localizations/{project}", [{"media_id": shown, "type": kind, **shape}])[0]
    track = owner.made(f"StateTypes/{project}", {"name": "drawn", "association": "Localization", **types})
    spec = {"media_ids": [shown], "type": track, "localization_ids": [things["drawn"]]}
    things["drawn_track"] = owner.made(f"States/{project}", [spec])[0]
    things["shown"], things["shown_key"] = shown, key


def reads(world):
    """A request that works for every operation that reads, in a world with `show`."""
    things = world.things
    first = {"query": {"index": 0}}
    change = {
        "GetUserList": {"query": {"username": world.owner.user.username}},
        "UserExists": {"query": {"username": world.owner.user.username}},
        "GetDownloadInfo": {"body": {"keys": [things["shown_key"]]}},
        "GetVideoFile": {"query": {"index": 0, "role": "streaming"}},
        "GetImageFile": {"query": {"index": 0, "role": "thumbnail"}},
        "GetAudioFile": first,
        "GetAuxiliaryFile": first,
        "GetFrame": {"variables": {"id": things["shown"]}},
        "GetLocalizationGraphic": {"variables": {"id": things["drawn"]}},
        "GetStateGraphic": {"variables": {"id": things["drawn_track"]}},
        "GetPermalink": {"variables": {"id": things["shown"]}, "query": {"element": "image"}},
        "GetChangeLogList": {"query": {"entity_type": "media"}},
    }
    writes = {operation.id for operation in writing()}
    return [
        _workflow(operation, world, change.get(operation.id)) for operation in OPERATIONS if operation.id not in writes
    ]


def workflows(world):
    """A request for every writing operation that is swept here, and for further ways through some."""
    made = [_workflow(operation, world) for operation in writing() if operation.id not in ELSEWHERE]
    return made + _more(world)


def _workflow(operation, world, change=None):
    path = operation.path
    variables = world.variables(operation)
    change = change or _overrides(world).get(operation.id, {})
    variables |= change.get("variables", {})
    for name, value in variables.items():
        path = path.replace("{" + name + "}", str(value))
    body = body_of(operation)
    if "body" in change:
        body = change["body"]
    elif "also" in change:
        body |= change["also"]
    query = {**query_of(operation), **change.get("query", {})}
    return Workflow(operation.id, operation.method, path, body, change.get("who"), query)


_BUCKET = {"name": "b", "access_key": "AK", "secret_key": "s", "endpoint_url": "https://s3.example.org", "region": "eu"}
_CLUSTER = {"name": "c", "host": "c.example.org", "port": 443, "token": "t", "cert": "c"}
_HOOK = {"name": "h", "url": "https://templates.example.org/hook", "types": ["*"]}
_OLD, _NEW = "https://old.example.org/a/", "https://new.example.org/b/"
_ENTITY = {"media_type": "MediaType", "localization_type": "LocalizationType"}


def _video(folder, name):
    return {
        "path": f"{folder}/{name}.mp4",
        "segment_info": f"{folder}/{name}.json",
        "codec": "h264",
        "resolution": [1, 2],
    }


def _image(folder, name):
    return {"path": f"{folder}/{name}.jpg", "resolution": [1, 2], "mime": "image/jpeg"}


def _audio(folder, name):
    return {"path": f"{folder}/{name}.m4a", "codec": "aac"}


def _other(folder, name):
    return {"path": f"{folder}/{name}.txt", "name": "t"}


def _overrides(world):  # one line per operation
    things, folder = world.things, world.things["folder"]
    named = {"also": {"name": "another name"}}
    box = {"media_id": things["media"], "type": things["localization_type"], "frame": 0}
    media = {"type": things["media_type"], "name": "c.mp4", "md5": ""}
    of_all = {"query": {"media_id": things["media"], "type": things["localization_type"], "count": MANY + 5}}
    streaming, thumbnail = {"query": {"role": "streaming", "index": 0}}, {"query": {"role": "thumbnail", "index": 0}}
    attribute = {"entity_type": "LocalizationType", "current_name": "Kind"}
    changed = {"attributes": {"Kind": "x"}}
    transcode = {"type": things["media_type"], "name": "t.mp4", "md5": "", "url": things["picture"]}
    transcode |= {"uid": "33333333-3333-1333-8333-333333333333", "gid": "44444444-4444-1444-8444-444444444444"}
    localization_type = {"variables": {"id": things["localization_type"]}}
    account = {"username": "ada", "first_name": "Ada", "last_name": "L", "email": "ada@example.org"}
    annotator = {"type": things["localization_type"], "algorithm": records.get(ALGORITHM, things["algorithm"]).name}
    rule = {"name": "r", "types": ["limn.media.ready"], "algorithm": annotator["algorithm"]}
    of_second = {"query": {"media_id": things["second_media"]}}
    manifest, page = {"manifest": things["saved_manifest"]}, {"html_file": things["saved_page"]}
    return {
        "CreateUser": {"body": {**account, "password": PASSWORD}},
        "CreateObtainAuthToken": {"body": {"username": world.owner.user.username, "password": PASSWORD}},
        "UpdateUser": {"variables": {"id": things["user"]}, "body": {"first_name": "Grace"}},
        "DeleteToken": {"query": {"id": things["second_token"]}},
        "CreatePasswordReset": {"body": {"email": world.owner.user.email}},
        "UpdateOrganization": named,
        "UpdateAffiliation": {"also": {"permission": "Admin"}, "variables": {"id": things["other_affiliation"]}},
        "CreateAffiliation": {"also": {"user": things["newcomer"]}},
        "CreateInvitation": {"also": {"email": "new@example.org"}},
        "UpdateInvitation": {"also": {"permission": "Member"}},
        "AcceptInvitation": {"body": {"registration_token": things["registration_token"]}, "who": world.stranger},
        "UpdateGroup": {"also": {"name": "another name", "add_members": [things["user"]]}},
        "CreateBucket": {"body": {**_BUCKET, "name": "new"}},
        "DeleteOrganization": {"variables": {"id": things["empty_organization"]}},
        "UpdateBucket": {"also": {"name": "another-name"}},
        "CreateBucketSource": {
            "also": {
                "bucket": things["bucket"],
                "prefix": "survey/",
                "media_types": [{"extension": "mp4", "type": things["media_type"]}],
            }
        },
        "UpdateBucketSource": named,
        "UpdateJobCluster": named,
        "CreateHostedTemplate": {"also": {"url": "https://templates.example.org/t.yaml"}},
        "UpdateHostedTemplate": named,
        "CreateProject": {"also": {"organization": things["organization"]}},
        "UpdateProject": named,
        **{
            f"Create{kind}Type": {"also": {"media_types": [things["media_type"]]}} for kind in ("Localization", "State")
        },
        "CreateMembership": {"also": {"user": things["newcomer"]}},
        "UpdateMembership": {"also": {"permission": "Full Control", "default_version": things["version"]}},
        **{f"Update{kind}Type": named for kind in ("Media", "Localization", "State", "Leaf", "File")},
        "CreateAttributeType": {
            **localization_type,
            "body": {"entity_type": "LocalizationType", "addition": {"name": "Depth", "dtype": "int", "default": 1}},
        },
        "UpdateAttributeType": {
            **localization_type,
            "body": {**attribute, "attribute_type_update": {"name": "Sort", "dtype": "string"}},
        },
        "ReplaceAttributeType": {
            **localization_type,
            "body": {**attribute, "attribute_type_update": {"name": "Sort", "dtype": "string"}},
        },
        "DeleteAttributeType": {**localization_type, "body": {"entity_type": "LocalizationType", "name": "Kind"}},
        "UpdateVersion": named,
        "UpdateSection": named,
        "UpdateSectionList": {"also": {"path_substitution": {"old": "section", "new": "part"}}},
        "CreateImport": {"body": {"format": "coco", "key": things["archive"]}},
        "CompleteUpload": {
            "body": {
                "key": things["upload"]["key"],
                "upload_id": things["upload"]["upload_id"],
                "parts": things["parts"],
            }
        },
        "CreateMediaList": {"body": [media]},
        "UpdateMediaList": {"body": changed, "query": {"type": things["media_type"], "count": 3}},
        "DeleteMediaList": {"body": {}, "query": {"type": things["media_type"], "count": 3}},
        "UpdateMedia": {"body": {"name": "d", **changed}},
        "CreateVideoFile": {**streaming, "body": _video(folder, "b")},
        "UpdateVideoFile": {**streaming, "body": _video(folder, "b")},
        "DeleteVideoFile": streaming,
        "CreateImageFile": {**thumbnail, "body": _image(folder, "b")},
        "UpdateImageFile": {**thumbnail, "body": _image(folder, "b")},
        "DeleteImageFile": thumbnail,
        "CreateAudioFile": {"body": _audio(folder, "b"), "query": {"index": 0}},
        "UpdateAudioFile": {"body": _audio(folder, "b"), "query": {"index": 0}},
        "DeleteAudioFile": {"query": {"index": 0}},
        "CreateAuxiliaryFile": {"body": _other(folder, "b"), "query": {"index": 0}},
        "UpdateAuxiliaryFile": {"body": _other(folder, "b"), "query": {"index": 0}},
        "DeleteAuxiliaryFile": {"query": {"index": 0}},
        "CloneMediaList": {
            "also": {"dest_project": things["project"], "dest_type": things["media_type"]},
            "query": {"media_id": things["media"]},
        },
        "MoveVideo": {"body": {"media_files": {"attachment": [{"path": things["archive"], "name": "b.txt"}]}}},
        "Transcode": {"body": transcode},
        "TranscodeOlder": {"body": transcode},
        "DeleteTranscodeList": {"query": {}},
        "DeleteTranscode": {"variables": {"uid": things["transcode"]}},
        "SaveAlgorithmManifest": {"body": {"name": "n.yaml", "upload_url": things["manifest"]}},
        **{f"{verb}Annotator": {"also": annotator} for verb in ("Create", "Update")},
        "RegisterAlgorithm": {"also": {**manifest, "user": things["user"]}},
        "UpdateAlgorithm": {"also": {"name": "another name", **manifest}},
        "SaveGenericFile": {"body": {"name": "q.html", "upload_url": things["page"]}},
        "RegisterApplet": {"also": page},
        "UpdateApplet": {"also": {"name": "another name", **page}},
        "UpdateAnalysis": named,
        "CreateTemporaryFile": {"also": {"url": things["page"], "name": "t.html", "lookup": "l"}},
        "CreateFile": {"also": {"type": things["file_type"]}},
        "UpdateFile": named,
        "CreateLocalizationList": {"body": [box] * MANY},
        "UpdateLocalizationList": {**of_all, "body": changed},
        "DeleteLocalizationList": {**of_all, "body": {}},
        "UpdateLocalization": {"body": {"frame": 3}},
        "UpdateLocalizationByElementalId": {"body": {"frame": 3}},
        "CreateStateList": {"body": [{"media_ids": [things["media"]], "type": things["state_type"]}] * MANY},
        "UpdateState": {"body": {"frame": 3}},
        "UpdateStateByElementalId": {"body": {"frame": 3}},
        "UpdateStateList": {"query": {"type": things["state_type"]}, "body": {"new_version": things["version"]}},
        "TrimStateEnd": {"variables": {"id": things["track"]}, "body": {"frame": 15, "endpoint": "end"}},
        "DeleteAnnouncement": {"variables": {"id": things["announcement"]}},
        "MergeStates": {"body": {"merge_state_id": things["second_state"]}},
        "CreateLeafList": {"body": [{"name": f"new {n}", "type": things["leaf_type"]} for n in range(MANY)]},
        "UpdateLeaf": named,
        "SendEmail": {"also": {"recipients": [world.owner.user.email]}},
        "UpdateBookmark": named,
        "CreateFavorite": {"also": {"type": things["localization_type"], "entity_type_name": "Localization"}},
        "UpdateFavorite": named,
        "CreateRowProtection": {"body": {"permission": 1, "media": things["media"], "user": things["newcomer"]}},
        "UpdateRowProtection": {"variables": {"id": things["row_protection"]}, "body": {"permission": 3}},
        "DeleteRowProtection": {"variables": {"id": things["row_protection"]}},
        "CreateWebhook": {"body": _HOOK},
        "CreateOrganizationWebhook": {"body": _HOOK},
        "UpdateWebhook": named,
        "RedeliverEvents": {"body": {"after": "0"}},
        "CreateTriggerRule": {"body": rule},
        "UpdateTriggerRule": {"body": rule},
        "Restore": {"body": {"changes": [things["deletion"]]}},
        "UpdateAnnotationFrames": {**of_second, "body": {"shift": 5}},
        "UpdateAttributeValues": {"body": f"id,Kind\n{things['localization']},reef\n".encode()},
        "UpdateTelemetryValues": {**of_second, "body": {"file": "ctd.csv", "columns": {"Kind": "depth"}}},
        "UpdateFileUrls": {"body": {"old": _OLD, "new": _NEW}},
        "DestroyRowProtectionListApi": {"query": {"project": things["project"]}},
    }


def _more(world):
    """Other ways through an operation than the shortest."""
    things, project = world.things, world.things["project"]
    box = {"media_id": things["media"], "type": things["localization_type"], "frame": 0}
    image = {"type": things["image_type"], "name": "p.jpg", "md5": "", "url": things["picture"]}
    return [
        Workflow("CreateLocalizationList of one", "POST", f"/rest/Localizations/{project}", [box]),
        Workflow("CreateMediaList by URL", "POST", f"/rest/Medias/{project}", [image]),
        Workflow(
            "CreateMediaList of many",
            "POST",
            f"/rest/Medias/{project}",
            [{**image, "type": things["image_type"], "name": f"{n}.jpg"} for n in range(MANY)],
        ),
    ]
