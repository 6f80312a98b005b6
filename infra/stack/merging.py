"""The template of the API and functions: what Chalice makes of the app, merged with functions.yaml and alarms.yaml."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from chalicelib import __version__
from chalicelib.api.router import resource_of
from infra.stack import dashboard
from infra.templates import ALARMS, FUNCTIONS, load, of_type

HANDLERS = {"api": "APIHandler", "media": "MediaHandler"}
"""The names of the functions in the template; Chalice gives the first."""
ALIAS = "live"
"""The alias of each function that gateway, queues and schedules call; `infra.deploy rollback` points it elsewhere."""
CANARY_ALARMS = ("ApiErrorsAlarm", "MediaErrorsAlarm", "ApiServerErrorsAlarm")
"""What ends the shift of requests to a new version."""
_CALLERS = frozenset(
    {
        *("AWS::Serverless::Api", "AWS::Events::Rule", "AWS::Scheduler::Schedule"),
        *("AWS::Lambda::Permission", "AWS::Lambda::EventSourceMapping"),
    }
)


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
    _sign(template)
    _publish(template)
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
    _allow(template, "Traces", ["xray:PutTelemetryRecords", "xray:PutTraceSegments"], "*")


def _sign(template: dict[str, Any]) -> None:
    """Let the functions that sign URLs read the key for it."""
    secret = {"Ref": "SignerSecret"}
    _allow(template, "SignsUrls", ["secretsmanager:GetSecretValue"], secret, variable="LIMN_URL_SIGNER")


def _allow(template: dict[str, Any], condition: str, actions: list[str], resource: Any, variable: str = "") -> None:
    """Allow the roles of all functions something under a condition, or of those that have a variable."""
    statement = {"Sid": condition, "Effect": "Allow", "Action": actions, "Resource": resource}
    document = {"Version": "2012-10-17", "Statement": [statement]}
    named = {"PolicyName": condition.lower(), "PolicyDocument": document}
    roles = of_type(template, "AWS::IAM::Role")
    for function in of_type(template, "AWS::Serverless::Function").values():
        if not variable or variable in function.get("Environment", {}).get("Variables", {}):
            policies = roles[function["Role"]["Fn::GetAtt"][0]]["Policies"]
            policies.append({"Fn::If": [condition, named, {"Ref": "AWS::NoValue"}]})


def _publish(template: dict[str, Any]) -> None:
    """Have each change of a function be a version, and all that calls it call the alias `live` (decision 206).

    Behind the gateway a new version takes a part of the requests first, and none where an alarm rings.
    """
    functions = of_type(template, "AWS::Serverless::Function")
    for name, function in functions.items():
        function |= {"AutoPublishAlias": ALIAS, "AutoPublishAliasAllProperties": True}
        if name in HANDLERS.values():
            alarms = [{"Ref": alarm} for alarm in CANARY_ALARMS]
            function["DeploymentPreference"] = {"Type": {"Ref": "Canary"}, "Alarms": alarms}
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Lambda::EventInvokeConfig":
            # its property is a name, which does not tell CloudFormation to make the alias first
            resource["DependsOn"] = alias_of(resource["Properties"]["FunctionName"]["Ref"])
            resource["Properties"]["Qualifier"] = ALIAS
        elif resource["Type"] in _CALLERS:
            resource["Properties"] = _by_alias(resource["Properties"], functions)


def alias_of(function: str) -> str:
    """The name that SAM gives the alias of a function in the template."""
    return f"{function}Alias{ALIAS}"


def _by_alias(part: Any, functions: Mapping[str, Any]) -> Any:
    """A part of the template, with the aliases of functions in place of the functions."""
    if isinstance(part, list):
        return [_by_alias(inner, functions) for inner in part]
    if not isinstance(part, dict):
        return part
    match part:
        case {"Ref": str(name)} | {"Fn::GetAtt": [str(name), "Arn"]} if name in functions:
            return {"Ref": alias_of(name)}
        case {"Fn::Sub": str(text)}:
            return {
                "Fn::Sub": re.sub(r"\$\{(\w+)\.Arn\}(?=/invocations)", lambda found: f"${{{alias_of(found[1])}}}", text)
            }
    return {key: _by_alias(inner, functions) for key, inner in part.items()}


def redeployed(template: dict[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
    """The template with a new deployment of the API's stage, and new versions of functions, where parameters changed.

    A deployment of API Gateway is a copy of the definition, a version of a function one of its settings. SAM makes new
    ones where the text of the template changed, which has the names of parameters, not their values.

    Args:
        template: that of API and functions; stays as it is.
        values: the value of each parameter.
    """
    made = copy.deepcopy(template)
    definition = made["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]
    origin = hashlib.sha256(values["CorsOrigin"].encode()).hexdigest()
    definition["info"]["version"] = f"{definition['info'].get('version', '1.0')}-{origin[:12]}"
    settings = hashlib.sha256(json.dumps(sorted(values.items())).encode()).hexdigest()
    for function in of_type(made, "AWS::Serverless::Function").values():
        function["Description"] = f"Limn {__version__}, parameters {settings[:12]}"
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
