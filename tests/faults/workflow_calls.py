"""What the call of an operation needs besides the smallest body that its schema allows."""

from __future__ import annotations

from chalicelib.core.models.algorithms import ALGORITHM
from chalicelib.storage.dynamodb import records

MANY = 12
"""So many are created as a batch of rows and a commit, not as one transaction."""
PASSWORD = "Kj3!xm-w92ns"
OLD, NEW = "https://old.example.org/a/", "https://new.example.org/b/"
BUCKET = {"name": "b", "access_key": "AK", "secret_key": "s", "endpoint_url": "https://s3.example.org", "region": "eu"}
CLUSTER = {"name": "c", "host": "c.example.org", "port": 443, "token": "t", "cert": "c"}
_HOOK = {"name": "h", "url": "https://templates.example.org/hook", "types": ["*"]}
ENTITY = {"media_type": "MediaType", "localization_type": "LocalizationType", "leaf_type": "LeafType"}


def video_file(folder, name):
    return {
        "path": f"{folder}/{name}.mp4",
        "segment_info": f"{folder}/{name}.json",
        "codec": "h264",
        "resolution": [1, 2],
    }


def image_file(folder, name):
    return {"path": f"{folder}/{name}.jpg", "resolution": [1, 2], "mime": "image/jpeg"}


def audio_file(folder, name):
    return {"path": f"{folder}/{name}.m4a", "codec": "aac"}


def other_file(folder, name):
    return {"path": f"{folder}/{name}.txt", "name": "t"}


def uid_of(world, digit):
    """A UUID that only this world gives to anything."""
    return f"{world.things['project']:08x}-0000-1000-8000-{str(digit) * 12}"


def overrides(world):  # one line per operation
    things, folder = world.things, world.things["folder"]
    named = {"also": {"name": "another name"}}
    box = {"media_id": things["media"], "type": things["localization_type"], "frame": 0}
    media = {"type": things["media_type"], "name": "c.mp4", "md5": ""}
    of_all = {"query": {"media_id": things["media"], "type": things["localization_type"], "count": MANY + 5}}
    streaming, thumbnail = {"query": {"role": "streaming", "index": 0}}, {"query": {"role": "thumbnail", "index": 0}}
    attribute = {"entity_type": "LocalizationType", "current_name": "Kind"}
    changed = {"attributes": {"Kind": "x"}}
    transcode = {"type": things["media_type"], "name": "t.mp4", "md5": "", "url": things["picture"]}
    transcode |= {"uid": uid_of(world, 3), "gid": uid_of(world, 4)}
    localization_type = {"variables": {"id": things["localization_type"]}}
    viewer = world.members["View Only"].user.id
    # names and uids that are unique across projects are those of no other world of the process
    own = f"of{things['project']}"
    account = {"username": f"ada{own}", "first_name": "Ada", "last_name": "L", "email": f"ada{own}@example.org"}
    annotator = {"type": things["localization_type"], "algorithm": records.get(ALGORITHM, things["algorithm"]).name}
    rule = {"name": "r", "types": ["limn.media.ready"], "algorithm": annotator["algorithm"]}
    of_second = {"query": {"media_id": things["second_media"]}}
    manifest, page = {"manifest": things["saved_manifest"]}, {"html_file": things["saved_page"]}
    return {
        "CreateUser": {"body": {**account, "password": PASSWORD}},
        "CreateObtainAuthToken": {"body": {"username": world.owner.user.username, "password": PASSWORD}},
        "UpdateUser": {"variables": {"id": things["user"]}, "body": {"first_name": "Grace"}},
        "CreateSecondFactor": {"body": {"password": PASSWORD}},
        "ConfirmSecondFactor": {"body": {"code": things["recovery_codes"][0]}, "who": world.members["Can Edit"]},
        "DeleteSecondFactor": {"body": {"code": things["recovery_codes"][1]}, "who": world.members["Can Edit"]},
        "ResetSecondFactor": {"variables": {"id": world.members["Can Edit"].user.id}},
        "BeginPasskey": {"body": {"password": PASSWORD}},
        "CreatePasskey": {"body": things["new_passkey"]},
        "UpdatePasskey": {"variables": {"id": things["passkey"]}, "body": {"name": "old phone"}},
        "DeletePasskey": {"variables": {"id": things["passkey"]}},
        "CreateDeviceAuthorization": named,
        "UpdateDeviceAuthorization": {
            "body": {"user_code": things["waiting_device"]["user_code"], "decision": "approve"}
        },
        "CreateDeviceToken": {"body": {"device_code": things["approved_device"]}},
        "DeleteToken": {"query": {"id": things["second_token"]}},
        "CreatePasswordReset": {"body": {"email": world.owner.user.email}},
        "UpdateOrganization": named,
        "UpdateAffiliation": {"also": {"permission": "Admin"}, "variables": {"id": things["other_affiliation"]}},
        "CreateAffiliation": {"also": {"user": things["newcomer"]}},
        "CreateInvitation": {"also": {"email": "new@example.org"}},
        "UpdateInvitation": {"also": {"permission": "Member"}},
        "AcceptInvitation": {"body": {"registration_token": things["registration_token"]}, "who": world.stranger},
        "UpdateGroup": {"also": {"name": "another name", "add_members": [things["user"]]}},
        "CreateBucket": {"body": {**BUCKET, "name": "new"}},
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
        "CreateVideoFile": {**streaming, "body": video_file(folder, "b")},
        "UpdateVideoFile": {**streaming, "body": video_file(folder, "b")},
        "DeleteVideoFile": streaming,
        "CreateImageFile": {**thumbnail, "body": image_file(folder, "b")},
        "UpdateImageFile": {**thumbnail, "body": image_file(folder, "b")},
        "DeleteImageFile": thumbnail,
        "CreateAudioFile": {"body": audio_file(folder, "b"), "query": {"index": 0}},
        "UpdateAudioFile": {"body": audio_file(folder, "b"), "query": {"index": 0}},
        "DeleteAudioFile": {"query": {"index": 0}},
        "CreateAuxiliaryFile": {"body": other_file(folder, "b"), "query": {"index": 0}},
        "UpdateAuxiliaryFile": {"body": other_file(folder, "b"), "query": {"index": 0}},
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
        "CreateIdentityProvider": {"also": {"issuer": "https://id.example.org"}},
        "UpdateIdentityProvider": named,
        "ReviewDrafts": {
            "variables": {"id": things["reviewed"]},
            "body": {"decision": "accept", "version": things["version"], "is_all": True},
        },
        "RegisterAlgorithm": {"also": {"name": f"new {own}", **manifest, "user": things["user"]}},
        "UpdateAlgorithm": {"also": {"name": f"another {own}", **manifest}},
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
        "UpdateLeafList": {"query": {"type": things["leaf_type"]}, "body": changed},
        "SendEmail": {"also": {"recipients": [world.owner.user.email]}},
        "UpdateBookmark": named,
        "CreateErasure": {"body": {"user": world.inactive.user.id}},
        "CreateShareLink": {"body": {"media_ids": [things["media"]]}},
        "UpdateShareLink": {"variables": {"id": things["own_link"]}, "body": {"name": "for the reviewers"}},
        "OpenShareLink": {"body": {"token": things["link_token"]}},
        "UpdateAccessToken": {"variables": {"id": things["own_access_token"]}, "body": {"name": "cluster"}},
        "DeleteAccessToken": {"variables": {"id": things["own_access_token"]}},
        "UpdateComment": {"body": {"resolved": True}},
        "CreatePointSamples": {"body": {"media_ids": [things["media"]], "type": things["dot_type"], "count": MANY}},
        "NextTask": {"body": {}},
        "UpdateTask": {"variables": {"id": things["waiting_task"]}, "body": {"state": "in progress"}},
        "UpdateTaskWorkflow": {"body": {"transitions": [{"source": "to do", "target": "in progress"}]}},
        "UpdateNotificationSettings": {"body": {"mentions": "mail"}},
        "UpdateNotificationList": {"body": {}},
        "CreateComment": {"also": {"media_id": things["media"]}},
        "CreateConsensusLayer": {"also": {"versions": [things["version"], things["second_version"]]}},
        "CreateQualityReport": {"also": {"versions": [things["version"]], "reference": things["second_version"]}},
        "CreateTaskList": {
            "also": {
                "media_ids": [things["media"]],
                "versions": [things["version"]],
                "honeypots": {"reference": things["second_version"], "media_ids": [things["media"]]},
            }
        },
        "UpdateHoneypotScore": {"body": {"suspended": True}},
        "CreateFavorite": {"also": {"type": things["localization_type"], "entity_type_name": "Localization"}},
        "UpdateFavorite": named,
        "CreateRowProtection": {"body": {"permission": 1, "media": things["media"], "user": viewer}},
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
        "SetFrameInstant": {
            "variables": {"id": things["second_media"]},
            "body": {"frame": 1, "instant": "2026-05-01T12:00:00Z"},
        },
        "UpdateFileUrls": {"body": {"old": OLD, "new": NEW}},
        "DestroyRowProtectionListApi": {"query": {"project": things["project"]}},
    }
