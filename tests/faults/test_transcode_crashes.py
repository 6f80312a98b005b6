"""A transcode killed after each of its AWS calls in turn, and every message delivered again: it completes, once."""

import io
import json
import uuid

import av
import pytest

from chalicelib.core.keys import object_keys
from chalicelib.core.kinds import Kind
from chalicelib.core.models.definitions import ArchiveConfig, EncodeConfig, ResolutionConfig
from chalicelib.core.models.jobs import JOB
from chalicelib.resources.media import streams
from chalicelib.resources.media.streams import RangeSource
from chalicelib.resources.transcodes import steps as transcodes_steps
from chalicelib.resources.transcodes.messages import AssembleTranscode, EncodePiece, PlanTranscode
from chalicelib.settings import override
from chalicelib.storage.dynamodb import entities, records
from chalicelib.storage.dynamodb.progress import pieces
from chalicelib.storage.log import log
from chalicelib.video import plan
from chalicelib.video.decoding.frame import decode_frames
from tests import objects
from tests.faults.kills import Killer, Queue
from tests.faults.picture import commits_after
from tests.resources.media.samples import media_type, shade, transcode, video

pytestmark = pytest.mark.slow

KINDS = (PlanTranscode, EncodePiece, AssembleTranscode)


def handle(message):
    match message:
        case PlanTranscode(job=job):
            transcodes_steps.plan(job)
        case EncodePiece(job=job, index=index):
            transcodes_steps.encode(job, index)
        case AssembleTranscode(job=job, group=group):
            transcodes_steps.assemble(job, group)


@pytest.fixture
def short_pieces():
    with override(piece_seconds=1):
        yield


@pytest.fixture(params=["silent", pytest.param("with sound", marks=pytest.mark.nightly)])
def start(api, project, request, monkeypatch):
    sound = request.param == "with sound"
    if sound:
        # two renditions, made in two groups
        monkeypatch.setattr(plan, "LONG_WORK", 0)
    configs = [ArchiveConfig(encode=EncodeConfig(vcodec="copy"))]
    if sound:
        configs.append(ArchiveConfig(encode=EncodeConfig(vcodec="h264", preset="ultrafast")))
    type_ = media_type(project, streaming_config=[ResolutionConfig(resolution=64)], archive_config=configs)
    data = video(50, keyframes=25, sound=sound)

    def make():
        said = transcode(api, project, type_, data, gid=str(uuid.uuid4()))
        assert said.status == 201
        return said.json["id"], said.json["media_id"]

    return make


def outcome(uid, media):
    """What must be the same after every crash: which files the media has, and the job's end."""
    found = entities.get(Kind.MEDIA, media)
    files = {}
    for role in ("streaming", "archival", "audio", "thumbnail", "thumbnail_gif"):
        entries = getattr(found.media_files, role) or []
        assert all(entry.size == objects.size(entry.path) for entry in entries)
        files[role] = [getattr(entry, "resolution", None) for entry in entries]
    # two seconds of sound, of both pieces, whole; and the same in the archival copy
    for entry in [*(found.media_files.audio or []), *found.media_files.archival[1:]]:
        with av.open(io.BytesIO(objects.read(entry.path))) as container:
            heard = sum(frame.samples for frame in container.decode(audio=0) if frame.pts >= 0)
        assert 2 * 8000 <= heard < 2 * 8000 + 2 * 1024
    (stream,) = found.media_files.streaming
    segments = json.loads(objects.read(stream.segment_info))["segments"]
    # Encoders do not give the same bytes twice, but a file and its segment file belong together.
    assert segments[-1]["offset"] + segments[-1]["size"] == stream.size
    source, info = RangeSource(objects.key(stream.path)), streams.segments(objects.key(stream.segment_info))
    shown = decode_frames(source, info, [0, 24, 25, 49])
    shades = [round(picture.convert("L").getpixel((40, 30)) - shade(0)) // 3 for picture in shown]
    assert [abs(shade_ - frame) <= 1 for shade_, frame in zip(shades, [0, 24, 25, 49], strict=True)] == [True] * 4
    return files, found.num_frames, found.fps, records.get(JOB, uid).status


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.nightly), 17])
def test_it_completes_once_wherever_it_is_killed(project, start, every, monkeypatch):
    killer, queue = Killer(monkeypatch), Queue(monkeypatch, [transcodes_steps], KINDS, handle)
    uid, media = start()
    before, commits = killer.calls, log.last(project, fresh=True)
    queue.waiting = [PlanTranscode(job=uid)]
    queue.run()
    calls, made = killer.calls - before, commits_after(project, commits)
    wanted = outcome(uid, media)
    assert wanted[-1] == "succeeded"
    # what the plan says, each group of renditions (with sound there are two, and a commit between them for the animated
    # thumbnail: decision 146), and the note of the end
    is_in_groups = bool(wanted[0]["audio"])
    assert made == 5 if is_in_groups else made == 3
    assert calls > 20
    for number in range(every, calls + 1, every):
        uid, media = start()
        commits = log.last(project, fresh=True)
        queue.waiting = [PlanTranscode(job=uid)]
        killer.left = number
        killed = queue.run()
        killer.left = None
        # later runs find more in caches and make a few calls less
        assert killed == 1 or number > calls - 10, number
        assert outcome(uid, media) == wanted, number
        # after a crash the last group may bring the animation along
        assert commits_after(project, commits) in (made, made - is_in_groups), number
        assert list(objects.under(object_keys.pieces_prefix(project, uid))) == [], number
        assert pieces.results(uid) == {}


@pytest.mark.usefixtures("short_pieces")
def test_every_message_twice_and_out_of_order_changes_nothing(project, start, monkeypatch):
    queue = Queue(monkeypatch, [transcodes_steps], KINDS, handle)
    uid, media = start()
    commits = log.last(project, fresh=True)
    transcodes_steps.plan(uid)
    transcodes_steps.plan(uid)
    waiting = queue.waiting[::-1] * 2
    queue.waiting = []
    for message in waiting:
        handle(message)
    queue.waiting = queue.waiting * 2
    queue.run()
    assert outcome(uid, media)[-1] == "succeeded"
    # what the plan says, each group of renditions (the kinds with sound have two, and the animation comes between
    # them or with the last), and the note of the end
    is_in_groups = bool(entities.get(Kind.MEDIA, media).media_files.audio)
    assert commits_after(project, commits) in ((4, 5) if is_in_groups else (3,))
    for message in waiting:
        handle(message)


@pytest.mark.usefixtures("short_pieces")
def test_one_that_was_given_up_says_why_and_leaves_nothing(project, start, monkeypatch):
    queue = Queue(monkeypatch, [transcodes_steps], KINDS, handle)
    uid, media = start()
    transcodes_steps.plan(uid)
    handle(queue.waiting[0])
    transcodes_steps.fail(uid, RuntimeError("the disk is full"))
    queue.run()
    job = records.get(JOB, uid)
    assert (job.status, job.message) == ("failed", "Something went wrong on our side: RuntimeError.")
    assert entities.get(Kind.MEDIA, media).media_files is None
    assert list(objects.under(object_keys.pieces_prefix(project, uid))) == []
