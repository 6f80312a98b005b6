"""A scenario that drives every function through all that it does, for `test_roles.py`."""

from __future__ import annotations

import random
import tempfile
import uuid
from pathlib import Path

import msgspec

from chalicelib.core.models.accounts import PROJECT
from chalicelib.core.models.credentials import key_of as key_of_token
from chalicelib.maintenance import compaction
from chalicelib.resources.bucket_sources import listing
from chalicelib.resources.bucket_sources.messages import ListObjects
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.email import service as email_service
from chalicelib.resources.email.messages import SendEmail
from chalicelib.resources.erasures import service as erasures_service
from chalicelib.resources.exports import steps as exports_steps
from chalicelib.resources.exports.messages import PlanExport
from chalicelib.resources.jobs.runs import RUN
from chalicelib.resources.notifications import service as notifications_service
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.resources.transcodes import steps as transcodes_steps
from chalicelib.resources.transcodes.messages import PlanTranscode
from chalicelib.resources.types import retirement
from chalicelib.resources.webhooks import delivery
from chalicelib.settings import settings
from chalicelib.storage.audit import chain
from chalicelib.storage.dynamodb import credentials, records, retired
from chalicelib.storage.log import growth, log, tickets
from chalicelib.storage.view import views
from chalicelib.storage.view.snapshot import snapshots
from functions import compact
from infra.emulator import aws
from infra.local.background.schedule import Timer, run
from tests.infra.job_scenes import JobScenes
from tests.infra.media_scenes import MediaScenes
from tests.infra.schedules import Batch, Upkeep, key_of
from tests.queue_runner import deliver
from tests.resources.jobs import clusters
from tests.resources.media.samples import uploaded
from tests.roles import RECORDER
from tests.service import join, new_user

BUCKET = {"name": "b", "access_key": "A", "secret_key": "S", "endpoint_url": "https://s3.example.org", "region": "eu"}


class Scenario(MediaScenes, JobScenes):
    """A project's life, with what goes wrong in it."""

    def __init__(self, patch):
        self.patch = patch
        patch.setattr(growth, "GROWN_BY", 1)  # each commit counts for the compaction
        self.api = new_user(is_staff=True)
        self.organization = self.api.made("Organizations", {"name": f"roles {uuid.uuid4()}"})
        self.project = self.api.made("Projects", {"name": "roles", "organization": self.organization})

    def play(self):
        self.api.drain()
        self.credentials()
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
            self.erasure()
            self.purge()
            self.receiver.close()
            assert cluster.workflows == {}
            cluster.close()

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
        for _ in range(2):  # the second asks for the last commits of what the first has counted
            assert api.get("Projects").status == 200
        assert api.patch(f"Localization/{made[0]}", {"x": 0.5}).status == 200
        assert api.patch(f"Localizations/{project}", {"attributes": {"text": "b"}}, stop=120).status == 200
        assert api.get(f"LocalizationGraphic/{made[0]}").status == 400  # its media has nothing to show
        assert api.delete(f"Localization/{made[1]}").status == 200
        assert api.delete(f"Localizations/{project}", {}, start=0, stop=200).status == 200
        made = api.made(f"Localizations/{project}", [spec] * 3)
        assert api.put(f"Localizations/{project}", {"ids": made}).status == 200

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
        assert member.get(f"GetFrame/{self.video}").status == 200
        stranger = new_user()
        chain._heads.clear()  # as in a process that has just started
        assert stranger.get(f"GetFrame/{self.video}").status == 404
        self.notices(member)
        letter = {"recipients": [member.user.email], "subject": "s", "text": "t"}
        key = key_of(uploaded(api, project, b"a,b"))
        path = api.get(f"Media/{self.video}").json["media_files"]["streaming"][0]["path"]
        attached = {**letter, "attachments": [{"key": key, "name": "a.csv"}, {"key": path, "name": "a.mp4"}]}
        missing = {**letter, "attachments": [{"key": f"{path}.gone", "name": "a.csv"}]}
        assert api.post(f"Email/{project}", missing).status == 400
        assert api.post(f"Email/{project}", attached).status == 201
        api.drain()

    def notices(self, member):
        """A mention that waits for the digest, and failures of jobs that are told at once."""
        assert self.api.patch("NotificationSettings", {"jobs": "mail"}).status == 200
        assert member.patch("NotificationSettings", {"mentions": "daily"}).status == 200
        mention = {"text": f"look @{member.user.username}", "media_id": self.video}
        assert self.api.post(f"Comments/{self.project}", mention).status == 201
        notifications_service.order_digests()
        self.api.drain()

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
            self.patch.setattr(growth, "by_project", self.growth) if times == 1 else None
            views.drop(self.project)
            assert self.api.get(f"LocalizationCount/{self.project}").status == 200

    def grow_meanwhile(self):
        """Commits come in while the project is compacted: what is settled is less than what there is then."""
        self.growth = growth.by_project
        known = {self.project: growth.by_project()[self.project] - 1}
        by_project = growth.by_project

        def earlier():
            by_project()
            return known

        self.patch.setattr(growth, "by_project", earlier)

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
            tickets.take_ticket(self.project)
            log.fill(self.project, tickets.take_ticket(self.project).seq)
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
        assert retired.current(project).entries == ()

    def erasure(self):
        """Somebody whom a comment mentions is erased, while a job of theirs runs."""
        person = new_user()
        join(person, self.project, "Can Edit")
        kind = self.api.made(f"MediaTypes/{self.project}", {"name": "seen", "dtype": "image"})
        media = self.api.made(f"Medias/{self.project}", {"type": kind, "name": "a.jpg", "md5": ""})
        self.api.made(f"Comments/{self.project}", {"text": f"@{person.user.username}", "media_id": media})
        run = records.list_children(RUN, self.project)[0]
        records.edit(RUN, run.uid, lambda run: msgspec.structs.replace(run, user=person.user.id))
        assert person.delete(f"Project/{self.project}").status == 403  # which the audit log has
        self.patch.setattr(erasures_service, "SETTLED", 0)
        made = self.api.made(f"Erasures/{self.organization}", {"user": person.user.id})
        self.api.drain()
        assert self.api.get(f"Erasure/{made}").json["status"] == "Completed"

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

    def credentials(self):
        """A token is used on another day, and a busy database leaves its row out of what is read ahead."""
        key = key_of_token(self.api.token)
        for function in ("APIHandler", "MediaHandler"):
            with RECORDER.acting(function):
                _, row = credentials.read(key)
                credentials.touch(row, "2001-01-01", None)
