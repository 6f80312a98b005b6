"""What the lock names for Lambda, and what is packed of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from infra import package


@pytest.mark.parametrize("architecture", sorted(package.MACHINES))
def test_the_lock_names_one_version_of_everything_for_lambda(architecture):
    pins = package.pins("3.13", architecture)
    assert pins["av"].startswith("av==18")
    assert all(" --hash=sha256:" in pin for pin in pins.values())
    assert "ansicon" not in pins  # Windows'
    assert "boto3" in pins


def test_what_is_deployed_is_what_is_tested():
    """A version of its own for Lambda's Python is one that no test has seen."""
    from importlib.metadata import version

    pins = package.pins(package.PYTHON, "x86_64")
    locked = {name: pin.split()[0].partition("==")[2] for name, pin in pins.items() if name not in package._TOOLS}
    assert {name for name, each in locked.items() if each != version(name)} == set()


@pytest.mark.nightly
@pytest.mark.parametrize("architecture", sorted(package.MACHINES))
def test_everything_is_packed_within_the_limits(architecture, tmp_path):
    # a folder of its own: the other architecture, and who tries the zips, may be built beside
    command = [sys.executable, "-m", "infra.package", "--architecture", architecture, "--into", tmp_path / "build"]
    done = subprocess.run(command, cwd=package.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
