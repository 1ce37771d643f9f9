"""Answers, and the events of which a stream consists."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .rest.models.answer import Answer
from .rest.types import Unset


class AnswerFailed(Exception):
    """A question that could not be answered. Match on code."""

    def __init__(self, answer: Answer) -> None:
        error = answer.error
        self.answer = answer
        self.code = "" if isinstance(error, Unset) else error.code
        super().__init__("The question was not answered." if isinstance(error, Unset) else error.detail)


@dataclass(frozen=True)
class Source:
    """A document that was found."""

    url: str
    title: str = ""


@dataclass(frozen=True)
class AnswerEvent:
    """What is new of an answer.

    name is one of answer.created, sources, text.delta, text.replace and answer.completed. The text
    of text.delta follows what was sent; that of text.replace takes the place of all of it.
    """

    name: str
    id: str = ""
    text: str = ""
    references: tuple[int, ...] = ()
    """Places of the cited documents in the list of the event sources."""
    sources: tuple[Source, ...] = ()
    answer: Answer | None = None
    """The whole answer; only of answer.completed."""


def event_of(name: str, identifier: str, data: dict[str, Any]) -> AnswerEvent:
    """Return the event of a stream that has the data."""
    if name == "answer.completed":
        return AnswerEvent(name, identifier, answer=Answer.from_dict(data))
    sources = tuple(Source(s["url"], s.get("title", "")) for s in data.get("sources", ()))
    return AnswerEvent(name, identifier, data.get("text", ""), tuple(data.get("references", ())), sources)


def lines_of(texts: Iterable[str]) -> Iterator[str]:
    """Return the lines of a text that arrives in parts. Unlike str.splitlines, it ends lines as server-sent events do, so not at U+0085."""
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        yield from (line.removesuffix("\r") for line in lines)
    if rest:
        yield rest


def read_events(lines: Iterable[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Read the name, the id and the data of server-sent events whose data is JSON."""
    name, identifier, data = "", "", ""
    for line in lines:
        if not line:
            if data:
                yield name, identifier, json.loads(data)
            name, identifier, data = "", "", ""
        elif line.startswith("event:"):
            name = line[6:].strip()
        elif line.startswith("id:"):
            identifier = line[3:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()
