"""The main jobs of the service, asked of a deployed stage: each uses what those before it made."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import time
import uuid
import zipfile
from typing import Any
from urllib.request import Request, urlopen

import boto3

from chalicelib.queues import encode
from chalicelib.resources.clips.messages import CutClip
from infra import package
from tests.rehearsal.deployment import STAGE, Stage, unique
from tests.rehearsal.team import PASSWORD, Team, signed_in
from tests.resources.media.samples import video

BOXES = 500


class Journey(Team):
    """Users, a project and what happens in it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def users(self) -> None:
        """The first users, by the operator's command, sign in."""
        boto3.client("ses").verify_email_identity(EmailAddress="limn@example.org")
        command = [sys.executable, "-m", "infra.admin", "--stage", STAGE, "create-superuser"]
        clean = {name: value for name, value in os.environ.items() if not name.startswith("LIMN_")}
        clean |= {"LIMN_ADMIN_PASSWORD": PASSWORD, "LIMN_AWS_ENDPOINT": os.environ["AWS_ENDPOINT_URL"]}
        for name in ("ben", "ada"):
            words = [*command, name, "--email", f"{name}@example.org"]
            subprocess.run(words, cwd=package.ROOT, env=clean, check=True)
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
        info = self.stage.ask("GET", f"UploadInfo/{self.project_id}?filename=dive.mp4")
        data = video(90, 320, 240)
        with urlopen(Request(info["urls"][0], data, {"Content-Type": "video/mp4"}, method="PUT"), timeout=60) as put:
            assert put.status == 200
        [download] = self.stage.ask("POST", f"DownloadInfo/{self.project_id}", {"keys": [info["key"]]})
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
        url = boto3.client("sqs").get_queue_url(QueueName=f"limn-{STAGE}-clip")["QueueUrl"]
        boto3.client("sqs").send_message(QueueUrl=url, MessageBody=encode(CutClip(file=999_999_999)))
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
        for part in range(4):
            rows = [{**shape, "frame": number % 90, "attributes": {"Species": f"s{part}"}} for number in range(BOXES)]
            made += self.stage.ask("POST", f"Localizations/{self.project_id}", rows)["id"]
        assert self.stage.ask("GET", f"LocalizationCount/{self.project_id}") == 4 * BOXES
        found = self.stage.ask("GET", f"Localizations/{self.project_id}?attribute=Species::s1&stop=200")
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

    def importing(self) -> None:
        """An archive of boxes on a picture."""
        out = io.BytesIO()
        coco = {"categories": [{"id": 1, "name": "Fish"}], "annotations": []}
        coco["images"] = [{"id": 1, "file_name": "a.png", "width": 8, "height": 8}]
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a.json", json.dumps(coco))
            archive.writestr("a.png", _png())
        info = self.stage.ask("GET", f"UploadInfo/{self.project_id}?filename=a.zip")
        with urlopen(
            Request(info["urls"][0], out.getvalue(), {"Content-Type": "application/zip"}, method="PUT"), timeout=60
        ) as put:
            assert put.status == 200
        spec = {"format": "coco", "key": info["key"], "types": {"media": self.image_type, "box": self.box_type}}
        uid = self.stage.ask("POST", f"Imports/{self.project_id}", spec)["uid"]
        self.stage.drain()
        said = self.stage.ask("GET", f"Import/{uid}")
        assert said["status"] == "succeeded", said

    def webhook(self) -> None:
        """A webhook whose receiver is not allowed is refused; events are read from the feed."""
        self.stage.ask("POST", f"Webhooks/{self.project_id}", {"url": "http://127.0.0.1:9/x"}, status=400)
        self.stage.schedule("webhook")
        assert self.stage.ask("GET", f"Events/{self.project_id}")

    def mail(self) -> None:
        """A mail of the user's own."""
        letter = {"recipients": ["ada@example.org"], "subject": "Hello", "text": "From the reef."}
        self.stage.ask("POST", f"Email/{self.project_id}", letter)
        self.stage.drain()
        assert int(boto3.client("ses").get_send_quota()["SentLast24Hours"]) >= 1

    def schedules(self) -> None:
        """The compaction, jobs, upkeep; and what a cold container then opens."""
        for name in ("compact", "jobs", "upkeep"):
            self.stage.schedule(name)
        self.stage.drain()
        self.stage.functions["api"].stop()
        assert self.stage.ask("GET", f"LocalizationCount/{self.project_id}") == 4 * BOXES - 1

    def sources(self) -> None:
        """What the source queue gets of buckets that nobody registered is dropped."""
        record = {"s3": {"bucket": {"name": "nobody"}, "object": {"key": "a.mp4"}}, "eventName": "ObjectCreated:Put"}
        url = boto3.client("sqs").get_queue_url(QueueName=f"limn-{STAGE}-source")["QueueUrl"]
        body = json.dumps({"Records": [{"eventSource": "aws:s3", **record}]})
        boto3.client("sqs").send_message(QueueUrl=url, MessageBody=body)
        self.stage.drain()

    def limits(self) -> None:
        """The largest body that the gateway lets through reaches the function."""
        text = "x" * 90_000
        rows = [{"media_id": self.video, "type": self.box_type, "frame": 0, "attributes": {"Species": text}}] * 50
        self.stage.ask("POST", f"Localizations/{self.project_id}", rows)
        self.stage.ask("GET", f"Localizations/{self.project_id}?stop=1000")

    def play(self) -> dict[str, float]:
        """All of it; the seconds that each took."""
        took = {}
        for name in (
            "users",
            "project",
            "upload",
            "frames",
            "boxes",
            "export",
            "importing",
            "webhook",
            "mail",
            "schedules",
            "sources",
            "passkeys",
            "people",
            "quality",
            "telemetry",
            "guests",
            "usage",
            "limits",
            "purge",
        ):
            began = time.monotonic()
            getattr(self, name)()
            took[name] = time.monotonic() - began
            print(f"rehearse: {name:<12} {took[name]:6.1f} s", flush=True)
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
