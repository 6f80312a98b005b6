"""Each role of the template allows what its function asks of AWS, and nothing else.

Every test of the suite that goes through the API or `api.drain()` is held against the roles (`tests/conftest.py`); here
one scenario drives every function through all that it does, so that what nobody asks for shows.
"""

from __future__ import annotations

import io
import random
import tempfile
import uuid
from pathlib import Path

import boto3
import msgspec
import pytest
from PIL import Image

from chalicelib.core.accounts import PROJECT
from chalicelib.core.datasets import EXPORT
from chalicelib.core.definitions import ResolutionConfig
from chalicelib.core.tus import LARGEST_CHUNK
from chalicelib.maintenance import compaction
from chalicelib.resources.bucket_sources import listing
from chalicelib.resources.bucket_sources import service as bucket_sources_service
from chalicelib.resources.bucket_sources.messages import ListObjects, LookAtObjects
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.email import service as email_service
from chalicelib.resources.email.messages import SendEmail
from chalicelib.resources.exports import planning
from chalicelib.resources.exports import service as exports_service
from chalicelib.resources.exports import steps as exports_steps
from chalicelib.resources.exports.messages import PlanExport
from chalicelib.resources.jobs import cleanup
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.resources.transcodes import steps as transcodes_steps
from chalicelib.resources.transcodes.messages import PlanTranscode
from chalicelib.resources.types import retirement
from chalicelib.resources.webhooks import delivery, rules
from chalicelib.resources.webhooks.messages import DeliverEvents, RedeliverEvent
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import entities, records, retired, streams
from chalicelib.storage.log import log, tickets, wakeups
from chalicelib.storage.objects import placement
from chalicelib.storage.view import snapshots, views
from functions import compact, jobs
from infra.local import aws
from infra.local.schedule import Timer, run
from infra.templates import FUNCTIONS, load, of_type
from tests import objects, roles
from tests.infra.registered import Registered
from tests.infra.schedules import Batch, Upkeep, key_of, later
from tests.queue_runner import deliver
from tests.resources.algorithms.test_algorithms import saved, spec
from tests.resources.imports import archives
from tests.resources.jobs import clusters
from tests.resources.media.samples import media_type, picture, transcode, uploaded, video
from tests.resources.uploads.test_tus import VERSION, begun, sent
from tests.resources.uploads.test_tus import asked as asked_for
from tests.resources.webhooks.receiver import Receiver
from tests.roles import RECORDER, Right
from tests.service import join, new_user
from tests.workflows.test_workflows import FORK

FUNCTION_NAMES = (
    "APIHandler",
    "Clip",
    "Compact",
    "Dataset",
    "Email",
    "Jobs",
    "Purge",
    "Source",
    "Transcode",
    "Upkeep",
    "Webhook",
)
BUCKET = {"name": "b", "access_key": "A", "secret_key": "S", "endpoint_url": "https://s3.example.org", "region": "eu"}

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def asked():
    """What each function asked for while it did all that it does."""
    RECORDER.asked.clear()
    RECORDER.refused.clear()
    with pytest.MonkeyPatch.context() as patch:
        Scenario(patch).play()
    return {name: set(rights) for name, rights in RECORDER.asked.items()}


class Scenario:
    """A project's life, with what goes wrong in it."""

    def __init__(self, patch):
        self.patch = patch
        patch.setattr(log, "GROWN_BY", 1)  # each commit counts for the compaction
        self.api = new_user(is_staff=True)
        self.organization = self.api.made("Organizations", {"name": f"roles {uuid.uuid4()}"})
        self.project = self.api.made("Projects", {"name": "roles", "organization": self.organization})

    def play(self):
        self.api.drain()
        self.webhooks()
        self.media()
        self.clones()
        self.annotations()
        self.answers()
        self.exports()
        self.imports()
        self.people()
        self.elsewhere()
        self.compaction()
        self.failures()
        assert self.api.get("HealthCheckFull").status == 200
        self.bulk()
        self.retirement()
        with tempfile.TemporaryDirectory() as place:
            self.job(cluster := clusters.FakeCluster(Path(place)))
            self.rule()
            self.jobs(cluster)
            Upkeep(self).play()
            Batch(self).play()
            self.job(cluster)
            with RECORDER.acting("Webhook"):
                delivery.sweep()
            self.api.drain()
            self.holes()
            self.purge()
            self.receiver.close()
            assert cluster.workflows == {}
            cluster.close()

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

    def webhooks(self):
        """Webhooks of the project and of its organization, one with a query, one whose server wants no more."""
        self.patch.setattr(wakeups, "DELAY", 0)
        self.patch.setattr(wakeups, "COVERED", -1.0)
        self.receiver = Receiver()
        self.receiver.answers["/gone"] = 410
        self.set(service_origins=self.receiver.url)
        body = {"name": "hook", "types": ["limn.leaf.*"], "query": "?name=leaf"}
        hook = self.api.made(f"Webhooks/{self.project}", {**body, "url": f"{self.receiver.url}/query"})
        body = {"name": "all", "types": ["*"]}
        self.api.made(f"Webhooks/{self.project}", {**body, "url": f"{self.receiver.url}/gone"})
        self.api.made(f"OrganizationWebhooks/{self.organization}", {**body, "url": f"{self.receiver.url}/ok"})
        kind = self.api.made(f"LeafTypes/{self.project}", {"name": "of hooks"})
        self.api.made(f"Leaves/{self.project}", {"name": "leaf", "type": kind})
        self.api.drain()
        assert self.api.post(f"WebhookPing/{hook}").json["status"] == 200
        assert self.api.post(f"WebhookRedelivery/{hook}", {"after": "1"}).status == 200
        self.api.drain()
        there = self.api.made("Projects", {"name": "unwatched", "organization": self.organization})
        with RECORDER.acting("Webhook"):
            delivery.sweep()
        watched = new_user(is_staff=True)
        organization = watched.made("Organizations", {"name": f"roles {uuid.uuid4()}"})
        there = watched.made("Projects", {"name": "left", "organization": organization})
        last = watched.made(f"Webhooks/{there}", {**body, "url": f"{self.receiver.url}/ok"})
        assert watched.delete(f"Webhook/{last}").status == 200
        watched.made(f"Sections/{there}", {"name": "nobody hears of it"})
        self.api.drain()
        streams.add(delivery.WORD, there, 10**9, "0")  # of a webhook that is gone
        deliver(settings().webhook_queue_url, DeliverEvents(project=there, webhook=10**9, id="a"))
        with self.patch.context() as patch:
            patch.setattr(delivery, "redeliver", {}.__getitem__)
            event = {"project": there, "webhook": 1, "event": f"{there}/1", "id": "b"}
            deliver(settings().webhook_queue_url, RedeliverEvent(**event))
        boto3.client("events").create_event_bus(Name="limn-local")
        self.set(event_bus="limn-local")
        watched.made(f"Sections/{there}", {"name": "the bus hears of it"})
        self.api.drain()
        self.set(event_bus="")
        boto3.client("events").delete_event_bus(Name="limn-local")

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
        self.api.drain()
        objects.write(path, kept)

    def annotations(self):
        api, project = self.api, self.project
        kind = api.made(f"MediaTypes/{project}", {"name": "bare", "dtype": "image"})
        text = [{"name": "text", "dtype": "string"}]
        self.box = api.made(
            f"LocalizationTypes/{project}",
            {"name": "box", "dtype": "box", "media_types": [kind], "attribute_types": text},
        )
        self.image = api.made(f"Medias/{project}", {"type": kind, "name": "a.jpg", "md5": ""})
        spec = {"media_id": self.image, "type": self.box, "frame": 0}
        made = []
        for _ in range(2):
            # random text does not compress: a commit too large for a row
            words = ["".join(str(uuid.uuid4()) for _ in range(60)) for _ in range(400)]
            made += api.made(f"Localizations/{project}", [{**spec, "attributes": {"text": text}} for text in words])
        views.drop(project)
        assert api.get(f"LocalizationCount/{project}").json == len(made)
        assert api.patch(f"Localization/{made[0]}", {"x": 0.5}).status == 200
        assert api.patch(f"Localizations/{project}", {"attributes": {"text": "b"}}, stop=120).status == 200
        assert api.delete(f"Localization/{made[1]}").status == 200
        assert api.delete(f"Localizations/{project}", {}, start=0, stop=200).status == 200
        made = api.made(f"Localizations/{project}", [spec] * 3)
        assert api.put(f"Localizations/{project}", {"ids": made}).status == 200

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

    def answers(self):
        api = self.api
        self.set(largest_answer="10000")
        assert api.get(f"Localizations/{self.project}").status == 303
        self.set(largest_answer="5500000")
        number = api.made(f"Buckets/{self.organization}", BUCKET)
        assert api.patch(f"Bucket/{number}", {"access_key": "NEW"}).status == 200

    def people(self):
        api, project = self.api, self.project
        member = new_user()
        join(member, project, "Can Edit")
        letter = {"recipients": [member.user.email], "subject": "s", "text": "t"}
        key = key_of(uploaded(api, project, b"a,b"))
        path = api.get(f"Media/{self.video}").json["media_files"]["streaming"][0]["path"]
        attached = {**letter, "attachments": [{"key": key, "name": "a.csv"}, {"key": path, "name": "a.mp4"}]}
        missing = {**letter, "attachments": [{"key": f"{path}.gone", "name": "a.csv"}]}
        assert api.post(f"Email/{project}", missing).status == 400
        assert api.post(f"Email/{project}", attached).status == 201
        api.drain()

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
        letter = {"recipients": [api.user.email], "subject": "s", "text": "t"}
        assert api.post(f"Email/{there}", {**letter, "attachments": [{"key": path, "name": "a.mp4"}]}).status == 201
        placement._open.cache_clear()
        api.drain()

    def compaction(self):
        self.patch.setattr(compaction, "ENOUGH_CHANGES", 60)
        self.patch.setattr(snapshots, "KEPT_SECONDS", -60)  # readers are long gone
        boxes = [{"media_id": self.image, "type": self.box, "frame": 0}] * 400
        for times in range(3):
            self.api.made(f"Localizations/{self.project}", boxes)
            if times == 1:
                self.grow_meanwhile()
            with RECORDER.acting("Compact"):
                run(Timer(name="compact", handler=compact.handler, every=1.0), aws.REGION)
            self.patch.setattr(log, "growth", self.growth) if times == 1 else None
            views.drop(self.project)
            assert self.api.get(f"LocalizationCount/{self.project}").status == 200

    def grow_meanwhile(self):
        """Commits come in while the project is compacted: what is settled is less than what there is then."""
        self.growth = log.growth
        known = {self.project: log.growth()[self.project] - 1}
        growth = log.growth

        def earlier():
            growth()
            return known

        self.patch.setattr(log, "growth", earlier)

    def failures(self):
        def fail(*_args, **_more):
            raise RuntimeError("made up")

        place, job = settings(), str(uuid.uuid4())
        email = {"id": job, "sender": "a@example.org", "recipients": ["a@example.org"], "subject": "s", "text": "t"}
        email["asked_by"] = "b@example.org"
        with self.patch.context() as patch:
            for owner, name in (
                (transcodes_steps, "plan"),
                (clips_service, "cut"),
                (exports_steps, "plan"),
                (listing, "list_page"),
                (email_service, "send_email"),
                (purging, "purge"),
            ):
                patch.setattr(owner, name, fail)
            for count in (1, 5):
                purge = PurgeProject(id=job, project=0, organization=0)
                deliver(place.purge_queue_url, purge, count=count)
                deliver(place.transcode_queue_url, PlanTranscode(job=job), count=count)
                deliver(place.clip_queue_url, CutClip(file=0), count=count)
                deliver(place.dataset_queue_url, PlanExport(uid=job), count=count)
                deliver(place.source_queue_url, ListObjects(source=0, run=job, began=""), count=count)
                deliver(place.email_queue_url, SendEmail(**email), count=count)

    def job(self, cluster):
        """A job that is at work when its project goes."""
        api, project = self.api, self.project
        registered = {"name": str(uuid.uuid4()), "host": "127.0.0.1", "port": cluster.port, "token": clusters.TOKEN}
        number = api.made(f"JobClusters/{self.organization}", {**registered, "cert": cluster.ca})
        algorithm = spec(api, project, manifest=saved(api, project, FORK), cluster=number)
        api.made(f"Algorithms/{project}", algorithm)
        assert (
            api.post(f"Jobs/{project}", {"algorithm_name": algorithm["name"], "media_ids": [self.video]}).status == 201
        )
        assert len(cluster.workflows) == 1

    def rule(self):
        """A rule that launches an algorithm on a new media."""
        algorithm = self.api.get(f"Algorithms/{self.project}").json[-1]["name"]
        body = {"name": "rule", "types": ["limn.media.created"], "algorithm": algorithm}
        number = self.api.made(f"TriggerRules/{self.project}", body)
        kind = self.api.made(f"MediaTypes/{self.project}", {"name": "of rules", "dtype": "image"})
        self.api.made(f"Medias/{self.project}", {"type": kind, "name": "r.jpg", "md5": ""})
        with RECORDER.acting("Jobs"):
            assert rules.sweep(20.0) == 1
        launched = self.api.get(f"Jobs/{self.project}").json[-1]["uid"]
        assert self.api.delete(f"Job/{launched}").status == 200
        assert self.api.delete(f"TriggerRule/{number}").status == 200

    def jobs(self, cluster):
        """A job that ends, and goes once it is old."""
        [workflow] = cluster.workflows.values()
        workflow["status"] = {"phase": "Succeeded", "nodes": {}}
        log._hints.clear()  # as in a container that has just started
        with RECORDER.acting("Jobs"):
            jobs.handler({}, None)
            jobs.handler({"detail-type": "Batch Job State Change", "detail": {"jobName": "x"}}, None)
        with self.patch.context() as patch:
            patch.setattr(cleanup, "datetime", later(settings().job_days + 1))
            with RECORDER.acting("Jobs"):
                jobs.handler({}, None)

    def holes(self):
        """Functions that commit where a log has no counter, and that read where a writer has died."""
        self.patch.setattr(log, "HOLE_SECONDS", 0)
        for function in (
            "APIHandler",
            "Transcode",
            "Dataset",
            "Source",
            "Purge",
            "Jobs",
            "Upkeep",
            "Webhook",
            "Compact",
        ):
            tickets.forget(self.project)
            with RECORDER.acting(function if function != "Compact" else "Purge"):
                log.watch(self.project)
            tickets.take(self.project)
            log.fill(self.project, tickets.take(self.project).seq)
            with RECORDER.acting(function):
                log.last(self.project, fresh=True)

    def bulk(self):
        """A change of many whose request dies, and which the queue finishes: copies too large for a row of the log."""
        api, project = self.api, self.project
        text = [{"name": "text", "dtype": "string"}]
        kind = api.made(
            f"LocalizationTypes/{project}",
            {"name": "bulk", "dtype": "box", "media_types": [self.type], "attribute_types": text},
        )
        box = {"type": kind, "media_id": self.video, "frame": 0}
        large = random.Random(1)
        boxes = [{**box, "attributes": {"text": large.randbytes(8_000).hex()}} for _ in range(60)]
        api.made(f"Localizations/{project}", boxes)

        def die(*_args):
            raise RuntimeError("killed")

        self.patch.setattr(bulk_service, "SOON_DONE", 10)
        self.patch.setattr(bulk_service, "SETTLED", 0)
        with self.patch.context() as patch:
            patch.setattr(bulk_service._Runner, "run", die)
            assert api.patch(f"Localizations/{project}", {"attributes": {}, "in_place": 0}, type=kind).status == 500
        log._hints.clear()
        views.drop(project)
        api.drain()
        assert api.get(f"LocalizationCount/{project}", type=kind, show_all_marks=1).json == 120

    def retirement(self):
        """A type goes, and the queue buries what is of it."""
        api, project = self.api, self.project
        kind = api.made(f"LeafTypes/{project}", {"name": "going"})
        api.made(f"Leaves/{project}", {"name": "going", "type": kind})
        self.patch.setattr(retirement, "SETTLED", 0)
        self.patch.setattr(retirement, "LATER", 0)
        assert api.delete(f"LeafType/{kind}").status == 200
        api.drain()
        assert retired.of(project).entries == ()

    def purge(self):
        number = self.project
        project = records.get(PROJECT, number)
        assert self.api.delete(f"Project/{number}").status == 200
        for turn in (1, purging.ROUNDS):
            message = PurgeProject(id=str(uuid.uuid4()), project=number, organization=self.organization, round=turn)
            said = deliver(settings().purge_queue_url, message)
            assert said == {"batchItemFailures": []}
        assert project.id == number

    def set(self, **values):
        for name, value in values.items():
            self.patch.setenv(f"LIMN_{name.upper()}", value)
        settings.cache_clear()


def test_every_function_was_driven(asked):
    assert set(asked) == set(FUNCTION_NAMES)
    functions = set(of_type(load(FUNCTIONS), "AWS::Serverless::Function"))
    assert functions == set(FUNCTION_NAMES)


@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_a_role_allows_all_that_its_function_asks(asked, name):
    refused = {right for right in asked[name] if not roles.allows(name, right)}
    assert not refused, "\n".join(sorted(f"{right.action} {right.resource}" for right in refused))


@pytest.mark.parametrize("name", FUNCTION_NAMES)
def test_a_role_allows_nothing_that_its_function_never_asks(asked, name):
    used = {reason for right in asked[name] for reason in roles.reasons(name, right)}
    unused = {right for right in set(roles.role(name)) - used if not roles.is_platforms(right)}
    assert not unused, "\n".join(sorted(f"{right.action} {right.resource}" for right in unused))


def test_what_a_role_does_not_name_is_refused():
    table = f"arn:aws:dynamodb:{aws.REGION}:{aws.ACCOUNT}:table/limn-local-records"
    assert roles.allows("APIHandler", Right("dynamodb:PutItem", table))
    assert not roles.allows("APIHandler", Right("dynamodb:DeleteTable", table))
    assert not roles.allows("APIHandler", Right("dynamodb:PutItem", table.replace("local", "prod")))
    assert not roles.allows("Email", Right("dynamodb:PutItem", table))


def test_calls_outside_the_functions_are_nobodys(api):
    before = {name: len(rights) for name, rights in RECORDER.asked.items()}
    boto3.client("dynamodb").scan(TableName=settings().records_table)
    assert objects.size("_uploads/none") is None
    assert {name: len(rights) for name, rights in RECORDER.asked.items()} == before
