"""The guide of a survey runs as it stands."""

from __future__ import annotations

import pytest

from tests.journeys.stack import ROOT

GUIDE = (ROOT / "docs" / "guides" / "survey.md").read_text()


@pytest.mark.slow
def test_the_guide_runs_from_upload_to_darwin_core(shared_stack):
    lines = [line.split() for line in shared_stack.run_guide(GUIDE).splitlines()]
    assert len(lines) == 3
    for *name, identity, length in lines:
        assert (name, identity) == (["Gadus", "morhua"], "urn:lsid:marinespecies.org:taxname:126436")
        assert abs(float(length) / 0.42 - 1) < 0.005
