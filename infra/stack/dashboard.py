"""The CloudWatch dashboard of a stage: what an operator looks at first. docs/operations.md says how to read it."""

from __future__ import annotations

import json
from typing import Any

from chalicelib.queues.sending import QUEUES

NAMESPACE = "Limn"
WIDTH, HEIGHT = 8, 6
"""Size of a graph in the dashboard's grid of 24 columns."""
PIECE = "transcode.piece.1"


def resource(functions: list[str]) -> dict[str, Any]:
    """The dashboard as a resource of the template.

    Args:
        functions: the last part of their names, such as `transcode`.
    """
    # only what stands in ${} is filled in by CloudFormation
    body = json.dumps({"widgets": _widgets(functions)}, separators=(",", ":"))
    return {
        "Type": "AWS::CloudWatch::Dashboard",
        "Properties": {"DashboardName": {"Fn::Sub": "limn-${Stage}"}, "DashboardBody": {"Fn::Sub": body}},
    }


def _widgets(functions: list[str]) -> list[dict[str, Any]]:
    api = ["ApiName", "limn-${Stage}", "Stage", "${Stage}"]
    names = [f"limn-${{Stage}}-{name}" for name in functions]
    tables = [f"limn-${{Stage}}-{name}" for name in ("records", "credentials", "entities", "log", "counters")]
    graphs: list[tuple[str, str, list[list[Any]]]] = [
        ("Requests", "Sum", [["AWS/ApiGateway", "Count", *api]]),
        ("Answers of 4xx and 5xx", "Sum", [["AWS/ApiGateway", "4XXError", *api], ["AWS/ApiGateway", "5XXError", *api]]),
        (
            "Milliseconds of an answer (p50, p99)",
            "p50",
            [["AWS/ApiGateway", "Latency", *api], ["AWS/ApiGateway", "Latency", *api, {"stat": "p99"}]],
        ),
        ("Errors of functions", "Sum", [["AWS/Lambda", "Errors", "FunctionName", name] for name in names]),
        ("Throttles", "Sum", [["AWS/Lambda", "Throttles", "FunctionName", name] for name in names]),
        (
            "Invocations at once",
            "Maximum",
            [["AWS/Lambda", "ConcurrentExecutions", "FunctionName", name] for name in names],
        ),
        (
            "Cold starts",
            "Sum",
            [[NAMESPACE, "ColdStart", "stage", "${Stage}", "function_name", name] for name in names],
        ),
        (
            "Age of the oldest message in seconds",
            "Maximum",
            [["AWS/SQS", "ApproximateAgeOfOldestMessage", "QueueName", f"limn-${{Stage}}-{name}"] for name in QUEUES],
        ),
        (
            "Dead letters",
            "Maximum",
            [
                ["AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", f"limn-${{Stage}}-{name}-dead"]
                for name in QUEUES
            ],
        ),
        (
            "Pieces of video a minute",
            "Sum",
            [
                [NAMESPACE, name, "stage", "${Stage}", "kind", PIECE]
                for name in ("MessagesDone", "MessagesFailed", "MessagesGivenUp")
            ],
        ),
        (
            "Units written",
            "Sum",
            [["AWS/DynamoDB", "ConsumedWriteCapacityUnits", "TableName", name] for name in tables],
        ),
        (
            "Requests that DynamoDB slowed down",
            "Sum",
            [["AWS/DynamoDB", "WriteThrottleEvents", "TableName", name] for name in tables],
        ),
    ]
    across = 24 // WIDTH
    return [
        {
            "type": "metric",
            "x": number % across * WIDTH,
            "y": number // across * HEIGHT,
            "width": WIDTH,
            "height": HEIGHT,
            "properties": {
                "title": title,
                "region": "${AWS::Region}",
                "stat": statistic,
                "period": 60,
                "metrics": metrics,
            },
        }
        for number, (title, statistic, metrics) in enumerate(graphs)
    ]
