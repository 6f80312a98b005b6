"""A function's variables fit into what Lambda takes, whatever an operator gives as parameters."""

from __future__ import annotations

import re

import pytest

from infra.stack.app_template import whole
from infra.templates import BATCH, FUNCTIONS, STATEFUL, load, of_type

STATE = load(STATEFUL)
RUNNING = load(BATCH)
PARAMETERS = load(FUNCTIONS)["Parameters"]
FUNCTION = "AWS::Serverless::Function"
LIMIT = 4096
"""Bytes of all variables of a function, by Lambda's quotas."""
_LONGEST = {
    "AWS::Partition": "aws-us-gov",
    "AWS::Region": "ap-southeast-1",
    "AWS::AccountId": "1" * 12,
    "AWS::URLSuffix": "amazonaws.com.cn",
    "Stage": "s" * 16,
    "RestAPI": "a" * 10,
    "SignerSecret": "arn:aws-us-gov:secretsmanager:ap-southeast-1:123456789012:secret:SignerSecret-aaaaaaaaaaaa-aaaaaa",
    "AnswersDistribution.DomainName": "d111111abcdef8.cloudfront.net",
}
_REFERENCES = {
    "AWS::DynamoDB::Table": ("TableName", ""),
    "AWS::S3::Bucket": ("BucketName", ""),
    "AWS::SQS::Queue": ("QueueName", "https://sqs.${AWS::Region}.${AWS::URLSuffix}/${AWS::AccountId}/"),
    "AWS::Batch::JobQueue": (
        "JobQueueName",
        "arn:${AWS::Partition}:batch:${AWS::Region}:${AWS::AccountId}:job-queue/",
    ),
}
"""What `Ref` of a resource is: the property that names it, and what goes before."""


def longest(value):
    """How long what a template says may become, in bytes: of a choice the longer, of a parameter what it allows."""
    if not isinstance(value, dict):
        return len(str(value))
    ((how, what),) = value.items()
    if how == "Ref":
        return longest_given(what)
    if how == "Fn::If":
        return max(longest(each) for each in what[1:])
    if how == "Fn::ImportValue":
        return longest_output(what["Fn::Sub"].removeprefix("limn-${Stage}-"))
    assert how == "Fn::Sub"
    names = re.findall(r"\$\{([^}]+)\}", what)
    return len(re.sub(r"\$\{[^}]+\}", "", what)) + sum(map(longest_given, names))


def longest_given(name):
    if name in _LONGEST:
        return len(_LONGEST[name])
    parameter = PARAMETERS[name]
    if "AllowedValues" in parameter:
        return max(len(str(each)) for each in parameter["AllowedValues"])
    return len(str(parameter["MaxValue"])) if parameter["Type"] == "Number" else int(parameter["MaxLength"])


def longest_output(name):
    template = STATE if name in STATE["Outputs"] else RUNNING
    ((how, what),) = template["Outputs"][name]["Value"].items()
    if how == "Fn::GetAtt":
        assert template["Resources"][what[0]]["Type"] == "AWS::IAM::Role"  # a name of CloudFormation's making
        return len("arn:aws-us-gov:iam::123456789012:role/") + 64
    if how == "Fn::Sub":
        return longest({how: what})
    resource = template["Resources"][what]
    if resource["Type"] == "AWS::KMS::Key":
        return len("mrk-") + 32
    key, before = _REFERENCES[resource["Type"]]
    return longest({"Fn::Sub": before + resource["Properties"][key]["Fn::Sub"]})


@pytest.mark.parametrize("name", sorted(of_type(whole(), FUNCTION)))
def test_the_environment_fits_into_lambda_at_its_longest(name):
    variables = dict(whole()["Globals"]["Function"]["Environment"]["Variables"])
    variables |= of_type(whole(), FUNCTION)[name].get("Environment", {}).get("Variables", {})
    # its quotes, colon and comma where it is sent as JSON
    size = sum(len(f'"{variable}":"",') + longest(value) for variable, value in variables.items())
    assert size < LIMIT
