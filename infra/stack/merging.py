"""The template of the API and functions: what Chalice makes of the app, merged with functions.yaml and alarms.yaml."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from typing import Any

from chalicelib.api.router import resource_of
from infra.stack import dashboard
from infra.templates import ALARMS, FUNCTIONS, load, of_type

HANDLERS = {"api": "APIHandler", "media": "MediaHandler"}
"""Their names in the template; Chalice gives the first."""


def merged(chalice_template: dict[str, Any]) -> dict[str, Any]:
    """Chalice's template with ours in it; ours goes first where both say something."""
    template = chalice_template
    for path in (FUNCTIONS, ALARMS):
        template = _merge(load(path), template)
    template["Description"] = load(FUNCTIONS)["Description"]
    functions = [
        str(properties["FunctionName"]["Fn::Sub"]).rpartition("-")[2]
        for properties in of_type(template, "AWS::Serverless::Function").values()
    ]
    template["Resources"]["Dashboard"] = dashboard.resource(functions)
    _trace(template)
    body = template["Resources"]["RestAPI"]["Properties"].get("DefinitionBody", {})
    _allow_origin(body.get("paths", {}))
    if paths := body.get("paths", {}):
        from chalicelib.api.routes import functions as functions_of_routes

        body["paths"] = _greedy(paths, functions_of_routes())
    return template


def _trace(template: dict[str, Any]) -> None:
    """Let the role of every function write traces where the parameter says so: Lambda refuses to trace it otherwise.

    X-Ray knows no resources, so this is allowed on all.
    """
    statement = {"Sid": "Trace", "Effect": "Allow", "Action": ["xray:PutTelemetryRecords", "xray:PutTraceSegments"]}
    document = {"Version": "2012-10-17", "Statement": [{**statement, "Resource": "*"}]}
    policy = {"Fn::If": ["Traces", {"PolicyName": "traces", "PolicyDocument": document}, {"Ref": "AWS::NoValue"}]}
    roles = of_type(template, "AWS::IAM::Role")
    for function in of_type(template, "AWS::Serverless::Function").values():
        roles[function["Role"]["Fn::GetAtt"][0]]["Policies"].append(policy)


def redeployed(template: dict[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The template with a new deployment of the API's stage where a parameter of its definition changed.

    A deployment of API Gateway is a copy of the definition. SAM makes a new one where the definition's text changed,
    which has the parameter's name, not its value.
    """
    made = copy.deepcopy(template)
    definition = made["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    digest = hashlib.sha256(values["CorsOrigin"].encode()).hexdigest()
    definition["info"]["version"] = f"{definition['info'].get('version', '1.0')}-{digest[:12]}"
    return made


def _greedy(paths: dict[str, Any], functions: Mapping[str, str]) -> dict[str, Any]:
    """The paths with one greedy resource in place of all routes of a prefix: any method, and the gateway's preflight.

    A route of another function than the API's keeps a resource of its own, which wins over the greedy one.

    Args:
        paths: as Chalice made them.
        functions: the function of each route.

    Raises:
        ValueError: a route of a greedy resource answers preflights itself, which the resource would not let through.
    """
    made: dict[str, Any] = {}
    allowed = "method.response.header.Access-Control-Allow-Methods"
    for route, methods in paths.items():
        resource = resource_of(route)
        if resource == route:
            made[route] = methods
            continue
        preflight = copy.deepcopy(methods["options"])
        answer = preflight["x-amazon-apigateway-integration"]
        if answer["type"] != "mock":
            raise ValueError(f"{route} declares OPTIONS, which {resource} answers.")
        answer["responses"]["default"]["responseParameters"][allowed] = "'DELETE,GET,PATCH,POST,PUT,OPTIONS'"
        handled = copy.deepcopy(next(method for name, method in methods.items() if name != "options"))
        if functions[route] == "api":
            handled["parameters"] = [{"name": "proxy", "in": "path", "required": True, "type": "string"}]
        else:
            resource = route
            uri = handled["x-amazon-apigateway-integration"]["uri"]
            uri["Fn::Sub"] = uri["Fn::Sub"].replace(HANDLERS["api"], HANDLERS[functions[route]])
        made[resource] = {"x-amazon-apigateway-any-method": handled, "options": preflight}
    return made


def _allow_origin(part: Any) -> None:
    """Have the gateway's answers to preflights name the origin that the parameter says, not Chalice's."""
    if isinstance(part, dict):
        header = "method.response.header.Access-Control-Allow-Origin"
        if header in part:
            part[header] = {"Fn::Sub": "'${CorsOrigin}'"}
        for inner in part.values():
            _allow_origin(inner)


def _merge(ours: Any, theirs: Any) -> Any:
    if isinstance(ours, dict) and isinstance(theirs, dict) and not any(key.startswith("Fn::") for key in ours):
        return {**theirs, **{key: _merge(value, theirs.get(key)) for key, value in ours.items()}}
    return ours
