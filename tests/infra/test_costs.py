"""docs/costs.md says what the formulas give and what operations use."""

from __future__ import annotations

import pytest

from infra import package
from infra.stack import prices
from infra.stack.prices import PRICES_OF
from tests.bench import costs
from tests.bench.costs import EXAMPLES, Month, Use

LINES = (package.ROOT / "docs" / "costs.md").read_text().splitlines()


def uses():
    """The operations of the document, as it tells of them."""
    start = LINES.index("| operation | calls | read units | write units | $ per 1,000 |") + 2
    for line in LINES[start : LINES.index("", start)]:
        name, calls, reads, writes, _ = [cell.strip() for cell in line.strip("| ").split(" | ")]
        yield Use(name=name, calls=float(calls), reads=float(reads), writes=float(writes))


@pytest.mark.slow
def test_the_document_has_the_months_that_the_formulas_give():
    assert [line for line in costs.months_table() if line not in LINES] == []


def test_the_document_s_operations_cost_what_their_units_do():
    assert len(list(uses())) == 10
    assert [line for line in costs.operations_table(list(uses())) if line not in LINES] == []


def test_the_document_says_of_when_and_where_the_prices_are():
    assert PRICES_OF in " ".join(LINES)


def test_a_month_costs_the_sum_of_its_parts_and_what_nobody_uses_costs_what_stands():
    assert set(EXAMPLES) == {"idle month", "10 annotators", "1,000 hours of video"}
    idle = Month().bill()
    assert sum(idle.values()) == idle["standing"] == prices.standing()


def test_what_runs_on_a_schedule_is_counted_from_the_template():
    assert prices.schedules() == {
        "CompactSchedule": (43200, 3008 / 1024),
        "JobsSchedule": (43200, 0.5),
        "UpkeepSchedule": (720, 1.0),
        "WebhookSchedule": (43200, 0.5),
    }


@pytest.mark.nightly
def test_operations_use_what_the_document_says():
    from tests.contract.world import build

    found = {use.name: use for use in costs.measure(build())}
    for told in uses():
        use = found[told.name]
        # what a container already knows of the project makes one call more or less
        assert abs(use.reads - told.reads) <= 1, (use, told)
        assert abs(use.calls - told.calls) <= 1, (use, told)
        assert abs(use.writes - told.writes) <= max(1, told.writes * 0.05), (use, told)
