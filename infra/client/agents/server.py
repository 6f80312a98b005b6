"""The tools on standard input and output, by the `mcp` library."""

from __future__ import annotations

import base64
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from ..client import Client
from ..failures import Failure
from .tools import INSTRUCTIONS, Picture, Tools


def make_server(client: Client) -> Server[Any]:
    """The server of a client's tools."""
    tools = Tools(client)

    async def list_tools(_context: Any, _given: Any) -> types.ListToolsResult:
        listed = await anyio.to_thread.run_sync(tools.listed)
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=each.name,
                    description=each.description,
                    input_schema=each.schema,
                    annotations=types.ToolAnnotations(read_only_hint=each.is_read),
                )
                for each in listed
            ]
        )

    async def call_tool(_context: Any, given: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            said = await anyio.to_thread.run_sync(tools.call, given.name, given.arguments or {})
        except (Failure, TypeError, ValueError) as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=str(error))], is_error=True)
        if isinstance(said, Picture):
            data = base64.b64encode(said.data).decode()
            return types.CallToolResult(
                content=[types.ImageContent(type="image", data=data, mime_type=said.media_type)]
            )
        return types.CallToolResult(content=[types.TextContent(type="text", text=said)])

    return Server("limn", instructions=INSTRUCTIONS, on_list_tools=list_tools, on_call_tool=call_tool)


def serve(client: Client) -> None:
    """Serve until standard input ends."""

    async def run() -> None:
        server = make_server(client)
        async with stdio_server() as (receiving, sending):
            await server.run(receiving, sending, server.create_initialization_options())

    anyio.run(run)
