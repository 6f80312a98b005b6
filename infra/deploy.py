"""`make deploy` and `make destroy`: the stacks of a stage on AWS, by the operator's own credentials.

    python -m infra.deploy up prod EmailSender=limn@example.org AlarmEmail=ops@example.org
    python -m infra.deploy down prod              the functions and the API; tables, buckets and the key stay
    python -m infra.deploy down prod --data       everything, after its name was typed

`up` sends what `make package` built: zips, by their contents, into a bucket of the account, then the stack of what is
kept, then that of what runs. A parameter keeps the value that it was given last; a new stage starts with the defaults
of the templates. Either stack is changed by a change set, so that nothing happens where nothing changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from chalicelib.settings import PREFIX, Misconfigured, read
from infra.package import BUILD, placeholders, write_template
from infra.templates import STATEFUL, load, of_type

KEEP = "limn-deployments"
CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
WAIT = {"Delay": 5, "MaxAttempts": 360}


class Failed(Exception):
    """It was not done; the message says why."""


class Deployment:
    """The stacks of one stage."""

    def __init__(self, stage: str, session: Any, say: Callable[[str], object] = print) -> None:
        self._stage = stage
        self._session = session
        self._say = say
        self._clouds = session.client("cloudformation")
        self._s3 = session.client("s3")
        account = session.client("sts").get_caller_identity()["Account"]
        self._bucket = f"{KEEP}-{account}-{session.region_name}"
        self.kept, self.running = f"limn-{stage}-stateful", f"limn-{stage}"

    def up(self, build: Path, given: dict[str, str]) -> dict[str, str]:
        """Create or update both stacks; the outputs of what runs.

        Raises:
            Failed: nothing was built, a parameter is in no template, or CloudFormation says no.
        """
        templates = {}
        for name in ("stateful", "app"):
            path = build / f"{name}.json"
            if not path.exists():
                raise Failed(f"{path} is not there: run `make package` first.")
            templates[name] = json.loads(path.read_text())
        check(list(templates.values()), given)
        self._make_bucket()
        for resource in templates["app"]["Resources"].values():
            if resource["Type"] == "AWS::Serverless::Function":
                code = build / Path(resource["Properties"]["CodeUri"]).name
                resource["Properties"]["CodeUri"] = f"s3://{self._bucket}/{self._send(code)}"
        given = {**given, "Stage": self._stage}
        for stack, name in ((self.kept, "stateful"), (self.running, "app")):
            self._apply(stack, self._template(name, templates[name], build), templates[name]["Parameters"], given)
        return self._outputs(self.running)

    def down(self, *, data: bool) -> None:
        """Delete what runs, and with `data` all that is kept: tables, buckets with all versions, queues, the key."""
        self._delete(self.running)
        if data:
            names = self._physical()
            tables = self._session.client("dynamodb")
            for table in names["AWS::DynamoDB::Table"]:
                tables.update_table(TableName=table, DeletionProtectionEnabled=False)
            self._delete(self.kept)
            for table in names["AWS::DynamoDB::Table"]:
                tables.delete_table(TableName=table)
                self._say(f"table {table} is gone")
            for bucket in names["AWS::S3::Bucket"]:
                self._empty(bucket)
                self._s3.delete_bucket(Bucket=bucket)
                self._say(f"bucket {bucket} is gone")
            keys = self._session.client("kms")
            for key in names["AWS::KMS::Key"]:
                keys.schedule_key_deletion(KeyId=key, PendingWindowInDays=30)
                self._say(f"key {key} goes in 30 days")

    def _make_bucket(self) -> None:
        try:
            self._s3.head_bucket(Bucket=self._bucket)
        except self._s3.exceptions.ClientError:
            region = self._session.region_name
            more = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
            self._s3.create_bucket(Bucket=self._bucket, **more)
            closed = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
            self._s3.put_public_access_block(
                Bucket=self._bucket, PublicAccessBlockConfiguration=dict.fromkeys(closed, True)
            )

    def _send(self, path: Path) -> str:
        """Upload a file under the hash of its contents, unless it is there; its key."""
        key = f"{hashlib.sha256(path.read_bytes()).hexdigest()}{path.suffix}"
        try:
            self._s3.head_object(Bucket=self._bucket, Key=key)
        except self._s3.exceptions.ClientError:
            self._say(f"sending {path.name}")
            self._s3.upload_file(str(path), self._bucket, key)
        return key

    def _template(self, name: str, template: dict[str, Any], build: Path) -> str:
        path = build / f"{name}.sent.json"
        write_template(path, template)
        suffix = self._session.region_name
        return f"https://{self._bucket}.s3.{suffix}.amazonaws.com/{self._send(path)}"

    def _apply(self, stack: str, url: str, parameters: dict[str, Any], given: dict[str, str]) -> None:
        """Create or update a stack; a parameter that is not given keeps its value, or starts with its default."""
        before = self._parameters(stack)
        values: list[dict[str, Any]] = [
            {"ParameterKey": name, "ParameterValue": given[name]}
            if name in given
            else {"ParameterKey": name, "UsePreviousValue": True}
            for name in parameters
            if name in given or (before is not None and name in before and name not in ("Architecture", "Runtime"))
        ]
        kind = "CREATE" if before is None else "UPDATE"
        change = f"limn-{int(time.time())}"
        self._clouds.create_change_set(
            StackName=stack,
            ChangeSetName=change,
            ChangeSetType=kind,
            TemplateURL=url,
            Parameters=values,
            Capabilities=CAPABILITIES,
        )
        if not self._is_change(stack, change):
            self._say(f"{stack}: nothing to change")
            return
        self._say(f"{stack}: {'creating' if before is None else 'updating'}")
        self._clouds.execute_change_set(StackName=stack, ChangeSetName=change)
        waiter = self._clouds.get_waiter(f"stack_{kind.lower()}_complete")
        try:
            waiter.wait(StackName=stack, WaiterConfig=WAIT)
        except Exception as failure:
            raise Failed(f"{stack}: {self._reason(stack)}") from failure

    def _is_change(self, stack: str, change: str) -> bool:
        """Wait for a change set; whether it would change anything."""
        for _ in range(WAIT["MaxAttempts"]):
            found = self._clouds.describe_change_set(StackName=stack, ChangeSetName=change)
            if found["Status"] == "CREATE_COMPLETE":
                return True
            if found["Status"] == "FAILED":
                reason = found.get("StatusReason", "")
                self._clouds.delete_change_set(StackName=stack, ChangeSetName=change)
                if "didn't contain changes" in reason or "No updates" in reason:
                    return False
                raise Failed(f"{stack}: {reason}")
            time.sleep(WAIT["Delay"])
        raise Failed(f"{stack}: CloudFormation does not come to an end with the change set {change}.")

    def _parameters(self, stack: str) -> set[str] | None:
        try:
            [found] = self._clouds.describe_stacks(StackName=stack)["Stacks"]
        except self._clouds.exceptions.ClientError:
            return None
        if found["StackStatus"] == "REVIEW_IN_PROGRESS":
            return None
        return {each["ParameterKey"] for each in found.get("Parameters", [])}

    def _outputs(self, stack: str) -> dict[str, str]:
        [found] = self._clouds.describe_stacks(StackName=stack)["Stacks"]
        return {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}

    def _reason(self, stack: str) -> str:
        events = self._clouds.describe_stack_events(StackName=stack)["StackEvents"]
        failed = [each for each in events if each.get("ResourceStatus", "").endswith("FAILED")]
        return "; ".join(
            f"{each['LogicalResourceId']}: {each.get('ResourceStatusReason', '')}" for each in failed[-3:]
        ) or ("see its events")

    def _physical(self) -> dict[str, list[str]]:
        """The names of what the stateful stack made, by their type."""
        pages = self._clouds.get_paginator("list_stack_resources").paginate(StackName=self.kept)
        ids = {
            each["LogicalResourceId"]: each["PhysicalResourceId"]
            for page in pages
            for each in page["StackResourceSummaries"]
            if each.get("PhysicalResourceId")
        }
        kinds = ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key")
        template = load(STATEFUL)
        return {kind: [ids[name] for name in of_type(template, kind) if name in ids] for kind in kinds}

    def _empty(self, bucket: str) -> None:
        for page in self._s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
            doomed = [
                {"Key": each["Key"], "VersionId": each["VersionId"]}
                for each in (*page.get("Versions", []), *page.get("DeleteMarkers", []))
            ]
            if doomed:
                self._s3.delete_objects(Bucket=bucket, Delete={"Objects": doomed, "Quiet": True})

    def _delete(self, stack: str) -> None:
        if self._parameters(stack) is None:
            self._say(f"{stack}: there is none")
            return
        self._say(f"{stack}: deleting")
        self._clouds.delete_stack(StackName=stack)
        self._clouds.get_waiter("stack_delete_complete").wait(StackName=stack, WaiterConfig=WAIT)


def check(templates: list[dict[str, Any]], given: dict[str, str]) -> None:
    """Hold what an operator gives as parameters against the templates, and against what a function starts with.

    CloudFormation says the same of the first, later and in other words; the second it does not know: a function with
    such a variable would not start.

    Raises:
        Failed: no template has a parameter, or a value is not what it may be; all that is wrong is said at once.
    """
    rules = [(name, rule) for template in templates for name, rule in template["Parameters"].items()]
    wrong = [f"No template has a parameter {name}." for name in sorted(set(given) - {name for name, _ in rules})]
    for name, rule in rules:
        if name in given:
            said = _against(rule, given[name])
            wrong += [f"{name}: {said}."] if said else []
    if not wrong:
        wrong = [said for template in templates for said in _of_variables(template, given)]
    if wrong:
        raise Failed("\n".join(dict.fromkeys(wrong)))


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


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit code."""
    made = argparse.ArgumentParser(prog="python -m infra.deploy", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--region", help="that of the AWS configuration otherwise")
    commands = made.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="create or update a stage from build/")
    up.add_argument("stage")
    up.add_argument("parameters", nargs="*", metavar="Name=value", help="parameters of the templates")
    down = commands.add_parser("down", help="delete a stage; what it keeps stays")
    down.add_argument("stage")
    down.add_argument("--data", action="store_true", help="and all that it keeps")
    given = made.parse_args(words)

    import boto3

    deployment = Deployment(given.stage, boto3.Session(region_name=given.region))
    try:
        if given.command == "up":
            values = dict(_parameter(word) for word in given.parameters)
            for name, value in deployment.up(BUILD, values).items():
                print(f"{name:16} {value}")
        else:
            _ask(given.stage, data=given.data)
            deployment.down(data=given.data)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


def _parameter(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise Failed(f"{word!r} is not of the form Name=value.")
    return name, value


def _ask(stage: str, *, data: bool) -> None:
    """Have the operator type the stage's name. Raises Failed: it was not typed."""
    what = "the API, the functions AND ALL DATA" if data else "the API and the functions, and keep the data,"
    if input(f"This deletes {what} of stage {stage}. Type its name to go on: ").strip() != stage:
        raise Failed("Nothing was deleted.")


if __name__ == "__main__":
    sys.exit(main())
