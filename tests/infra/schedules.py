"""What the functions on schedules do in the scenario of `test_roles.py`: jobs on AWS Batch, and what time brings."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime, timedelta

import boto3
import msgspec

from chalicelib.core.resource import timestamp
from chalicelib.core.time import clock
from chalicelib.core.web.tus import LARGEST_CHUNK
from chalicelib.maintenance import upkeep as looking_after
from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.jobs.engines import batch, batch_calls
from chalicelib.resources.jobs.engines.base import EngineUnavailable
from chalicelib.resources.jobs.runs import RUN, RunNode
from chalicelib.resources.projects import purging
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.resources.uploads import tus
from chalicelib.settings import settings
from chalicelib.storage.audit import chain
from chalicelib.storage.dynamodb import records
from chalicelib.storage.objects import placement
from chalicelib.storage.objects import tus_uploads as uploads
from functions import jobs, upkeep
from tests import objects
from tests.infra.registered import Registered
from tests.queue_runner import Context, deliver
from tests.resources.algorithms.test_algorithms import saved, spec
from tests.resources.jobs import batches
from tests.resources.media.samples import media_type, picture, uploaded
from tests.resources.uploads.tus_client import begun, sent, upload_of
from tests.roles import RECORDER
from tests.workflows.test_workflows import template

CONTEXT = Context("upkeep", 1024, "upkeep", time.monotonic() + 900)


def key_of(url):
    """The key of an upload, out of a presigned URL."""
    return "_uploads/" + url.partition("/_uploads/")[2].partition("?")[0]


def later(days):
    """Inside, the clock is ahead by days."""
    return clock.ahead_by(days * 86_400)


class Batch:
    """Jobs on AWS Batch, handed over, watched and ended by the API, by the schedule and by a purge."""

    def __init__(self, scenario):
        self.patch, self.api, self.project = scenario.patch, scenario.api, scenario.project
        self.set, self.organization = scenario.set, scenario.organization
        self.media = scenario.video

    def play(self):
        with batches.queue(self.patch) as queue:
            execution, files = (f"arn:aws:iam::123456789012:role/{name}" for name in ("execution", "files"))
            self.set(job_queue=queue, job_execution_role=execution, job_files_role=files)
            batch_calls.client.cache_clear()
            batch_calls._definitions.clear()
            self.of_the_api()
            self.of_output()
            self.of_the_schedule()
            self.of_a_purge()
        self.set(job_queue="", job_execution_role="", job_files_role="")
        batch_calls.client.cache_clear()

    def launched(self, *, away=False, mail=None):
        """A job whose step has a script, which is a file of its own; while Batch is away, it is not handed over."""
        script = {"image": f"alpine:{uuid.uuid4().hex}", "command": ["sh"], "source": "true"}
        name = saved(self.api, self.project, template(script=script))
        algorithm = spec(self.api, self.project, manifest=name)
        self.api.made(f"Algorithms/{self.project}", algorithm)
        body = {"algorithm_name": algorithm["name"], "media_ids": [self.media]}
        body |= {"success_email_spec": mail} if mail else {}
        with self.patch.context() as patch:
            if away:
                patch.setattr(batch, "_submit_job", self.nobody)
            said = self.api.post(f"Jobs/{self.project}", body)
        assert said.status == 201, said.body
        [uid] = said.json["uid"]
        return uid

    @staticmethod
    def nobody(*_):
        raise EngineUnavailable("AWS Batch does not answer.")

    def of_output(self):
        """Requests and the schedule read what a step printed."""
        node = RunNode(id="a", task="a", status="Failed", log="/aws/batch/job:limn-local-d/default/1")
        batch_calls.logs_client.cache_clear()
        for function in ("APIHandler", "Jobs"):
            with RECORDER.acting(function):
                assert batch.Batch().output(None, node, 1) == []

    def of_the_api(self):
        uid = self.launched()
        late = self.launched(away=True)
        for each in (uid, late):
            assert self.api.get(f"Job/{each}").status == 200
        assert len(batches.jobs()) == 2
        for each in (uid, late):
            assert self.api.delete(f"Job/{each}").status == 200

    def of_the_schedule(self):
        path = self.api.get(f"Media/{self.media}").json["media_files"]["streaming"][0]["path"]
        there, gone = (key_of(uploaded(self.api, self.project, b"x")) for _ in range(2))
        lost = f"{path}.copy"
        objects.copy(path, lost, "video/mp4")
        letter = {"recipients": [self.api.user.email], "subject": "s", "text": "t"}

        def mail(*keys):
            return {**letter, "attachments": [{"key": key, "name": "a"} for key in keys]}

        uids = [self.launched(away=True, mail=mail(*keys)) for keys in ((path, there), (gone,), (lost,))]
        self.swept()
        objects.remove([gone, lost])
        for job in batches.jobs():
            batches.move(job, "SUCCEEDED")
        self.swept()
        assert {records.get(RUN, uid).phase for uid in uids} == {"Succeeded"}
        told = self.launched()
        self.swept()
        for job, held in batches.jobs().items():
            if held.status not in ("SUCCEEDED", "FAILED"):
                batches.move(job, "FAILED")
        self.swept()
        assert records.get(RUN, told).phase == "Failed"
        doomed = self.launched()
        with self.patch.context() as patch:
            patch.setattr(batch.Batch, "stop", self.nobody)
            assert self.api.delete(f"Job/{doomed}").status == 200
        self.swept()
        assert all(job.stop for job in batches.jobs().values() if job.status == "SUBMITTED")
        with later(settings().job_days + 1):
            self.swept()
        assert records.list_children(RUN, self.project) == []

    def swept(self):
        with RECORDER.acting("Jobs"):
            jobs.handler({}, None)

    def of_a_purge(self):
        """One job that Batch has, one of which nobody knows whether it has."""
        number = self.api.made("Projects", {"name": "jobs", "organization": self.organization})
        kind = self.api.made(f"MediaTypes/{number}", {"name": "image", "dtype": "image"})
        [media] = self.api.made(f"Medias/{number}", [{"type": kind, "name": "a.jpg", "md5": "", "section": "s"}])
        self.project, self.media = number, media
        self.launched()
        self.launched(away=True)
        assert self.api.delete(f"Project/{number}").status == 200
        for turn in (1, purging.ROUNDS):
            message = PurgeProject(id=str(uuid.uuid4()), project=number, organization=self.organization, round=turn)
            assert deliver(settings().purge_queue_url, message) == {"batchItemFailures": []}
        assert records.list_children(RUN, number) == []


class Upkeep:
    """Media on their way to the archive and back, what was deleted and goes for good, leftovers."""

    def __init__(self, scenario):
        self.patch, self.api, self.project = scenario.patch, scenario.api, scenario.project
        self.set, self.organization = scenario.set, scenario.organization

    def play(self):
        self.type = media_type(self.project, "image")
        archived, gone, lost = (self.image(self.project) for _ in range(3))
        key = self.key(archived)
        objects.write(key, bytes(9 * 1024 * 1024), "image/jpeg")  # what is copied in parts
        objects.remove([self.key(lost)])
        self.leftovers(key)
        with Registered(self.api, self.organization, self.set) as elsewhere:
            stranger = self.image(elsewhere.project)
            self.wished([archived, stranger, lost], "to_archive")
            assert self.api.delete(f"Media/{gone}").status == 200
            self.looked_after(40, elsewhere.project)
            place = {"Bucket": settings().media_bucket, "Key": key}
            boto3.client("s3").copy_object(
                **place, CopySource=place, StorageClass="DEEP_ARCHIVE", MetadataDirective="REPLACE"
            )
            self.wished([archived, stranger, lost], "to_live")
            for days in (41, 43):
                self.looked_after(days, elsewhere.project)
            assert self.state(stranger) == "live"
        assert {self.state(number) for number in (archived, lost)} == {"live"}
        with RECORDER.acting("Upkeep"):
            upkeep.handler({}, CONTEXT)
            with later(chain.RESTING.days + 1):
                chain.check_in(self.organization)

    def image(self, project):
        type_ = self.type if project == self.project else media_type(project, "image")
        url = uploaded(self.api, project, picture(), "x.jpg")
        number = self.api.made(f"Medias/{project}", {"type": type_, "name": "a.jpg", "md5": "", "url": url})
        placement._open.cache_clear()
        self.api.drain()
        return number

    def key(self, number):
        [entry] = self.api.get(f"Media/{number}").json["media_files"]["image"]
        return entry["path"]

    def state(self, number):
        return self.api.get(f"Media/{number}").json["archive_state"]

    def wished(self, numbers, state):
        for number in numbers:
            assert self.api.patch(f"Media/{number}", {"archive_state": state}).status == 200

    def leftovers(self, key):
        """A temporary file, an object that nobody names, uploads whose time is over: a broken one, a whole one."""
        url = uploaded(self.api, self.project, b"x")
        self.api.made(f"TemporaryFiles/{self.project}", {"name": "a", "url": url, "lookup": "b", "hours": 1})
        stray = key.rpartition("/")[0] + "/stray.jpg"
        objects.write(stray, b"x")
        object_cleanup.release(self.project, [objects.key(stray), objects.key(key)])
        size = LARGEST_CHUNK
        broken = begun(self.api, self.project, 3 * size, bytes(size))
        for number, part in ((1, bytes(size)), (2, b"x")):
            assert sent(self.api, broken, number * size, part).status == 204
        for path in (broken, begun(self.api, self.project, 1, b"x")):
            upload = upload_of(path)
            past = timestamp(datetime.now(UTC) - timedelta(seconds=1))
            uploads.save(msgspec.structs.replace(upload, until=past))
            uploads.finish_check(upload.until, upload.id, delayed=upload_of(path))
        with RECORDER.acting("Upkeep"):
            assert tus.sweep() >= 2

    def looked_after(self, days, *more):
        """What the function does some days later; in these projects alone, for others have not waited."""
        with later(days):
            placement._open.cache_clear()
            with RECORDER.acting("Upkeep"):
                for project in (self.project, *more):
                    looking_after.look_after(project)
