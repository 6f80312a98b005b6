"""The stack of AWS Batch on moto, beside the stateful one: its outputs are what the functions are configured with."""

from __future__ import annotations

import json

import boto3
import msgspec
import pytest
from moto.core.models import default_user_config

from chalicelib.settings import Settings
from infra.local.deploy import STAGE, deploy, variable
from infra.templates import BATCH, load

REGION = "eu-central-1"
"""A region of its own."""


@pytest.fixture(scope="module")
def environment():
    """The environment of a function of both stacks."""
    before = default_user_config["batch"]
    default_user_config["batch"] = {"use_docker": False}
    stateful = deploy(REGION)
    ec2 = boto3.client("ec2", region_name=REGION)
    clouds = boto3.client("cloudformation", region_name=REGION)
    exported = {"Value": stateful["LIMN_MEDIA_BUCKET"], "Export": {"Name": f"limn-{STAGE}-MediaBucket"}}
    exports = {"Resources": {"Any": {"Type": "AWS::SQS::Queue"}}, "Outputs": {"MediaBucket": exported}}
    clouds.create_stack(StackName="limn-local-exports", TemplateBody=json.dumps(exports))
    subnets = ec2.describe_subnets()["Subnets"]
    template = load(BATCH)
    # AWS makes a role of its own for this; moto wants to be told
    template["Resources"]["JobCompute"]["Properties"]["ServiceRole"] = {"Fn::GetAtt": ["JobExecutionRole", "Arn"]}
    parameters = {"Stage": STAGE, "Vpc": subnets[0]["VpcId"], "Subnets": ",".join(one["SubnetId"] for one in subnets)}
    clouds.create_stack(
        StackName="limn-local-batch",
        TemplateBody=json.dumps(template),
        Parameters=[{"ParameterKey": name, "ParameterValue": value} for name, value in parameters.items()],
        Capabilities=["CAPABILITY_IAM"],
    )
    outputs = clouds.describe_stacks(StackName="limn-local-batch")["Stacks"][0]["Outputs"]
    yield stateful | {variable(output["OutputKey"]): output["OutputValue"] for output in outputs}
    default_user_config["batch"] = before


def test_functions_accept_what_it_exports(environment):
    given = {name.removeprefix("LIMN_").lower(): value for name, value in environment.items()}
    place = msgspec.convert(given, Settings, strict=False)
    assert place.job_queue.endswith(":job-queue/limn-local-jobs")
    assert place.job_execution_role != place.job_files_role


def test_its_queue_runs_on_fargate_and_takes_jobs(environment):
    client = boto3.client("batch", region_name=REGION)
    [queue] = client.describe_job_queues(jobQueues=[environment["LIMN_JOB_QUEUE"]])["jobQueues"]
    assert queue["state"] == "ENABLED"
    [where] = queue["computeEnvironmentOrder"]
    [found] = client.describe_compute_environments(computeEnvironments=[where["computeEnvironment"]])[
        "computeEnvironments"
    ]
    assert found["computeResources"]["type"] == "FARGATE"


def test_nobody_reaches_a_job(environment):
    ec2 = boto3.client("ec2", region_name=REGION)
    [group] = [
        group for group in ec2.describe_security_groups()["SecurityGroups"] if "outgoing only" in group["Description"]
    ]
    assert group["IpPermissions"] == []
