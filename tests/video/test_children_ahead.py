"""Some children are forked before there is a task for them: each does one, and all end with their server."""

import errno
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chalicelib.errors import BadInput, Unavailable
from chalicelib.video.decoding import frame
from chalicelib.video.files.source import BytesSource
from chalicelib.video.pictures import drawing
from chalicelib.video.process import fork_server, isolation, tasks
from chalicelib.video.process.isolation import Limits
from tests.infra.local.steps import wait_until
from tests.video import misbehaving, stocked, stocked_in_vain

SOURCE = BytesSource(b"some bytes")
NOW, LATER = Limits(ahead=True), Limits()
STOCK = 2
LONG = 60
"""Seconds after which a wait for a condition is an error."""


@pytest.fixture
def server(monkeypatch):
    """A server with a stock, which does the tasks of `isolation.run`."""
    own = isolation._Server("tests.video.stocked", STOCK)
    monkeypatch.setattr(isolation, "_media_server", own)
    own.start()
    yield own
    own.stop()


def children(process):
    """The processes that a process has started and that have not ended."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (entry / "stat").read_text("ascii").rpartition(") ")[2].split()[:2]
        except OSError:
            continue
        if int(parent) == process and state != "Z":
            found.add(int(entry.name))
    return found


def is_there(process):
    """Whether a process runs."""
    try:
        return "State:\tZ" not in Path(f"/proc/{process}/status").read_text("ascii")
    except OSError:
        return False


def open_files(process):
    return len(list(Path(f"/proc/{process}/fd").iterdir()))


def state(limits=NOW):
    return isolation.run(stocked.state, SOURCE, limits=limits)


def of_stock():
    """The state in a child that was forked ahead, once there is one."""
    found = []
    wait_until(lambda: found.append(state()) or found[-1].rehearsals, LONG)
    return found[-1]


class Held:
    """A source that is read once the test lets it."""

    size = 1

    def __init__(self):
        self.asked, self.let = threading.Event(), threading.Event()

    def read(self, offset, length):
        self.asked.set()
        assert self.let.wait(LONG)
        return b"x"


@pytest.mark.slow
class TestStock:
    def test_a_request_gets_a_child_of_the_stock_and_other_work_a_new_one(self, server):
        assert of_stock().rehearsals == 1
        assert state(LATER).rehearsals == 0

    def test_no_child_sees_two_tasks(self, server):
        found = [of_stock() for _ in range(3)] + [state(LATER)]
        assert {each.tasks_before for each in found} == {0}
        assert len({each.process for each in found}) == len(found)

    def test_the_stock_is_filled_again_and_grows_no_larger(self, server):
        with ThreadPoolExecutor(3 * STOCK) as pool:
            for _ in range(3 * STOCK):
                pool.submit(state)
        of_stock()
        wait_until(lambda: len(children(server._process.pid)) == STOCK, LONG)
        state(LATER)
        wait_until(lambda: len(children(server._process.pid)) == STOCK, LONG)

    def test_a_child_has_no_descriptor_but_its_connection(self, server):
        held = Held()
        at_work = threading.Thread(target=isolation.run, args=(stocked.read, held), kwargs={"limits": NOW})
        at_work.start()
        assert held.asked.wait(LONG)
        for found in (of_stock(), state(LATER)):
            assert len(found.descriptors) == 1
            assert found.descriptors[0].startswith("socket:")
        held.let.set()
        at_work.join()

    def test_tasks_leave_no_descriptor_in_the_server_or_here(self, server):
        of_stock()
        wait_until(lambda: len(children(server._process.pid)) == STOCK, LONG)
        both = server._process.pid, os.getpid()
        before = [open_files(each) for each in both]
        for limits in (NOW, LATER) * 3:
            state(limits)
        wait_until(lambda: all(open_files(each) <= most for each, most in zip(both, before, strict=True)), LONG)

    def test_children_that_died_while_they_waited_are_replaced(self, server):
        of_stock()
        wait_until(lambda: len(children(server._process.pid)) == STOCK, LONG)
        stock = children(server._process.pid)
        for child in stock:
            os.kill(child, signal.SIGKILL)
        wait_until(lambda: not any(map(is_there, stock)), LONG)
        assert state().tasks_before == 0
        of_stock()
        wait_until(lambda: len(children(server._process.pid)) == STOCK, LONG)

    def test_children_that_cannot_be_made_ready_are_not_tried_without_end(self, server, monkeypatch):
        vain = isolation._Server("tests.video.stocked_in_vain", STOCK)
        monkeypatch.setattr(isolation, "_media_server", vain)
        try:
            for _ in range(3):
                assert isolation.run(stocked_in_vain.state, SOURCE, limits=NOW).rehearsals == 0
            wait_until(lambda: not children(vain._process.pid), LONG)
        finally:
            vain.stop()

    @pytest.mark.parametrize(
        ("task", "limits", "says"),
        [
            (misbehaving.crash, Limits(ahead=True), "crashes the program that reads it"),
            (misbehaving.hang, Limits(seconds=0.3, ahead=True), "longer than allowed"),
            (misbehaving.spin, Limits(seconds=0.3, ahead=True), "longer than allowed"),
            (misbehaving.grow, Limits(memory=1 << 30, ahead=True), "more memory than allowed"),
        ],
        ids=["crash", "hang", "spin", "grow"],
    )
    def test_a_task_that_breaks_a_limit_is_refused_and_the_next_one_is_done(self, server, task, limits, says):
        of_stock()
        wait_until(lambda: len(children(server._process.pid)) == STOCK, LONG)
        with pytest.raises(BadInput, match=says):
            isolation.run(task, SOURCE, limits=limits)
        assert of_stock().tasks_before == 0


def test_what_a_child_draws_first_needs_no_demuxer(monkeypatch):
    monkeypatch.setattr(frame, "opened", None)
    drawn = []
    monkeypatch.setattr(drawing, "render_frames", lambda images, _: drawn.extend(images))
    tasks.rehearse()
    assert [image.size for image in drawn] == [(1280, 720)]


def test_only_requests_take_from_the_stock():
    assert isolation.ANSWERING.ahead
    assert not isolation.TRANSCODING.ahead
    assert not isolation.UNHURRIED.ahead


@pytest.mark.slow
class TestEnd:
    def test_children_end_with_their_server(self, server):
        of_stock()
        wait_until(lambda: len(children(server._process.pid)) == STOCK, LONG)
        stock = children(server._process.pid)
        server._process.kill()
        wait_until(lambda: not any(map(is_there, stock)), LONG)

    def test_server_and_children_end_with_a_service_that_is_killed(self):
        program = (
            "import time\n"
            "from chalicelib.video.process import isolation\n"
            f"server = isolation._Server('tests.video.stocked', {STOCK})\n"
            "server.start()\n"
            "print(server._process.pid, flush=True)\n"
            f"time.sleep({LONG})\n"
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as service:
            server = int(service.stdout.readline())
            wait_until(lambda: len(children(server)) == STOCK, LONG)
            family = [server, *children(server)]
            service.kill()
            wait_until(lambda: not any(map(is_there, family)), LONG)

    def test_the_server_that_forks_has_one_thread(self):
        isolation.run(misbehaving.echo, SOURCE, 1)
        status = Path(f"/proc/{isolation._media_server._process.pid}/status").read_text("ascii")
        assert "\nThreads:\t1\n" in status


class TestNoMemory:
    def test_a_task_for_which_nothing_can_be_forked_is_an_error_and_the_server_goes_on(self, monkeypatch):
        def refuse():
            raise BlockingIOError

        monkeypatch.setattr(os, "fork", refuse)
        service, control = socket.socketpair()
        connection, task = socket.socketpair()
        report, told = os.pipe()
        with service, control, connection:
            server = fork_server.Server(control, STOCK)
            server.fork_ahead()
            socket.send_fds(service, [fork_server.READY], [task.fileno(), told])
            task.close()
            os.close(told)
            assert server.take_task()
            assert connection.recv(1) == b""
            assert isinstance(isolation._death(report, "file"), Unavailable)
            os.close(report)
            service.close()
            assert not server.take_task()
            server.close()

    def test_a_child_for_which_there_is_no_descriptor_left_is_not_forked_and_the_server_goes_on(self, monkeypatch):
        service, control = socket.socketpair()
        server = fork_server.Server(control, STOCK)

        def refuse():
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

        with service, control, monkeypatch.context() as patch:
            patch.setattr(socket, "socketpair", refuse)
            server.fork_ahead()
            assert server._missing == 0
            server.close()
