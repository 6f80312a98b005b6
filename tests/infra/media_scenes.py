"""Media in the scenario of `test_roles.py`: uploads, clones, clips, imports, exports, registered buckets."""

from __future__ import annotations

import io
import uuid

import boto3
import msgspec
from PIL import Image

from chalicelib.core.models.datasets import EXPORT
from chalicelib.core.models.definitions import ResolutionConfig
from chalicelib.core.web.tus import LARGEST_CHUNK
from chalicelib.resources.bucket_sources import service as bucket_sources_service
from chalicelib.resources.bucket_sources.messages import LookAtObjects
from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.exports import planning
from chalicelib.resources.exports import service as exports_service
from chalicelib.resources.exports.messages import PlanExport
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.log import log
from chalicelib.storage.objects import placement
from chalicelib.storage.view import views
from tests import objects
from tests.infra.registered import Registered
from tests.infra.schedules import key_of
from tests.queue_runner import deliver
from tests.resources.imports import archives
from tests.resources.media.samples import media_type, picture, transcode, uploaded, video
from tests.resources.uploads.tus_client import VERSION, begun, sent
from tests.resources.uploads.tus_client import asked as asked_for
from tests.roles import RECORDER


class MediaScenes:
    """What functions do with media, as parts of a `Scenario`."""

    def media(self):
        api, project = self.api, self.project
        self.type = media_type(project, streaming_config=[ResolutionConfig(resolution=64)])
        letter = {"recipients": [api.user.email], "subject": "Done", "text": "It is there."}
        self.set(piece_seconds="1")
        self.video = transcode(api, project, self.type, video(60), email_spec=letter).json["media_id"]
        log._hints.clear()  # as in a container that has just started
        api.drain()
        self.set(piece_seconds="60")
        image = media_type(project, "image")
        url = uploaded(api, project, picture(), "x.jpg")
        api.made(f"Medias/{project}", [{"type": image, "name": "a.jpg", "md5": "", "url": url}] * 2)
        api.drain()
        assert api.get(f"GetFrame/{self.video}", frames="3").status == 200
        self.clip()
        lost = uploaded(api, project, b"x")
        transcode(api, project, self.type, url=lost, size=1)
        objects.remove([key_of(lost)])
        api.drain()
        self.resumable()
        assert api.get(f"UploadInfo/{project}", num_parts=2, filename="a.bin").status == 200
        assert api.get(f"UploadInfo/{project}", media_id=self.video, filename="b.mp4").status == 200

    def resumable(self):
        """An upload in two parts that is used, and one that is given up."""
        size = LARGEST_CHUNK
        path = begun(self.api, self.project, 3 * size, bytes(size))
        for number in (1, 2):
            assert sent(self.api, path, number * size, bytes(size)).status == 204
        url = settings().public_url + path
        self.api.made(f"TemporaryFiles/{self.project}", {"name": "a", "url": url, "lookup": "b", "hours": 1})
        path = begun(self.api, self.project, 3 * size, bytes(size))
        assert sent(self.api, path, size, bytes(size)).status == 204
        assert asked_for(self.api, "DELETE", path, **VERSION).status == 204

    def clones(self):
        """A media of this project in another, and one of another in this; one that names no object any more."""
        there = self.api.made("Projects", {"name": "other", "organization": self.organization})
        type_ = media_type(there, streaming_config=[ResolutionConfig(resolution=64)])
        other = transcode(self.api, there, type_, video(10)).json["media_id"]
        self.api.drain()
        for source, media, target in ((there, other, self.project), (self.project, self.video, there)):
            body = {"dest_project": target, "dest_type": -1}
            assert self.api.post(f"CloneMedia/{source}", body, media_id=media).status == 201
        assert self.api.delete(f"VideoFile/{other}", role="streaming", index=0).status == 200
        copy = transcode(self.api, self.project, self.type, video(10)).json["media_id"]
        self.api.drain()
        assert self.api.delete(f"VideoFile/{copy}", role="streaming", index=0).status == 200

    def clip(self):
        # nobody answers it in time: while two functions work at once, none can tell whose calls are whose
        self.patch.setattr(clips_service, "PATIENCE", 0.1)
        assert self.api.get(f"GetClip/{self.video}", frame_ranges="0:9").status == 200
        self.patch.setattr(clips_service, "LARGEST_COPIED", 0)
        assert self.api.get(f"GetClip/{self.video}", frame_ranges="0:9").status == 503
        self.api.drain()
        path = self.api.get(f"Media/{self.video}").json["media_files"]["streaming"][0]["path"]
        kept = objects.read(path)
        objects.remove([path])
        self.api.get(f"GetClip/{self.video}", frame_ranges="10:19")
        assert self.api.get(f"GetFrame/{self.video}", frames="9").status != 200
        self.api.drain()
        objects.write(path, kept)

    def imports(self):
        """A picture and boxes on it, in a commit too large for its row, and again; an archive that was removed."""
        coco = {
            "categories": [{"id": 1, "name": "box"}],
            "images": [{"id": 1, "file_name": "imported.png", "width": 64, "height": 48}],
            "annotations": [
                {
                    "id": number,
                    "image_id": 1,
                    "category_id": 1,
                    "bbox": [1, 2, 3, 4],
                    "limn": {"attributes": {"text": f"{uuid.uuid4()} {uuid.uuid4()}"}},
                }
                for number in range(600)
            ],
        }
        image = media_type(self.project, "image")
        files = {"a.json": coco, "imported.png": picture(64, 48, "PNG")}
        types = {"media": image, "box": self.box}
        for _ in range(2):
            views.drop(self.project)
            assert archives.imported(self.api, self.project, files, "coco", types=types)["status"] == "succeeded"
        key = archives.uploaded(self.api, self.project, archives.zipped(files), "removed.zip")
        said = self.api.post(f"Imports/{self.project}", {"format": "coco", "key": key, "types": types})
        objects.remove([key])
        self.api.drain()
        assert self.api.get(f"Import/{said.json['uid']}").json["status"] == "failed"

    def exports(self):
        """An archive of several uploads, one that is cancelled, one that fails, and a version of a dataset."""
        api, project, queue = self.api, self.project, settings().dataset_queue_url
        image = media_type(project, "image")
        noise = Image.effect_noise((1600, 3600), 200).tobytes()
        for name in ("x.png", "y.png"):
            out = io.BytesIO()
            Image.frombytes("RGB", (1600, 1200), noise).save(out, "PNG", compress_level=0)
            url = uploaded(api, project, out.getvalue(), name)
            api.made(f"Medias/{project}", {"type": image, "name": name, "md5": "", "url": url})
        api.drain()
        with self.patch.context() as patch:
            patch.setattr(planning, "MEDIA_A_PART", 1)
            spec = {"format": "csv", "frames": "frames", "image_format": "png", "media": {"type": image}}
            kept = api.made(f"Exports/{project}", spec)
            views.drop(project)
            api.drain()
        assert api.get(f"Export/{kept}").json["status"] == "succeeded"
        uploading = {"upload": "gone"}
        for cancel in (True, False):
            other = api.made(f"Exports/{project}", {"format": "csv"})
            deliver(queue, PlanExport(uid=other))
            records.edit(EXPORT, other, lambda export: msgspec.structs.replace(export, **uploading))
            objects.remove([f"_exports/{project}/{other}/plan.json"])
            if cancel:
                assert api.delete(f"Export/{other}").status == 200
            api.drain()
        old = {"expires_datetime": "2020", "status": "running", **uploading}
        records.edit(EXPORT, kept, lambda export: msgspec.structs.replace(export, **old))
        forgotten = api.made(f"Exports/{project}", {"format": "csv"})
        records.edit(EXPORT, forgotten, lambda export: msgspec.structs.replace(export, created_datetime="2020"))
        with RECORDER.acting("Upkeep"):
            exports_service.sweep(project)
        lost = api.made(f"Exports/{project}", {"format": "csv", "frames": "every", "every": 50})
        records.edit(EXPORT, lost, lambda export: msgspec.structs.replace(export, snapshot="snapshots/none"))
        api.made(f"Exports/{project}", {"format": "csv", "frames": "every", "every": 50})  # of clones, too
        version = api.made(f"Datasets/{project}", {"name": "v"})
        api.drain()
        assert api.get(f"DatasetComparison/{version}", base="v").status == 200
        assert api.delete(f"Dataset/{version}").status == 200

    def elsewhere(self):
        """A project whose files lie in a bucket that the organization registered."""
        with Registered(self.api, self.organization, self.set) as registered:
            self.in_a_bucket(registered.project)
            self.where_it_lies(registered)

    def where_it_lies(self, registered):
        """A source of that bucket: what lies there, what is replaced, what an event says, and the schedule."""
        api, there, client = self.api, self.project, boto3.client("s3")
        client.put_object(Bucket=registered.name, Key="lake/one.mp4", Body=video(10))
        for number in range(10):
            client.put_object(Bucket=registered.name, Key=f"lake/{number}.jpg", Body=picture(16, 16))
        types = [
            {"extension": "mp4", "type": media_type(there)},
            {"extension": "jpg", "type": media_type(there, "image")},
        ]
        spec = {"name": "lake", "bucket": registered.number, "prefix": "lake/", "media_types": types}
        source = api.made(f"BucketSources/{there}", spec)
        placement._open.cache_clear()
        log._hints.clear()
        with self.patch.context() as patch:
            patch.setattr(entities, "_remember", lambda *_: None)  # as if each message had another container
            api.drain()
        client.put_object(Bucket=registered.name, Key="lake/one.mp4", Body=video(20))
        event = LookAtObjects(bucket=registered.name, names=["lake/one.mp4"], event="1")
        deliver(settings().source_queue_url, event)
        api.drain()
        (film,) = api.get(f"Medias/{there}", name="one.mp4").json
        assert film["num_frames"] == 20
        placement._open.cache_clear()
        assert api.get(f"GetFrame/{film['id']}", frames=19).status == 200
        with RECORDER.acting("Upkeep"):
            bucket_sources_service.begin(source)
        api.drain()

    def in_a_bucket(self, there):
        api = self.api
        type_ = media_type(there, streaming_config=[ResolutionConfig(resolution=64)])
        media = transcode(api, there, type_, video(10)).json["media_id"]
        placement._open.cache_clear()
        api.drain()
        (path,) = [each["path"] for each in api.get(f"Media/{media}").json["media_files"]["streaming"]]
        assert api.get(f"GetClip/{media}", frame_ranges="0:5").status == 503
        placement._open.cache_clear()  # each function opens the credentials for itself
        api.drain()
        assert api.post(f"Exports/{there}", {"format": "csv", "frames": "every", "every": 5}).status == 201
        placement._open.cache_clear()
        api.drain()
        box = {"name": "box", "dtype": "box", "media_types": [image := media_type(there, "image")]}
        types = {"media": image, "box": api.made(f"LocalizationTypes/{there}", box)}
        coco = {
            "categories": [],
            "images": [{"id": 1, "file_name": "i.png", "width": 8, "height": 8}],
            "annotations": [],
        }
        files = {"a.json": coco, "i.png": picture(8, 8, "PNG")}
        key = api.get(f"UploadInfo/{there}", filename="a.zip").json["key"]
        objects.write(key, archives.zipped(files))
        assert api.post(f"Imports/{there}", {"format": "coco", "key": key, "types": types}).status == 201
        placement._open.cache_clear()
        api.drain()
        letter = {"recipients": [api.user.email], "subject": "s", "text": "t"}
        assert api.post(f"Email/{there}", {**letter, "attachments": [{"key": path, "name": "a.mp4"}]}).status == 201
        placement._open.cache_clear()
        api.drain()
