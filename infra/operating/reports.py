"""What AWS reports of a stage: its health, what it used in a month, what that cost.

`python -m infra.admin --stage prod health | usage | cost`
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import boto3

from chalicelib.errors import LimnError
from chalicelib.queues.sending import QUEUES
from chalicelib.resources.health.operations import PARTS
from chalicelib.settings import settings
from infra.operating import parameters
from infra.operating.redriving import dead_letters

DAY = 86_400
STACK_TAG = "aws:cloudformation:stack-name"
"""The cost allocation tag that AWS sets; it must be activated once, in Billing."""


def health(stage: str) -> tuple[str, bool]:
    """The state of the parts, problems and waiting work as lines, and whether all is well.

    Args:
        stage: its name, the prefix of its alarms and queues.
    """
    lines, well = [], True
    for part, reach in PARTS:
        try:
            reach()
            lines.append(f"{part:<16} ok")
        except LimnError as failure:
            lines.append(f"{part:<16} DOES NOT ANSWER: {failure.message}")
            well = False
    sqs = boto3.client("sqs")
    for name in QUEUES:
        waiting = sqs.get_queue_attributes(
            QueueUrl=getattr(settings(), f"{name}_queue_url"), AttributeNames=["ApproximateNumberOfMessages"]
        )["Attributes"]["ApproximateNumberOfMessages"]
        dead = dead_letters(name)
        lines.append(
            f"queue {name:<10} {waiting:>6} waiting{f', {dead} GIVEN UP: `dead-letters` shows them' if dead else ''}"
        )
        well = well and not dead
    pages = boto3.client("cloudwatch").get_paginator("describe_alarms").paginate(StateValue="ALARM")
    for alarm in (each for page in pages for each in page["MetricAlarms"]):
        # another stage may begin with the same letters
        if re.fullmatch(rf"limn-{stage}-[A-Za-z]+Alarm(-\w+)?", alarm["AlarmName"]):
            lines.append(f"ALARM {alarm['AlarmName']}: {alarm.get('AlarmDescription', '')}")
            well = False
    return "\n".join(lines), well


def usage(stage: str, month: str) -> str:
    """A line for each thing that is paid for, in the units of AWS's bills.

    Args:
        stage: its name.
        month: such as `2026-11`; the present one up to now.

    Raises:
        ValueError: it is no month.
    """
    begin, end = _month(month)
    metrics = _Metrics(begin, end)
    lines = [f"{'requests to the API':<32} {metrics.sum('AWS/ApiGateway', 'Count', ApiName=f'limn-{stage}'):>16,.0f}"]
    for name, memory in _functions(stage):
        milliseconds = metrics.sum("AWS/Lambda", "Duration", FunctionName=name)
        count = metrics.sum("AWS/Lambda", "Invocations", FunctionName=name)
        lines.append(f"{name:<32} {count:>16,.0f} invocations {milliseconds * memory / 1024 / 1000:>14,.0f} GB-seconds")
    for table in (settings().records_table, settings().entities_table, settings().log_table):
        written = metrics.sum("AWS/DynamoDB", "ConsumedWriteCapacityUnits", TableName=table)
        read = metrics.sum("AWS/DynamoDB", "ConsumedReadCapacityUnits", TableName=table)
        size = boto3.client("dynamodb").describe_table(TableName=table)["Table"]["TableSizeBytes"]
        lines.append(f"{table:<32} {size / 1e9:>13,.1f} GB, {written:,.0f} write units, {read:,.0f} read units")
    for bucket in (settings().media_bucket, settings().upload_bucket, settings().views_bucket):
        stored = metrics.newest("AWS/S3", "BucketSizeBytes", BucketName=bucket, StorageType="StandardStorage")
        lines.append(f"{bucket:<32} {stored / 1e9:>13,.1f} GB")
    return "\n".join(lines)


def cost(stage: str, month: str) -> str:
    """What AWS charged for the stage's stacks, by service, in the account's currency; a day behind.

    Raises:
        ValueError: it is no month.
    """
    begin, end = _month(month)
    stacks = {"Key": STACK_TAG, "Values": [f"limn-{stage}{part}" for part in ("", *parameters.PARTS)]}
    found = boto3.client("ce", region_name="us-east-1").get_cost_and_usage(
        TimePeriod={"Start": f"{begin:%Y-%m-%d}", "End": f"{end:%Y-%m-%d}"},
        Granularity="MONTHLY",
        Metrics=["UnblendedCost"],
        Filter={"Tags": stacks},
        GroupBy=[{"Type": "DIMENSION", "Key": "SERVICE"}],
    )
    rows = [
        (
            float(group["Metrics"]["UnblendedCost"]["Amount"]),
            group["Keys"][0],
            group["Metrics"]["UnblendedCost"]["Unit"],
        )
        for period in found["ResultsByTime"]
        for group in period["Groups"]
    ]
    if not rows:
        return (
            f"AWS reports no cost of the stacks of {stage} in {month}. Activate the cost allocation tag {STACK_TAG} in "
            "Billing, once; it counts from then on."
        )
    unit = rows[0][2]
    lines = [f"{service:<40} {amount:>12.2f} {unit}" for amount, service, _ in sorted(rows, reverse=True)]
    return "\n".join([*lines, f"{'in all':<40} {sum(amount for amount, *_ in rows):>12.2f} {unit}"])


class _Metrics:
    """CloudWatch's sums over a period."""

    def __init__(self, begin: date, end: date) -> None:
        self._begin, self._end = begin, end
        self._client = boto3.client("cloudwatch")

    def sum(self, namespace: str, metric: str, **dimensions: str) -> float:
        return float(sum(each["Sum"] for each in self._points(namespace, metric, "Sum", dimensions)))

    def newest(self, namespace: str, metric: str, **dimensions: str) -> float:
        points = sorted(self._points(namespace, metric, "Average", dimensions), key=lambda each: each["Timestamp"])
        return float(points[-1]["Average"]) if points else 0.0

    def _points(self, namespace: str, metric: str, statistic: Any, dimensions: dict[str, str]) -> list[Any]:
        found = self._client.get_metric_statistics(
            Namespace=namespace,
            MetricName=metric,
            Dimensions=[{"Name": name, "Value": value} for name, value in dimensions.items()],
            StartTime=datetime(*self._begin.timetuple()[:3], tzinfo=UTC),
            EndTime=datetime(*self._end.timetuple()[:3], tzinfo=UTC),
            Period=DAY,
            Statistics=[statistic],
        )
        return list(found["Datapoints"])


def _functions(stage: str) -> Iterator[tuple[str, int]]:
    """The functions of a stage and their memory in MB."""
    for page in boto3.client("lambda").get_paginator("list_functions").paginate():
        for each in page["Functions"]:
            # another stage may begin with the same letters
            if re.fullmatch(rf"limn-{stage}-[a-z]+", each["FunctionName"]):
                yield each["FunctionName"], each["MemorySize"]


def _month(text: str) -> tuple[date, date]:
    """The first day of a month, and the day after its last, or after today."""
    begin = datetime.strptime(f"{text}-01", "%Y-%m-%d").replace(tzinfo=UTC).date()
    following = (begin + timedelta(days=32)).replace(day=1)
    return begin, min(following, max(begin, datetime.now(UTC).date()) + timedelta(days=1))
