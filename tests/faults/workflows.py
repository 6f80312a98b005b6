"""A request that works for every operation that writes, made from the catalogue.

It has the smallest valid body, with what must name something that exists.
"""

from __future__ import annotations

import base64
import time
from dataclasses import dataclass, field
from typing import Any

import msgspec

from chalicelib.access import passwords
from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.models.accounts import USER
from chalicelib.core.models.algorithms import ALGORITHM
from chalicelib.core.models.personal import ANNOUNCEMENT, Announcement
from chalicelib.core.resource import now
from chalicelib.core.values import one_time_codes
from chalicelib.resources.webhooks import delivery
from chalicelib.resources.webhooks.schemas import WEBHOOK
from chalicelib.storage.dynamodb import ids, records
from chalicelib.storage.dynamodb.progress import streams
from tests import objects
from tests.contract import world as worlds
from tests.contract.examples import body_of, query_of
from tests.faults.workflow_calls import (
    BUCKET,
    CLUSTER,
    ENTITY,
    MANY,
    OLD,
    PASSWORD,
    audio_file,
    image_file,
    other_file,
    overrides,
    uid_of,
    video_file,
)
from tests.resources.accounts.authenticator import Authenticator
from tests.resources.algorithms.test_algorithms import MANIFEST
from tests.resources.media.samples import picture

READS = frozenset(
    {
        *("GetDownloadInfo", "SuggestLabels", "FindForReview"),
        *("PredictBoxes", "SegmentObject", "TrackObjects", "ComputeEmbeddings"),
    }
)
"""Operations that only read, though their method is not GET; beside those whose id ends so:"""
READ_ENDINGS = ("ListById", "CountById")
OF_BROWSERS = frozenset({"CreateSession", "DeleteSession", "CreatePasskeyChallenge", "CreatePasskeySession"})
"""They need the headers of a browser, and put or delete one credential in one call: tests/resources/accounts."""
OF_PROVIDERS = frozenset({"BeginSignIn", "RenewSession", "BackChannelLogout"})
"""They need an identity provider that answers: tests/faults/test_sign_in_crashes.py kills them at every call."""
ELSEWHERE = frozenset({"CreateJobList", "AlgorithmLaunch", "Annotate", "Embed", "DeleteJobList", "UpdateJob"})
"""Writing operations that test_job_sweep.py sweeps, for it looks at their engine as well."""
OF_MEASURES = frozenset({"UpdateStereoMeasurements", "MeasureStereo", "UpdateScaledMeasurements", "MeasureScaled"})
"""Operations that need a rig of cameras or a scale (tests/resources/measures). Two store nothing, the others by the
change that UpdateAttributeValues makes, which is swept.
"""
MORE = ["CreateLocalizationList of one", "CreateMediaList by URL", "CreateMediaList of many"]
"""Other ways through an operation than the shortest. Uploads of tus are swept in test_tus_crashes.py."""
_CASCADE = "what depends on it goes first, a commit for each hundred; asked again it goes on"
IN_PARTS = {
    "DeleteOrganization": "it is marked as closing, then emptied; asked again it goes on",
    "DeleteProject": "members lose it at once, the purge that was ordered before takes the rest",
    "CreateAttributeType": "the type first, then its things, a commit for each hundred; asked again it goes on",
    "CreateAnnotator": "the layer of its drafts first; asked again it takes that layer",
    "CreateErasure": "the erasure is recorded, then the account closed; asked again it goes on (decision 207)",
    "CreateTaskList": "the set of honeypots first, then its tasks, a commit for each twenty; asked again it goes on",
    "DeleteHoneypotSet": "the scores first, then the reference is shown again; asked again it goes on",
    "DeleteTranscodeList": "one after the other; asked again it goes on",
    "UpdateNotificationSettings": "the settings as they are by default first; asked again it changes them",
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
_SIGN_INS = {"ConfirmSecondFactor", "CreatePasskey", "DeletePasskey", "DeleteSecondFactor", "ResetSecondFactor"}
NOTICED = {"CreateMembership", "CreateUser", *_SIGN_INS}
"""Workflows that the operator's people, or the user, hear of by mail: it stands in nobody's way, and goes after what it
tells of.
"""
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
        if operation.method != "GET"
        and operation.id not in READS | OF_BROWSERS | OF_PROVIDERS
        and not operation.id.endswith(READ_ENDINGS)
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
    owner.post(f"VideoFiles/{media}", video_file(folder, "a"), role="streaming")
    owner.post(f"ImageFiles/{media}", image_file(folder, "a"), role="thumbnail")
    owner.post(f"AudioFiles/{media}", audio_file(folder, "a"))
    owner.post(f"AuxiliaryFiles/{media}", other_file(folder, "a"))
    things["second_version"] = owner.made(f"Versions/{project}", {"name": "second"})
    dot = {"name": "dot", "dtype": "dot", "media_types": [things["media_type"]]}
    things["dot_type"] = owner.made(f"LocalizationTypes/{project}", dot)
    tasks = owner.post(f"Tasks/{project}", {"name": "survey", "media_ids": [things["media"]]})
    link = owner.post(f"ShareLinks/{project}", {"media_ids": [things["media"]]}).json
    things |= {"own_link": link["id"], "link_token": link["url"].rpartition("/")[2]}
    things["own_access_token"] = owner.post("AccessTokens", {"name": "script"}).json["id"]
    things["waiting_task"] = tasks.json["id"][0]
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
    for kind in ENTITY:
        attribute = {"name": "Kind", "dtype": "string"}
        owner.post(f"AttributeType/{things[kind]}", {"entity_type": ENTITY[kind], "addition": attribute})
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
    guarded = world.members["Can Edit"]
    records.edit(USER, guarded.user.id, lambda user: msgspec.structs.replace(user, password_hash=hashed))
    begun = guarded.post("SecondFactor", {"password": PASSWORD}).json
    present = one_time_codes.code_at(base64.b32decode(begun["secret"]), int(time.time() // one_time_codes.STEP_SECONDS))
    things["recovery_codes"] = guarded.put("SecondFactor", {"code": present}).json["recovery_codes"]
    first, second = (owner.post("PasskeyRegistration", {"password": PASSWORD}).json for _ in range(2))
    things["passkey"] = owner.made("Passkeys", Authenticator().make(first))
    things["new_passkey"] = Authenticator().make(second)
    things["waiting_device"], approved = (owner.post("DeviceAuthorizations", {"name": "d"}).json for _ in range(2))
    things["approved_device"] = approved["device_code"]
    owner.patch("DeviceAuthorization", {"user_code": approved["user_code"], "decision": "approve"})
    things["empty_organization"] = owner.made("Organizations", {"name": "empty"})
    for kind, spec in (("bucket", BUCKET), ("jobcluster", CLUSTER)):
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
    spec = {"type": things["media_type"], "uid": uid_of(world, 1), "name": "t.mp4", "md5": ""}
    spec |= {"gid": uid_of(world, 2), "url": things["picture"]}
    assert owner.post(f"Transcodes/{project}", spec).status == 201
    things["transcode"] = spec["uid"]
    _build_changes(world)


def _build_changes(world):
    """What checked bulk changes, webhooks and restores need."""
    owner, things = world.owner, world.things
    project, other = things["project"], things["second_media"]
    folder = f"{things['organization']}/{project}/{other}"
    objects.write(f"{folder}/ctd.csv", b"time,depth\n0,10\n2,20\n")
    owner.patch(f"Media/{other}", {"fps": 10.0, "num_frames": 100})
    recorded = {"entity_type": "MediaType", "addition": {"name": "Recorded", "dtype": "datetime"}}
    assert owner.post(f"AttributeType/{things['media_type']}", recorded).status == 201
    attachment = {"path": f"{folder}/ctd.csv", "name": "ctd.csv"}
    assert owner.post(f"AuxiliaryFiles/{other}", attachment, role="attachment").status == 201
    linked = {"codec": "h264", "resolution": [1, 1], "reference_only": 1, "path": f"{OLD}x.mp4"}
    assert owner.post(f"VideoFiles/{other}", linked, role="streaming").status == 201
    box = {"media_id": other, "type": things["localization_type"]}
    *_, gone = owner.made(f"Localizations/{project}", [{**box, "frame": frame} for frame in (0, 19, 20)])
    owner.ask("DELETE", f"Localization/{gone}", {"prune": 1})
    algorithm = records.get(ALGORITHM, things["algorithm"]).name
    annotator = {"name": "reviewed", "type": things["localization_type"], "algorithm": algorithm}
    things["reviewed"] = owner.made(f"Annotators/{project}", annotator)
    drafts = owner.get(f"Annotator/{things['reviewed']}").json["drafts"]
    owner.made(f"Localizations/{project}", [{**box, "frame": frame, "version": drafts} for frame in (0, 19)])
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
        "GetUser": {"variables": {"id": things["user"]}},
        "GetAccessToken": {"variables": {"id": things["own_access_token"]}},
        "GetRowProtection": {"variables": {"id": things["row_protection"]}},
        "GetFrame": {"variables": {"id": things["shown"]}},
        "GetLocalizationGraphic": {"variables": {"id": things["drawn"]}},
        "GetStateGraphic": {"variables": {"id": things["drawn_track"]}},
        "GetPermalink": {"variables": {"id": things["shown"]}, "query": {"element": "image"}},
        "GetChangeLogList": {"query": {"entity_type": "media"}},
        "GetSightings": {"query": {"label": "Kind"}},
        "GetSpeciesAccumulation": {"query": {"label": "Kind"}},
        "GetTimeAtDepth": {"query": {"file": "ctd.csv", "column": "depth"}},
        "GetTelemetry": {"variables": {"id": things["second_media"]}},
        "GetFrameTelemetry": {"variables": {"id": things["second_media"]}},
    }
    writes = {operation.id for operation in writing()}
    return [
        workflow_of(operation, world, change.get(operation.id))
        for operation in OPERATIONS
        if operation.id not in writes
    ]


def workflows(world):
    """A request for every writing operation that is swept here, and for further ways through some."""
    made = [workflow_of(operation, world) for operation in writing() if operation.id not in ELSEWHERE | OF_MEASURES]
    return made + _more_calls(world)


def workflow_of(operation, world, change=None):
    """A request for an operation: the smallest that its schema allows, with what `change` or `overrides` say of it."""
    path = operation.path
    variables = world.variables(operation)
    change = change or overrides(world).get(operation.id, {})
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


def _more_calls(world):
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
