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
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from infra.operating.parameters import Failed, check
from infra.operating.releases import Releases, print_releases
from infra.package import BUILD, write_template
from infra.stack.merging import redeployed
from infra.templates import defaults

KEEP = "limn-deployments"
KEPT_DAYS = 180
"""Days after which an unchanged file is sent again; the bucket removes files after twice as many."""
CAPABILITIES = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
WAIT = {"Delay": 5, "MaxAttempts": 360}
KEPT_KINDS = ("AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key", "AWS::SQS::Queue")
"""What `down --data` deletes by itself: CloudFormation retains it."""
NEVER_MADE = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "CREATE_FAILED", "DELETE_FAILED")
"""States of a stack that CloudFormation only deletes: its first deployment failed, or its deletion."""


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
        self.releases = Releases(session, self._bucket, stage)

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
        with suppress(self._s3.exceptions.NoSuchBucket):
            self.releases.forget()
        if not data:
            return
        names = self._physical(self.kept, KEPT_KINDS)
        tables, queues, keys, logs = map(self._session.client, ("dynamodb", "sqs", "kms", "logs"))
        for table in names["AWS::DynamoDB::Table"]:
            tables.update_table(TableName=table, DeletionProtectionEnabled=False)
        self._delete(self.kept)
        deletions: dict[str, Callable[[str], object]] = {
            "AWS::DynamoDB::Table": lambda name: tables.delete_table(TableName=name),
            "AWS::S3::Bucket": self._delete_bucket,
            "AWS::SQS::Queue": lambda url: queues.delete_queue(QueueUrl=url),
            "AWS::KMS::Key": lambda key: keys.schedule_key_deletion(KeyId=key, PendingWindowInDays=30),
            "AWS::Logs::LogGroup": lambda name: logs.delete_log_group(logGroupName=name),
        }
        names["AWS::Logs::LogGroup"] = self._logs(logs)
        for kind, name in [(each, name) for each in deletions for name in names[each]]:
            try:
                deletions[kind](name)
            except self._clouds.exceptions.ClientError as failure:
                if not re.search("NotFound|NoSuch|NonExistent|DoesNotExist", failure.response["Error"]["Code"]):
                    raise
            when = "goes in 30 days" if kind == "AWS::KMS::Key" else "is gone"
            self._say(f"{kind.rpartition('::')[2]} {name} {when}")

    def _logs(self, logs: Any) -> list[str]:
        """The log groups of this stage, of functions that are gone included."""
        pages = logs.get_paginator("describe_log_groups").paginate(logGroupNamePrefix=f"limn-{self._stage}-")
        names = [each["logGroupName"] for page in pages for each in page["logGroups"]]
        # another stage may begin with the same letters
        return [name for name in names if re.fullmatch(rf"limn-{self._stage}-[A-Za-z]+Log-\w+", name)]

    def _delete_bucket(self, bucket: str) -> None:
        self._empty(bucket)
        self._s3.delete_bucket(Bucket=bucket)

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

        # what a stage uses is sent anew before it is so old: see `_send`
        rule: Any = {"ID": "forget-old-releases", "Status": "Enabled", "Filter": {"Prefix": ""}}
        rule |= {"Expiration": {"Days": 2 * KEPT_DAYS}, "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}}
        self._s3.put_bucket_lifecycle_configuration(Bucket=self._bucket, LifecycleConfiguration={"Rules": [rule]})

    def _send(self, path: Path) -> str:
        """Upload a file under the hash of its contents, unless it is there and young; its key."""
        key = f"{hashlib.sha256(path.read_bytes()).hexdigest()}{path.suffix}"
        try:
            there = self._s3.head_object(Bucket=self._bucket, Key=key)["LastModified"]
            is_young = time.time() - there.timestamp() < KEPT_DAYS * 86_400
        except self._s3.exceptions.ClientError:
            is_young = False
        if not is_young:
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

    def status(self, stack: str) -> str:
        """The state of a stack; empty where there is none, or only a change set that was never executed."""
        found = self._described(stack)
        return "" if found is None else str(found["StackStatus"])

    def _described(self, stack: str) -> dict[str, Any] | None:
        try:
            [found] = self._clouds.describe_stacks(StackName=stack)["Stacks"]
        except self._clouds.exceptions.ClientError as failure:
            if "does not exist" not in str(failure):
                raise
            return None
        return None if found["StackStatus"] == "REVIEW_IN_PROGRESS" else dict(found)

    def _clear(self, stack: str) -> None:
        """Delete a stack whose creation failed, and refuse one that cannot be updated now.

        Raises:
            Failed: another deployment updates it, or its last rollback failed and needs the operator.
        """
        status = self.status(stack)
        if status in NEVER_MADE:
            self._say(f"{stack}: deleting what a failed deployment left ({status})")
            self._delete(stack)
        elif status.endswith("_IN_PROGRESS"):
            raise Failed(f"{stack}: another deployment is at work ({status}). Wait until it has ended.")
        elif status == "UPDATE_ROLLBACK_FAILED":
            raise Failed(
                f"{stack}: an update could not be rolled back. Look at the stack's events, mend what they name, then: "
                f"aws cloudformation continue-update-rollback --stack-name {stack}"
            )

    def _redeployed(self, template: dict[str, Any], given: dict[str, str]) -> dict[str, Any]:
        """The template with the values that its stack will have: those given, those it has, the defaults."""
        if "RestAPI" not in template["Resources"]:
            return template
        found = (self._described(self.running) or {}).get("Parameters", [])
        before = {each["ParameterKey"]: each["ParameterValue"] for each in found}
        return redeployed(template, {**defaults(template), **before, **given})

    def _parameters(self, stack: str) -> set[str] | None:
        found = self._described(stack)
        return None if found is None else {each["ParameterKey"] for each in found.get("Parameters", [])}

    def _outputs(self, stack: str) -> dict[str, str]:
        [found] = self._clouds.describe_stacks(StackName=stack)["Stacks"]
        return {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}

    def _reason(self, stack: str) -> str:
        events = self._clouds.describe_stack_events(StackName=stack)["StackEvents"]
        failed = [each for each in events if each.get("ResourceStatus", "").endswith("FAILED")]
        return "; ".join(
            f"{each['LogicalResourceId']}: {each.get('ResourceStatusReason', '')}" for each in failed[-3:]
        ) or ("see its events")

    def _physical(self, stack: str, kinds: Sequence[str]) -> dict[str, list[str]]:
        """The names of what a stack made, by their type; empty where it is gone."""
        found: dict[str, list[str]] = {kind: [] for kind in kinds}
        if self._described(stack) is None:
            return found
        for page in self._clouds.get_paginator("list_stack_resources").paginate(StackName=stack):
            for each in page["StackResourceSummaries"]:
                if each["ResourceType"] in found and each.get("PhysicalResourceId"):
                    found[each["ResourceType"]].append(each["PhysicalResourceId"])
        return found

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
    given = made.parse_args(words)

    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from infra.operating import preflight, smoke

    try:
        if given.command == "smoke":
            smoke.Smoke(given.url, os.environ.get("LIMN_TOKEN", "")).run(given.organization)
            return 0
        session = boto3.Session(region_name=given.region)
        if given.command == "check":
            return preflight.main(given.stage, session, dict(_parameter(word) for word in given.parameters))
        deployment = Deployment(given.stage, session)
        if given.command == "releases":
            print_releases(deployment.releases.newest_first(), deployment.releases.current(deployment.functions()))
        elif given.command == "rollback":
            print(f"{deployment.roll_back(given.to)} is live.")
        elif given.command == "up":
            values = dict(_parameter(word) for word in given.parameters)
            for name, value in deployment.up(BUILD, values).items():
                print(f"{name:16} {value}")
        else:
            _ask(given.stage, data=given.data)
            deployment.down(data=given.data)
    except (Failed, smoke.Broken) as failure:
        print(failure, file=sys.stderr)
        return 1
    except (BotoCoreError, ClientError) as failure:
        print(preflight.explain(failure), file=sys.stderr)
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
