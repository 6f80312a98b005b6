"""The guide of a survey runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.journeys.stack import ROOT

GUIDE = (ROOT / "docs" / "guides" / "survey.md").read_text()


@pytest.mark.slow
def test_the_guide_runs_from_upload_to_darwin_core(shared_stack):
    script = re.search(r"```python\n(.*?)```", GUIDE, re.DOTALL)[1]
    ran = subprocess.run(
        [sys.executable, "-c", script], cwd=shared_stack.home, capture_output=True, text=True, timeout=180, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr + shared_stack.log()
    lines = [line.split() for line in ran.stdout.splitlines()]
    assert len(lines) == 3
    for *name, identity, length in lines:
        assert (name, identity) == (["Gadus", "morhua"], "urn:lsid:marinespecies.org:taxname:126436")
        assert abs(float(length) / 0.42 - 1) < 0.005
