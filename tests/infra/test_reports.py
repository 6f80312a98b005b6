"""What AWS reports of a stage: health, usage, cost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import boto3
import pytest

from chalicelib.errors import Unavailable
from chalicelib.settings import settings
from infra import admin
from infra.operating import reports

REGION = "us-east-1"


@pytest.fixture(autouse=True)
def region(monkeypatch):
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)


@pytest.fixture
def stage(name):
    return name.removeprefix("limn-")


def do(*words):
    return admin.perform(vars(admin.parser().parse_args(words)))


def test_a_stage_without_faults_is_well(stage):
    said = do("--stage", stage, "health").splitlines()
    assert {line.split()[0] for line in said} == {"database", "object", "queues", "key", "queue"}
    assert all(line.endswith(("ok", "waiting")) for line in said)


def test_what_was_given_up_is_told_and_makes_it_ill(stage):
    dead = f"{settings().clip_queue_url}-dead"
    client = boto3.client("sqs")
    client.send_message(QueueUrl=dead, MessageBody="letter")
    try:
        with pytest.raises(admin.Refused, match=r"queue clip +0 waiting, 1 GIVEN UP"):
            do("--stage", stage, "health")
    finally:
        client.purge_queue(QueueUrl=dead)


def test_alarms_of_the_stage_that_ring_are_told_and_those_of_others_are_not(stage):
    alarms = boto3.client("cloudwatch")
    for name in (f"limn-{stage}-ApiErrorsAlarm", f"limn-{stage}2-ApiErrorsAlarm", f"limn-{stage}-eu-ApiErrorsAlarm-1A"):
        alarms.put_metric_alarm(
            AlarmName=name, AlarmDescription="it died", MetricName="Errors", Namespace="AWS/Lambda", Period=60,
            EvaluationPeriods=1, Threshold=1, ComparisonOperator="GreaterThanThreshold", Statistic="Sum",
        )  # fmt: skip
        alarms.set_alarm_state(AlarmName=name, StateValue="ALARM", StateReason="test")
    text, well = reports.health(stage)
    assert (text.count("ALARM limn-"), well) == (1, False)
    assert f"ALARM limn-{stage}-ApiErrorsAlarm: it died" in text


def test_a_part_that_does_not_answer_is_told(stage, monkeypatch):
    def fail():
        raise Unavailable("no connection")

    monkeypatch.setattr(reports, "PARTS", (("database", fail),))
    text, well = reports.health(stage)
    assert (text.splitlines()[0], well) == ("database         DOES NOT ANSWER: no connection", False)


def test_usage_sums_the_requests_of_the_month(stage):
    now = datetime.now(UTC)
    dimensions = [{"Name": "ApiName", "Value": f"limn-{stage}"}]
    boto3.client("cloudwatch").put_metric_data(
        Namespace="AWS/ApiGateway",
        MetricData=[
            {"MetricName": "Count", "Dimensions": dimensions, "Timestamp": moment, "Value": count}
            for moment, count in ((now - timedelta(minutes=1), 40), (now, 2), (now - timedelta(days=70), 1000))
        ],
    )
    said = do("--stage", stage, "usage", "--month", f"{now:%Y-%m}")
    assert said.splitlines()[0].split() == ["requests", "to", "the", "API", "42"]
    assert settings().media_bucket in said


def test_cost_names_the_tag_to_activate_where_aws_reports_none(stage):
    assert "Activate the cost allocation tag aws:cloudformation:stack-name" in do("--stage", stage, "cost")


def test_a_month_is_a_year_and_a_number(stage):
    with pytest.raises(admin.Refused, match="malformed"):
        do("--stage", stage, "usage", "--month", "November")


def test_usage_and_cost_need_a_stage(capsys):
    assert admin.main(["cost"]) == 1
    assert capsys.readouterr().err == "`cost` asks AWS, so it needs --stage.\n"
