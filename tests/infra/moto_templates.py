"""What moto's CloudFormation takes of the template of the API and functions, after SAM's translator."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from infra.stack.merging import ALIAS

BY_API = frozenset({"AWS::ApiGateway::Deployment", "AWS::ApiGateway::Stage"})
"""What moto cannot make of an API without methods; it reads no Swagger 2, in which Chalice writes them."""


BY_RELEASE = frozenset(
    {
        *("AWS::Lambda::Version", "AWS::Lambda::Alias"),
        *("AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup"),
    }
)
"""What releases a function: moto's CloudFormation makes no aliases."""
SECRET = "limn-signer"
"""The secret that a rehearsal makes by Secrets Manager itself, as moto's CloudFormation makes none."""


def make_secret(secrets: Any) -> None:
    """Store an access key that signs URLs, where there is none yet, by a client of Secrets Manager."""
    key = {"aws_access_key_id": "AKIASIGNER", "aws_secret_access_key": "secret"}
    with suppress(secrets.exceptions.ResourceExistsException):
        secrets.create_secret(Name=SECRET, SecretString=json.dumps(key))


def reduced(expanded: dict[str, Any], api_name: str) -> dict[str, Any]:
    """The template without what moto cannot make.

    It has no conditions within a list, runs functions of event source mappings in Docker, and what calls an alias
    calls its function.
    """
    made = {**expanded, "Resources": {}}
    for name, each in _without_aliases(expanded["Resources"]).items():
        if each["Type"] in BY_API | BY_RELEASE or each["Type"] == "AWS::SecretsManager::Secret":
            continue
        made["Resources"][name] = each
        if each["Type"] == "AWS::Lambda::EventSourceMapping":
            each["Properties"]["Enabled"] = False
        elif each["Type"] == "AWS::Lambda::EventInvokeConfig":
            del each["DependsOn"]
            each["Properties"]["Qualifier"] = "$LATEST"
        elif each["Type"] == "AWS::IAM::Role" and "Policies" in each["Properties"]:
            each["Properties"]["Policies"] = [
                policy for policy in each["Properties"]["Policies"] if "Fn::If" not in policy
            ]
    made["Resources"]["RestAPI"]["Properties"] = {"Name": api_name}
    return made


def _without_aliases(part: Any) -> Any:
    """A part of the template, in which references to aliases are references to their functions."""
    if isinstance(part, list):
        return [_without_aliases(each) for each in part]
    if not isinstance(part, dict):
        return part
    if part.get("Ref") == "SignerSecret":
        return SECRET
    if str(part.get("Ref", "")).endswith(f"Alias{ALIAS}"):
        return {"Fn::GetAtt": [part["Ref"].removesuffix(f"Alias{ALIAS}"), "Arn"]}
    return {name: _without_aliases(each) for name, each in part.items()}
