"""What a deployment costs while nobody uses it, computed from the templates; docs/costs.md shows it.

Prices are inputs. What is scheduled, how often, with how much memory, and how many alarms there are is read from the
templates.
"""

from __future__ import annotations

from infra.templates import ALARMS, FUNCTIONS, STATEFUL, defaults, load, of_type

PRICES = {
    "write unit": 0.625e-6,
    "read unit": 0.125e-6,
    "request to the API": 3.50e-6,
    "GB-second": 16.6667e-6,
    "invocation": 0.20e-6,
    "GB-month in DynamoDB": 0.25,
    "GB-month of recovery": 0.20,
    "GB-month in S3": 0.023,
    "PUT to S3": 5e-6,
    "GET from S3": 0.4e-6,
    "message": 0.40e-6,
    "GB sent out": 0.09,
    "key-month": 1.00,
    "alarm-month": 0.10,
    "dashboard-month": 3.00,
    "secret-month": 0.40,
    "GB of logs": 0.50,
}
"""Dollars, without free tiers: put in those of your region and day."""
PRICES_OF = "us-east-1, as published in 2025"
SCHEDULED_SECONDS = 0.3
"""Seconds of a scheduled run that finds nothing to do."""
POLLS_A_MINUTE = 15
"""Calls a minute by which Lambda polls an empty queue: five pollers that wait for 20 s each."""
MINUTES = 30 * 24 * 60
"""Minutes of a month."""


def schedules() -> dict[str, tuple[float, float]]:
    """How often each function on a schedule runs in a month, and its memory in GB."""
    template = load(FUNCTIONS)
    functions = of_type(template, "AWS::Serverless::Function")
    found = {}
    for name, rule in of_type(template, "AWS::Events::Rule").items():
        if "ScheduleExpression" in rule:
            number, unit = rule["ScheduleExpression"].removeprefix("rate(").rstrip(")").split()
            minutes = int(number) * {"minute": 1, "hour": 60}[unit.rstrip("s")]
            memory = functions[name.removesuffix("Schedule")]["MemorySize"]
            memory = defaults(template)[memory["Ref"]] if isinstance(memory, dict) else memory
            found[name] = (MINUTES / minutes, memory / 1024)
    return found


def standing() -> float:
    """Dollars of a month in which nobody does anything."""
    runs = sum(
        times * (PRICES["invocation"] + SCHEDULED_SECONDS * memory * PRICES["GB-second"])
        for times, memory in schedules().values()
    )
    queues = sum("RedrivePolicy" in each for each in of_type(load(STATEFUL), "AWS::SQS::Queue").values())
    polls = queues * POLLS_A_MINUTE * MINUTES * PRICES["message"]
    alarms = of_type(load(ALARMS), "AWS::CloudWatch::Alarm").values()
    watched = sum(sum("MetricStat" in each for each in alarm.get("Metrics", ())) or 1 for alarm in alarms)
    secrets = len(of_type(load(FUNCTIONS), "AWS::SecretsManager::Secret")) * PRICES["secret-month"]
    standing = PRICES["key-month"] + PRICES["dashboard-month"] + secrets
    return runs + polls + watched * PRICES["alarm-month"] + standing
