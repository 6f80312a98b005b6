"""The guide to statistics runs as it stands, and names every measure, unit and plot."""

from __future__ import annotations

import re
from typing import get_args
from xml.etree import ElementTree as ET

import pytest

from chalicelib.query.statistics.aggregates import MEASURES, UNITS
from chalicelib.resources.statistics.schemas import Plot
from tests.journeys.stack import ROOT

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "docs" / "guides" / "statistics.md").read_text()


def test_every_measure_unit_and_plot_is_in_the_guide():
    assert {*MEASURES, "count", "maxn", *UNITS, *get_args(Plot)} <= set(re.findall(r"\w+", GUIDE))


def test_the_guide_runs_as_it_stands(shared_stack):
    shown = shared_stack.run_guide(GUIDE)
    header, first, *_ = shown.splitlines()
    assert header == "Depth::10,Species,maxn,maxn::$media,maxn::$frame,count"
    assert re.fullmatch(r"0(\.0)?,Cod,2,reef\.mp4,100,2", first)
    lines = [each for each in ET.parse(shared_stack.home / "maxn.svg").iter() if each.tag.endswith("polyline")]
    assert len(lines) == 3
