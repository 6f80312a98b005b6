"""The main jobs of the service, asked of a deployed stage: each uses what those before it made."""

from __future__ import annotations

import io
import json
import os
import time
import uuid
import zipfile
from typing import Any

import boto3

from chalicelib.queues import encode
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.exports.messages import PlanExport
from tests.rehearsal import commands
from tests.rehearsal.deployment import STAGE, Stage, unique
from tests.rehearsal.team import PASSWORD, Team, sent_mails, signed_in
from tests.resources.media.samples import video
from tests.resources.webhooks.receiver import Receiver

BOXES = (500, 20)
"""Boxes of each request: the most that one takes, and together more than a change does without a continuation. A stock
moto copies its whole table for each row of a transaction, so there are no more of them."""
STEPS: dict[str, tuple[str, ...]] = {
    "users": ("gateway api",),
    "project": (),
    "upload": ("queue transcode", "PlanTranscode", "EncodePiece", "AssembleTranscode", "queue email", "SendEmail"),
    "frames": ("gateway media", "queue clip", "CutClip"),
    "boxes": (),
    "export": ("queue dataset", "PlanExport", "WritePart", "JoinExport", "DrawPictures"),
    "importing": ("CheckImport", "RunImportPart", "ImportImage"),
    "webhook": ("schedule webhook", "queue webhook", "ProjectChanged", "DeliverEvents", "RedeliverEvent"),
    "mail": (),
    "schedules": ("schedule compact", "schedule jobs", "schedule upkeep", "event jobs"),
    "sources": ("queue source", "event source", "ListObjects", "LookAtObjects", "IndexObjects"),
    "passkeys": (),
    "operator": (),
    "people": ("MailNotifications", "RemoveExport", "RemoveImport"),
    "digest": (),
    "quality": ("MakeQualityReport", "MakeConsensus", "ScoreTask"),
    "telemetry": (),
    "guests": (),
    "usage": (),
    "limits": (),
    "smoke": (),
    "purge": ("queue purge", "PurgeProject", "FinishBulkChange", "ErasePerson", "DeleteRetired"),
}
"""The steps in their order, and what each has run: what calls a function by the templates, and kinds of messages.

`tests/infra/test_rehearsal.py` holds them against the templates and the queue functions.
"""


class Journey(Team):
    """Users, a project and what happens in it."""

    def __init__(self, stage: Stage, receiver: Receiver) -> None:
        self.stage, self.receiver = stage, receiver

    def users(self) -> None:
        """The first users, by the operator's command, sign in."""
        boto3.client("ses").verify_email_identity(EmailAddress="limn@example.org")
        for name in ("ben", "ada"):
            words = ("create-superuser", name, "--email", f"{name}@example.org")
            commands.administer(*words, LIMN_ADMIN_PASSWORD=PASSWORD)
        self.member, self.stage.token = (signed_in(self.stage, name) for name in ("ben", "ada"))

    def project(self) -> None:
        """An organization, a project and its types."""
        ask = self.stage.ask
        self.organization = ask("POST", "Organizations", {"name": unique("Reef lab")})["id"]
        self.project_id = ask("POST", "Projects", {"name": unique("Reef"), "organization": self.organization})["id"]
        self.video_type = ask("POST", f"MediaTypes/{self.project_id}", {"name": "Dive", "dtype": "video"})["id"]
        self.image_type = ask("POST", f"MediaTypes/{self.project_id}", {"name": "Still", "dtype": "image"})["id"]
        box = {"name": "Fish", "dtype": "box", "media_types": [self.video_type, self.image_type]}
        box["attribute_types"] = [{"name": "Species", "dtype": "string"}]
        self.box_type = ask("POST", f"LocalizationTypes/{self.project_id}", box)["id"]

    def upload(self) -> None:
        """A video, put by a presigned URL, transcoded, and a mail when it is done."""
        data = video(90, 320, 240)
        key = self.stage.upload(self.project_id, "dive.mp4", data)
        [download] = self.stage.ask("POST", f"DownloadInfo/{self.project_id}", {"keys": [key]})
        spec = {"type": self.video_type, "gid": str(uuid.uuid4()), "uid": str(uuid.uuid1()), "url": download["url"]}
        letter = {"recipients": ["ada@example.org"], "subject": "Done", "text": "It is there."}
        spec |= {"name": "dive.mp4", "md5": "", "size": len(data), "email_spec": letter}
        self.video = self.stage.ask("POST", f"Transcodes/{self.project_id}", spec)["media_id"]
        self.stage.drain()
        files = self.stage.ask("GET", f"Media/{self.video}")["media_files"]
        assert files["streaming"], files

    def frames(self) -> None:
        """A frame, and clips copied and encoded anew."""
        picture = self.stage.ask("GET", f"GetFrame/{self.video}?frames=7&format=png")
        assert picture.startswith(b"\x89PNG")
        for reencode in (0, 1):
            said = self.stage.ask("GET", f"GetClip/{self.video}?frame_ranges=10:40&reencode={reencode}")
            assert said["file"]["path"]
        self.stage.send("clip", encode(CutClip(file=999_999_999)))
        self.stage.drain()

    def boxes(self) -> None:
        """Boxes, many at once; their lists, counts, filters and picture."""
        shape = {
            "media_id": self.video,
            "type": self.box_type,
            "frame": 3,
            "x": 0.1,
            "y": 0.1,
            "width": 0.2,
            "height": 0.2,
        }
        made: list[int] = []
        for part, count in enumerate(BOXES):
            rows = [{**shape, "frame": number % 90, "attributes": {"Species": f"s{part}"}} for number in range(count)]
            made += self.stage.ask("POST", f"Localizations/{self.project_id}", rows)["id"]
        assert self.stage.ask("GET", f"LocalizationCount/{self.project_id}") == sum(BOXES)
        found = self.stage.ask("GET", f"Localizations/{self.project_id}?attribute=Species::s0&stop=200")
        assert len(found) == 200
        assert self.stage.ask("GET", f"LocalizationGraphic/{made[0]}?format=png").startswith(b"\x89PNG")
        self.stage.ask("PATCH", f"Localization/{made[0]}", {"x": 0.3})
        self.stage.ask("DELETE", f"Localization/{made[1]}")

    def export(self) -> None:
        """An archive with pictures."""
        spec = {"format": "coco", "frames": "frames", "image_format": "jpg"}
        uid = self.stage.ask("POST", f"Exports/{self.project_id}", spec)["id"]
        self.stage.drain()
        said = self.stage.ask("GET", f"Export/{uid}")
        assert said["status"] == "succeeded", said
        self.exported = uid

    def importing(self) -> None:
        """An archive of boxes on a picture."""
        out = io.BytesIO()
        coco = {"categories": [{"id": 1, "name": "Fish"}], "annotations": []}
        coco["images"] = [{"id": 1, "file_name": "a.png", "width": 8, "height": 8}]
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a.json", json.dumps(coco))
            archive.writestr("a.png", _png())
        key = self.stage.upload(self.project_id, "a.zip", out.getvalue())
        spec = {"format": "coco", "key": key, "types": {"media": self.image_type, "box": self.box_type}}
        uid = self.stage.ask("POST", f"Imports/{self.project_id}", spec)["uid"]
        self.stage.drain()
        said = self.stage.ask("GET", f"Import/{uid}")
        assert said["status"] == "succeeded", said
        self.imported = uid

    def webhook(self) -> None:
        """A receiver that is not allowed is refused. One that is gets events, signed, and again when it asks."""
        ask, hook = self.stage.ask, {"name": "Museum", "types": ["*"]}
        ask("POST", f"Webhooks/{self.project_id}", {**hook, "url": "http://127.0.0.1:9/x"}, status=400)
        hooks = []
        for path in ("/museum", "/aquarium"):  # one alone would be served with the wake-up
            made = ask("POST", f"Webhooks/{self.project_id}", {**hook, "url": f"{self.receiver.url}{path}"})
            self.receiver.secrets[path] = made["secret"]
            hooks.append(made["id"])
        ask("POST", f"Sections/{self.project_id}", {"name": "Reef"})
        self.stage.drain()
        self.stage.schedule("webhook")
        self.stage.drain()
        [told] = set(self.receiver.ids)
        ask("POST", f"WebhookRedelivery/{hooks[0]}", {"event": told})
        self.stage.drain()
        assert (self.receiver.ids, self.receiver.refused) == ([told] * 3, [])
        for each in hooks:
            ask("DELETE", f"Webhook/{each}")
        assert ask("GET", f"Events/{self.project_id}")

    def mail(self) -> None:
        """A mail of the user's own."""
        letter = {"recipients": ["ada@example.org"], "subject": "Hello", "text": "From the reef."}
        self.stage.ask("POST", f"Email/{self.project_id}", letter)
        self.stage.drain()
        assert sent_mails() >= 1

    def schedules(self) -> None:
        """The compaction, jobs, upkeep; and what a cold container then opens."""
        for name in ("compact", "jobs", "upkeep"):
            self.stage.schedule(name)
        self.stage.tell("jobs", "aws.batch", "Batch Job State Change", {"jobName": f"limn-{uuid.uuid4()}-1"})
        self.stage.drain()
        self.stage.functions["api"].stop()
        assert self.stage.ask("GET", f"LocalizationCount/{self.project_id}") == sum(BOXES) - 1

    def sources(self) -> None:
        """Pictures of a registered bucket become media: by a listing, by an event of S3, by one of EventBridge."""
        ask, s3, lake = self.stage.ask, boto3.client("s3"), f"lake-{uuid.uuid4()}"
        s3.create_bucket(Bucket=lake)
        config = {"endpoint_url": os.environ["AWS_ENDPOINT_URL"], "region_name": "us-east-1"}
        config |= {"aws_access_key_id": "AK", "aws_secret_access_key": "secret"}
        bucket = ask("POST", f"Buckets/{self.organization}", {"name": lake, "store_type": "MINIO", "config": config})
        for name in ("listed", "notified", "told"):
            key = f"dives/{name}.png"
            s3.put_object(Bucket=lake, Key=key, Body=_png())
            place = {"bucket": {"name": lake}, "object": {"key": key, "size": len(_png())}}
            if name == "listed":
                source = {"name": "lake", "bucket": bucket["id"], "prefix": "dives/"}
                source["media_types"] = [{"extension": "png", "type": self.image_type}]
                ask("POST", f"BucketSources/{self.project_id}", source)
            elif name == "notified":
                record = {"eventSource": "aws:s3", "eventName": "ObjectCreated:Put", "s3": place}
                self.stage.send("source", {"Records": [record]})
            else:
                self.stage.tell("source", "aws.s3", "Object Created", place)
            self.stage.drain()
            assert ask("GET", f"MediaCount/{self.project_id}?name={name}.png") == 1

    def operator(self) -> None:
        """What was given up is requeued; the stage is well; its use is told."""
        dead = boto3.client("sqs").get_queue_url(QueueName=f"limn-{STAGE}-dataset-dead")["QueueUrl"]
        letter = PlanExport(uid=self.exported, project=self.project_id)
        boto3.client("sqs").send_message(QueueUrl=dead, MessageBody=encode(letter))
        assert self.exported in commands.administer("dead-letters")
        commands.administer("requeue", self.exported)
        self.stage.drain()
        assert self.stage.ask("GET", f"Export/{self.exported}")["status"] == "succeeded"
        assert "DOES NOT" not in commands.administer("health")
        assert "GB-seconds" in commands.administer("usage")
        commands.administer("cost")

    def smoke(self) -> None:
        """The smoke test passes, over HTTP. Its project is purged in rounds, which no later step waits for."""
        assert "all of it works" in commands.smoke(self.stage, self.organization)

    def limits(self) -> None:
        """The largest body that the gateway lets through reaches the function."""
        text = "x" * 90_000
        rows = [{"media_id": self.video, "type": self.box_type, "frame": 0, "attributes": {"Species": text}}] * 50
        self.stage.ask("POST", f"Localizations/{self.project_id}", rows)
        self.stage.ask("GET", f"Localizations/{self.project_id}?stop=1000")

    def play(self) -> dict[str, float]:
        """All steps; the seconds that each took. Raises AssertionError: one did not drive what `STEPS` says."""
        took = {}
        for name, drives in STEPS.items():
            began = time.monotonic()
            getattr(self, name)()
            took[name] = time.monotonic() - began
            print(f"rehearse: {name:<12} {took[name]:6.1f} s", flush=True)
            missing = set(drives) - self.stage.driven
            assert not missing, f"{name} did not drive {sorted(missing)}"
        assert not self.stage.dead_letters(), self.stage.dead_letters()
        return took


def _png() -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (8, 8)).save(out, "PNG")
    return out.getvalue()


def is_alive(stage: Stage) -> Any:
    """Whether the service answers, with all that it needs."""
    return stage.ask("GET", "HealthCheckFull")
