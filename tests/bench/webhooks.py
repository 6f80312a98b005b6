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

from chalicelib.core.models.accounts import ProjectSpec
from chalicelib.resources.events import service as events_service
from chalicelib.resources.projects import service as projects_service
from chalicelib.resources.webhooks import delivery
from chalicelib.settings import override
from infra.local import aws
from infra.local.queues import Pollers, Source
from tests.resources.webhooks.receiver import running
from tests.service import new_user

AT_ONCE = 500
LEAVES_AN_EVENT = 100


def main(events: int = 10_000, hooks: int = 100) -> None:
    """Print both figures, and the time of a write with and without webhooks."""
    from chalicelib.resources.webhooks import service

    service.MOST_WEBHOOKS = hooks + 1  # type: ignore[misc]
    api = new_user(is_staff=True)
    organization = api.made("Organizations", {"name": "bench"})
    with running() as receiver, override(service_origins=[receiver.url]):
        project = _project(api, organization, "one")
        plain = _writes(api, project)
        api.made(f"Webhooks/{project}", {"name": "x", "url": f"{receiver.url}/x", "types": ["*"]})
        watched = _writes(api, project)
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


def _writes(api, project, count=200):
    section = api.made(f"Sections/{project}", {"name": f"{time.time_ns()}"})
    times = []
    for number in range(count):
        began = time.process_time()
        assert api.patch(f"Section/{section}", {"name": f"{number} {time.time_ns()}"}).status == 200
        times.append(time.process_time() - began)
    return statistics.mean(times) * 1000


def _events(api, project, count):
    """Make about so many events, by bulk creations of leaves; how many there are after all."""
    kind = api.made(f"LeafTypes/{project}", {"name": "l"})
    start = events_service.last(project)
    made = 0
    while made < count:
        leaves = [{"name": f"{made}-{place}", "type": kind} for place in range(AT_ONCE)]
        api.made(f"Leaves/{project}", leaves)
        made += AT_ONCE // LEAVES_AN_EVENT
    found, position = 0, start
    while (page := events_service.read(project, after=position, limit=1000)).events:
        found, position = found + len(page.events), page.next
    return found


def _drain(workers):
    """Run the sender until nothing is behind; seconds."""
    from chalicelib.settings import settings
    from functions import webhook

    began = time.perf_counter()
    source = Source(queue_url=settings().webhook_queue_url, handler=webhook.handler, concurrency=workers)
    pollers = Pollers([source], region=aws.REGION)
    pollers.start()
    while delivery.sweep() or not pollers.wait_until_idle(60.0):
        pollers.wait_until_idle(600.0)
    pollers.stop()
    return time.perf_counter() - began


def _report(what, count, receiver, seconds):
    got = len(receiver.ids)
    receiver.ids.clear()
    receiver.got.clear()
    print(f"{what}: {count} events, {got} messages in {seconds:.1f} s: {got / seconds:.0f} a second")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
