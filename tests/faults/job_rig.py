"""A project whose algorithm runs on an engine that can be put back: what launches, deletions and the schedule of jobs
are killed in.
"""

from __future__ import annotations

import copy
import json
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import msgspec
from botocore.exceptions import ConnectionClosedError

from chalicelib.resources.entities import object_cleanup
from chalicelib.resources.jobs import status_sync
from chalicelib.resources.jobs.engines import batch_calls, kubernetes
from chalicelib.resources.jobs.engines.base import EngineUnavailable
from chalicelib.resources.jobs.runs import RUN
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from functions import jobs as function
from tests import objects
from tests.faults import picture
from tests.faults.crashes import Killed
from tests.faults.rewind import restart
from tests.resources.algorithms.test_algorithms import saved, spec
from tests.resources.jobs import batches, clusters
from tests.resources.jobs.media import media_of
from tests.service import new_user
from tests.workflows.test_workflows import FORK

MEDIA = range(4)
A_JOB = 2
"""Media a job, so that a launch is of two."""
TASKS = 3
"""Of the workflow: a fork and a join."""
ROUNDS = 3
"""Runs of the schedule after which everything must have come to rest."""


class OnCluster:
    """A job cluster. Its calls are no AWS calls; they are given to the crasher all the same."""

    name = "cluster"
    per_run = 1

    def __init__(self, folder, hook, patch):
        self.server = clusters.FakeCluster(folder)
        client = SimpleNamespace(meta=SimpleNamespace(service_model=SimpleNamespace(service_name="cluster")))
        client.meta.endpoint_url = "https://cluster"
        ask = kubernetes.Cluster._ask

        def asked(cluster, method, path, body=None, **more):
            def do(_):
                return ask(cluster, method, path, body, **more)

            try:
                return hook.on_call(do, client, method, {})
            except ConnectionClosedError as failure:
                raise EngineUnavailable("The cluster does not answer.") from failure

        patch.setattr(kubernetes.Cluster, "_ask", asked)

    def close(self):
        self.server.close()

    def register(self, owner, organization):
        registered = {"name": "c", "host": "127.0.0.1", "port": self.server.port, "token": clusters.TOKEN}
        return {"cluster": owner.made(f"JobClusters/{organization}", {**registered, "cert": self.server.ca})}

    def keep(self):
        return copy.deepcopy(self.server.workflows)

    def put_back(self, kept):
        self.server.workflows = copy.deepcopy(kept)

    def running(self):
        """What it runs: by run."""
        return Counter(each["metadata"]["labels"]["limn-uid"] for each in self.server.workflows.values())

    def finish(self):
        for uid in self.running():
            self.server.move(uid, "Succeeded")


class OnBatch:
    """AWS Batch, as moto has it."""

    name = "batch"
    per_run = TASKS

    def __init__(self, folder, hook, patch):
        self._queue = batches.queue(patch)
        patch.setenv("LIMN_JOB_QUEUE", self._queue.__enter__())
        patch.setenv("LIMN_JOB_EXECUTION_ROLE", "arn:aws:iam::123456789012:role/execution")
        patch.setenv("LIMN_JOB_FILES_ROLE", "arn:aws:iam::123456789012:role/files")
        settings.cache_clear()
        batch_calls.client.cache_clear()

    def close(self):
        self._queue.__exit__(None, None, None)
        batch_calls.client.cache_clear()

    def register(self, owner, organization):
        return {}

    def keep(self):
        return {number: (job, job.status, job.stop) for number, job in batches.jobs().items()}

    def put_back(self, kept):
        batch_calls._definitions.clear()
        for number, job in list(batches.jobs().items()):
            if number not in kept:
                del batches.jobs()[number]
                job.job_queue.jobs[:] = [other for other in job.job_queue.jobs if other is not job]
        for job, status, stop in kept.values():
            job.status, job.stop = status, stop

    def running(self):
        ended = ("FAILED", "SUCCEEDED")
        named = [job.job_name for job in batches.jobs().values() if job.status not in ended and not job.stop]
        return Counter(name[len("limn-") :].rpartition("-")[0] for name in named)

    def finish(self):
        for number in list(batches.jobs()):
            batches.move(number, "SUCCEEDED")


class JobRig:
    """The project, its engine, and how both are put back."""

    def __init__(self, undo, hook, engine):
        self.undo, self.hook, self.engine = undo, hook, engine
        self.owner = new_user(is_staff=True)
        organization = self.owner.made("Organizations", {"name": f"jobs on {engine.name} {time.time()}"})
        self.project = self.owner.made("Projects", {"name": "jobs", "organization": organization})
        self.folder = f"{organization}/{self.project}/"
        wanted = spec(self.owner, self.project, manifest=saved(self.owner, self.project, FORK), files_per_job=A_JOB)
        wanted |= engine.register(self.owner, organization)
        self.owner.made(f"Algorithms/{self.project}", wanted)
        mail = {"recipients": [self.owner.user.email], "subject": "s", "text": "t"}
        self.body = {
            "algorithm_name": wanted["name"],
            "media_ids": media_of(self.project, len(MEDIA)),
            "success_email_spec": mail,
        }
        self.annotation = {name: self.body[name] for name in ("media_ids", "success_email_spec")}
        video = self.owner.made(f"MediaTypes/{self.project}", {"name": "video", "dtype": "video"})
        look = {"name": "Look", "dtype": "float_array", "size": 3}
        box = {"name": "box", "dtype": "box", "media_types": [video], "attribute_types": [look]}
        boxes = self.owner.made(f"LocalizationTypes/{self.project}", box)
        annotator = {"name": "annotator", "type": boxes, "algorithm": wanted["name"]}
        self.annotation["annotator"] = self.owner.made(f"Annotators/{self.project}", annotator)
        self.annotation["version"] = self.owner.get(f"Versions/{self.project}").json[0]["id"]
        annotator = {"name": "embedder", "type": boxes, "kind": "embedder", "embedding_attribute": "Look"}
        annotator["url"] = "https://embedder.example.org/"
        self.embedding = {**self.annotation, "annotator": self.owner.made(f"Annotators/{self.project}", annotator)}
        self._kept, self._waiting = engine.keep(), []

    def prepare(self, how):
        """Where a flow begins: from now on `back` leads here."""
        how(self)
        self._kept = self.engine.keep()
        self._waiting = self.undo.messages()
        self.undo.mark()

    def back(self):
        self.undo.back()
        self.undo.put(self._waiting)
        self.engine.put_back(self._kept)

    def launch(self, path="Jobs"):
        return self.owner.post(f"{path}/{self.project}", self.body)

    def annotate(self):
        return self.owner.post(f"Annotate/{self.project}", self.annotation)

    def embed(self):
        return self.owner.post(f"Embed/{self.project}", self.embedding)

    def report(self):
        """Report the progress of the first job."""
        with self.hook.resting():
            uid = min(run.uid for run in self.runs())
        return self.owner.patch(f"Job/{uid}", {"progress": {"done": 1, "total": 2}})

    def delete(self):
        return self.owner.delete(f"Jobs/{self.project}")

    def schedule(self):
        function.handler({}, None)

    def event(self):
        """What Batch tells of every job there is."""
        for job in list(batches.jobs().values()):
            detail = {"jobName": job.job_name}
            function.handler({"detail-type": "Batch Job State Change", "detail": detail}, None)

    def killed(self, do, number, mode):
        """Do something and die at one of its calls; its answer, None where it died."""
        self.hook.arm(number, mode)
        try:
            said = do()
        except Killed:
            said = None
        finally:
            dead = self.hook.dead
            self.hook.revive()
        restart()
        return None if dead else said

    def killed_after(self, do, chosen):
        """Do something and die after the call that `chosen` finds in the list of its calls: its index."""
        kept = self.engine.keep()
        with self.undo.aside():
            self.hook.arm()
            do()
            number = chosen(self.hook.calls) + 1
        self.engine.put_back(kept)
        assert self.killed(do, number, "after") is None

    def settle(self):
        """Let the schedule run until it has nothing more to do; leases are over by then."""
        for _ in range(ROUNDS):
            for run in self.runs():
                if run.lease:
                    records.edit(RUN, run.uid, lambda run: msgspec.structs.replace(run, lease=1.0))
            self.schedule()
        object_cleanup.sweep(self.project)

    def age(self):
        """Let the end of every run be long ago."""
        day = (datetime.now(UTC) - timedelta(days=settings().job_days + 1)).date().isoformat()
        for run in self.runs():
            records.edit(RUN, run.uid, lambda run: msgspec.structs.replace(run, finished_on=day))

    # ------------------------------------------------------------------------------------------ what is visible

    def runs(self):
        return records.list_children(RUN, self.project)

    def files(self):
        """The groups and runs of which files are kept."""
        return {key.split("/jobs/")[1].split("/")[0] for key in objects.under(f"{self.folder}jobs/")}

    def seen(self):
        """Every run as its members that do not depend on time, what its engine runs of it, and the mails about it."""
        running = self.engine.running()
        told = Counter(json.loads(body)["id"] for _, body in self.undo.messages())
        mails = {run.uid: sum(1 for number in told if run.uid in number) for run in self.runs()}
        return sorted(
            (run.uid, run.phase, run.is_submitted, run.is_stopping, run.active, bool(run.finished_on), running[run.uid],
             mails[run.uid], sorted((node.task, node.status) for node in run.nodes))
            for run in self.runs()
        )  # fmt: skip

    def problems(self):
        """What contradicts itself once everything has come to rest."""
        told = list(picture.problems(self.undo))
        runs, running = {run.uid: run for run in self.runs()}, self.engine.running()
        told += [f"{uid} runs and there is no such run" for uid in running if uid not in runs]
        told += [f"{uid} is there {count} times" for uid, count in running.items() if count > self.engine.per_run]
        told += [f"{run.uid} was never handed over" for run in runs.values() if not run.is_submitted]
        told += [f"{run.uid} was never ended" for run in runs.values() if run.is_stopping]
        known = {run.gid for run in runs.values()} | set(runs)
        told += [f"nobody knows the files of {name}" for name in self.files() if name not in known]
        told += [f"the manifest of {run.gid} is missing" for run in runs.values() if not _is_there(run)]
        return told


def _is_there(run):
    return objects.size(status_sync.manifest_key(run)) is not None
