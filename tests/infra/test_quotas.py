"""What AWS takes at most, and how much of it a deployment uses: a test fails long before a deployment would."""

from __future__ import annotations

import json
import re

import pytest

from infra.stack.app_template import whole
from infra.templates import STATEFUL, load, of_type

RESOURCES_OF_AN_API = 300
"""Parts of paths of one API. AWS raises this quota on request; a deployment needs no request while the test holds."""
SPARE_RESOURCES = 250
RESOURCES_OF_A_TEMPLATE = 500
PARAMETERS = 200
OUTPUTS = 200
LARGEST_TEMPLATE = 1024 * 1024
ROLE_POLICY = 10_240
"""Characters of all inline policies of a role, without spaces."""
DASHBOARD_METRICS = 500
VARIABLES_OF_A_FUNCTION = 4096
"""Bytes of the names and values of the environment variables of a function."""
LONG_PARAMETERS = dict.fromkeys(
    ("AllowedOrigins", "StoreOrigins", "ServiceOrigins", "ConsoleOrigins", "NotifyAddress"), 150
) | dict.fromkeys(("EmailSender", "CorsOrigin", "PublicUrl"), 80)
"""Characters of parameters that operators fill with more than a word: lists of three or four."""


@pytest.fixture(scope="module")
def template():
    return whole()


def paths(template):
    return list(template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"])


def test_the_api_has_fewer_resources_than_api_gateway_takes(template):
    prefixes = {
        "/".join(parts[:length])
        for path in paths(template)
        for parts in [path.strip("/").split("/")]
        for length in range(1, len(parts) + 1)
    }
    assert len(prefixes) + SPARE_RESOURCES <= RESOURCES_OF_AN_API, len(prefixes)


def test_no_two_paths_name_a_variable_differently_in_one_place(template):
    """`/rest/{a}/x` beside `/rest/{b}/y` passes every linter, and API Gateway refuses it."""
    named = {}
    for path in paths(template):
        parts = path.strip("/").split("/")
        for place, part in enumerate(parts):
            if part.startswith("{"):
                before = "/".join(parts[:place])
                assert named.setdefault(before, part) == part, path


@pytest.mark.parametrize("name", ["stateful", "whole"])
def test_a_template_is_within_cloudformations_limits(template, name):
    given = load(STATEFUL) if name == "stateful" else template
    assert len(given["Resources"]) * 1.2 < RESOURCES_OF_A_TEMPLATE
    assert len(given["Parameters"]) < PARAMETERS
    assert len(given.get("Outputs", {})) < OUTPUTS
    assert len(json.dumps(given, separators=(",", ":"))) < LARGEST_TEMPLATE * 0.7


def test_the_variables_of_every_function_fit_with_long_values(template):
    """Lambda takes 4 KB of names and values, whatever the stage, the region and the parameters are."""
    long = {"AWS::Region": "ap-southeast-2", "AWS::AccountId": "1" * 12, "AWS::URLSuffix": "amazonaws.com.cn"}
    long |= {"Stage": "s" * 20, "RestAPI": "a" * 10, "DomainName": "d" * 60}
    role = "arn:aws-cn:iam::123456789012:role/" + "r" * 64

    def length(value):
        match value:
            case {"Fn::If": [_, *options]}:
                return max(map(length, options))
            case {"Fn::Sub": text}:
                return len(re.sub(r"\$\{([^}]+)\}", lambda name: long[name[1]], text))
            case {"Fn::ImportValue": name}:
                word = str(name)
                return len(role) if "Role" in word else 100 if "Job" in word else 60
            case {"Ref": name}:
                return len(long.get(name, "")) or LONG_PARAMETERS.get(name, 8)
            case _:
                return len(str(value))

    shared = template["Globals"]["Function"]["Environment"]["Variables"]
    for name, function in of_type(template, "AWS::Serverless::Function").items():
        own = function.get("Environment", {}).get("Variables", {})
        used = sum(len(key) + length(value) for key, value in {**shared, **own}.items())
        assert used < VARIABLES_OF_A_FUNCTION * 0.9, (name, used)


def test_a_roles_policies_are_short_enough(template):
    for name, role in of_type(template, "AWS::IAM::Role").items():
        # what ${…} stands for is longer than itself: a region, an account, a stage
        text = json.dumps(role["Policies"], separators=(",", ":"))
        assert len(text) * 1.1 < ROLE_POLICY, name


def test_the_dashboard_draws_what_there_is_and_no_more_than_it_may(template):
    body = json.loads(template["Resources"]["Dashboard"]["Properties"]["DashboardBody"]["Fn::Sub"])
    metrics = [metric for widget in body["widgets"] for metric in widget["properties"]["metrics"]]
    assert len(metrics) < DASHBOARD_METRICS
    drawn = {metric[3] for metric in metrics if metric[2] == "FunctionName"}
    functions = of_type(template, "AWS::Serverless::Function").values()
    assert drawn == {function["FunctionName"]["Fn::Sub"] for function in functions}
    queues = {queue["QueueName"]["Fn::Sub"] for queue in of_type(load(STATEFUL), "AWS::SQS::Queue").values()}
    assert {metric[3] for metric in metrics if metric[2] == "QueueName"} == queues
    assert {metric[1] for metric in metrics if metric[0] == "Limn"} == {
        "ColdStart",
        "MessagesDone",
        "MessagesFailed",
        "MessagesGivenUp",
    }
