"""A task on a caller's media may crash, hang, or take all memory: the service goes on and says so in a sentence."""

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from chalicelib.errors import BadInput, Unavailable
from chalicelib.video import probe
from chalicelib.video.files.source import BytesSource
from chalicelib.video.process import isolation
from chalicelib.video.process.isolation import Limits
from tests.infra.local.steps import wait_until
from tests.video import misbehaving
from tests.video.made import DATA, FileSource

SOURCE = BytesSource(b"some bytes")


def test_a_file_that_would_corrupt_the_heap_is_read_without_its_layout():
    # DATA's README says how the file was made.
    found, _ = isolation.run(probe.probe, FileSource(DATA / "pcm_7_1.mov"))
    assert len(found.audio) == 1


def test_a_task_reads_its_source_and_returns_a_result():
    assert isolation.run(misbehaving.echo, SOURCE, 7) == (7, b"some bytes")


def test_large_reads_arrive_whole():
    data = bytes(range(256)) * 40_000
    assert isolation.run(misbehaving.echo, BytesSource(data), 0)[1] == data


@pytest.mark.parametrize(
    ("task", "limits", "says"),
    [
        (misbehaving.crash, Limits(), "crashes the program that reads it"),
        (misbehaving.hang, Limits(seconds=0.3), "longer than allowed"),
        (misbehaving.spin, Limits(seconds=0.3), "longer than allowed"),
        (misbehaving.grow, Limits(memory=1 << 30), "more memory than allowed"),
    ],
    ids=["crash", "hang", "spin", "grow"],
)
def test_a_task_that_breaks_a_limit_is_refused_soon(task, limits, says):
    before = time.monotonic()
    with pytest.raises(BadInput, match=says):
        isolation.run(task, SOURCE, limits=limits)
    assert time.monotonic() - before < 5


def test_a_file_that_grows_beyond_its_limit_is_refused(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(BadInput, match="larger than allowed"):
        isolation.run(misbehaving.fill, SOURCE, str(path), limits=Limits(file_size=5 << 20))
    assert path.stat().st_size <= 5 << 20


@pytest.mark.slow
def test_other_tasks_go_on_while_one_crashes():
    results = []

    def work(number):
        results.append(isolation.run(misbehaving.echo, SOURCE, number)[0])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(4):
        with pytest.raises(BadInput):
            isolation.run(misbehaving.crash, SOURCE)
    for thread in threads:
        thread.join()
    assert sorted(results) == list(range(8))


@pytest.mark.slow
def test_a_server_that_was_started_ahead_does_the_first_task():
    isolation._media_server.stop()
    isolation.warm_up()
    started = isolation._media_server._process
    assert isolation.run(misbehaving.echo, SOURCE, 1)[0] == 1
    assert isolation._media_server._process is started


@pytest.mark.slow
def test_a_server_that_was_killed_is_started_anew():
    isolation.run(misbehaving.echo, SOURCE, 0)
    isolation._media_server._process.kill()
    isolation._media_server._process.wait()
    assert isolation.run(misbehaving.echo, SOURCE, 1)[0] == 1


@pytest.mark.slow
def test_the_child_has_no_credentials(monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    isolation._media_server.stop()
    found = isolation.run(misbehaving.environment, SOURCE)
    assert not [name for name in found if name.startswith("AWS")]


def test_errors_keep_their_kind():
    class Broken(BytesSource):
        def read(self, offset, length):
            raise Unavailable("the storage is away")

    with pytest.raises(Unavailable, match="storage is away"):
        isolation.run(probe.probe, Broken(b"x" * 100))
    with pytest.raises(BadInput, match="not a video"):
        isolation.run(probe.probe, BytesSource(b"x" * 100))
    with pytest.raises(RuntimeError, match="ours"):
        isolation.run(misbehaving.fail, SOURCE)


class TestStreams:
    def test_the_parts_of_a_generator_arrive_in_order(self):
        assert list(isolation.stream(misbehaving.count, BytesSource(b"abc"), 3)) == [b"a", b"b", b"c"]

    @pytest.mark.parametrize(
        ("task", "limits", "error", "says"),
        [
            (misbehaving.yield_then_crash, Limits(), BadInput, "crashes the program that reads it"),
            (misbehaving.yield_then_hang, Limits(seconds=0.3), BadInput, "longer than allowed"),
            (misbehaving.yield_then_grow, Limits(memory=1 << 30), BadInput, "more memory than allowed"),
            (misbehaving.yield_then_fail, Limits(), RuntimeError, "ours"),
        ],
        ids=["crash", "hang", "grow", "fail"],
    )
    def test_a_death_comes_after_the_parts_before_it(self, task, limits, error, says):
        parts = isolation.stream(task, SOURCE, limits=limits)
        assert next(parts) == b"one"
        with pytest.raises(error, match=says):
            next(parts)
        assert list(isolation.stream(misbehaving.count, SOURCE, 1)) == [b"s"]

    def test_a_stream_that_is_closed_ends_its_process(self):
        parts = isolation.stream(misbehaving.yield_process, SOURCE)
        process = Path("/proc") / next(parts).decode()
        assert process.exists()
        parts.close()
        wait_until(lambda: not process.exists(), 60)

    def test_an_answer_that_says_it_is_endless_is_refused(self, monkeypatch):
        monkeypatch.setattr(isolation.fork_server, "LARGEST_FRAME", 2)
        with pytest.raises(BadInput, match="more memory than allowed"):
            list(isolation.stream(misbehaving.yield_then_fail, SOURCE))

    def test_a_source_that_fails_ends_a_stream_with_its_error(self):
        class Broken(BytesSource):
            def read(self, offset, length):
                raise Unavailable("the storage is away")

        with pytest.raises(Unavailable, match="storage is away"):
            list(isolation.stream(misbehaving.count, Broken(b"x"), 1))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")
def test_a_process_with_credentials_is_closed_to_the_children_that_parse_files():
    script = (
        "import ctypes\n"
        "from chalicelib.video.process import isolation\n"
        "show = lambda: ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)\n"
        "before = show()\n"
        "isolation._archive_server.start()\n"
        "print(before, show())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "0"]
