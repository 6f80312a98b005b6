"""Jobs, rules and webhooks in the scenario of `test_roles.py`."""

from __future__ import annotations

import uuid

import boto3

from chalicelib.resources.webhooks import delivery, rules
from chalicelib.resources.webhooks.messages import DeliverEvents, RedeliverEvent
from chalicelib.resources.webhooks.schemas import RULE
from chalicelib.settings import settings
from chalicelib.storage.dynamodb import records
from chalicelib.storage.dynamodb.progress import streams
from chalicelib.storage.log import log, wakeups
from functions import jobs
from tests.infra.schedules import later
from tests.queue_runner import deliver
from tests.resources.algorithms.test_algorithms import saved, spec
from tests.resources.jobs import clusters
from tests.resources.webhooks.receiver import Receiver
from tests.roles import RECORDER
from tests.service import new_user
from tests.workflows.test_workflows import FORK


class JobScenes:
    """What functions do with engines and with receivers of events, as parts of a `Scenario`."""

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
        """A rule that launches an algorithm on a new media, and one whose deletion died after its first call."""
        algorithm = self.api.get(f"Algorithms/{self.project}").json[-1]["name"]
        body = {"name": "rule", "types": ["limn.media.created"], "algorithm": algorithm}
        number = self.api.made(f"TriggerRules/{self.project}", body)
        records.remove(RULE, self.api.made(f"TriggerRules/{self.project}", body | {"name": "gone"}))
        kind = self.api.made(f"MediaTypes/{self.project}", {"name": "of rules", "dtype": "image"})
        self.api.made(f"Medias/{self.project}", {"type": kind, "name": "r.jpg", "md5": ""})
        with RECORDER.acting("Jobs"):
            assert rules.sweep(20.0) >= 1  # other tests may have left some
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
        with later(settings().job_days + 1), RECORDER.acting("Jobs"):
            jobs.handler({}, None)

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
