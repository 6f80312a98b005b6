"""What moto's CloudFormation takes of the template of the API and functions, after SAM's translator."""

from __future__ import annotations

from typing import Any

BY_API = frozenset({"AWS::ApiGateway::Deployment", "AWS::ApiGateway::Stage"})
"""What moto cannot make of an API without methods; it reads no Swagger 2, in which Chalice writes them."""


def reduced(expanded: dict[str, Any], api_name: str) -> dict[str, Any]:
    """The template without what moto cannot make.

    It has no conditions within a list, and runs functions of event source mappings in Docker.
    """
    made = {**expanded, "Resources": {}}
    for name, each in expanded["Resources"].items():
        if each["Type"] in BY_API:
            continue
        made["Resources"][name] = each
        if each["Type"] == "AWS::Lambda::EventSourceMapping":
            each["Properties"]["Enabled"] = False
        elif each["Type"] == "AWS::IAM::Role":
            each["Properties"]["Policies"] = [
                policy for policy in each["Properties"]["Policies"] if "Fn::If" not in policy
            ]
    made["Resources"]["RestAPI"]["Properties"] = {"Name": api_name}
    return made
