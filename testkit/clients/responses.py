"""Asks for responses by OpenAI's Python library, and prints one JSON object. DOCENT_SERVER and DOCENT_API_KEY name the server."""

import json
import os
import sys

import openai
from openai import OpenAI

QUESTION = "How do I roll back a release?"


def refused(call) -> list:
    try:
        call()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code, error.code, error.param]
    return []


client = OpenAI(base_url=os.environ["DOCENT_SERVER"], api_key=os.environ["DOCENT_API_KEY"])
whole = client.responses.create(model="docent", input=QUESTION, instructions="Be brief.", metadata={"chat": "1"})
follow = client.responses.create(model="docent", input="How long does it take?", previous_response_id=whole.id)
items = client.responses.create(model="docent", input=[{"role": "user", "content": QUESTION}, *whole.output, {"role": "user", "content": "Who does it?"}])
events, streamed, citations = [], "", []
with client.responses.stream(model="docent", input=QUESTION) as stream:
    for event in stream:
        if not events or events[-1] != event.type:
            events.append(event.type)
        if event.type == "response.output_text.delta":
            streamed += event.delta
        if event.type == "response.output_text.annotation.added":
            citations.append(event.annotation.model_dump())
    last = stream.get_final_response()
plain = [event.type for event in client.responses.create(model="docent", input=QUESTION, stream=True)]
cut = client.responses.create(model="docent", input=QUESTION, max_output_tokens=3)
content = whole.output[0].content[0]
json.dump({
    "content": whole.output_text,
    "citations": [a.model_dump() for a in content.annotations],
    "status": [whole.status, last.status, cut.status, cut.incomplete_details.reason],
    "metadata": whole.metadata,
    "followed": [follow.previous_response_id == whole.id, follow.status == "completed", items.status == "completed"],
    "events": events,
    "plain": sorted(set(plain)) == sorted(set(events)),
    "streamed": streamed,
    "streamedCitations": citations,
    "final": last.output_text,
    "cut": cut.output_text,
    "tokens": bool(whole.usage.total_tokens and last.usage.output_tokens == whole.usage.output_tokens),
    "refused": [
        refused(lambda: client.responses.create(model="gpt-5", input=QUESTION)),
        refused(lambda: client.responses.create(model="docent", input=QUESTION, previous_response_id="resp_1")),
        refused(lambda: client.responses.create(model="docent", input=QUESTION, stream=True, text={"format": {"type": "json_object"}})),
        refused(lambda: client.responses.retrieve("resp_1")),
    ],
}, sys.stdout)
