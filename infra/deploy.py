"""`make deploy` and `make destroy`: the stacks of a stage on AWS, by the operator's own credentials.

    python -m infra.deploy up prod EmailSender=limn@example.org AlarmEmail=ops@example.org
    python -m infra.deploy check prod …           the same words as `up`: what would stop it, before anything is built
    python -m infra.deploy smoke https://… 1      the main job, in a project of organization 1; a token in LIMN_TOKEN
    python -m infra.deploy releases prod          what was deployed, newest first, and which is live
    python -m infra.deploy rollback prod          the release before, at once: aliases point to its versions
    python -m infra.deploy down prod              the functions and the API; tables, buckets and the key stay
    python -m infra.deploy down prod --data       everything, after its name was typed

`up` sends what `make package` built: zips, by their contents, into a bucket of the account, then the stack of what is
kept, then that of what runs. A parameter keeps the value that it was given last; a new stage starts with the defaults
of the templates. Either stack is changed by a change set, so that nothing happens where nothing changed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from infra.operating import failures
from infra.operating.code_bucket import CodeBucket
from infra.operating.failures import Failed
from infra.operating.parameters import check
from infra.operating.releases import Releases, print_releases
from infra.operating.stacks import Stacks
from infra.package import BUILD, write_template
from infra.stack.merging import redeployed
from infra.templates import STATEFUL, defaults, load, named, of_type

CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
KEPT_KINDS = ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::SQS::Queue", "AWS::KMS::Key")
"""What `down --data` deletes by itself: CloudFormation retains it."""
STACK = "AWS::CloudFormation::Stack"
MISSING = "NotFound|NoSuch|NonExistent|DoesNotExist|KMSInvalidState"
"""What is in the code of every error about something that is not there, or about a key that goes already."""
NEVER_MADE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
"""States of a stack that CloudFormation only deletes: its first deployment failed, or its deletion."""


class Deployment(Stacks):
    """The stacks of one stage."""

    def __init__(self, stage: str, session: Any, say: Callable[[str], object] = print) -> None:
        super().__init__(session, say)
        self._stage = stage
        self._s3 = session.client("s3")
        self._caller = session.client("sts").get_caller_identity()
        self._code = CodeBucket(session, self._caller, say)
        self.kept, self.running = f"limn-{stage}-stateful", f"limn-{stage}"
        self.releases = Releases(session, self._code.name, stage)

    def up(self, build: Path, given: dict[str, str]) -> dict[str, str]:
        """Create or update both stacks; the outputs of what runs.

        Raises:
            Failed: nothing was built, a parameter is in no template, or CloudFormation says no.
        """
        templates = {name: json.loads(_built(build / f"{name}.json").read_text()) for name in ("stateful", "app")}
        given = check(list(templates.values()), self._stage, given)
        functions = of_type(templates["app"], "AWS::Serverless::Function").values()
        zips = {each["CodeUri"]: _built(build / Path(each["CodeUri"]).name) for each in functions}
        self._code.make()
        sent = {uri: f"s3://{self._code.name}/{self._code.send(path)}" for uri, path in zips.items()}
        for each in functions:
            each["CodeUri"] = sent[each["CodeUri"]]
        templates["app"] = self._redeployed(templates["app"], given)
        for stack, name in ((self.kept, "stateful"), (self.running, "app")):
            self._apply(stack, self._template(name, templates[name], build), templates[name]["Parameters"], given)
        self.releases.record(self.functions())
        return self._outputs(self.running)

    def roll_back(self, to: str | None = None) -> str:
        """Make an earlier release live; its name. Raises Failed: there is none, or a deployment is at work."""
        status = self.status(self.running)
        if status.endswith("_IN_PROGRESS"):
            raise Failed(f"{self.running}: a deployment is at work ({status}). It rolls itself back where alarms ring.")
        return self.releases.roll_back(self.functions(), to).name

    def functions(self) -> list[str]:
        """The names of the functions of what runs; none where it is gone."""
        return self._physical(self.running, ("AWS::Lambda::Function",))["AWS::Lambda::Function"]

    def down(self, *, data: bool) -> None:
        """Delete what runs, and with `data` all that is kept: tables, buckets with all versions, queues, the key."""
        self._delete(self.running)
        self.releases.forget()
        if not data:
            return
        names = self._kept_names()
        tables, queues, keys, logs = map(self._session.client, ("dynamodb", "sqs", "kms", "logs"))
        for table in names["AWS::DynamoDB::Table"]:
            self._unprotect(table)
        deletions: dict[str, Callable[[str], object]] = {
            # first, as nothing names it once its stack is gone
            "AWS::KMS::Key": lambda key: keys.schedule_key_deletion(KeyId=key, PendingWindowInDays=30),
            STACK: self._delete,
            "AWS::DynamoDB::Table": lambda name: tables.delete_table(TableName=name),
            "AWS::S3::Bucket": self._delete_bucket,
            "AWS::SQS::Queue": lambda name: queues.delete_queue(
                QueueUrl=name if "/" in name else queues.get_queue_url(QueueName=name)["QueueUrl"]
            ),
            "AWS::Logs::LogGroup": lambda name: logs.delete_log_group(logGroupName=name),
        }
        names |= {STACK: [self.kept], "AWS::Logs::LogGroup": self._logs(logs)}
        for kind, name in [(each, name) for each in deletions for name in names[each]]:
            try:
                deletions[kind](name)
            except self._clouds.exceptions.ClientError as failure:
                if not re.search(MISSING, failure.response["Error"]["Code"]):
                    raise
                continue
            if kind != STACK:
                when = "goes in 30 days" if kind == "AWS::KMS::Key" else "is gone"
                self._say(f"{kind.rpartition('::')[2]} {name} {when}")

    def _kept_names(self) -> dict[str, list[str]]:
        """The resources of the data stack by type; where the stack is gone, those that it may have left behind."""
        if self._described(self.kept) is not None:
            return self._physical(self.kept, KEPT_KINDS)
        region = self._session.region_name
        values = {"Stage": self._stage, "AWS::AccountId": self._caller["Account"], "AWS::Region": region}
        template, members = load(STATEFUL), ("TableName", "BucketName", "QueueName")
        return {
            kind: [named(each[member], values) for each in of_type(template, kind).values()]
            for kind, member in zip(KEPT_KINDS[:-1], members, strict=True)
        } | {KEPT_KINDS[-1]: []}

    def _unprotect(self, table: str) -> None:
        """Let a table be deleted, if it is there."""
        tables = self._session.client("dynamodb")
        with suppress(tables.exceptions.ResourceNotFoundException):
            tables.update_table(TableName=table, DeletionProtectionEnabled=False)
            tables.get_waiter("table_exists").wait(TableName=table)  # until then it is being updated

    def _logs(self, logs: Any) -> list[str]:
        """The log groups of this stage, of functions that are gone included."""
        pages = logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=f"limn-{self._stage}-")
        names = [each["logGroupName"] for page in pages for each in page["logGroups"]]
        # another stage may begin with the same letters
        return [name for name in names if re.fullmatch(rf"limn-{self._stage}-[A-Za-z]+Log-\w+", name)]

    def _delete_bucket(self, bucket: str) -> None:
        self._empty(bucket)
        self._s3.delete_bucket(Bucket=bucket)

    def _template(self, name: str, template: dict[str, Any], build: Path) -> str:
        path = build / f"{name}.sent.json"
        write_template(path, template)
        region = self._session.region_name
        return f"https://{self._code.name}.s3.{region}.amazonaws.com/{self._code.send(path)}"

    def _apply(self, stack: str, url: str, parameters: dict[str, Any], given: dict[str, str]) -> None:
        """Create or update a stack; a parameter that is not given keeps its value, or starts with its default."""
        self._clear(stack)
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
        self._wait(f"stack_{kind.lower()}_complete", stack)

    def _clear(self, stack: str) -> None:
        """Delete a stack whose creation failed, and refuse one that cannot be updated now.

        Raises:
            Failed: another deployment updates it, or its last rollback failed and needs the operator.
        """
        status = self.status(stack)
        if status in NEVER_MADE:
            self._say(f"{stack}: deleting what a failed deployment left ({status})")
            tables = self.left_tables(stack)
            self._delete(stack)
            for name in tables:
                self._unprotect(name)
                self._session.client("dynamodb").delete_table(TableName=name)
        elif status.endswith("_IN_PROGRESS"):
            raise Failed(f"{stack}: another deployment is at work ({status}). Wait until it has ended.")
        elif status == "UPDATE_ROLLBACK_FAILED":
            raise Failed(
                f"{stack}: an update could not be rolled back. Look at the stack's events, mend what they name, then: "
                f"aws cloudformation continue-update-rollback --stack-name {stack}"
            )

    def left_tables(self, stack: str) -> list[str]:
        """The tables that a first deployment made and its rollback could not delete, as they are protected.

        Raises:
            Failed: one of them has rows, so they may be those of an earlier stage.
        """
        if not self.status(stack).startswith("ROLLBACK_"):
            return []
        pages = self._clouds.get_paginator("list_stack_resources").paginate(StackName=stack)
        left = [
            each["PhysicalResourceId"]
            for page in pages
            for each in page["StackResourceSummaries"]
            if (each["ResourceType"], each["ResourceStatus"]) == ("AWS::DynamoDB::Table", "DELETE_FAILED")
        ]
        tables = self._session.client("dynamodb")
        if full := [name for name in left if tables.scan(TableName=name, Limit=1)["Count"]]:
            raise Failed(
                f"{stack}: its first deployment failed, and {', '.join(full)} has rows. Save or delete it first."
            )
        return left

    def _redeployed(self, template: dict[str, Any], given: dict[str, str]) -> dict[str, Any]:
        """The template with the values that its stack will have: those given, those it has, the defaults."""
        if "RestAPI" not in template["Resources"]:
            return template
        found = (self._described(self.running) or {}).get("Parameters", [])
        before = {each["ParameterKey"]: each["ParameterValue"] for each in found}
        return redeployed(template, {**defaults(template), **before, **given})

    def _empty(self, bucket: str) -> None:
        for page in self._s3.get_paginator("list_object_versions").paginate(Bucket=bucket):
            doomed = [
                {"Key": each["Key"], "VersionId": each["VersionId"]}
                for each in (*page.get("Versions", []), *page.get("DeleteMarkers", []))
            ]
            if doomed:
                self._s3.delete_objects(Bucket=bucket, Delete={"Objects": doomed, "Quiet": True})


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit code."""
    made = argparse.ArgumentParser(prog="python -m infra.deploy", description=(__doc__ or "").partition("\n")[0])
    made.add_argument("--region", help="that of the AWS configuration otherwise")
    commands = made.add_subparsers(dest="command", required=True)
    up = commands.add_parser("up", help="create or update a stage from build/")
    up.add_argument("stage")
    up.add_argument("parameters", nargs="*", metavar="Name=value", help="parameters of the templates")
    look = commands.add_parser("check", help="say what would stop `up`, before anything is built")
    look.add_argument("stage")
    look.add_argument("parameters", nargs="*", metavar="Name=value", help="as of `up`")
    try_it = commands.add_parser("smoke", help="do the main job in a project that is deleted at the end")
    try_it.add_argument("url", help="the output EndpointURL of `up`")
    try_it.add_argument("organization", type=int, help="the organization that the project is made in")
    commands.add_parser("releases", help="list what can be returned to, newest first").add_argument("stage")
    back = commands.add_parser("rollback", help="make an earlier release live, at once")
    back.add_argument("stage")
    back.add_argument("--to", metavar="RELEASE", help="as `releases` names it; the one before otherwise")
    down = commands.add_parser("down", help="delete a stage; what it keeps stays")
    down.add_argument("stage")
    down.add_argument("--data", action="store_true", help="and all that it keeps")
    for each in commands.choices.values():
        each.add_argument("--region", default=argparse.SUPPRESS, help="as before the command")
    given = made.parse_args(words)

    return failures.run(lambda: _do(given))


def _do(given: argparse.Namespace) -> int:
    import boto3

    from infra.operating import preflight, smoke

    if given.command == "smoke":
        smoke.Smoke(given.url, os.environ.get("LIMN_TOKEN", "")).run(given.organization)
        return 0
    session = boto3.Session(region_name=given.region)
    if given.command == "check":
        return preflight.main(given.stage, session, _given(given.parameters))
    deployment = Deployment(given.stage, session)
    if given.command == "releases":
        print_releases(deployment.releases.newest_first(), deployment.releases.current(deployment.functions()))
    elif given.command == "rollback":
        print(f"{deployment.roll_back(given.to)} is live.")
    elif given.command == "up":
        for name, value in deployment.up(BUILD, _given(given.parameters)).items():
            print(f"{name:16} {value}")
    else:
        _ask(given.stage, data=given.data)
        deployment.down(data=given.data)
    return 0


def _built(path: Path) -> Path:
    if not path.exists():
        raise Failed(f"{path} is not there: run `make package` first.")
    return path


def _given(words: Sequence[str]) -> dict[str, str]:
    """Parameters of a command line. Raises Failed: a word is none, or a name comes twice."""
    found: dict[str, str] = {}
    for name, value in map(_parameter, words):
        if name in found:
            raise Failed(f"{name} is given twice.")
        found[name] = value
    return found


def _parameter(word: str) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals:
        raise Failed(f"{word!r} is not of the form Name=value.")
    return name, value


def _ask(stage: str, *, data: bool) -> None:
    """Have the operator type the stage's name. Raises Failed: it was not typed."""
    what = "the API, the functions AND ALL DATA" if data else "the API and the functions, and keep the data,"
    try:
        typed = input(f"This deletes {what} of stage {stage}. Type its name to go on: ")
    except EOFError:
        typed = ""  # nobody is there to type it
    if typed.strip() != stage:
        raise Failed("Nothing was deleted.")


if __name__ == "__main__":
    sys.exit(main())
