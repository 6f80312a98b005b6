"""Who may change what runs: each operation that does, at every level, as declared and as docs/security.md says."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.api.catalogue import OPERATIONS
from chalicelib.core.permissions import LEVEL_OF
from tests.contract.test_permissions import PROJECT_LEVELS, ask
from tests.contract.world import World, build
from tests.resources.algorithms.test_algorithms import MANIFEST, hosted_template, saved, spec
from tests.sweeps import sweep

__all__ = ["hosted_template"]
WORDS = ("Algorithm", "Applet", "Annotator", "JobCluster", "HostedTemplate", "TriggerRule", "Webhook")
"""What runs code, or says where data goes, on behalf of others."""
SAVED = ("SaveAlgorithmManifest", "SaveGenericFile")
"""Files that the others name; each save has a name of its own and replaces none."""
CHANGES = {o.id: o for o in OPERATIONS if o.method != "GET" and (o.id.endswith(WORDS) or o.id in SAVED)}


@pytest.fixture(scope="module")
def world() -> World:
    return build()


def table() -> dict[str, str]:
    """The table of the page: operation → level."""
    lines = Path("docs/security.md").read_text().split("<!-- what runs -->\n")[1].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| `")]
    return {name.strip("`"): row[1] for row in cells for name in row[0].split(", ")}


def test_the_page_names_every_operation_and_its_level():
    assert table() == {name: operation.needs.value for name, operation in CHANGES.items()}


def test_a_change_needs_no_less_than_a_registration():
    for word in WORDS:
        made = next(o for name, o in CHANGES.items() if name in (f"Create{word}", f"Register{word}"))
        for name in (f"Update{word}", f"Delete{word}"):
            assert CHANGES[name].needs is made.needs, name


@sweep("operation", list(CHANGES.values()), ids=lambda operation: operation.id)
def test_every_level_below_it_is_refused(operation, world):
    before = world.writes()
    if operation.needs.value in PROJECT_LEVELS:
        callers = [world.members[each] for each in PROJECT_LEVELS if LEVEL_OF[each] < operation.needs.level]
    else:
        callers = [world.organization_member]
    assert [ask(who, operation, world).status for who in callers] == [403] * len(callers)
    assert world.writes() == before


RUNS = {
    "manifest": "other.yaml",
    "parameters": [{"name": "x", "value": 1}],
    "level": "View Only",
    "tparams": [{"name": "x", "value": "1"}],
    "headers": [{"name": "X-Y", "value": "1"}],
}


@pytest.mark.parametrize("name", RUNS)
def test_what_runs_at_the_cost_of_the_deployment_is_changed_by_staff_only(api, project, member, name):
    number = api.made(f"Algorithms/{project}", spec(api, project, manifest=saved(api, project)))
    for who in (member("Can Edit"), member("Full Control")):
        said = who.patch(f"Algorithm/{number}", {name: RUNS[name], "user": api.user.id})
        assert (said.status, "staff" in said.message) == (403, True)
        assert who.patch(f"Algorithm/{number}", {"description": "of anybody who edits"}).status == 200
    assert api.patch(f"Algorithm/{number}", {name: RUNS[name]}).status == 200


def test_naming_a_user_of_staff_gives_no_authority(api, project, member):
    for level in ("Can Edit", "Full Control"):
        said = member(level).post(f"Algorithms/{project}", spec(api, project, user=api.user.id))
        assert (said.status, "staff" in said.message) == (403, True)


@pytest.mark.parametrize("name", ["tparams", "headers"])
def test_what_a_template_is_rendered_with_is_changed_by_administrators_only(
    api, project, member, hosted_template, name
):
    template = hosted_template(MANIFEST.replace('"{{workflow.parameters.media_ids}}"', "x"))
    applet = api.made(f"Applets/{project}", {"name": "a", "template": template})
    algorithm = api.made(f"Algorithms/{project}", spec(api, project, template=template))
    other = member("Full Control")
    for path in (f"Applet/{applet}", f"Algorithm/{algorithm}"):
        said = other.patch(path, {name: RUNS[name]})
        assert (said.status, "administrative access" in said.message) == (403, True), path
        assert other.patch(path, {"description": "x"}).status == 200
        assert api.patch(path, {name: RUNS[name]}).status == 200
