"""Every queue function and the compaction, killed at each of their AWS calls, and the message delivered again."""

from __future__ import annotations

import time
import zlib
from collections import Counter
from contextlib import suppress

import msgspec
import pytest

from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import MEDIA_TYPE, ResolutionConfig
from chalicelib.core.models.entities import Media
from chalicelib.core.models.media_files import keys_of
from chalicelib.core.time import clock
from chalicelib.maintenance import compaction, upkeep
from chalicelib.queues import Message
from chalicelib.resources.bucket_sources.messages import IndexObjects, ListObjects, LookAtObjects
from chalicelib.resources.bulk import service as bulk_service
from chalicelib.resources.bulk.messages import FinishBulkChange
from chalicelib.resources.clips import service as clips_service
from chalicelib.resources.clips.messages import CutClip
from chalicelib.resources.consensus.messages import MakeConsensus
from chalicelib.resources.email.messages import SendEmail
from chalicelib.resources.erasures.messages import ErasePerson
from chalicelib.resources.exports.messages import DrawPictures, JoinExport, PlanExport, RemoveExport, WritePart
from chalicelib.resources.imports.messages import CheckImport, RemoveImport, RunImportPart
from chalicelib.resources.media.messages import ImportImage
from chalicelib.resources.notifications.messages import MailNotifications
from chalicelib.resources.projects.messages import PurgeProject
from chalicelib.resources.quality.messages import MakeQualityReport
from chalicelib.resources.tasks.messages import ScoreTask
from chalicelib.resources.temporary_files import service as temporary_files_service
from chalicelib.resources.temporary_files.schemas import TEMPORARY_FILE
from chalicelib.resources.transcodes.messages import AssembleTranscode, EncodePiece, PlanTranscode
from chalicelib.resources.types.messages import DeleteRetired
from chalicelib.resources.uploads import tus
from chalicelib.resources.webhooks.messages import DeliverEvents, RedeliverEvent
from chalicelib.settings import override, settings
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.log.wakeups import ProjectChanged
from chalicelib.storage.view import views
from functions.worker import RECEIVES
from infra.emulator import aws
from infra.emulator.sqlite.database import pack, unpack
from infra.emulator.sqs import messages_of
from infra.local.background.queues import Context, event_of, failures, queue_of
from infra.templates import FUNCTIONS, load
from tests import objects
from tests.faults import (
    figures,
    picture,
    test_erasure_crashes,
    test_export_crashes,
    test_import_crashes,
    test_retirement_crashes,
    test_source_crashes,
    test_webhook_crashes,
    workflows,
)
from tests.faults.crashes import Killed, KilledReading, crasher, points
from tests.faults.honeypots import hand_in_honeypot, order_comparisons
from tests.faults.rewind import restart, rewinding
from tests.queue_runner import handlers
from tests.resources.media.samples import transcode, video
from tests.service import join, new_user

SHARE = 120
A_COMMIT = 4
"""Things that a bulk change does in one part, so that few are several."""
MOST_DELIVERIES = 60
HANDLED = {
    "transcode": {PlanTranscode, EncodePiece, AssembleTranscode},
    "clip": {CutClip},
    "email": {SendEmail},
    "image": {ImportImage},
    "bulk": {FinishBulkChange},
    "purge": {PurgeProject},
    "quality": {MakeQualityReport, MakeConsensus, ScoreTask},
    "notifications": {MailNotifications},
    "compact": {"Compact"},
    "upkeep": {"Upkeep"},
}
"""What each flow sweeps: kinds of messages, or functions that a schedule runs. Jobs are in test_job_sweep.py."""
FLOWS = tuple(HANDLED)
AT_LEAST_ONCE = "sesv2.SendEmail"
"""Who dies between this call and the note that it was made cannot know of it: the mail may come twice."""


class Rig:
    """A world, what waits in its queues for each flow, and the functions that work on it."""

    def __init__(self, undo, hook):
        self.undo, self.hook = undo, hook
        self.world = workflows.build()
        self.owner, self.things = self.world.owner, self.world.things
        project = self.things["project"]
        for job in self.owner.get(f"Transcodes/{project}").json:
            self.owner.delete(f"Transcode/{job['job']['uid']}")
        config = [ResolutionConfig(resolution=64)]
        small = msgspec.structs.replace(records.get(MEDIA_TYPE, self.things["media_type"]), streaming_config=config)
        records.edit(MEDIA_TYPE, small.id, lambda _: small)
        self.owner.drain()
        self.clip = video(20, keyframes=10)
        self.streamed = transcode(self.owner, project, small.id, self.clip).json["media_id"]
        self.owner.drain()

    def prepare(self, flow):
        """Bring a flow to where its messages wait; `start` puts them into their queues."""
        getattr(self, f"_{flow}")()
        self.waiting = self.undo.messages()
        self.undo.mark()

    def start(self):
        self.undo.back()
        self.undo.put(self.waiting)

    def _transcode(self):
        transcode(self.owner, self.things["project"], self.things["media_type"], self.clip)

    def _clip(self):
        media = entities.get(Kind.MEDIA, self.streamed)
        clips_service.order(media, self.owner.user.id, ["0:4", "8:12"], None, reencode=False)

    def _email(self):
        body = {"recipients": [self.owner.user.email], "subject": "s", "text": "t"}
        self.owner.post(f"Email/{self.things['project']}", body)

    def _image(self):
        image = {"type": self.things["image_type"], "name": "p.jpg", "md5": "", "url": self.things["picture"]}
        self.owner.made(f"Medias/{self.things['project']}", [image])

    def _purge(self):
        assert self.owner.delete(f"Project/{self.things['project']}").status == 200

    def _quality(self):
        versions = [self.things["version"], self.things["second_version"]]
        order_comparisons(self.owner, self.things, versions)
        hand_in_honeypot(self.owner, self.things, self.streamed, *versions)

    def _notifications(self):
        assert self.owner.patch("NotificationSettings", {"mentions": "mail"}).status == 200
        text = {"text": f"look @{self.owner.user.username}", "media_id": self.things["media"]}
        editor = new_user()
        join(editor, self.things["project"], "Can Edit")
        assert editor.post(f"Comments/{self.things['project']}", text).status == 201

    def _bulk(self):
        """An edit of all boxes whose request died when all was ordered and nothing done."""
        body = {"attributes": {"Kind": "y"}}
        place, query = f"{self.things['project']}", {"type": self.things["localization_type"]}
        query["count"] = self.owner.get(f"LocalizationCount/{place}", **query).json

        def ask():
            return self.owner.patch(f"Localizations/{place}", body, **query)

        restart()  # as `aside` ends: the calls are the same ones
        with self.undo.aside():
            self.hook.arm()
            assert ask().status == 200
            sent = self.hook.calls.index("sqs.SendMessage")
            number = self.hook.calls.index("dynamodb.TransactWriteItems", sent) + 1
        self.hook.arm(number, "before")
        with suppress(Killed):
            ask()
        assert self.hook.fired == "dynamodb.TransactWriteItems"
        self.hook.revive()
        restart()

    def _compact(self):
        pass

    def _upkeep(self):
        """A media deleted a month ago, one to be archived, one to be had back, a temporary file that is over."""
        owner, things = self.owner, self.things
        assert owner.delete(f"Media/{self.streamed}").status == 200
        key = f"{things['folder']}/a.mp4"
        assert owner.patch(f"Media/{things['media']}", {"archive_state": "to_archive"}).status == 200
        image = {"type": things["image_type"], "name": "p.jpg", "md5": "", "url": things["picture"]}
        numbers = [owner.made(f"Medias/{things['project']}", [image]) for _ in range(2)]
        self.owner.drain()
        for number in (each[0] if isinstance(each, list) else each for each in numbers):
            assert owner.patch(f"Media/{number}", {"archive_state": "to_archive"}).status == 200
        with clock.ahead_by(8 * 86_400):
            upkeep.look_after(things["project"])
        assert owner.patch(f"Media/{number}", {"archive_state": "to_live"}).status == 200
        assert objects.size(key)

    # --------------------------------------------------------------------------------------------------- at work

    def work(self, flow):
        """Deliver what waits, each message until its function has done it; or run what runs on a schedule."""
        if flow == "compact":
            compaction.compact(self.things["project"], force=True)
            return
        if flow == "upkeep":
            project = self.things["project"]
            with clock.ahead_by(40 * 86_400):
                tus.sweep()
                upkeep.look_after(project)
            return
        for _ in range(MOST_DELIVERIES):
            waiting = [(url, messages_of(queue_of(url, aws.REGION))) for url in handlers()]
            found = next(((url, store, message) for url, store in waiting for message in store), None)
            if found is None:
                return
            url, store, message = found
            message.mark_received(visibility_timeout=900)
            store.append(message)
            context = Context("function", 1024, "arn", time.monotonic() + 900)
            event = event_of(queue_of(url, aws.REGION), [message])
            if not failures(handlers()[url](event, context), {message.id}):
                store.remove(message)
            elif message.approximate_receive_count >= RECEIVES:
                raise AssertionError(f"a dead letter: {message.body}")
            self.time_passes()
        raise AssertionError("the queues never became empty")

    def time_passes(self):
        """What was being done by a process that died is no longer held to be under way."""
        table = picture._table(settings().idempotency_table)
        for partition, sort, row in table.snapshot():
            native = unpack(row)
            if native.get("status", {}).get("S") == "INPROGRESS":
                native["in_progress_expiration"] = {"N": "1"}
                table.put(partition, sort, pack(native))

    def outcome(self, flow):
        """What must be the same after every crash."""
        seen = picture.take(self.undo)
        text = Counter(_rounded(f"{key} {value}") for key, value in (*seen.records.items(), *seen.things.items()))
        return {} if flow == "compact" else text, len(seen.commits)


def _rounded(text):
    """Without sizes: encoders do not give the same bytes twice."""
    import re

    return re.sub(r'"(size|bit_rate|duration)": [0-9.]+', r'"\1": 0', text)


def _view_problems(project):
    """Where the view that a new container begins with is not what the tables have."""
    views.drop(project)
    view = views.current(project)
    told, seen = [], set()
    for kind, number, doc in entities.of_project(project):
        shown = view.document(kind, number)
        seen.add((kind, number))
        row, view_ = msgspec.json.decode(doc), msgspec.json.decode(shown or b"{}")
        for name in Media.also_attributes if kind is Kind.MEDIA else ():
            view_.get("attributes", {}).pop(name, None)
        if any(
            (row.get(name) or None) != (view_.get(name) or None)
            for name in ("id", "type", "name", "attributes", "modified_datetime")
        ):
            told.append(f"{kind} {number} is {doc} in its row and {shown} in the view")
    return told


def _unnamed_objects(rig):
    """Objects that appeared and that no row names, but for those of snapshots, whose own sweep is tested."""
    named = set()
    for kind, number, _ in entities.of_project(rig.things["project"]):
        if kind is Kind.MEDIA:
            named |= keys_of(entities.get(kind, number).media_files)
    temporary = records.list_children(TEMPORARY_FILE, rig.things["project"])
    named |= {temporary_files_service.key_of(file).path for file in temporary}
    return [key for bucket, key in rig.undo.new_objects() if bucket == settings().media_bucket and key not in named]


@pytest.fixture(scope="module")
def rig():
    with pytest.MonkeyPatch.context() as patch, override(allowed_origins=["https://templates.example.org"]):
        patch.setattr(bulk_service, "SOON_DONE", A_COMMIT)
        patch.setattr(bulk_service, "SETTLED", 0)
        with rewinding() as undo, crasher() as hook:
            undo.mark()
            rig = Rig(undo, hook)
            undo.mark()
            yield rig
            undo.back()


def sweep(rig, flow, chosen=lambda number, mode: True):
    """The chosen crash points of a flow: how many were tried, how many there are, what was wrong."""
    with rig.undo.within():
        return _swept(rig, flow, chosen)


def _swept(rig, flow, chosen):
    rig.prepare(flow)
    rig.start()
    rig.hook.arm()
    rig.work(flow)
    calls, wanted = list(rig.hook.calls), rig.outcome(flow)
    mails = sum(len(sent) for sent in rig.undo.mails())
    assert not _unnamed_objects(rig)
    tried, wrong = 0, []
    wanted_points = points(calls)
    for number, mode in wanted_points:
        if chosen(number, mode) and (told := _point(rig, flow, number, mode, wanted, mails)) is not None:
            tried += 1
            wrong += [f"{flow}: {mode} call {number}, {calls[number - 1]}: {each}" for each in told]
    return tried, len(wanted_points), wrong


def _point(rig, flow, number, mode, wanted, mails):
    """What was wrong after one crash and all deliveries after it; None where that call was not made."""
    told = []
    rig.start()
    rig.hook.arm(number, mode)
    try:
        rig.work(flow)
    except (Killed, KilledReading):
        pass
    except Exception as failure:  # noqa: BLE001 a scheduled function's; it runs again
        if mode == "lost":
            told.append(repr(failure))
    fired = rig.hook.fired
    rig.hook.revive()
    if not fired:
        return None
    restart()
    rig.time_passes()
    rig.work(flow)
    if rig.outcome(flow) != wanted:
        told.append(f"not as without: {_differences(rig.outcome(flow), wanted)}")
    sent = sum(len(each) for each in rig.undo.mails())
    if sent != mails and not (AT_LEAST_ONCE in rig.hook.calls[:number] and sent == mails + 1):
        told.append(f"{sent} mails instead of {mails}")
    told += [f"nobody names {key}" for key in _unnamed_objects(rig)]
    if flow != "purge":
        told += picture.problems(rig.undo) + _view_problems(rig.things["project"])
    return told


def _differences(one, other):
    if isinstance(one[0], Counter):
        return (list((one[0] - other[0]).items())[:3], list((other[0] - one[0]).items())[:3], one[1], other[1])
    return one, other


ELSEWHERE = {
    ErasePerson: test_erasure_crashes.test_an_erasure_killed_anywhere_and_asked_for_again_leaves_nothing,
    DeleteRetired: test_retirement_crashes.test_a_burial_killed_anywhere_and_delivered_again_is_done_once,
    ProjectChanged: test_webhook_crashes.test_no_crash_loses_an_event,
    DeliverEvents: test_webhook_crashes.test_no_crash_loses_an_event,
    RedeliverEvent: test_webhook_crashes.test_no_crash_loses_an_event,
    **dict.fromkeys(
        (PlanExport, WritePart, DrawPictures, JoinExport),
        test_export_crashes.test_an_export_is_made_wherever_it_is_killed,
    ),
    RemoveExport: test_export_crashes.test_a_killed_creation_or_deletion_leaves_all_objects_or_none,
    **dict.fromkeys(
        (CheckImport, RunImportPart), test_import_crashes.test_an_import_is_done_once_wherever_it_is_killed
    ),
    RemoveImport: test_import_crashes.test_a_cancellation_killed_anywhere_leaves_no_parts,
    **dict.fromkeys(
        (ListObjects, LookAtObjects, IndexObjects), test_source_crashes.test_a_source_is_listed_wherever_it_is_killed
    ),
    "Webhook": test_webhook_crashes.test_no_crash_loses_an_event,
}
"""Messages and scheduled functions that are swept by a test of their own."""


def test_every_message_and_every_function_on_a_schedule_is_swept():
    swept = set().union(*HANDLED.values(), ELSEWHERE)
    assert {kind for kind in swept if not isinstance(kind, str)} == {
        kind for kind in Message.__subclasses__() if kind.__module__.startswith("chalicelib.")
    }
    resources = load(FUNCTIONS)["Resources"].items()
    rules = {name for name, each in resources if "ScheduleExpression" in each.get("Properties", {})}
    scheduled = {name.removesuffix("Schedule") for name in rules}
    assert scheduled == {kind for kind in swept if isinstance(kind, str)} | {"Jobs"}


@pytest.mark.slow
def test_a_sample_of_all_deliveries_that_die_is_done_once(rig):
    tried, wrong = 0, []
    for flow in FLOWS:
        more, _, bad = sweep(rig, flow, _chosen(flow))
        tried, wrong = tried + more, wrong + bad
    assert not wrong, "\n".join(wrong)
    assert tried > 2


@pytest.mark.nightly
@pytest.mark.parametrize("flow", FLOWS)
def test_every_delivery_that_dies_is_done_once(rig, flow):
    tried, there, wrong = sweep(rig, flow)
    figures.note("crash points of queue functions", flow, tried)
    assert not wrong, "\n".join(wrong)
    assert tried >= there * 0.8


def _chosen(flow):
    return lambda number, mode: zlib.crc32(f"{flow} {mode} {number}".encode()) % SHARE == 0
