"""All that is deployed, deployed to moto; and the service at work on exactly that."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from infra import package
from infra.stack.app_template import whole
from tests import roles
from tests.infra.moto_templates import SECRET

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the service found on the stacks of a stage of its own."""
    path = tmp_path_factory.mktemp("stack") / "app.json"
    package.write_template(path, whole())
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LIMN_", "AWS_"))}
    command = [sys.executable, "-m", "tests.infra.whole_program", str(path)]
    done = subprocess.run(command, cwd=package.ROOT, env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-1000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_service_runs_on_what_was_deployed(found):
    assert (found["count"], found["streaming"], found["healthy"], found["deleted"]) == (50, 1, 200, 200)


def test_nothing_lies_anywhere_but_in_the_tables_and_buckets_of_the_stack(found):
    holding = {name for name, count in found["places"].items() if count}
    assert holding == {
        "limn-code",
        "limn-prod-counters",
        "limn-prod-credentials",
        "limn-prod-entities",
        "limn-prod-audit",
        "limn-prod-idempotency",
        "limn-prod-log",
        "limn-prod-media-123456789012-us-east-1",
        "limn-prod-records",
        "limn-prod-uploads-123456789012-us-east-1",
    }


def test_every_function_gets_the_same_configuration_and_the_address_of_the_api(found):
    environments = found["environments"]
    assert len(environments) >= 6
    api = environments["limn-prod-api"]
    for name, environment in environments.items():
        if name in ("limn-prod-api", "limn-prod-media"):
            assert environment == api
        else:
            own = {"LIMN_VIEW_DISK"} if name == "limn-prod-compact" else set()  # its disk is larger
            common = {variable: value for variable, value in environment.items() if variable not in own}
            if name != "limn-prod-dataset":  # which signs URLs, as the API does
                common["LIMN_URL_SIGNER"] = SECRET
            assert common | {"LIMN_PUBLIC_URL": ""} == api
            assert environment["LIMN_PUBLIC_URL"].endswith("amazonaws.com/prod")


@pytest.mark.parametrize("name", ["api", "clip", "compact", "email", "purge", "transcode"])
def test_roles_are_made_as_they_are_written(found, name):
    function = "APIHandler" if name == "api" else name.title()
    assert found["roles"][f"limn-prod-{name}"] == sorted({right.action for right in roles.role(function, batch=False)})
