"""`python -m tests.bench.webhooks [events] [webhooks]`: events a second through one webhook, and through many at once.

The receiver is in the same process, and so is AWS: what is measured is an upper bound of our own work for each event.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

from tests.environment import VARIABLES

os.environ.update(VARIABLES)

from chalicelib.core import record_limits
from chalicelib.resources.events import service as events_service
from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.projects.schemas import ProjectSpec
from chalicelib.resources.webhooks import delivery
from chalicelib.settings import override
from infra.emulator import aws
from infra.local.background.queues import EventSourceMapping, Pollers
from tests.resources.webhooks.receiver import running
from tests.service import new_user


def main(events: int = 10_000, hooks: int = 100) -> None:
    """Print both figures, and the time of a write with and without webhooks."""
    record_limits.LIMITS["webhook"] = (record_limits.Most(number=hooks + 1, link="project"),)
    api = new_user(is_staff=True)
    organization = api.made("Organizations", {"name": "bench"})
    with running() as receiver, override(service_origins=[receiver.url]):
        project = _project(api, organization, "one")
        api.made(f"Webhooks/{project}", {"name": "x", "url": f"{receiver.url}/x", "types": ["*"]})
        plain, watched = _writes(api, _project(api, organization, "none"), project)
        print(f"a write: {plain:.2f} ms of CPU without webhooks, {watched:.2f} ms with one ({watched / plain:.2f})")
        _drain(1)
        receiver.ids.clear()
        made = _events(api, project, events)
        _report("one webhook", made, receiver, _drain(1))
        other = _project(api, organization, "many")
        for number in range(hooks):
            api.made(f"Webhooks/{other}", {"name": f"h{number}", "url": f"{receiver.url}/{number}", "types": ["*"]})
        _drain(4)
        receiver.ids.clear()
        each = _events(api, other, max(events // hooks, 10))
        _report(f"{hooks} webhooks", each * hooks, receiver, _drain(4))


def _project(api, organization, name):
    return projects_service.create_project(
        ProjectSpec(name=name, organization=organization), api.user.id, "No Access"
    ).id


def _writes(api, *projects, count=500):
    """The median processor time of a write in some projects, in ms: one in each in turn, so that load is the same."""
    sections = [api.made(f"Sections/{project}", {"name": "s"}) for project in projects]
    times = [[] for _ in projects]
    for number in range(count):
        for section, taken in zip(sections, times, strict=True):
            began = time.process_time()
            assert api.patch(f"Section/{section}", {"name": f"name {number}"}).status == 200
            taken.append(time.process_time() - began)
    return [statistics.median(taken) * 1000 for taken in times]


def _events(api, project, count):
    """Make so many events, each of a commit of its own."""
    start = events_service.last(project)
    section = api.made(f"Sections/{project}", {"name": f"s{start}"})
    for number in range(count - 1):
        assert api.patch(f"Section/{section}", {"name": f"name {number}"}).status == 200
    found, position = 0, start
    while (page := events_service.read(project, after=position, limit=1000)).events:
        found, position = found + len(page.events), page.next
    return found


def _drain(workers):
    """Run the sender until nothing is behind; seconds, and those of a processor."""
    from chalicelib.settings import settings
    from functions import webhook

    began, spent = time.perf_counter(), time.process_time()
    source = EventSourceMapping(queue_url=settings().webhook_queue_url, handler=webhook.handler, concurrency=workers)
    pollers = Pollers([source], region=aws.REGION)
    pollers.start()
    while delivery.sweep() or not pollers.wait_until_idle(60.0):
        pollers.wait_until_idle(600.0)
    pollers.stop()
    return time.perf_counter() - began, time.process_time() - spent


def _report(what, count, receiver, taken):
    seconds, spent = taken
    got = len(receiver.ids)
    receiver.ids.clear()
    receiver.got.clear()
    print(
        f"{what}: {count} events, {got} messages in {seconds:.1f} s: {got / seconds:.0f} a second, "
        f"{spent / got * 1000:.2f} ms of a processor each with receiver and AWS"
    )


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
