"""A stage deployed into a stock `moto_server` by the operator's own commands, and its functions, gateway and queues.

What moto lacks is named in `LACKING`, with what checks it instead.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import re
import socket
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import boto3

from chalicelib.api.router import Router
from chalicelib.queues import Message
from chalicelib.queues.base import tag_of
from chalicelib.resources.bucket_sources.arrivals import as_messages
from infra import package
from infra.deploy import CAPABILITIES, Deployment
from infra.local.deploy import supported
from infra.local.http.gateway import event_of
from infra.stack.app_template import expanded
from infra.stack.merging import ALIAS, HANDLERS
from infra.templates import STATEFUL, load, of_type
from tests.infra.moto_templates import make_secret, reduced
from tests.rehearsal.containers import Container

STAGE = "prod"
LACKING = {
    "CloudFront (answers too large for the API)": "cfn-lint; `tests/infra/local` serves answers by its addresses",
    "SES identities, policies of buckets and queues": "cfn-lint, cfripper, `tests/infra/test_templates.py`",
    "SAM": "SAM's own translator, run before the template is sent",
    "resources and stages of the gateway": "requests are routed here by the definition; `tests/infra/test_routes.py`",
    "conditions within lists (the policy of traces)": "`tests/infra/test_templates.py`, cfn-lint",
    "outputs and exports of stacks that change sets make": "created directly; `tests/infra/test_deploy_command.py`",
    "versions and aliases of functions in stacks": "made here by Lambda's own calls; `tests/infra/test_releases.py`",
    "secrets in stacks": "made here by Secrets Manager's own call; `tests/storage/test_presigned.py`",
    "event source mappings": "queues are polled here, by the mappings of the template",
    "IAM": "`tests/infra/test_roles.py` holds each call against the function's role",
}
_POLLS = 800


def sources(template: dict[str, Any]) -> set[str]:
    """What has functions run, by a template of API and functions: `gateway media`, `queue clip`, `schedule jobs`."""
    rules = of_type(template, "AWS::Events::Rule").values()
    queues = of_type(template, "AWS::Lambda::EventSourceMapping").values()
    return {
        *(f"gateway {name}" for name in HANDLERS),
        *(f"queue {_last(each['EventSourceArn'])}" for each in queues),
        *(f"{'schedule' if 'ScheduleExpression' in each else 'event'} {each['Targets'][0]['Id']}" for each in rules),
    }


def messages() -> dict[str, str]:
    """The name of each kind of message of a queue, by its tag."""
    for name in package.QUEUE_FUNCTIONS:
        importlib.import_module(f"functions.{name.name}")
    return {
        tag_of(kind): kind.__name__ for kind in Message.__subclasses__() if kind.__module__.startswith("chalicelib.")
    }


def _last(name: dict[str, str]) -> str:
    """The part of a name of the template that says which function it is of: `jobs` of `limn-${Stage}-jobs`."""
    return name["Fn::Sub"].rpartition("-")[2]


class Server:
    """A stock moto_server in a process of its own."""

    def __init__(self, log: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [str(Path(sys.executable).with_name("moto_server")), "-H", "127.0.0.1", "-p", str(self.port)]
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as told:
            self._process = subprocess.Popen(command, stdout=told, stderr=told)
        self.url = f"http://127.0.0.1:{self.port}"
        places = {"AWS_ENDPOINT_URL": self.url, "AWS_DEFAULT_REGION": "us-east-1"}
        places |= {"AWS_ACCESS_KEY_ID": "rehearsal", "AWS_SECRET_ACCESS_KEY": "rehearsal"}
        os.environ.update(places)
        self.places = {**places, "LIMN_AWS_ENDPOINT": self.url, "LIMN_S3_ENDPOINT": self.url}
        self.places["LIMN_SCORE_SPREAD"] = "1"  # which leaves 15 s until a task is scored
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.1)
        raise RuntimeError("moto_server does not answer")

    def stop(self) -> None:
        """End it."""
        self._process.terminate()
        self._process.wait()


class Rehearsed(Deployment):
    """The operator's deployment, with what moto's CloudFormation takes of each template."""

    def __init__(self, stage: str, session: Any, say: Callable[[str], object]) -> None:
        super().__init__(stage, session, say)
        self._code.refuse_plain_http = lambda: None  # type: ignore[method-assign] moto reads no conditions of policies

    def _template(self, name: str, template: dict[str, Any], build: Path) -> str:
        if name == "stateful":
            output = load(STATEFUL)["Outputs"]["AnswersUrl"]["Export"]
            made = supported(template)
            made["Outputs"]["AnswersUrl"] = {"Value": "https://answers.example.org", "Export": output}
        else:
            made = reduced(expanded(template, {"Stage": self._stage}), f"limn-{self._stage}")
        return super()._template(name, made, build)

    def _apply(self, stack: str, url: str, parameters: dict[str, Any], given: dict[str, str]) -> None:
        self._clear(stack)
        values: Any = [{"ParameterKey": key, "ParameterValue": given[key]} for key in parameters if key in given]
        change = self._clouds.update_stack if self.status(stack) else self._clouds.create_stack
        self._say(f"{stack}: {'updating' if self.status(stack) else 'creating'}")
        change(StackName=stack, TemplateURL=url, Parameters=values, Capabilities=CAPABILITIES)
        if stack == self.running:
            self._publish()

            make_secret(self._session.client("secretsmanager"))

    def _publish(self) -> None:
        """Publish a version of each function, and point its alias to it."""
        functions = self._session.client("lambda")
        for name in self.functions():
            version = functions.publish_version(FunctionName=name)["Version"]
            try:
                functions.update_alias(FunctionName=name, Name=ALIAS, FunctionVersion=version)
            except functions.exceptions.ResourceNotFoundException:
                functions.create_alias(FunctionName=name, Name=ALIAS, FunctionVersion=version)


class Stage:
    """The functions of a deployed stage, behind its gateway and its queues."""

    def __init__(self, build: Path, client: Path, places: dict[str, str]) -> None:
        template = json.loads((build / "app.json").read_text())
        python = str(package.interpreter(template["Parameters"]["Runtime"]["Default"].removeprefix("python")))
        described = boto3.client("lambda").list_functions()["Functions"]
        declared = {
            _last(each["FunctionName"]): each for each in of_type(template, "AWS::Serverless::Function").values()
        }
        self.functions: dict[str, Container] = {}
        for each in described:
            name = each["FunctionName"].rpartition("-")[2]
            zipped = Path(declared[name]["CodeUri"]).stem
            code = build / "code" / zipped
            if not code.exists():
                with zipfile.ZipFile(build / f"{zipped}.zip") as archive:
                    archive.extractall(code)
            disk = declared[name].get("EphemeralStorage", {"Size": 512})  # moto does not keep it
            self.functions[name] = Container({**each, "EphemeralStorage": disk}, code, client, python, places)
        paths = template["Resources"]["RestAPI"]["Properties"]["DefinitionBody"]["paths"]
        self._paths, self._router, self._sqs = paths, Router(paths), boto3.client("sqs")
        queues = of_type(template, "AWS::Lambda::EventSourceMapping").values()
        self._queues = {_last(each["EventSourceArn"]): each["BatchSize"] for each in queues}
        self._messages = messages()
        self.driven: set[str] = set()
        """What had functions run, as `sources` and `messages` name it."""
        self.token = ""
        self.headers: dict[str, str] = {}
        """Of the last answer."""

    def ask(
        self, method: str, path: str, body: Any = None, status: int | None = None, headers: dict[str, str] | None = None
    ) -> Any:
        """Send a request through the gateway to its function; the JSON of the answer, or its bytes."""
        data = b"" if body is None else json.dumps(body).encode()
        sent = {"Host": "api.example.org", "Accept": "*/*", "Content-Type": "application/json"}
        sent |= {"Authorization": f"Token {self.token}" if self.token else "", **(headers or {})}
        sent = {name: value for name, value in sent.items() if value}
        said, self.headers, answer = self.request(method, path if path.startswith("/") else f"/rest/{path}", sent, data)
        if said >= 400 if status is None else said != status:
            raise AssertionError(f"{method} {path}: {said} {answer[:500]!r}")
        kind = self.headers.get("Content-Type", "").partition(";")[0]
        return json.loads(answer) if kind in ("application/json", "application/scim+json") else answer

    def request(self, method: str, path: str, sent: dict[str, str], data: bytes) -> tuple[int, dict[str, str], bytes]:
        """What the function behind the gateway's own definition answers: status, headers and body."""
        place, _, query = path.partition("?")
        resource, variables = self._router.find(place)
        methods = self._paths[resource]
        uri = methods.get("x-amazon-apigateway-any-method", methods.get(method.lower()))
        handler = uri["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
        function = next(name for name, resource in HANDLERS.items() if resource in handler)
        self.driven.add(f"gateway {function}")
        event = event_of(method, place, query, resource, variables, sent, b"", "10.0.0.1")
        event |= {"body": base64.b64encode(data).decode() if data else None, "isBase64Encoded": bool(data)}
        said = self.functions[function].invoke(event, f"{method} {re.sub('[0-9].*', '', place).removeprefix('/rest/')}")
        answer = base64.b64decode(said["body"]) if said.get("isBase64Encoded") else said["body"].encode()
        return said["statusCode"], said["headers"], answer

    def upload(self, project: int, name: str, data: bytes, media: int | None = None) -> str:
        """Put a file by a presigned URL, as a client does; its key."""
        info = self.ask("GET", f"UploadInfo/{project}?filename={name}" + (f"&media_id={media}" if media else ""))
        # urllib calls a body without a type a form, for whose fields moto then waits
        headers = {"Content-Type": "application/octet-stream"}
        with urlopen(Request(info["urls"][0], data, headers, method="PUT"), timeout=60) as put:
            assert put.status == 200
        return str(info["key"])

    def drain(self) -> None:
        """Deliver the messages of all queues, also those that they send, until none is left."""
        for _ in range(_POLLS):
            if not self.deliver_all() and not self._waiting():
                return
            time.sleep(0.05)
        raise AssertionError(f"messages wait for ever: {self._waiting()}")

    def deliver_all(self) -> int:
        """Deliver a batch of each queue; to how many."""
        return sum(self.deliver(name, size) for name, size in self._queues.items())

    def schedule(self, name: str) -> Any:
        """Run a scheduled function."""
        self.driven.add(f"schedule {name}")
        event = {"version": "0", "detail-type": "Scheduled Event", "source": "aws.events", "detail": {}}
        return self.functions[name].invoke(event, f"schedule {name}")

    def tell(self, name: str, source: str, kind: str, detail: dict[str, Any]) -> None:
        """Have a rule of EventBridge tell a function of an event, by its queue where it has one."""
        self.driven.add(f"event {name}")
        event = {"version": "0", "id": str(uuid.uuid4()), "source": source, "detail-type": kind, "detail": detail}
        if name in self._queues:
            self.send(name, event)
        else:
            self.functions[name].invoke(event, kind)

    def send(self, name: str, message: Any) -> None:
        """Put a message into a queue; what is no text, as JSON."""
        body = message if isinstance(message, str) else json.dumps(message)
        self._sqs.send_message(QueueUrl=self._url(name), MessageBody=body)

    def close(self) -> None:
        """End all functions."""
        for each in self.functions.values():
            each.close()

    def dead_letters(self) -> dict[str, int]:
        """How many messages each queue gave up."""
        return {name: count for name in self._queues if (count := self._count(f"{name}-dead"))}

    def _url(self, name: str) -> str:
        return str(self._sqs.get_queue_url(QueueName=f"limn-{STAGE}-{name}")["QueueUrl"])

    def _count(self, name: str) -> int:
        names: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        names.append("ApproximateNumberOfMessagesDelayed")
        found = self._sqs.get_queue_attributes(QueueUrl=self._url(name), AttributeNames=names)["Attributes"]
        return sum(map(int, found.values()))

    def _waiting(self) -> dict[str, int]:
        return {name: count for name in self._queues if (count := self._count(name))}

    def deliver(self, name: str, size: int) -> bool:
        """Deliver messages of a queue to its function, if there are any; whether there were."""
        url = self._url(name)
        names: Any = ["All"]
        received = self._sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=min(size, 10), WaitTimeSeconds=0, AttributeNames=names
        ).get("Messages", [])
        if not received:
            return False
        records = [
            {
                "messageId": each["MessageId"],
                "receiptHandle": each["ReceiptHandle"],
                "body": each["Body"],
                "attributes": each["Attributes"],
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:us-east-1:123456789012:limn-{STAGE}-{name}",
                "awsRegion": "us-east-1",
            }
            for each in received
        ]
        bodies = [json.loads(as_messages(each["Body"])) for each in received]
        kinds = {self._messages[each["kind"]] for each in bodies}
        self.driven |= {f"queue {name}", *kinds}
        said = self.functions[name].invoke({"Records": records}, f"queue {name}") or {}
        failed = {each["itemIdentifier"] for each in said.get("batchItemFailures", [])}
        for each in received:
            if each["MessageId"] not in failed:
                self._sqs.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
        return True


def unique(word: str) -> str:
    """A name that no other has."""
    return f"{word} {uuid.uuid4().hex[:8]}"
