import time, resource
from tests.operations.box_things import settle
from chalicelib.services import retirement
from chalicelib.messages import BuryRetired
from chalicelib.storage import retired, log
from botocore.client import BaseClient


def test_measure(api, project, monkeypatch):
    monkeypatch.setattr(retirement, "SETTLED", 0)
    monkeypatch.setattr(retirement, "LATER", 0)
    here = settle(api, project)
    calls = []
    real = BaseClient._make_api_call
    monkeypatch.setattr(BaseClient, "_make_api_call", lambda c, n, a: (calls.append(n), real(c, n, a))[1])
    out = open("/tmp/types/measure.txt", "w")
    for total in (1000, 100000):
        spec = {"name": f"d{total}", "dtype": "box", "media_types": [here.media_type]}
        of = api.made(f"LocalizationTypes/{project}", spec)
        t = time.time()
        for start in range(0, total, 500):
            api.made(here.many, [here.spec(type=of, frame=n) for n in range(500)])
        print(total, "made", time.time() - t, file=out, flush=True)
        assert here.count(type=of) == total
        calls.clear()
        t = time.time()
        c = time.process_time()
        said = api.delete(f"LocalizationType/{of}")
        print(
            said.message,
            "wall",
            time.time() - t,
            "cpu",
            time.process_time() - c,
            "calls",
            len(calls),
            calls,
            file=out,
            flush=True,
        )
        t = time.time()
        n = here.count(type=here.type)
        print("next count", n, time.time() - t, file=out, flush=True)
        t = time.time()
        c = time.process_time()
        before = log.last(project, fresh=True)
        api.drain()
        print(
            "buried wall",
            time.time() - t,
            "cpu",
            time.process_time() - c,
            "commits",
            log.last(project, fresh=True) - before,
            "peak",
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
            file=out,
            flush=True,
        )
        assert retired.of(project).entries == ()
