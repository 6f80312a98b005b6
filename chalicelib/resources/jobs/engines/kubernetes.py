"""Job clusters: Argo Workflows through the Kubernetes API.

A workflow is one resource: created, listed by our labels, deleted. Connections use an address that the guard
(`storage/outbound`) has checked, and trust only the certificate that was registered with the cluster. Answers are
bounded in time and size. All connection failures have the same message.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import ssl
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
import urllib3

from chalicelib.core.models.integrations import JobCluster
from chalicelib.core.resource import Timestamp, timestamp
from chalicelib.core.web import origins
from chalicelib.core.web.origins import Address
from chalicelib.errors import Forbidden
from chalicelib.resources.jobs.engines.base import (
    EngineUnavailable,
    RunStatus,
    Submission,
    WorkflowRefused,
    last_lines,
    with_output,
)
from chalicelib.resources.jobs.runs import Run, RunNode
from chalicelib.storage import outbound, sealing

PURPOSE = "job cluster"
"""The encryption purpose of a cluster's secrets."""
CONNECT_SECONDS = 1.5
ANSWER_SECONDS = 4.0
"""Maximum total time of one answer."""
LARGEST_ANSWER = 20_000_000
LARGEST_LOG = 1_000_000
"""Maximum bytes of a step's output."""
MOST_NODES = 800
"""Maximum stored nodes of one run, because its record is limited."""
RUNS_PER_CALL = 50
"""Maximum runs requested in one call."""
_GROUP = "/apis/argoproj.io/v1alpha1/namespaces"
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_REFUSALS = (400, 401, 403, 404, 405, 413, 422)
_CREATED, _OK, _NOT_FOUND, _CONFLICT, _ACCEPTED = 201, 200, 404, 409, 202


class Cluster:
    """One job cluster as an engine."""

    def __init__(self, cluster: JobCluster) -> None:
        secrets = msgspec.json.decode(sealing.unseal(cluster.sealed, PURPOSE), type=dict[str, str])
        self._name = cluster.name
        self._address = address_of(cluster.host, cluster.port)
        self._context = _context(secrets["cert"])
        self._headers = {"Authorization": f"Bearer {secrets['token'].strip()}", "Accept": "application/json"}
        if not secrets["token"].strip().isprintable():
            raise WorkflowRefused("The token of the job cluster is malformed.")

    @property
    def address(self) -> str:
        """Host and port."""
        return f"{self._address.host}:{self._address.port}"

    def submit(self, submission: Submission) -> RunStatus:
        """Create the workflow of a run."""
        run, _ = submission.claim()
        resource = workflow_of(run, submission.document(), submission.parameters())
        body = msgspec.json.encode(resource)
        status, answer = self._ask("POST", _path(resource["metadata"]["namespace"]), body)
        if status in (_OK, _CREATED, _ACCEPTED, _CONFLICT):
            return RunStatus(phase="Running", ends_claim=True)
        if status in _REFUSALS:
            if not _message(answer):
                raise self._away()
            raise WorkflowRefused(f"The job cluster {self._name} refuses the workflow: {_message(answer)}")
        raise self._away()

    def statuses(self, submissions: Sequence[Submission], deadline: float) -> Mapping[str, RunStatus | None]:
        """The status of workflows by uid."""
        found: dict[str, RunStatus | None] = {}
        spaces: dict[str, list[str]] = {}
        for submission in submissions:
            spaces.setdefault(submission.run.namespace, []).append(submission.run.uid)
        for namespace, uids in spaces.items():
            for start in range(0, len(uids), RUNS_PER_CALL):
                if found and time.monotonic() > deadline:
                    return found
                asked = uids[start : start + RUNS_PER_CALL]
                items = self._list(namespace, asked, deadline)
                found |= {uid: items.get(uid) for uid in asked}
        for submission in submissions:
            run_status = found.get(submission.run.uid)
            if run_status is not None and run_status.phase in ("Failed", "Error") and time.monotonic() < deadline:
                message = with_output(run_status.message or "", self, submission.run, run_status.nodes)
                found[submission.run.uid] = replace(run_status, message=message or None)
        return found

    def stop(self, run: Run) -> None:
        """Delete a workflow with its pods."""
        path = f"{_path(run.namespace)}/{quote(run.id, safe='')}?propagationPolicy=Background"
        status, answer = self._ask("DELETE", path)
        if status not in (_OK, _ACCEPTED, _NOT_FOUND):
            raise self._away(answer)

    def _list(self, namespace: str, uids: list[str], deadline: float) -> dict[str, RunStatus]:
        query = urlencode({"labelSelector": f"limn-uid in ({','.join(uids)})", "limit": RUNS_PER_CALL})
        seconds = max(0.5, min(ANSWER_SECONDS, deadline - time.monotonic()))
        status, answer = self._ask("GET", f"{_path(namespace)}?{query}", seconds=seconds)
        if status != _OK:
            raise self._away(answer)
        items = answer.get("items") if isinstance(answer, dict) else None
        if not isinstance(items, list):
            raise self._away()
        found = {}
        for item in items:
            try:
                uid = item["metadata"]["labels"]["limn-uid"]
                found[uid] = status_of(item)
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise self._away() from error
        return found

    def output(self, run: Run, node: RunNode, lines: int) -> list[str]:
        """The last lines that a step printed, from the log of its pod."""
        selector = urlencode({"labelSelector": f"workflows.argoproj.io/workflow={run.id}", "limit": MOST_NODES})
        place = f"/api/v1/namespaces/{quote(run.namespace, safe='')}/pods"
        status, answer = self._ask("GET", f"{place}?{selector}")
        if status != _OK or not isinstance(answer, dict):
            raise self._away(answer)
        try:
            names = [pod["metadata"]["name"] for pod in answer["items"] if _is_pod_of(pod, node.id)]
        except (KeyError, TypeError, AttributeError) as error:
            raise self._away() from error
        if not names:
            return []
        query = urlencode({"container": "main", "tailLines": lines, "limitBytes": LARGEST_LOG})
        path = f"{place}/{quote(str(names[-1]), safe='')}/log?{query}"
        status, data = self._send("GET", path)
        if status != _OK:
            return []
        return last_lines(data.decode(errors="replace").splitlines()[-lines:])

    def _away(self, answer: Any = None) -> EngineUnavailable:
        """The same message for every failure: it does not reveal what runs at the address.

        The message of a Kubernetes API is added.
        """
        said = _message(answer)
        return EngineUnavailable(
            f"The job cluster {self._name} cannot be used at the moment{f': {said}' if said else '.'}"
        )

    def _ask(self, method: str, path: str, body: bytes | None = None, seconds: float | None = None) -> tuple[int, Any]:
        """Status and decoded body of one request. Raises EngineUnavailable within `seconds`, or ANSWER_SECONDS."""
        status, data = self._send(method, path, body, seconds)
        try:
            return status, json.loads(data) if data.strip() else {}
        except (ValueError, RecursionError) as failure:
            raise self._away() from failure

    def _send(
        self, method: str, path: str, body: bytes | None = None, seconds: float | None = None
    ) -> tuple[int, bytes]:
        """Status and body of one request, to a checked address."""
        seconds = seconds or ANSWER_SECONDS
        headers = {**self._headers, **({"Content-Type": "application/json"} if body else {})}
        try:
            answer = outbound.ask(
                msgspec.structs.replace(self._address, target=path),
                method,
                seconds=seconds,
                most=LARGEST_ANSWER,
                headers=headers,
                body=body,
                connect=CONNECT_SECONDS,
                is_inside=outbound.is_service_allowed(self._address),
                context=self._context,
            )
        except (urllib3.exceptions.HTTPError, OSError, Forbidden) as failure:
            raise self._away() from failure
        return answer.status, answer.body


def address_of(host: str, port: int) -> Address:
    """The address of a cluster, from its host: a name or an address, with or without `https://`.

    Raises:
        WorkflowRefused: it is neither.
    """
    name = host.strip().removeprefix("https://").rstrip("/")
    if ":" in name and not name.startswith("["):
        name = f"[{name}]"
    try:
        found = origins.take_apart(f"https://{name}:{port}")
    except Forbidden:
        raise WorkflowRefused("The host of the job cluster is neither a name nor an address.") from None
    if found.origin != f"https://{name.lower().rstrip('.')}:{port}" or found.target != "/":
        raise WorkflowRefused("The host of the job cluster is neither a name nor an address.")
    return found


def _is_pod_of(pod: Mapping[str, Any], node: str) -> bool:
    """Whether a pod runs a node: Argo names the node in an annotation; older releases named pods after nodes."""
    metadata = pod["metadata"]
    return node in ((metadata.get("annotations") or {}).get("workflows.argoproj.io/node-id"), metadata["name"])


def workflow_of(run: Run, document: Mapping[str, Any], parameters: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The Workflow resource of a run: the manifest with our name, labels and parameters; ours win over its own."""
    metadata = dict(document.get("metadata") or {})
    metadata.pop("generateName", None)
    labels = {name: str(value) for name, value in (metadata.get("labels") or {}).items()}
    metadata["name"] = run.id
    metadata["namespace"] = namespace_in(document)
    metadata["labels"] = labels | {
        "limn-uid": run.uid,
        "limn-gid": run.gid,
        "limn-project": str(run.project),
        "limn-algorithm": str(run.algorithm),
    }
    spec = _with_text(dict(document["spec"]))
    arguments = dict(spec.get("arguments") or {})
    given = dict(parameters)
    own = [item for item in arguments.get("parameters") or [] if item.get("name") not in given]
    arguments["parameters"] = [*own, *({"name": name, "value": value} for name, value in given.items())]
    spec["arguments"] = arguments
    spec["templates"] = [_with_grace(each) for each in spec.get("templates") or []]
    return {"apiVersion": document["apiVersion"], "kind": document["kind"], "metadata": metadata, "spec": spec}


def _with_grace(template: Any) -> Any:
    """A template with its `terminationGracePeriodSeconds`, which Argo has no member for, as a patch of its pod."""
    if not isinstance(template, dict) or not isinstance(template.get("terminationGracePeriodSeconds"), int):
        return template
    rest = {name: value for name, value in template.items() if name != "terminationGracePeriodSeconds"}
    patch = json.dumps({"terminationGracePeriodSeconds": template["terminationGracePeriodSeconds"]})
    return {**rest, "podSpecPatch": rest.get("podSpecPatch") or patch}


def namespace_in(document: Mapping[str, Any]) -> str:
    """The namespace of a manifest. Raises WorkflowRefused if it is not valid."""
    name = str((document.get("metadata") or {}).get("namespace") or "default")
    if not _NAMESPACE.fullmatch(name):
        raise WorkflowRefused(f"manifest: metadata.namespace {name[:100]!r} is not a valid name of a namespace.")
    return name


def status_of(item: Mapping[str, Any]) -> RunStatus:
    """The status of a Workflow resource. Raises TypeError, ValueError or AttributeError if it is not one."""
    status = item.get("status") or {}
    nodes = status.get("nodes") or _unpack(status.get("compressedNodes"))
    phase = str(status.get("phase") or "Running")
    namespace = str((item.get("metadata") or {}).get("namespace") or "default")
    kept = [_node(number, node, namespace) for number, node in list(nodes.items())[:MOST_NODES]]
    message = status.get("message")
    return RunStatus(
        phase=phase if phase in ("Pending", "Running", "Succeeded", "Failed", "Error") else "Running",
        message=str(message)[:500] if message else None,
        start_time=_moment(status.get("startedAt")),
        stop_time=_moment(status.get("finishedAt")),
        nodes=sorted(kept, key=lambda node: (node.start_time or "9", node.id)),
    )


def _node(number: str, node: Mapping[str, Any], namespace: str) -> RunNode:
    is_pod = node.get("type") == "Pod"
    return RunNode(
        id=number[:300],
        task=str(node.get("displayName") or node.get("name") or number)[:200],
        status=str(node.get("phase") or "Pending")[:20],
        children=[str(child)[:300] for child in (node.get("children") or [])[:MOST_NODES]],
        start_time=_moment(node.get("startedAt")),
        stop_time=_moment(node.get("finishedAt")),
        message=str(node["message"])[:500] if node.get("message") else None,
        log=f"{namespace}/{number}"[:400] if is_pod else None,
        is_pod=is_pod,
    )


def _unpack(text: object) -> dict[str, Any]:
    """The nodes of a large workflow, which Argo compresses."""
    if not text:
        return {}
    try:
        unpack = zlib.decompressobj(wbits=31)
        data = unpack.decompress(base64.b64decode(str(text)), LARGEST_ANSWER)
        nodes = json.loads(data)
    except (ValueError, zlib.error, binascii.Error, RecursionError) as error:
        raise ValueError("compressed nodes") from error
    if not isinstance(nodes, dict):
        raise TypeError("compressed nodes")
    return nodes


def _moment(text: object) -> Timestamp | None:
    try:
        return timestamp(datetime.fromisoformat(str(text))) if text else None
    except (ValueError, OverflowError):
        return None


def _message(answer: Any) -> str:
    """The message of a Kubernetes Status; empty for any other answer."""
    if not isinstance(answer, dict) or answer.get("kind") != "Status":
        return ""
    return str(answer.get("message") or "")[:300]


def _path(namespace: str) -> str:
    return f"{_GROUP}/{quote(namespace, safe='')}/workflows"


def _with_text(value: Any) -> Any:
    """A part of a manifest with all parameter values as text, as Argo's schema requires."""
    if isinstance(value, list):
        return [_with_text(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: _with_text(item) for name, item in value.items()}
    if isinstance(found.get("parameters"), list):
        found["parameters"] = [
            {name: _text(item) if name in ("value", "default") else item for name, item in parameter.items()}
            if isinstance(parameter, dict)
            else parameter
            for parameter in found["parameters"]
        ]
    return found


def _text(value: object) -> object:
    return value if value is None or isinstance(value, str) else json.dumps(value)


@lru_cache(maxsize=16)
def _context(cert: str) -> ssl.SSLContext:
    """TLS that trusts only the cluster's certificate, given as PEM or as its base64."""
    text = cert.strip()
    try:
        if "-----BEGIN" not in text:
            text = base64.b64decode(text, validate=True).decode("ascii")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_verify_locations(cadata=text)
    except (ValueError, binascii.Error, ssl.SSLError) as failure:
        raise WorkflowRefused("The certificate of the job cluster cannot be read.") from failure
    return context
