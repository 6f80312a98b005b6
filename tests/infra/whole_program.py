"""Both stacks on moto, from the very templates that are deployed, and then the service on what they made.

A program of its own, for the service reads its configuration when it is imported: here that is the environment that
CloudFormation gave to the function of the API. It prints what it found as JSON.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from pathlib import Path
from typing import Any

from infra.emulator import aws

AWS = aws.start()

import boto3  # noqa: E402

from infra.local.deploy import supported  # noqa: E402
from infra.stack.app_template import expanded  # noqa: E402
from infra.templates import STATEFUL, load  # noqa: E402
from tests.infra.moto_templates import make_secret, reduced  # noqa: E402

STAGE = "prod"
CODE = "limn-code"


def deploy(path: Path) -> dict[str, Any]:
    """Create both stacks; the functions by their names."""
    clouds = boto3.client("cloudformation")
    stateful = load(STATEFUL)
    answers = {"Value": "https://answers.example.org", "Export": stateful["Outputs"]["AnswersUrl"]["Export"]}
    stateful = supported(stateful)
    stateful["Outputs"]["AnswersUrl"] = answers  # moto has no CloudFront
    create(clouds, f"limn-{STAGE}-stateful", stateful)
    s3 = boto3.client("s3")
    s3.create_bucket(Bucket=CODE)
    s3.put_object(Bucket=CODE, Key="code.zip", Body=b"PK\x05\x06" + bytes(18))
    work = json.loads(path.read_text())
    for resource in work["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = f"s3://{CODE}/code.zip"
    made = reduced(expanded(work, {"Stage": STAGE}), f"limn-{STAGE}")
    create(clouds, f"limn-{STAGE}", made)
    make_secret(boto3.client("secretsmanager"))
    functions = boto3.client("lambda").list_functions()["Functions"]
    return {each["FunctionName"]: each for each in functions}


def create(clouds: Any, name: str, template: dict[str, Any]) -> None:
    given = [{"ParameterKey": "Stage", "ParameterValue": STAGE}]
    clouds.create_stack(StackName=name, TemplateBody=json.dumps(template), Parameters=given)
    status = clouds.describe_stacks(StackName=name)["Stacks"][0]["StackStatus"]
    if status != "CREATE_COMPLETE":
        raise AssertionError(f"{name}: {status}")


def main() -> None:
    functions = deploy(Path(sys.argv[1]))
    environments = {name: each["Environment"]["Variables"] for name, each in functions.items()}
    # a parameter that is a number reaches a function as text
    os.environ.update({name: str(value) for name, value in environments[f"limn-{STAGE}-api"].items()})
    os.environ["LIMN_ANYONE_MAY_CREATE_ORGANIZATIONS"] = "true"
    sys.stdout.write(json.dumps({**use(), "environments": environments, "roles": roles(functions)}) + "\n")


def use() -> dict[str, Any]:
    """A first hour on it, through the API and the queue functions."""
    from chalicelib.core.models.definitions import ResolutionConfig
    from tests import queue_runner, service
    from tests.resources.media.samples import media_type, transcode, video

    api = service.new_user(is_staff=True)
    organization = api.made("Organizations", {"name": "o"})
    project = api.made("Projects", {"name": "p", "organization": organization})
    type_ = media_type(project, streaming_config=[ResolutionConfig(resolution=64)])
    media = transcode(api, project, type_, video(10)).json["media_id"]
    queue_runner.drain()
    box = api.made(f"LocalizationTypes/{project}", {"name": "box", "dtype": "box", "media_types": [type_]})
    api.made(f"Localizations/{project}", [{"media_id": media, "type": box, "frame": 0}] * 50)
    bucket = {"name": "b", "access_key": "A", "secret_key": "S", "endpoint_url": "https://s3.example.org"}
    api.made(f"Buckets/{organization}", {**bucket, "region": "eu"})
    found = api.get(f"Media/{media}").json
    return {
        "streaming": len(found["media_files"]["streaming"]),
        "count": api.get(f"LocalizationCount/{project}").json,
        "healthy": api.get("HealthCheckFull").status,
        "schema": "/prod" in api.get("/schema").body.decode()[:3000],
        "deleted": api.delete(f"Project/{project}").status,
        "places": places(),
    }


def places() -> dict[str, int]:
    """How much every table and bucket there is holds."""
    tables, s3 = boto3.client("dynamodb"), boto3.client("s3")
    names = tables.list_tables()["TableNames"]
    found = {name: tables.scan(TableName=name, Select="COUNT")["Count"] for name in names}
    for bucket in s3.list_buckets()["Buckets"]:
        found[bucket["Name"]] = s3.list_objects_v2(Bucket=bucket["Name"])["KeyCount"]
    return found


def roles(functions: dict[str, Any]) -> dict[str, list[str]]:
    """The actions that the role of each function has, as it was made."""
    iam = boto3.client("iam")
    found = {}
    for name, each in functions.items():
        role = each["Role"].rpartition("/")[2]
        policies = [
            _read(iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"])
            for policy in iam.list_role_policies(RoleName=role)["PolicyNames"]
        ]
        statements = [statement for policy in policies for statement in policy["Statement"]]
        found[name] = sorted({action for statement in statements for action in statement["Action"]})
    return found


def _read(policy: Any) -> Any:
    # moto keeps a policy of a template as Python writes it
    return ast.literal_eval(policy) if isinstance(policy, str) else policy


if __name__ == "__main__":
    main()
