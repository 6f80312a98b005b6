"""The deployment guide has each message of the operator's commands, and the operations guide each alarm."""

from __future__ import annotations

import ast
import re

from infra import package
from infra.templates import ALARMS, load, of_type

SOURCES = ("admin.py", "deploy.py", *(f"operating/{name}.py" for name in (
    "preflight", "releases", "restoring", "smoke", "stacks", "parameters", "redriving", "reports",
)))  # fmt: skip
REFUSALS = ("Failed", "Broken", "Refused")
WORDS = 3
"""So many words of a message in a row, at least, stand in the guide."""


def guide(name):
    return " ".join(re.findall(r"\w+", (package.ROOT / "docs" / name).read_text()))


def messages(source):
    """The literal parts of each refusal, and of each result of a check that is not good."""
    for node in ast.walk(ast.parse((package.ROOT / "infra" / source).read_text())):
        is_refusal = isinstance(node, ast.Call) and getattr(node.func, "id", "") in REFUSALS
        is_result = isinstance(node, ast.Tuple) and getattr(node.elts[0], "id", "") in ("STOP", "WARN")
        if is_refusal or is_result:
            parts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
            yield [words for part in parts if len(words := re.findall(r"\w+", str(part))) >= WORDS]


def test_the_guide_has_every_message_that_the_operator_may_meet():
    there, missing = guide("deployment.md"), []
    for source in SOURCES:
        for parts in messages(source):
            runs = [" ".join(words[at : at + WORDS]) for words in parts for at in range(len(words) - WORDS + 1)]
            if runs and not any(run in there for run in runs):
                missing.append((source, parts))
    assert not missing


def test_the_guide_has_every_alarm():
    text = (package.ROOT / "docs" / "operations.md").read_text().partition("## Alarms")[2]
    patterns = [re.escape(name).replace("…", ".*") for name in re.findall(r"`(\S+Alarm)`", text)]
    alarms = of_type(load(ALARMS), "AWS::CloudWatch::Alarm")
    assert [name for name in alarms if not any(re.fullmatch(pattern, name) for pattern in patterns)] == []
