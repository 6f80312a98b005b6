"""`make deploy` and `make destroy` against moto, whose CloudFormation knows no SAM: what runs is smaller here."""

from __future__ import annotations

import json

import boto3
import pytest

from infra import deploy
from infra.local.deploy import supported
from infra.operating import parameters
from infra.stack import merging
from infra.templates import STATEFUL, defaults, load, of_type

REGION = "ca-central-1"
TABLES = len(of_type(load(STATEFUL), "AWS::DynamoDB::Table"))
RUNNING = {
    "AWSTemplateFormatVersion": "2010-09-09",
    "Parameters": {
        "Stage": {"Type": "String", "Default": "dev"},
        "LogDays": {"Type": "Number", "Default": 30},
        "Runtime": {"Type": "String", "Default": "python3.13"},
    },
    "Resources": {
        "Log": {
            "Type": "AWS::Logs::LogGroup",
            "Properties": {"LogGroupName": {"Fn::Sub": "limn-${Stage}"}, "RetentionInDays": {"Ref": "LogDays"}},
        }
    },
    "Outputs": {"EndpointURL": {"Value": {"Fn::Sub": "https://example.org/${Stage}"}}},
}


@pytest.fixture
def build(tmp_path):
    stateful = load(STATEFUL)
    answers = {"Value": "https://answers.example.org", "Export": stateful["Outputs"]["AnswersUrl"]["Export"]}
    stateful = supported(stateful)
    stateful["Outputs"]["AnswersUrl"] = answers  # moto has no CloudFront
    (tmp_path / "stateful.json").write_text(json.dumps(stateful))
    (tmp_path / "app.json").write_text(json.dumps(RUNNING))
    return tmp_path


@pytest.fixture
def stage(name):
    return name.replace("limn-", "s")[:16]


@pytest.fixture
def said():
    return []


@pytest.fixture
def deployment(stage, said):
    return deploy.Deployment(stage, boto3.Session(region_name=REGION), said.append)


def days(stage):
    groups = boto3.client("logs", region_name=REGION).describe_log_groups(logGroupNamePrefix=f"limn-{stage}")
    return [group["retentionInDays"] for group in groups["logGroups"]]


def tables(stage):
    names = boto3.client("dynamodb", region_name=REGION).list_tables()["TableNames"]
    return [name for name in names if name.startswith(f"limn-{stage}-")]


@pytest.mark.slow
def test_a_new_stage_starts_with_defaults_and_what_is_given(deployment, build, stage):
    deployment.up(build, {"LogDays": "7"})
    assert (days(stage), len(tables(stage))) == ([7], TABLES)


@pytest.mark.slow
def test_a_parameter_that_is_not_given_again_keeps_its_value(deployment, build, stage):
    deployment.up(build, {"LogDays": "7"})
    changed = {**RUNNING, "Description": "newer"}
    (build / "app.json").write_text(json.dumps(changed))
    deployment.up(build, {})
    assert days(stage) == [7]


@pytest.mark.slow
def test_destroying_keeps_the_data_unless_told(deployment, build, stage):
    deployment.up(build, {})
    deployment.down(data=False)
    assert (days(stage), len(tables(stage))) == ([], TABLES)
    deployment.up(build, {})
    assert len(tables(stage)) == TABLES


@pytest.mark.slow
def test_destroying_with_data_leaves_nothing(deployment, build, stage):
    deployment.up(build, {})
    s3 = boto3.client("s3", region_name=REGION)
    mine = [each["Name"] for each in s3.list_buckets()["Buckets"] if each["Name"].startswith(f"limn-{stage}-")]
    assert len(mine) == 3
    for body in (b"a", b"b"):
        s3.put_object(Bucket=mine[0], Key="x", Body=body)
    deployment.down(data=True)
    assert tables(stage) == []
    left = {each["Name"] for each in s3.list_buckets()["Buckets"]}
    assert not left & set(mine)


@pytest.mark.slow
def test_destroying_with_data_removes_queues_and_logs_of_this_stage_alone(deployment, build, stage):
    deployment.up(build, {})
    logs, queues = boto3.client("logs", region_name=REGION), boto3.client("sqs", region_name=REGION)
    mine, others = f"limn-{stage}-ApiLog-1AB2", f"limn-{stage}-eu-ApiLog-1AB2"
    for name in (mine, others):
        logs.create_log_group(logGroupName=name)
    deployment.down(data=True)
    found = logs.describe_log_groups(logGroupNamePrefix=f"limn-{stage}-")["logGroups"]
    assert [each["logGroupName"] for each in found] == [others]
    assert not queues.list_queues(QueueNamePrefix=f"limn-{stage}-").get("QueueUrls")
    deployment.down(data=True)  # it may be run again wherever it stopped


class Clouds:
    """CloudFormation in a state that moto never reaches."""

    def __init__(self, real, status):
        self._real, self._status, self.exceptions = real, status, real.exceptions
        self.deleted = []

    def describe_stacks(self, StackName):  # noqa: N803
        if self.deleted:
            return self._real.describe_stacks(StackName=StackName)
        return {"Stacks": [{"StackName": StackName, "StackStatus": self._status}]}

    def delete_stack(self, StackName):  # noqa: N803
        self.deleted.append(StackName)

    def __getattr__(self, name):
        return getattr(self._real, name)


@pytest.mark.parametrize("status", deploy.NEVER_MADE)
def test_a_stack_whose_first_deployment_failed_is_deleted_and_made_anew(deployment, build, stage, said, status):
    deployment._clouds = clouds = Clouds(deployment._clouds, status)
    deployment._clear(deployment.running)
    assert clouds.deleted == [deployment.running]
    assert f"deleting what a failed deployment left ({status})" in said[0]


@pytest.mark.parametrize(
    ("status", "words"),
    [("UPDATE_IN_PROGRESS", "another deployment is at work"), ("UPDATE_ROLLBACK_FAILED", "continue-update-rollback")],
)
def test_a_stack_that_cannot_be_changed_now_says_what_to_do(deployment, status, words):
    deployment._clouds = Clouds(deployment._clouds, status)
    with pytest.raises(deploy.Failed, match=words):
        deployment._clear(deployment.running)


@pytest.mark.parametrize("given", [{"LogDay": "7"}, {"": ""}])
def test_a_parameter_that_no_template_has_is_refused_before_anything_is_made(deployment, build, stage, given):
    with pytest.raises(deploy.Failed, match="parameter"):
        deployment.up(build, given)
    assert tables(stage) == []


def test_without_a_package_it_says_what_to_do(deployment, tmp_path):
    with pytest.raises(deploy.Failed, match="make package"):
        deployment.up(tmp_path, {})


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "code"), [("", 1), ("yes", 1)])
def test_nothing_is_destroyed_unless_its_name_is_typed(monkeypatch, capsys, typed, code):
    monkeypatch.setattr("builtins.input", lambda _question: typed)
    assert deploy.main(["--region", REGION, "down", "nothing"]) == code
    assert "Nothing was deleted" in capsys.readouterr().err


@pytest.fixture(scope="module")
def templates():
    return [load(STATEFUL), merging.merged({"Resources": {}})]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"Nothing": "1", "LogDays": "2"},
            ["No template has a parameter Nothing.", "LogDays: '2' is not one of 1, 3, 5"],
        ),
        ({"AllowedOrigins": "https://a.example.org," * 30}, ["AllowedOrigins: 660 characters, and 500 are taken"]),
        ({"AllowedOrigins": "example.org"}, ["AllowedOrigins: 'example.org' is not of the form https://host."]),
        ({"CorsOrigin": "https://a.org,https://b.org"}, ["CorsOrigin: 'https://a.org,https://b.org' is neither * nor"]),
        ({"PublicUrl": "https://a.org/"}, ["PublicUrl: 'https://a.org/' does not fit: begins with https://"]),
        ({"EmailSender": "example.org"}, ["EmailSender: 'example.org' is no address."]),
        ({"ApiMemory": "512"}, ["ApiMemory: '512' is no whole number from 2560 to 10240"]),
        ({"RetentionDays": "many"}, ["RetentionDays: 'many' is no whole number from 1 to 3650"]),
    ],
    ids=lambda each: "-".join(each) if isinstance(each, dict) else "",
)
def test_a_parameter_that_cannot_be_is_refused_by_name_before_anything_is_sent(templates, given, said):
    with pytest.raises(deploy.Failed) as refused:
        parameters.check(templates, given)
    lines = str(refused.value).splitlines()
    assert len(lines) == len(said)
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True)), lines


def test_every_default_is_one_that_would_be_taken(templates):
    for template in templates:
        for name, value in defaults(template).items():
            if template["Parameters"][name]["Type"] != "CommaDelimitedList":
                parameters.check([template], {name: str(value)})


@pytest.mark.slow
def test_parameters_in_order_are_taken(templates):
    parameters.check(
        templates,
        {
            "EmailSender": "limn@example.org",
            "AllowedOrigins": "https://a.example.org,https://b.example.org:8443",
            "CorsOrigin": "https://app.example.org",
            "PublicUrl": "https://limn.example.org",
        },
    )
