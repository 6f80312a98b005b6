"""Parameters of a deployment, validated before anything is built or sent."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from chalicelib.settings import PREFIX, Misconfigured, read
from infra.operating.failures import Failed
from infra.package import placeholders

PARTS = ("-stateful", "-batch", "-analytics")
"""What the names of a stage's stacks end with, beside that of what runs, which ends with the stage."""


def check(templates: list[dict[str, Any]], stage: str, given: dict[str, str]) -> dict[str, str]:
    """Validate parameters against the templates and against the settings of the functions; them, with the stage.

    CloudFormation says the same of the first, later and in other words; the second it does not know: a function with
    such a variable would not start.

    Raises:
        Failed: no template has a parameter, or a value is not what it may be; all that is wrong is said at once.
    """
    rules = [(name, rule) for template in templates for name, rule in template["Parameters"].items()]
    wrong = [f"No template has a parameter {name}." for name in sorted(set(given) - {name for name, _ in rules})]
    wrong += [f"Stage: it is the word before the parameters, {stage}, and no parameter."] if "Stage" in given else []
    # `limn-prod-stateful` would be a stack of two stages
    wrong += [f"Stage: {stage!r} may not end with {end}." for end in PARTS if stage.endswith(end)]
    given = {**given, "Stage": stage}
    for name, rule in rules:
        if name in given:
            said = _against(rule, given[name])
            wrong += [f"{name}: {said}."] if said else []
    if not wrong:
        wrong = [said for template in templates for said in _of_variables(template, given)]
    if wrong:
        raise Failed("\n".join(dict.fromkeys(wrong)))
    return given


def _against(rule: dict[str, Any], value: str) -> str:
    """What of a parameter's rule a value does not keep; nothing where it keeps all."""
    if value not in map(str, rule.get("AllowedValues", [value])):
        return f"{value!r} is not one of {', '.join(map(str, rule['AllowedValues']))}"
    if len(value) > int(rule.get("MaxLength", len(value))):
        return (
            f"{len(value)} characters, and {rule['MaxLength']} are taken: all variables of a function must fit into "
            "the 4 KB that Lambda takes"
        )
    if "AllowedPattern" in rule and not re.fullmatch(rule["AllowedPattern"], value):
        return f"{value!r} does not fit: {rule.get('ConstraintDescription', rule['AllowedPattern'])}"
    if rule["Type"] == "Number":
        least, most = rule.get("MinValue", 0), rule.get("MaxValue", "any number")
        if not value.isdecimal() or int(value) < least or (most != "any number" and int(value) > most):
            return f"{value!r} is no whole number from {least} to {most}"
    return ""


def _of_variables(template: dict[str, Any], given: dict[str, str]) -> Iterator[str]:
    """What the functions would say, when they start, of the variables that parameters become."""
    variables = template.get("Globals", {}).get("Function", {}).get("Environment", {}).get("Variables", {})
    for variable, value in variables.items():
        # a parameter, or a parameter where it is given
        what = value["Fn::If"][1] if isinstance(value, dict) and "Fn::If" in value else value
        name = what.get("Ref") if isinstance(what, dict) else None
        if name in given and given[name] and variable.startswith(PREFIX):
            try:
                read({**placeholders(), variable: given[name]})
            except Misconfigured as failure:
                yield f"{name}: {str(failure).removeprefix(f'{variable}: ')}"
