"""A job cluster on this machine: the part of the Kubernetes API that workflows need, over HTTPS with a CA of its own.

It takes what Argo's published shape of a Workflow takes and refuses the rest, as the API server does; the test moves
the phases, or `controller` executes the steps.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import json
import os
import re
import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from chalicelib.settings import settings
from tests.loopback import Handler, Server
from tests.resources.jobs import argo

TOKEN = "cluster-token-4711"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
_LABEL = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_KINDS = {"container", "script", "steps", "dag", "suspend", "resource", "data", "http", "plugin", "containerSet"}
_POD = re.compile(r"/api/v1/namespaces/([^/]+)/pods(?:/([^/]+)/log)?")
_WORKFLOW = re.compile(r"/apis/argoproj\.io/v1alpha1/namespaces/([^/]+)/workflows(?:/([^/]+))?")


def certificates(folder: Path) -> tuple[str, str]:
    """A new CA as PEM, and a file with a key and a certificate for 127.0.0.1 that it signed."""
    now = dt.datetime.now(dt.UTC)

    def made(name: str, key: Any, issuer: x509.Name, signer: Any, *, is_ca: bool) -> x509.Certificate:
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        builder = (
            x509.CertificateBuilder()
            .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(hours=1))
            .not_valid_after(now + dt.timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([address, x509.DNSName("localhost")]), critical=False)
        )
        return builder.sign(signer, hashes.SHA256())

    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    ca_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test CA")])
    ca = made("test CA", ca_key, ca_name, ca_key, is_ca=True)
    leaf = made("127.0.0.1", key, ca_name, ca_key, is_ca=False)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "server.pem"
    file.write_bytes(private + leaf.public_bytes(serialization.Encoding.PEM))
    return ca.public_bytes(serialization.Encoding.PEM).decode(), str(file)


def wrong_shape(resource: Any, *, is_strict: bool = False) -> str | None:
    """What is wrong with a Workflow, as the API server would find, by default or with strict field validation."""
    return next(_wrongs(resource, is_strict=is_strict), None)


def _wrongs(resource: Any, *, is_strict: bool) -> Iterator[str]:
    if broken := argo.wrong(resource, is_strict=is_strict):
        yield broken
        return
    metadata, spec = resource.get("metadata", {}), resource.get("spec", {})
    # what the API server checks of every resource, beside its schema
    if not _NAME.fullmatch(metadata.get("name", "")) or len(metadata["name"]) > 63:
        yield "metadata.name"
    for name, value in metadata.get("labels", {}).items():
        if not _LABEL.fullmatch(value) or not _LABEL.fullmatch(name.rpartition("/")[2]):
            yield f"label {name}"
    # what Argo's controller checks before it runs a workflow
    names = [parameter["name"] for parameter in spec.get("arguments", {}).get("parameters", [])]
    if len(names) != len(set(names)):
        yield "two parameters of one name"
    yield from _wrong_templates(spec)


def _wrong_templates(spec: Any) -> Iterator[str]:
    templates = {template.get("name"): template for template in spec.get("templates", [])}
    if spec.get("entrypoint") not in templates:
        yield "spec.entrypoint"
    for template in templates.values():
        if len(_KINDS & set(template)) != 1:
            yield f"template {template.get('name')}"
        steps = [step for group in template.get("steps", []) for step in group]
        yield from (f"step {step.get('name')}" for step in steps if step.get("template") not in templates)


class FakeCluster:
    """The server. `fault`, where it is set, answers instead of it."""

    def __init__(self, folder: Path) -> None:
        self.ca, file = certificates(folder)
        self.workflows: dict[tuple[str, str], dict[str, Any]] = {}
        self.asked: list[tuple[str, str]] = []
        self.fault: Callable[[Handler], None] | None = None
        self.pods: Callable[[str], list[str]] = lambda _: []
        """The pods of a workflow, named after their nodes; `output` is what one printed."""
        self.output: Callable[[str, int], list[str]] = lambda _, __: []
        handler = type("Handler", (_Handler,), {"cluster": self})
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        self._server = Server(handler, tls=context)
        self.port = self._server.server_port
        self._allow(is_allowed=True)

    def _allow(self, *, is_allowed: bool) -> None:
        """Have the operator of this process allow it, for it lies inside."""
        name, own = "LIMN_SERVICE_ORIGINS", self._server.url
        others = [origin for origin in os.environ.get(name, "").split(",") if origin not in ("", own)]
        os.environ[name] = ",".join([*others, own] if is_allowed else others)
        settings.cache_clear()

    def close(self) -> None:
        self._allow(is_allowed=False)
        self._server.close()

    def one(self, uid: str) -> dict[str, Any]:
        """The workflow of a job."""
        return next(item for item in self.workflows.values() if item["metadata"]["labels"]["limn-uid"] == uid)

    def move(self, uid: str, phase: str, nodes: dict[str, Any] | None = None, **more: Any) -> None:
        """Give a workflow a phase, and nodes."""
        times = {"startedAt": "2026-01-02T03:04:05Z"}
        if phase in ("Succeeded", "Failed", "Error"):
            times["finishedAt"] = "2026-01-02T03:05:05Z"
        workflow = self.one(uid)
        workflow["status"] = {"phase": phase, **times, "nodes": nodes or {}, **more}
        assert argo.wrong(workflow) is None, argo.wrong(workflow)


class _Handler(Handler):
    cluster: FakeCluster
    protocol_version = "HTTP/1.1"

    def say(self, status: int, body: Any) -> None:
        self.answer(status, body, {"Content-Type": "application/json"})

    def _serve(self) -> None:
        body, method = self.read_body(), self.command
        self.cluster.asked.append((method, self.path))
        if self.cluster.fault is not None:
            self.cluster.fault(self)
            return
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.say(401, {"kind": "Status", "message": "Unauthorized"})
            return
        parts = urlsplit(self.path)
        if method == "GET" and (pod := _POD.fullmatch(unquote(parts.path))):
            self._get_pod(pod[2], parse_qs(parts.query))
            return
        found = _WORKFLOW.fullmatch(unquote(parts.path))
        if not found:
            self.say(404, {"kind": "Status", "message": "the server could not find the requested resource"})
            return
        getattr(self, f"_{method.lower()}")(found[1], found[2], body, parse_qs(parts.query))

    def _get_pod(self, name: str | None, query: dict[str, list[str]]) -> None:
        if name is not None:
            self.say(
                200, "\n".join(self.cluster.output(name.removeprefix("pod-"), int(query["tailLines"][0]))).encode()
            )
            return
        pods = self.cluster.pods(query["labelSelector"][0].removeprefix("workflows.argoproj.io/workflow="))
        items = [
            {"metadata": {"name": f"pod-{pod}", "annotations": {"workflows.argoproj.io/node-id": pod}}} for pod in pods
        ]
        self.say(200, {"kind": "PodList", "metadata": {}, "items": items})

    def _post(self, namespace: str, _: str | None, body: bytes, query: dict[str, list[str]]) -> None:
        resource = json.loads(body)
        if wrong := wrong_shape(resource, is_strict=query.get("fieldValidation") == ["Strict"]):
            self.say(422, {"kind": "Status", "message": f"Workflow is invalid: {wrong}"})
            return
        key = (namespace, resource["metadata"]["name"])
        if resource["metadata"].get("namespace", namespace) != namespace:
            self.say(400, {"kind": "Status", "message": "the namespace does not match"})
        elif key in self.cluster.workflows:
            self.say(409, {"kind": "Status", "reason": "AlreadyExists", "message": "already exists"})
        else:
            self.cluster.workflows[key] = resource
            self.say(201, resource)

    def _get(self, namespace: str, _: str | None, __: bytes, query: dict[str, list[str]]) -> None:
        wanted = re.fullmatch(r"limn-uid in \((.*)\)", query["labelSelector"][0])
        uids = set(wanted[1].split(",")) if wanted else set()
        items = [
            item
            for (place, _), item in list(self.cluster.workflows.items())
            if place == namespace and item["metadata"]["labels"]["limn-uid"] in uids
        ]
        self.say(200, {"kind": "WorkflowList", "metadata": {}, "items": items})

    def _delete(self, namespace: str, name: str | None, _: bytes, __: Any) -> None:
        gone = self.cluster.workflows.pop((namespace, str(name)), None)
        self.say(200 if gone else 404, {"kind": "Status", "message": "" if gone else "not found"})

    do_GET = do_POST = do_DELETE = _serve


def node(name: str, phase: str, *children: str) -> dict[str, Any]:
    """A node as Argo keeps it."""
    return {
        "id": name,
        "name": f"wf.{name}",
        "displayName": name,
        "type": "Pod",
        "phase": phase,
        "startedAt": "2026-01-02T03:04:05Z",
        **({"finishedAt": "2026-01-02T03:04:15Z"} if phase != "Running" else {}),
        "children": list(children),
    }


def slow(handler: Any) -> None:
    """It takes the request and says nothing for long."""
    time.sleep(90)
    handler.close_connection = True


def nonsense(handler: Any) -> None:
    """It answers with a page."""
    handler.say(200, b"<html>not kubernetes</html>")


def other_json(handler: Any) -> None:
    """It answers with JSON that means nothing."""
    handler.say(200, [{"items": 7}])


def endless(handler: Any) -> None:
    """It sends one byte after the other."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    try:
        for _ in range(400):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.25)
    except OSError:
        pass
    handler.close_connection = True


def broken(handler: Any) -> None:
    """It ends the connection."""
    handler.close_connection = True
    handler.connection.close()
