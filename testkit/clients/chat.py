"""Asks by OpenAI's Python library, and prints one JSON object. DOCENT_SERVER and DOCENT_API_KEY name the server."""

import json
import os
import sys

import openai
from openai import OpenAI

QUESTION = "How do I roll back a release?"
MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]


def refused(call) -> list:
    try:
        call()
    except openai.APIStatusError as error:
        return [type(error).__name__, error.status_code, error.code]
    return []


client = OpenAI(base_url=os.environ["DOCENT_SERVER"], api_key=os.environ["DOCENT_API_KEY"])
stranger = OpenAI(base_url=os.environ["DOCENT_SERVER"], api_key="docent_team_wrong")
whole = client.chat.completions.create(model="docent", messages=MESSAGES, extra_headers={"Idempotency-Key": "once"})
again = client.chat.completions.create(model="docent", messages=MESSAGES, extra_headers={"Idempotency-Key": "once"})
streamed, citations, finish, usage = "", [], None, None
stream = client.chat.completions.create(model="docent", messages=MESSAGES, stream=True, stream_options={"include_usage": True})
for chunk in stream:
    usage = chunk.usage or usage
    for choice in chunk.choices:
        streamed += choice.delta.content or ""
        citations += (choice.delta.model_extra or {}).get("annotations", [])
        finish = choice.finish_reason or finish
message = whole.choices[0].message
json.dump({
    "models": [model.id for model in client.models.list()],
    "model": client.models.retrieve("docent").id,
    "content": message.content,
    "citations": [a.url_citation.model_dump() for a in message.annotations or []],
    "repeated": whole.id == again.id,
    "streamed": streamed,
    "streamedCitations": [c["url_citation"] for c in citations],
    "finish": [whole.choices[0].finish_reason, finish],
    "tokens": bool(whole.usage and whole.usage.total_tokens and usage and usage.total_tokens),
    "refused": [
        refused(lambda: stranger.models.list()),
        refused(lambda: client.chat.completions.create(model="gpt-5", messages=MESSAGES)),
        refused(lambda: client.chat.completions.create(model="docent", messages=[{"role": "system", "content": "x"}])),
    ],
}, sys.stdout)
