"""The client."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx

from .answers import AnswerEvent, AnswerFailed, event_of, lines_of, read_events
from .errors import DocentError, error_of
from .folder import FolderResult, Prepare, put_folder
from .proxy import proxy_of
from .rest import AuthenticatedClient
from .rest.api.answers import ask_question, get_answer, list_answers
from .rest.api.collections import create_collection, get_collection, list_collections
from .rest.api.documents import list_documents
from .rest.api.security_events import list_security_events
from .rest.models.answer import Answer
from .rest.models.answer_state import AnswerState
from .rest.models.collection import Collection
from .rest.models.collection_input import CollectionInput
from .rest.models.document_summary import DocumentSummary
from .rest.models.problem import Problem
from .rest.models.question import Question
from .rest.models.security_events_page import SecurityEventsPage
from .rest.types import UNSET, Response
from .retries import TRIES, AsyncRetries, Retries, deadline
from .uploads import upload

DEFAULT_SERVER = "http://127.0.0.1:8080/v1"

# _REUSED bounds the keys that Docent.collection tries: one for each collection of that name made and removed within a day.
_REUSED = 25

# _GRACE is how many seconds Docent.ask waits longer for a server that does not reply at all.
_GRACE = 5.0

T = TypeVar("T")


class Docent:
    """A client of one server with one key. It may be used by several threads."""

    def __init__(self, server: str | None = None, key: str | None = None, *, transport: httpx.BaseTransport | None = None) -> None:
        """Call the API at server with key. Without them the environment's DOCENT_SERVER and DOCENT_API_KEY count.

        A server without a path gets /v1. Blanks and line ends around the key are left out.
        """
        server = (server or os.environ.get("DOCENT_SERVER") or DEFAULT_SERVER).rstrip("/")
        key = (key or os.environ.get("DOCENT_API_KEY") or "").strip()
        if not key:
            raise ValueError("no API key: give key or set DOCENT_API_KEY")
        if not key.isascii() or not key.isprintable() or " " in key:
            raise ValueError("the API key has a character that no key has, such as a blank or a line end")
        if urlsplit(server).scheme not in ("http", "https"):
            raise ValueError(f"the server {server!r} is not an http or https URL such as {DEFAULT_SERVER}")
        if not urlsplit(server).path:
            server += "/v1"
        proxy = proxy_of(server)
        common: dict[str, Any] = {
            "base_url": server,
            "headers": {"Authorization": "Bearer " + key, "User-Agent": "docent-client-python"},
            "timeout": httpx.Timeout(60.0, connect=10.0),
        }
        self._transport = transport
        self.rest = AuthenticatedClient(base_url=server, token=key)
        """What the generated operations take as their client. They raise DocentError, and repeat as this class does."""
        self._http = httpx.Client(transport=Retries(transport or httpx.HTTPTransport(proxy=proxy)), **common)
        self.rest.set_httpx_client(self._http)
        self.rest.set_async_httpx_client(httpx.AsyncClient(transport=AsyncRetries(httpx.AsyncHTTPTransport(proxy=proxy)), **common))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. Those of asynchronous operations close with the event loop instead."""
        self._http.close()

    def ask(
        self,
        question: str,
        *,
        filter: Mapping[str, Any] | None = None,
        previous_question_id: str | None = None,
        question_id: str | None = None,
        timeout: float = 120.0,
    ) -> Answer:
        """Ask a question and wait for its answer, at most timeout seconds.

        Asking the same again under the same question_id, a UUID, costs nothing. Raises AnswerFailed,
        DocentError, and TimeoutError; the question is answered nevertheless after the last.
        """
        identifier = question_id or str(uuid.uuid4())
        end = time.monotonic() + timeout
        before = deadline.set(end + _GRACE)
        try:
            return self._answer(identifier, _question(question, filter, previous_question_id), end)
        except (TimeoutError, httpx.TimeoutException) as error:
            if isinstance(error, httpx.TimeoutException) and time.monotonic() < end:
                raise
            raise TimeoutError(f"question {identifier} is not answered after {timeout:g} seconds") from error
        finally:
            deadline.reset(before)

    def _answer(self, identifier: str, question: Question, end: float) -> Answer:
        ask_question.sync_detailed(identifier, client=self.rest, body=question)
        while True:
            left = end - time.monotonic()
            started = time.monotonic()
            response = get_answer.sync_detailed(identifier, client=self.rest, prefer=f"wait={max(0, min(20, int(left)))}")
            answer = _known(response)
            if not isinstance(answer, Answer):
                raise _unexpected(response)
            if answer.state is AnswerState.FAILED:
                raise AnswerFailed(answer)
            if answer.state is AnswerState.COMPLETE:
                return answer
            if time.monotonic() >= end:
                raise TimeoutError
            if time.monotonic() - started < 1:  # the server did not hold the request
                time.sleep(max(0.0, min(2.0, end - time.monotonic())))

    def stream(
        self,
        question: str,
        *,
        filter: Mapping[str, Any] | None = None,
        previous_question_id: str | None = None,
        question_id: str | None = None,
    ) -> Iterator[AnswerEvent]:
        """Ask a question and return what is new of its answer while it is written; the last event has the whole answer.

        A broken connection is continued where it broke. Raises DocentError if the question cannot be answered.
        """
        url = "/answers/" + (question_id or str(uuid.uuid4()))
        body = _question(question, filter, previous_question_id).to_dict()
        headers = {"Accept": "text/event-stream"}
        tries = 0
        while True:
            try:
                with self._http.stream("PUT", url, json=body, headers=headers, timeout=httpx.Timeout(60.0, read=30.0)) as response:
                    for name, identifier, data in read_events(lines_of(response.iter_text())):
                        if name == "error":
                            raise error_of(int(data.get("status", 500)), {}, _json(data))
                        tries = 0
                        if identifier:
                            headers["Last-Event-ID"] = identifier
                        yield event_of(name, identifier, data)
                        if name == "answer.completed":
                            return
                broken: Exception = httpx.RemoteProtocolError("the stream ended before the answer was complete")
            except httpx.TransportError as error:
                broken = error
            tries += 1
            if tries == TRIES:
                raise broken
            time.sleep(0.5 * 2 ** (tries - 1))

    def pages(self, fetch: Callable[..., Response[Problem | list[T]]], **arguments: Any) -> Iterator[T]:
        """Return the items of all pages of a list, such as pages(list_documents.sync_detailed, collection_id=...)."""
        while True:
            response = fetch(client=self.rest, **arguments)
            items = _known(response)
            if not isinstance(items, list):
                raise _unexpected(response)
            yield from items
            after = _next(response.headers.get("link", ""))
            if not after or after == arguments.get("after"):
                return
            arguments["after"] = after

    def collections(self) -> Iterator[Collection]:
        """Return the team's collections, newest first."""
        return self.pages(list_collections.sync_detailed, limit=200)

    def documents(self, collection_id: str | None = None) -> Iterator[DocumentSummary]:
        """Return the documents of a collection, or all, newest first and without bodies."""
        return self.pages(list_documents.sync_detailed, limit=200, collection_id=collection_id or UNSET)

    def answers(self) -> Iterator[Answer]:
        """Return the questions that were asked, newest first, with their answers."""
        return self.pages(list_answers.sync_detailed, limit=200)

    def security_events(self, after: str | None = None) -> Iterator[SecurityEventsPage]:
        """Return the pages of the feed of security events after a cursor, or from the beginning, until none is left.

        Keep the next_cursor of a page once its events are handled, and continue from it later.
        """
        while True:
            response = list_security_events.sync_detailed(client=self.rest, limit=200, after=after or UNSET)
            page = _known(response)
            if not isinstance(page, SecurityEventsPage):
                raise _unexpected(response)
            yield page
            if not page.has_more or not page.next_cursor:
                return
            after = page.next_cursor

    def collection(self, name: str, description: str | None = None) -> Collection:
        """Return the collection of that name, which is created if there is none.

        Programs with different keys that find none at once create one each.
        """
        found = [c for c in self.collections() if c.name == name]
        if len(found) > 1:
            raise ValueError(f"{len(found)} collections have the name {name!r}; choose one by its id")
        if found:
            return found[0]
        body = CollectionInput(name=name, description=description or f"Documents of {name}.")
        for turn in range(_REUSED):
            # Programs that find none at the same time send the same key, and get the same collection.
            made = self._create(body, str(uuid.uuid5(uuid.NAMESPACE_OID, f"docent collection\0{body.name}\0{body.description}\0{turn}")))
            try:
                response = get_collection.sync_detailed(made.id, client=self.rest)
            except DocentError as error:
                if error.status != 404:
                    raise
                continue  # the reply was that of a day's first call, and the collection was removed since
            now = _known(response)
            if not isinstance(now, Collection):
                raise _unexpected(response)
            if now.name == name:
                return now
        return self._create(body, str(uuid.uuid4()))

    def _create(self, body: CollectionInput, idempotency_key: str) -> Collection:
        response = create_collection.sync_detailed(client=self.rest, body=body, idempotency_key=idempotency_key)
        made = _known(response)
        if not isinstance(made, Collection):
            raise _unexpected(response)
        return made

    def upload(self, file: str | os.PathLike[str] | bytes, *, media_type: str | None = None) -> str:
        """Send a file whose text the server reads, such as a PDF, and return the id for upload of a DocumentInput; uploads.upload says how."""
        return upload(self.rest, file, media_type, self._transport)

    def put_folder(
        self,
        folder: str | os.PathLike[str],
        collection_id: str,
        *,
        base_uri: str | None = None,
        delete: bool = False,
        parallel: int = 8,
        prepare: Prepare | None = None,
        wait: float = 0.0,
    ) -> FolderResult:
        """Put the Markdown, text, reStructuredText, PDF and Office files below folder into a collection; folder.put_folder says how."""
        return put_folder(self.rest, self.documents, self.upload, Path(folder), collection_id, base_uri, delete, parallel, prepare, wait)


def _question(text: str, filter: Mapping[str, Any] | None, previous: str | None) -> Question:
    members: dict[str, Any] = {"question": text}
    if filter is not None:
        members["filter"] = dict(filter)
    if previous is not None:
        members["previousQuestionId"] = previous
    return Question.from_dict(members)


def _json(data: Mapping[str, Any]) -> bytes:
    return httpx.Request("POST", "http://x", json=dict(data)).content


def _known(response: Response[Problem | T]) -> T | None:
    return None if isinstance(response.parsed, Problem) else response.parsed


def _unexpected(response: Response[Any]) -> DocentError:
    return error_of(int(response.status_code), response.headers, response.content)


def _next(link: str) -> str | None:
    """Return the cursor of the next page (RFC 8288). The rest of the address is the caller's own."""
    for part in link.split(","):
        target, _, parameters = part.strip().partition(">")
        if target.startswith("<") and 'rel="next"' in parameters:
            return parse_qs(urlsplit(target[1:]).query).get("after", [None])[0]
    return None
