"""What each function asks of AWS, as IAM sees it, and whether its role in the template allows that.

While a function works (`acting`), every call that botocore builds, presigned ones too, is translated into the actions
and resources that IAM would check, and held against the rendered role. A test during which a function asked for more
than it may have fails (`tests/conftest.py`); `tests/infra/test_roles.py` holds that nothing of a role goes unasked.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from botocore.client import BaseClient
from botocore.exceptions import ClientError

from chalicelib.settings import settings
from infra.emulator import aws
from infra.local.deploy import STAGE
from infra.templates import BATCH, FUNCTIONS, defaults, load, of_type

PLATFORM = frozenset(
    {
        ("logs:CreateLogStream", "log"),
        ("logs:PutLogEvents", "log"),
        ("sqs:DeleteMessage", "queue"),
        ("sqs:GetQueueAttributes", "queue"),
        ("sqs:ReceiveMessage", "queue"),
    }
)
"""What Lambda itself does by a function's role: write its log, take messages off its queue."""


@dataclass(frozen=True, order=True)
class Right:
    """An action on a resource: what IAM decides about.

    What is asked has the beginning of the partition key of its row, `user#`; what a role allows has patterns of such
    keys, and patterns of those it does not mean.
    """

    action: str
    resource: str
    key: str = ""
    keys: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    def covers(self, asked: Right) -> bool:
        """Whether an allowed right is reason enough for an asked one."""
        return (
            self.action == asked.action
            and fnmatchcase(asked.resource, self.resource)
            and (not self.keys or any(fnmatchcase(asked.key, each) for each in self.keys))
            and not any(fnmatchcase(asked.key, each) for each in self.but)
        )


@dataclass(frozen=True)
class Recorder:
    """What was asked in the name of each function, and allowed."""

    asked: dict[str, set[Right]] = field(default_factory=dict)
    refused: dict[Right, str] = field(default_factory=dict)
    """What a role does not allow, and whose it is; whoever looks empties it."""
    _acting: list[tuple[str, threading.Thread]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def acting(self, function: str) -> Iterator[None]:
        """Calls in this block are those of a function, unless another works at the same time: nobody could tell."""
        entry = (function, threading.current_thread())
        with self._lock:
            self._acting.append(entry)
        try:
            yield
        finally:
            with self._lock:
                self._acting.remove(entry)

    def record(self, rights: set[Right]) -> None:
        """Note what the function at work asks for."""
        acting, here = dict(self._acting), threading.current_thread()
        if len(acting) != 1 or here.name.startswith("look-ahead"):
            return  # a read ahead may outlive its request, and the next function is at work by then
        [(function, thread)] = acting.items()
        if here is threading.main_thread() and here is not thread:
            return  # the test itself, beside a function
        known = self.asked.setdefault(function, set())
        for right in rights - known:  # what is refused is looked at each time
            if allows(function, right):
                known.add(right)
            else:
                self.refused[right] = function


RECORDER = Recorder()


def install() -> None:
    """Have every client of this process tell the recorder what it asks for."""
    build, call = BaseClient._emit_api_params, BaseClient._make_api_call

    def emit(client: Any, api_params: Any, operation_model: Any, context: Any) -> Any:
        service = operation_model.service_model.service_name
        if service != "dynamodb":
            note(client, service, operation_model.name, api_params)
        return build(client, api_params=api_params, operation_model=operation_model, context=context)

    def note(client: Any, service: str, name: str, given: Any) -> None:
        if RECORDER._acting and _is_ours(client):
            RECORDER.record(rights(service, name, given))

    def make(client: Any, name: str, given: Any) -> Any:
        service = client.meta.service_model.service_name
        if service == "dynamodb":  # none of its calls are presigned, and the emulator answers most without events
            note(client, service, name, given)
        try:
            return call(client, name, given)
        except ClientError as failure:
            missing = failure.response["Error"]["Code"] in ("404", "NoSuchKey")
            if missing and service == "s3" and _is_ours(client):
                # who may not list a bucket is told 403 of what is not there
                RECORDER.record({Right("s3:ListBucket", f"arn:aws:s3:::{given['Bucket']}")})
            raise

    BaseClient._emit_api_params, BaseClient._make_api_call = emit, make  # type: ignore[method-assign]


def _is_ours(client: Any) -> bool:
    """Whether a client asks with the function's own credentials: an organization's bucket is asked with its keys."""
    credentials = client._request_signer._credentials
    return credentials is None or credentials.access_key == aws.ACCESS_KEY


def rights(service: str, operation: str, given: dict[str, Any]) -> set[Right]:
    """What IAM checks before an operation runs, by the service authorization reference."""
    match service:
        case "dynamodb":
            found = set(_of_tables(operation, given))
        case "s3":
            found = set(_of_objects(operation, given))
        case "sqs":
            name = given["QueueUrl"].rpartition("/")[2]
            action = operation.removesuffix("Batch")
            found = {Right(f"sqs:{action}", f"arn:aws:sqs:{aws.REGION}:{aws.ACCOUNT}:{name}")}
        case "kms":
            found = {Right(f"kms:{operation}", f"arn:aws:kms:{aws.REGION}:{aws.ACCOUNT}:key/{settings().key_id}")}
        case "sesv2":
            actions = ("SendEmail", "SendRawEmail") if "Raw" in given["Content"] else ("SendEmail",)
            sender = re.sub(r".*<|>.*", "", given["FromEmailAddress"])
            place = f"arn:aws:ses:{aws.REGION}:{aws.ACCOUNT}:identity/{sender}"
            found = {Right(f"ses:{action}", place) for action in actions}
        case "events":
            names = {entry["EventBusName"] for entry in given["Entries"]}
            place = f"arn:aws:events:{aws.REGION}:{aws.ACCOUNT}:event-bus"
            found = {Right(f"events:{operation}", f"{place}/{name}") for name in names}
        case "batch":
            found = set(_of_jobs(operation, given))
        case "logs":
            place = f"log-group:{given['logGroupName']}:log-stream:{given['logStreamName']}"
            found = {Right(f"logs:{operation}", f"arn:aws:logs:{aws.REGION}:{aws.ACCOUNT}:{place}")}
        case _:
            found = {Right(f"{service}:{operation}", "*")}
    return found


def _of_tables(operation: str, given: dict[str, Any]) -> Iterator[Right]:
    def on(table: str, action: str, row: dict[str, Any] | None = None) -> Right:
        place = f"arn:aws:dynamodb:{aws.REGION}:{aws.ACCOUNT}:table/{table}"
        return Right(f"dynamodb:{action}", place, _beginning(row or {}))

    if operation in ("TransactWriteItems", "TransactGetItems"):
        verbs = {"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "Get": "GetItem"}
        verbs["ConditionCheck"] = "ConditionCheckItem"
        for item in given["TransactItems"]:
            for verb, what in item.items():
                yield on(what["TableName"], verbs[verb], what.get("Key") or what.get("Item"))
    elif "RequestItems" in given:
        for table, asked in given["RequestItems"].items():
            for request in asked["Keys"] if isinstance(asked, dict) else asked:
                put, gone = request.get("PutRequest", {}), request.get("DeleteRequest", {})
                yield on(table, operation, put.get("Item") or gone.get("Key") or request)
    else:
        yield on(given["TableName"], operation, given.get("Key") or given.get("Item"))


def _beginning(row: dict[str, Any]) -> str:
    """The kind in the partition key of a row: `user#`, `claim#user|`; empty for tables without."""
    found = re.match(r"(claim#\w+\||\w+#)", row.get("pk", {}).get("S", ""))
    return found[0] if found else ""


_WRITES = frozenset({"CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "CopyObject", "UploadPartCopy"})
_S3_NAMES = {
    "HeadObject": "GetObject",
    "DeleteObjects": "DeleteObject",
    "ListParts": "ListMultipartUploadParts",
    "ListMultipartUploads": "ListBucketMultipartUploads",
    "ListObjectVersions": "ListBucketVersions",
}


def _of_objects(operation: str, given: dict[str, Any]) -> Iterator[Right]:
    bucket = f"arn:aws:s3:::{given['Bucket']}"
    if operation in ("HeadBucket", "ListObjectsV2", "ListObjects"):
        yield Right("s3:ListBucket", bucket)
        return
    source = given.get("CopySource")
    if source:
        place = source if isinstance(source, str) else f"{source['Bucket']}/{source['Key']}"
        yield Right("s3:GetObject", f"arn:aws:s3:::{place}")
    action = "PutObject" if operation in _WRITES else _S3_NAMES.get(operation, operation)
    keys = [each["Key"] for each in given["Delete"]["Objects"]] if "Delete" in given else [given.get("Key")]
    for key in keys:
        yield Right(f"s3:{action}", bucket if key is None else f"{bucket}/{key}")


def _of_jobs(operation: str, given: dict[str, Any]) -> Iterator[Right]:
    place = f"arn:aws:batch:{aws.REGION}:{aws.ACCOUNT}"
    # what infra/batch.yaml makes is called as it is there
    made = {settings().job_queue: "JobQueue"}
    made |= {settings().job_execution_role: "JobExecutionRole.Arn", settings().job_files_role: "JobFilesRole.Arn"}
    match operation:
        case "RegisterJobDefinition":
            yield Right("batch:RegisterJobDefinition", f"{place}:job-definition/{given['jobDefinitionName']}")
            for passed in re.findall(r"'(?:executionRoleArn|taskRoleArn|jobRoleArn)': '([^']+)'", str(given)):
                yield Right("iam:PassRole", made.get(passed, passed))
        case "SubmitJob":
            yield Right("batch:SubmitJob", made.get(given["jobQueue"], given["jobQueue"]))
            yield Right("batch:SubmitJob", f"{place}:job-definition/{given['jobDefinition']}")
            if given.get("tags"):
                yield Right("batch:TagResource", f"{place}:job/new")
        case "TerminateJob":
            yield Right("batch:TerminateJob", f"{place}:job/{given['jobId']}")
        case _:
            yield Right(f"batch:{operation}", "*")


# Roles ----------------------------------------------------------------------------------------------------------------


@lru_cache
def role(function: str, *, batch: bool = True) -> tuple[Right, ...]:
    """What the role of a function in the template allows, each action with each resource.

    Its parameters, and the key, are those of the stack that the tests run on; what infra/batch.yaml makes is called as
    it is there, and left out where jobs run on no `batch`.
    """
    template, beside = load(FUNCTIONS), load(BATCH)
    name = {"APIHandler": "Api", "MediaHandler": "Media"}.get(function, function)
    described = of_type(template, "AWS::IAM::Role")[f"{name}Role"]
    policies = [(template, policy["PolicyDocument"]) for policy in described["Policies"]]
    shared = of_type(beside, "AWS::IAM::ManagedPolicy")
    policies += [(beside, shared[each]["PolicyDocument"]) for each in managed(described) if batch]
    made = []
    for owner, document in policies:
        for statement in document["Statement"]:
            condition = statement.get("Condition", {})
            keys = tuple(condition.get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", ()))
            but = tuple(condition.get("ForAllValues:StringNotLike", {}).get("dynamodb:LeadingKeys", ()))
            resources = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
            for resource in resources:
                place = _rendered(resource, owner)
                made += [Right(action, place, keys=keys, but=but) for action in statement["Action"]]
    return tuple(made)


def managed(described: dict[str, Any]) -> list[str]:
    """The policies of infra/batch.yaml that a role has where jobs run, by their names there."""
    imports = re.findall(r"limn-\$\{Stage\}-(\w+)", str(described.get("ManagedPolicyArns", "")))
    return list(imports)


def allows(function: str, right: Right) -> bool:
    """Whether a function may."""
    return bool(reasons(function, right))


@lru_cache(maxsize=100_000)
def reasons(function: str, right: Right) -> tuple[Right, ...]:
    """What in a function's role allows something."""
    return tuple(each for each in role(function) if each.covers(right))


def _rendered(value: Any, template: dict[str, Any]) -> str:
    """A resource's ARN on the stack of the tests."""
    if isinstance(value, str):
        return value
    words = {"AWS::Partition": "aws", "AWS::Region": aws.REGION, "AWS::AccountId": aws.ACCOUNT}
    words |= {**{name: str(each) for name, each in defaults(template).items()}, "Stage": STAGE}
    words |= {"KeyId": settings().key_id, "EmailSender": settings().email_sender}
    ((how, what),) = value.items()
    if how == "Ref":
        return str(what)
    if how == "Fn::GetAtt":
        return f"{what[0]}.{what[1]}"
    if how == "Fn::If":
        return _rendered(what[1], template)
    text = what[0] if isinstance(what, list) else what
    return re.sub(r"\$\{([^}]+)\}", lambda found: words[found[1]], text)


def is_platforms(right: Right) -> bool:
    """Whether it is Lambda that asks for this, not the code."""
    service = {"logs": "log", "sqs": "queue"}.get(right.action.partition(":")[0], "")
    return (right.action, service) in PLATFORM
