"""Security rules by their names: what cfripper and checkov find in the templates, and what we let stand, with why.

    python -m infra.security cfripper                 a part of `make check`
    python -m infra.security checkov COMMAND          `make rules`; checkov lives in an environment of its own

What we let stand is written beside its resource, `Metadata: {checkov: {skip: [{id: …, comment: …}]}}`, the form in
which checkov reads it itself; for cfripper the same under its name. Here the tools see templates without it, so that a
unexplained finding is as much an error as an explanation of what is not found any more.
"""

from __future__ import annotations

import argparse
import copy
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra.templates import ANALYTICS, BATCH, STATEFUL, defaults, load

TOOLS = ("cfripper", "checkov")
GIVEN = {
    "CertificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/c",
    "ConfirmedSender": "limn@example.org",
    "Vpc": "vpc-1",
    "Subnets": "subnet-1",
}
"""Values of parameters where cfripper resolves them with all that a deployment can turn on."""


@dataclass(frozen=True, order=True)
class Finding:
    """A rule and the resource that it is about."""

    template: str
    resource: str
    rule: str

    def __str__(self) -> str:
        """As it is printed."""
        return f"{self.template}: {self.resource}: {self.rule}"


def templates() -> dict[str, dict[str, Any]]:
    """The stacks as CloudFormation makes them, by their names: SAM's short forms are written out."""
    from infra.stack.app_template import expanded, whole

    app = expanded(whole())
    # of an API, SAM makes the API itself and its stage; what rules are about is the stage
    app["Resources"]["RestAPIStage"]["Metadata"] = app["Resources"]["RestAPI"].pop("Metadata")
    return {"analytics": load(ANALYTICS), "app": app, "batch": load(BATCH), "stateful": load(STATEFUL)}


def explained(name: str, template: dict[str, Any], tool: str) -> dict[Finding, str]:
    """What a template lets stand of a tool's rules, and why."""
    return {
        Finding(name, resource, each["id"]): each["comment"]
        for resource, definition in template["Resources"].items()
        for each in definition.get("Metadata", {}).get(tool, {}).get("skip", ())
    }


def stripped(template: dict[str, Any]) -> dict[str, Any]:
    """A template without the metadata that explains exceptions from the checks."""
    bare = copy.deepcopy(template)
    for definition in bare["Resources"].values():
        definition.pop("Metadata", None)
    return bare


def by_cfripper(name: str, template: dict[str, Any]) -> set[Finding]:
    """The findings of cfripper: with the defaults of parameters, and with every option enabled.

    Raises:
        RuntimeError: a rule did not come to an end.
    """
    import pycfmodel
    from cfripper.config.config import Config
    from cfripper.rule_processor import RuleProcessor
    from cfripper.rules import DEFAULT_RULES

    bare = stripped(template)
    for definition in bare["Resources"].values():
        if definition["Type"] == "AWS::CloudWatch::Alarm":
            definition["Properties"].pop("Threshold")  # its model takes whole numbers alone
    found = set()
    config = Config(stack_name=f"limn-{name}", rules=list(DEFAULT_RULES), aws_account_id="123456789012")
    rules = RuleProcessor(*(rule(config) for rule in DEFAULT_RULES.values()))
    logging.disable(logging.WARNING)  # it warns of every function that it does not resolve
    try:
        for values in (defaults(template), {**_everything(template), **GIVEN}):
            result = rules.process_cf_template(pycfmodel.parse(bare).resolve(extra_params=values), config)
            if result.exceptions:
                raise RuntimeError(f"cfripper: {result.exceptions}")
            for failure in result.failures:
                found |= {Finding(name, str(each), failure.rule) for each in failure.resource_ids or {""}}
    finally:
        logging.disable(logging.NOTSET)
    return found


def _everything(template: dict[str, Any]) -> dict[str, Any]:
    """Parameters with every switch on and every name given."""
    return {name: {"false": "true", "": "given"}.get(str(value), value) for name, value in defaults(template).items()}


def by_checkov(command: str, given: dict[str, dict[str, Any]]) -> set[Finding]:
    """What checkov finds.

    Args:
        command: where it is.
        given: templates by their names.

    Raises:
        RuntimeError: it could not read a template.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, template in given.items():
            (Path(folder) / f"{name}.json").write_text(json.dumps(stripped(template), indent=1))
        # without --skip-download it would fetch texts for its findings, for which there may be no network
        words = [command, "-d", folder, "--framework", "cloudformation", "--skip-download", "--quiet", "-o", "json"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 nothing comes from outside
    try:
        said = json.loads(done.stdout)
    except json.JSONDecodeError as failure:
        raise RuntimeError(f"checkov says no JSON: {done.stderr[-1000:]}") from failure
    if said["summary"]["parsing_errors"] or not said["summary"]["passed"]:
        raise RuntimeError(f"checkov read nothing: {said['summary']}")
    return {
        Finding(Path(each["file_path"]).stem, each["resource"].partition(".")[2], each["check_id"])
        for each in said["results"]["failed_checks"]
    }


def complaints(found: set[Finding], explanations: dict[Finding, str]) -> Iterator[str]:
    """What is not in order: unexplained findings, and explanations of nothing."""
    for finding in sorted(found - set(explanations)):
        yield f"{finding} is found and not explained"
    for finding in sorted(set(explanations) - found):
        yield f"{finding} is explained and not found any more"


def main(words: list[str] | None = None) -> int:
    """Run a tool and say what is not in order; the exit code."""
    made = argparse.ArgumentParser(prog="python -m infra.security", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("tool", choices=TOOLS)
    made.add_argument("command", nargs="?", default="checkov", help="where checkov is")
    given = made.parse_args(words)
    from infra.package import placeholders

    os.environ.update(placeholders())  # the app, of which the template is made, reads its configuration
    stacks = templates()
    if given.tool == "checkov":
        found = by_checkov(given.command, stacks)
    else:
        found = {each for name, template in stacks.items() for each in by_cfripper(name, template)}
    why: dict[Finding, str] = {}
    for name, template in stacks.items():
        why |= explained(name, template, given.tool)
    said = list(complaints(found, why))
    print("\n".join([*said, f"{given.tool}: {len(found)} findings, {len(why)} explained beside their resources"]))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
