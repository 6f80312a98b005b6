"""The world in which histories of requests take place, and what was made and counted in it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from chalicelib.http.links import links
from chalicelib.settings import settings
from infra.emulator.dynamodb import rows as dynamo_rows
from tests.faults import workflows
from tests.faults.fuzz_requests import DECLARED, filled
from tests.faults.picture import NOTES
from tests.service import Api, new_user

LINKS = links(DECLARED.values())
LEFT_OUT = {
    "GetClip": "waits for a queue function, which does not run here",
    "CreateObtainAuthToken": "waits on purpose when it refuses",
    "CreatePasswordReset": "waits on purpose",
    "CompleteUpload": "moto knows no upload that does not exist, and fails where S3 refuses",
}
HARD = {
    "GetClip": "waits for a queue function, which does not run here",
    "GetFrameTimes": "no video is transcoded here: tests/resources/frames",
    "GetStereoRectification": "no cameras are calibrated here: tests/resources/measures",
    "GetDataset": "no dataset is built here: tests/resources/exports",
    "GetDatasetRows": "no dataset is built here: tests/resources/share_links",
    "CompareDatasets": "no dataset is built here: tests/resources/exports",
    "Notify": "this deployment has no operator's address",
    "CreateHostedTemplate": "its origin is not allowed here",
    "GetJobLog": "runs need an engine: tests/faults/test_job_sweep.py",
    "CreateSession": "only pages of this service sign in: tests/resources/accounts",
    "GetDeviceAuthorization": "no device waits here: tests/resources/access_tokens/test_devices.py",
    "DeleteSession": "only pages of this service sign out: tests/resources/accounts",
    **dict.fromkeys(
        ("CreatePasskeyChallenge", "CreatePasskeySession"),
        "no authenticator is here: tests/resources/accounts/test_passkeys.py",
    ),
    **dict.fromkeys(
        ("CreateIdentityProvider", "BeginSignIn", "RenewSession", "BackChannelLogout"),
        "no identity provider answers here: tests/resources/identity_providers",
    ),
    **dict.fromkeys(("SuggestLabels", "FindForReview"), "nothing has vectors here: tests/resources/annotators"),
    **dict.fromkeys(
        ("PredictBoxes", "SegmentObject", "TrackObjects", "ComputeEmbeddings"),
        "no annotator answers here: tests/resources/annotators",
    ),
}
"""Operations that do not succeed in this world, and why; their own tests show that they do."""
BY_ID = {link["operationId"] for found in LINKS.values() for link in found.values()}


@dataclass(frozen=True)
class Thing:
    """Something that was made.

    Attributes:
        makes: the operation that made it; `by` who asked it to.
        id: as it was answered.
        variables: of each operation that it leads to, the path's.
    """

    makes: str
    by: str
    id: int | str
    variables: tuple[tuple[str, tuple[tuple[str, int | str], ...]], ...]

    @property
    def leads(self):
        return [name for name, _ in self.variables]

    def path(self, name):
        return filled(DECLARED[name].path, dict(dict(self.variables)[name]))

    def one(self, method):
        """The operation of a method on it; None where there is none."""
        return next((name for name in self.leads if DECLARED[name].method == method), None)


class Figures:
    """What machines have done."""

    def __init__(self):
        self.requests = Counter()
        self.ways = set()
        """(operation, who, status)."""
        self.states = set()
        """How many things there were of each sort."""


class Ground:
    """The world that every history begins in, who is in it, and what has changed there."""

    def __init__(self, undo):
        self.undo, self.figures = undo, Figures()
        self.world = world = workflows.build()
        world.things["newcomer"] = new_user().user.id
        known = {name: getattr(world, name) for name in ("owner", "stranger", "superuser", "organization_member")}
        self.actors = {"nobody": Api(None), **known, **world.members}
        self.requests = {each.name: each for each in workflows.workflows(world)}
        workflows.show(world)
        self.good = {each.name: each for each in workflows.reads(world)} | self.requests
        """A request that works in the first state of the world, by the operation it asks for."""
        self.writes = [
            name
            for name in self.requests
            if name in DECLARED and name not in LINKS and name not in BY_ID and name not in LEFT_OUT
        ]
        self.makes = [name for name in self.requests if name in LINKS]
        self.reads = [name for name, declared in DECLARED.items() if declared.method == "GET" and name not in LEFT_OUT]
        self._journal = []
        self._tables = (settings().records_table, settings().entities_table, settings().log_table)
        dynamo_rows.listeners.append(self._journal.extend)
        undo.mark()

    def unanswered(self):
        """The operations that have not been answered 2xx, or by a redirect that they promise, in this run."""
        done = {name for name, _, status in self.figures.ways if status < 400}
        return sorted(name for name in self.good if name in DECLARED and name not in done and name not in HARD)

    def close(self):
        """Listen no more, and leave the world as it was."""
        dynamo_rows.listeners.pop()
        self.undo.back()

    def begin(self):
        """A request comes."""
        self._journal.clear()
        self._waiting = len(self.undo.messages())

    def changed(self):
        """What has changed since `begin`: keys of rows, and how many messages wait."""
        first, now = {}, {}
        for rows, partition, sort, old, new in self._journal:
            first.setdefault((rows.table, partition, sort), old)
            now[rows.table, partition, sort] = new
        keys = [key for key, old in first.items() if old != now[key] and key[0] in self._tables]
        sent = self.undo.messages()[self._waiting :]
        return [key for key in keys if not str(key[1]).startswith(NOTES)] + sent
