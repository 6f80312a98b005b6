"""`limn annotator serve` and `limn annotator register`."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from .. import failures
from ..cli.sessions import ProjectOption, Session
from ..failures import Failure

app = typer.Typer(help="Models that annotate: serve one, register one.", no_args_is_help=True)
TOKEN = "LIMN_ANNOTATOR_TOKEN"  # noqa: S105 the name of a variable
_SECONDS = 10.0
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@app.command()
def serve(
    context: typer.Context,
    model: Annotated[Path | None, typer.Argument(help="An ONNX file.")] = None,
    config: Annotated[Path | None, typer.Option(help="A YAML that says what the file holds.")] = None,
    classic: Annotated[bool, typer.Option("--classic", help="GrabCut, tracking and motion, without weights.")] = False,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535)] = 9090,
) -> None:
    """Serve a model, or classic methods, by the conventions of Limn, Label Studio and CVAT.

    The token is that of LIMN_ANNOTATOR_TOKEN, or a new one, which is printed.
    """
    if classic == (model is not None):
        raise Failure("Give an ONNX file or --classic: one of them.")
    token = os.environ.get(TOKEN, "")
    if host not in _LOOPBACK and not token:
        raise Failure(f"--host {host} is reached by others: set {TOKEN} to a token of your own.")
    models = _models(model, config)
    try:
        import waitress

        from . import server
    except ImportError as missing:
        raise _not_installed(missing) from None
    session: Session = context.obj
    shown = token or secrets.token_urlsafe(24)
    for name, each in models.items():
        url = f"http://{host}:{port}/{name}"
        session.output.note(f"{each.name} ({each.kind}) at {url}")
    if not token:
        session.output.note(f"{TOKEN}={shown}")
    try:
        waitress.serve(
            server.application(models, shown),
            host=host,
            port=port,
            threads=server.THREADS,
            max_request_body_size=server.LARGEST_BODY,
            ident=None,
            _quiet=True,
        )
    except OSError as error:
        raise Failure(f"--port {port}: {error.strerror or error}") from None


def _models(model: Path | None, config: Path | None) -> dict[str, Any]:
    try:
        if model is None:
            from . import classic

            return dict(classic.models())
        from . import onnx_models

        return {"": onnx_models.load(model, onnx_models.read_config(config))}
    except ImportError as missing:
        raise _not_installed(missing) from None


def _not_installed(missing: ImportError) -> Failure:
    return Failure(f"{missing.name} is not installed; models are served with: pip install '.[annotators]'")


@app.command()
def register(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="Of the served model, such as http://127.0.0.1:9090/grabcut.")],
    type_: Annotated[int, typer.Option("--type", min=1, help="The type of what it finds.")],
    name: Annotated[str | None, typer.Option(help="By default that of the model.")] = None,
    project: ProjectOption = None,
    label: Annotated[str | None, typer.Option(help="Attribute that gets the class.")] = None,
    confidence: Annotated[str | None, typer.Option(help="Attribute that gets the confidence.")] = None,
    model: Annotated[str | None, typer.Option(help="Attribute that gets the model's name and version.")] = None,
    embedding: Annotated[str | None, typer.Option(help="Of an embedder: the float_array that gets vectors.")] = None,
    track_type: Annotated[int | None, typer.Option(min=1, help="Of a tracker: the state type of its tracks.")] = None,
) -> None:
    """Register a served model as an annotator of a project; LIMN_ANNOTATOR_TOKEN has its token."""
    session: Session = context.obj
    token = os.environ.get(TOKEN, "")
    if not token:
        raise Failure(f"Set {TOKEN} to the token that the server printed.")
    headers = {"Authorization": f"Bearer {token}"}
    try:
        answer = httpx.get(f"{url.rstrip('/')}/health", headers=headers, timeout=_SECONDS)
        told = answer.raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise Failure(f"{url} does not answer as a served model: {error}", failures.USAGE) from None
    body: dict[str, Any] = {
        "name": name or told["name"],
        "url": url,
        "type": type_,
        "kind": told["kind"],
        "prompts": told.get("prompts"),
        "model_version": told.get("version"),
        "label_attribute": label,
        "confidence_attribute": confidence,
        "model_attribute": model,
        "embedding_attribute": embedding,
        "track_type": track_type,
        "headers": [{"name": name, "value": value} for name, value in headers.items()],
    }
    given: Any = {member: value for member, value in body.items() if value is not None}
    made = session.client().create_annotator(session.project(project), given)
    session.output.result(dict(made), f"Annotator {made['id']}: {body['name']} ({told['kind']}).")
