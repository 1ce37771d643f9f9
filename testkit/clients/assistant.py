"""Runs agents of OpenAI's Agents SDK, with Docent as their model and its tools as theirs, and prints one JSON object."""

import asyncio
import json
import os
import sys

from agents import Agent, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.mcp import MCPServerStreamableHttp
from openai import AsyncOpenAI

SERVER, KEY = os.environ["DOCENT_SERVER"], os.environ["DOCENT_API_KEY"]
QUESTION, FOLLOW_UP = "How do I roll back a release?", "And within how many hours?"


@function_tool
def weather(city: str) -> str:
    """Tells the weather."""
    return city


async def ask(model, server) -> dict:
    agent = Agent(name="Helper", instructions="Answer from the documents.", model=model, tools=[weather], mcp_servers=[server])
    whole = await Runner.run(agent, QUESTION)
    stream = Runner.run_streamed(agent, QUESTION)
    deltas = [e.data.delta async for e in stream.stream_events() if e.type == "raw_response_event" and e.data.type == "response.output_text.delta"]
    session = SQLiteSession("chat")
    await Runner.run(agent, QUESTION, session=session)
    return {
        "content": whole.final_output,
        "streamed": stream.final_output,
        "deltas": "".join(deltas),
        "followed": (await Runner.run(agent, FOLLOW_UP, session=session)).final_output,
        "tokens": bool(whole.raw_responses[0].usage.total_tokens),
    }


async def main() -> None:
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=SERVER, api_key=KEY)
    async with MCPServerStreamableHttp({"url": SERVER + "/mcp", "headers": {"Authorization": "Bearer " + KEY}}) as server:
        models = {"responses": OpenAIResponsesModel("docent", client), "completions": OpenAIChatCompletionsModel("docent", client)}
        used = await server.call_tool("ask", {"question": QUESTION, "filter": None})
        out = {name: await ask(model, server) for name, model in models.items()}
        out["tools"] = [tool.name for tool in await server.list_tools()]
        out["used"] = "".join(part.text for part in used.content if part.type == "text")
    json.dump(out, sys.stdout)


asyncio.run(main())
