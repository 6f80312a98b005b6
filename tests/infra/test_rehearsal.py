"""`make rehearse`: its steps drive all that the templates and the queue functions have; by night it runs whole."""

from __future__ import annotations

import subprocess
import sys

import pytest

from infra import package
from infra.templates import FUNCTIONS, load
from tests.rehearsal.__main__ import runtime
from tests.rehearsal.deployment import messages, sources
from tests.rehearsal.journey import STEPS, Journey


def test_the_steps_drive_every_function_by_all_that_calls_it_and_every_kind_of_message():
    driven = [each for drives in STEPS.values() for each in drives]
    assert len(driven) == len(set(driven))
    assert set(driven) == {*sources(load(FUNCTIONS)), *messages().values()}


def test_every_step_is_one_that_says_what_it_does():
    assert all(getattr(Journey, name).__doc__ for name in STEPS)


def test_zips_are_built_for_the_python_of_this_machine_where_it_has_none_of_lambdas_version(monkeypatch):
    monkeypatch.setattr(package, "PYTHON", "3.99")
    assert runtime() == f"{sys.version_info[0]}.{sys.version_info[1]}"
    assert package.interpreter(runtime()) is not None


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="the rehearsal measures processes by /proc, which Linux has")
def test_a_deployment_is_rehearsed_whole():
    command = [sys.executable, "-m", "tests.rehearsal", "--no-figures"]
    with subprocess.Popen(
        command, cwd=package.ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as ran:
        try:
            said, _ = ran.communicate()
        finally:
            ran.terminate()  # where a share of the night is over, so that it ends its server
    assert ran.returncode == 0, said[-5000:]
