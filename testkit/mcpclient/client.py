"""Calls the tools of a Model Context Protocol server with the official Python SDK.

client.py URL MODE reads {"tool": {arguments}} from its input and the key from
DOCENT_API_KEY. MODE is "legacy", which initializes a connection, or "auto", which
first asks the server which revisions it speaks. It prints one JSON object: the
server's name, the revision, the tools that are listed, by tool the text and
whether it is an error, and what it says of a key that is not valid.
"""

import asyncio
import json
import os
import sys

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError


async def refusal(url: str, mode: str) -> str:
    said = ""
    async with httpx2.AsyncClient(headers={"Authorization": "Bearer wrong"}, timeout=30) as http:
        try:
            async with Client(streamable_http_client(url, http_client=http), mode=mode):
                pass
        except* MCPError as errors:
            said = " ".join(str(error) for error in flat(errors))
    return said


def flat(error: BaseException) -> list[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        return [one for inner in error.exceptions for one in flat(inner)]
    return [error]


async def main(url: str, mode: str) -> None:
    calls = json.load(sys.stdin)
    headers = {"Authorization": "Bearer " + os.environ["DOCENT_API_KEY"]}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            replies = {}
            for name, arguments in calls.items():
                result = await client.call_tool(name, arguments)
                text = "".join(part.text for part in result.content if part.type == "text")
                replies[name] = {"text": text, "error": bool(result.is_error)}
            server = client.server_info
            json.dump({"server": server.name if server else "", "protocol": client.protocol_version,
                       "tools": tools, "replies": replies, "refusal": await refusal(url, mode)}, sys.stdout)


asyncio.run(main(sys.argv[1], sys.argv[2]))
