"""Connects to the tools by the OAuth client of the official Python SDK of the Model Context Protocol.

agent.py URL PERSON prints one JSON object. At PERSON?url=..., someone decides on the authorization request of that
address; the reply is the address that the browser is sent to.
"""

import asyncio
import json
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

URL, PERSON = sys.argv[1:3]
REDIRECT = "http://127.0.0.1:33418/callback"


class Storage:
    tokens = client = None
    all_tokens: list = []

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens
        self.all_tokens.append(tokens)

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Browser:
    asked: list = []
    answer: dict = {}

    async def open(self, url: str) -> None:
        self.asked.append(url)
        async with httpx2.AsyncClient() as http:
            reply = await http.get(PERSON, params={"url": url})
        reply.raise_for_status()
        assert reply.text.startswith(REDIRECT), reply.text
        self.answer = {name: values[0] for name, values in parse_qs(urlsplit(reply.text).query).items()}

    async def callback(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**{name: self.answer.get(name) for name in ("code", "state", "iss")})


async def main() -> None:
    storage, browser = Storage(), Browser()
    metadata = OAuthClientMetadata(client_name="Python agent", redirect_uris=[REDIRECT])
    auth = OAuthClientProvider(URL, metadata, storage, browser.open, browser.callback)
    async with httpx2.AsyncClient(auth=auth, timeout=30) as http:
        async def use() -> tuple[list[str], str]:
            async with Client(streamable_http_client(URL, http_client=http)) as client:
                tools = [tool.name for tool in (await client.list_tools()).tools]
                result = await client.call_tool("context_search_documentation", {"query": "roll back a release"})
                return tools, "".join(part.text for part in result.content if part.type == "text")

        tools, text = await use()
        auth.context.token_expiry_time = 1.0  # long ago
        _, refreshed = await use()
    json.dump({"tools": tools, "text": text, "refreshed": refreshed, "asked": len(browser.asked), "name": storage.client.client_name,
               "access": [t.access_token for t in storage.all_tokens], "refresh": [t.refresh_token for t in storage.all_tokens]}, sys.stdout)


asyncio.run(main())
