"""CloudFormation templates as Python values: `!Ref Stage` becomes `{"Ref": "Stage"}`, as in their JSON form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
STATEFUL = FOLDER / "stateful.yaml"
FUNCTIONS = FOLDER / "functions.yaml"
ALARMS = FOLDER / "alarms.yaml"
BATCH = FOLDER / "batch.yaml"
ANALYTICS = FOLDER / "analytics.yaml"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML with CloudFormation's short forms, and with dates left as the strings they are meant as."""


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _short_form)
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load(path: Path) -> dict[str, Any]:
    """A template, read."""
    template: dict[str, Any] = yaml.load(path.read_text(), _Loader)  # noqa: S506 made from the safe loader
    return template


def defaults(template: dict[str, Any]) -> dict[str, Any]:
    """The values that the template's parameters have unless set otherwise."""
    return {name: parameter["Default"] for name, parameter in template["Parameters"].items() if "Default" in parameter}


def holds(template: dict[str, Any], condition: Any, values: Mapping[str, Any]) -> Any:
    """Whether a condition of a template holds for the values of its parameters; the value of what is none."""
    match condition:
        case {"Condition": name}:
            return holds(template, template["Conditions"][name], values)
        case {"Ref": name}:
            return str(values[name])
        case {"Fn::Not": [inner]}:
            return not holds(template, inner, values)
        case {"Fn::And": inner}:
            return all(holds(template, each, values) for each in inner)
        case {"Fn::Equals": sides}:
            first, second = (str(holds(template, each, values)) for each in sides)
            return first == second
    return condition


def named(name: dict[str, str], values: Mapping[str, str]) -> str:
    """A name that a template makes of parameters: `{"Fn::Sub": "limn-${Stage}-log"}`."""
    return re.sub(r"\$\{(.+?)\}", lambda found: values[found[1]], name["Fn::Sub"])


def of_type(template: dict[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """The properties of the resources of one type, by their names in the template."""
    return {
        name: resource["Properties"] for name, resource in template["Resources"].items() if resource["Type"] == kind
    }
