"""`make deploy` and `make destroy` against moto, whose CloudFormation knows no SAM: what runs is smaller here."""

from __future__ import annotations

import json
from unittest.mock import Mock

import boto3
import pytest

from infra import deploy
from infra.local.deploy import supported
from infra.operating import parameters
from infra.operating.code_bucket import CodeBucket
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
    made = deploy.Deployment(stage, boto3.Session(region_name=REGION), said.append)
    made._code.refuse_plain_http = lambda: None  # moto reads no conditions of policies, and would refuse all
    return made


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

    def __init__(self, real, status, resources=(), events=()):
        self._real, self._status, self.exceptions = real, status, real.exceptions
        self.deleted, self.resources, self.events = [], resources, events

    def describe_stacks(self, StackName):  # noqa: N803
        if self.deleted:
            return self._real.describe_stacks(StackName=StackName)
        return {"Stacks": [{"StackName": StackName, "StackStatus": self._status}]}

    def delete_stack(self, StackName):  # noqa: N803
        self.deleted.append(StackName)

    def get_waiter(self, name):
        return Mock() if self.deleted else self._real.get_waiter(name)

    def get_paginator(self, name):
        return Pages({"StackResourceSummaries": self.resources, "StackEvents": self.events})

    def __getattr__(self, name):
        return getattr(self._real, name)


class Pages:
    """A paginator of one page."""

    def __init__(self, page):
        self._page = page

    def paginate(self, **_):
        yield self._page


@pytest.mark.parametrize("status", deploy.NEVER_MADE)
def test_a_stack_whose_first_deployment_failed_is_deleted_and_made_anew(deployment, build, stage, said, status):
    deployment._clouds = clouds = Clouds(deployment._clouds, status)
    deployment._clear(deployment.running)
    assert clouds.deleted == [deployment.running]
    assert f"deleting what a failed deployment left ({status})" in said[0]


@pytest.mark.slow
def test_protected_tables_that_a_failed_creation_left_go_if_they_are_empty(deployment, build, stage):
    deployment.up(build, {})
    left = [
        {"ResourceType": "AWS::DynamoDB::Table", "ResourceStatus": "DELETE_FAILED", "PhysicalResourceId": name}
        for name in tables(stage)
    ]
    deployment._clouds = Clouds(deployment._clouds, "ROLLBACK_FAILED", left)
    boto3.client("dynamodb", region_name=REGION).put_item(
        TableName=f"limn-{stage}-idempotency", Item={"id": {"S": "a"}}
    )
    with pytest.raises(deploy.Failed, match=f"limn-{stage}-idempotency has rows"):
        deployment._clear(deployment.kept)
    assert len(tables(stage)) == TABLES
    boto3.client("dynamodb", region_name=REGION).delete_item(
        TableName=f"limn-{stage}-idempotency", Key={"id": {"S": "a"}}
    )
    deployment._clear(deployment.kept)
    assert tables(stage) == []


@pytest.mark.slow
def test_destroying_with_data_goes_on_where_it_stopped_after_the_stack_was_gone(deployment, build, stage, monkeypatch):
    deployment.up(build, {})
    with monkeypatch.context() as patch:
        # moto deletes what a stack retains
        patch.setattr(deployment, "_delete", stack_gone)
        patch.setattr(deployment, "_logs", stopped)
        with pytest.raises(KeyboardInterrupt):
            deployment.down(data=True)
        patch.setattr(deployment, "_described", stack_gone)
        patch.setattr(deployment, "_logs", lambda _: [])
        deployment.down(data=True)
    assert tables(stage) == []
    queues = boto3.client("sqs", region_name=REGION).list_queues(QueueNamePrefix=f"limn-{stage}-")
    assert not [url for url in queues.get("QueueUrls", []) if url.endswith("-dead")]


def stack_gone(_stack):
    return None


def stopped(_logs):
    raise KeyboardInterrupt


def event(name, status, why=""):
    return {"LogicalResourceId": name, "ResourceStatus": status, "ResourceStatusReason": why}


def test_a_failure_is_explained_by_its_first_reasons_and_by_none_of_an_earlier_deployment(deployment):
    events = [
        event("limn-dev", "UPDATE_ROLLBACK_COMPLETE"),
        event("Api", "UPDATE_FAILED", "Resource update cancelled"),
        event("Media", "UPDATE_FAILED", "memory"),
        event("limn-dev", "UPDATE_IN_PROGRESS", "User Initiated"),
        event("Old", "UPDATE_FAILED", "of last year"),
    ]
    deployment._clouds = Clouds(deployment._clouds, "UPDATE_ROLLBACK_COMPLETE", events=events)
    assert deployment._reason("limn-dev") == "Media: memory"


@pytest.mark.parametrize("status", ["ROLLBACK_COMPLETE", "UPDATE_IN_PROGRESS"])
def test_a_deployment_that_takes_longer_is_not_called_failed(deployment, status, monkeypatch):
    monkeypatch.setattr("infra.operating.stacks.WAIT", {"Delay": 0, "MaxAttempts": 1})
    deployment._clouds = Clouds(deployment._clouds, status, events=[event("Api", "CREATE_FAILED", "memory")])
    words = "it goes on" if status.endswith("PROGRESS") else "ROLLBACK_COMPLETE. Api: memory"
    with pytest.raises(deploy.Failed, match=words):
        deployment._wait("stack_create_complete", "limn-dev")


def test_the_bucket_of_deployments_is_closed_encrypted_and_read_over_tls_alone(name):
    session = boto3.Session(region_name=REGION)
    bucket = CodeBucket(session, {"Account": name, "Arn": "arn:aws-us-gov:iam::1:root"}, print)
    # moto keeps no sizes of lifecycle rules
    bucket._s3.put_bucket_lifecycle_configuration = rules = Mock()
    bucket.make()
    bucket.make()
    s3 = boto3.client("s3", region_name=REGION)
    [statement] = json.loads(s3.get_bucket_policy(Bucket=bucket.name)["Policy"])["Statement"]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert statement["Resource"] == [f"arn:aws-us-gov:s3:::{bucket.name}{end}" for end in ("", "/*")]
    closed = s3.get_public_access_block(Bucket=bucket.name)["PublicAccessBlockConfiguration"]
    assert list(closed.values()) == [True] * 4
    assert s3.get_bucket_encryption(Bucket=bucket.name)["ServerSideEncryptionConfiguration"]["Rules"]
    old, broken = rules.call_args.kwargs["LifecycleConfiguration"]["Rules"]
    # records of releases are smaller, so a stage that nobody has deployed for a year can still be rolled back
    assert old["Filter"] == {"ObjectSizeGreaterThan": 4096}
    assert broken["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}


@pytest.mark.parametrize(
    ("stage", "given", "words"),
    [
        ("prod-stateful", [], "may not end with -stateful"),
        ("Prod", [], "lower-case letters"),
        ("prod", ["Stage=dev"], "the word before the parameters"),
        ("prod", ["LogDays=7", "LogDays=30"], "LogDays is given twice"),
    ],
)
@pytest.mark.parametrize("command", ["check", "up"])
def test_a_stage_that_cannot_be_is_refused_before_anything_is_made(
    build, capsys, monkeypatch, command, stage, given, words
):
    monkeypatch.setattr("infra.deploy.BUILD", build)
    assert deploy.main([command, stage, *given, "--region", REGION]) == 1
    assert words in capsys.readouterr().err


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
@pytest.mark.parametrize(("typed", "code"), [("", 1), ("yes", 1), (EOFError(), 1)], ids=["nothing", "yes", "nobody"])
def test_nothing_is_destroyed_unless_its_name_is_typed(monkeypatch, capsys, typed, code):
    monkeypatch.setattr("builtins.input", Mock(side_effect=[typed]))
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
        parameters.check(templates, "dev", given)
    lines = str(refused.value).splitlines()
    assert len(lines) == len(said)
    assert all(line.startswith(start) for line, start in zip(lines, said, strict=True)), lines


def test_every_default_is_one_that_would_be_taken(templates):
    for template in templates:
        for name, value in defaults(template).items():
            if template["Parameters"][name]["Type"] != "CommaDelimitedList":
                parameters.check([template], "dev", {name: str(value)} if name != "Stage" else {})


@pytest.mark.slow
def test_parameters_in_order_are_taken(templates):
    parameters.check(
        templates,
        "dev",
        {
            "EmailSender": "limn@example.org",
            "AllowedOrigins": "https://a.example.org,https://b.example.org:8443",
            "CorsOrigin": "https://app.example.org",
            "PublicUrl": "https://limn.example.org",
        },
    )
