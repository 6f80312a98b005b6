"""The command for agents."""

from __future__ import annotations

import typer

from ..failures import Failure
from .sessions import Session


def serve(context: typer.Context) -> None:
    """Serve the projects of a token to agents by the Model Context Protocol, on standard input and output."""
    try:
        from ..agents import server
    except ImportError:
        raise Failure("limn mcp needs the library mcp: pip install '.[agents]'") from None
    session: Session = context.obj
    server.serve(session.client())
