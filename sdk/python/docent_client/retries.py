"""Requests that are repeated where that may help and does no harm."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextvars import ContextVar

import anyio
import httpx

from .errors import DocentError, error_of

TRIES = 5
MAX_WAIT = 60.0
"""The longest wait in seconds. If a server asks for more, the caller has to decide."""


deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
"""When the caller gives up, by time.monotonic. No attempt begins after it, and each waits no longer for the server."""


def _limit(request: httpx.Request) -> None:
    end = deadline.get()
    if end is None:
        return
    left = end - time.monotonic()
    if left <= 0:
        raise httpx.ReadTimeout("the time of the caller is over", request=request)
    limits = request.extensions.get("timeout", {})
    request.extensions = {**request.extensions, "timeout": {name: left if limit is None else min(limit, left) for name, limit in limits.items()}}


class Resendable(httpx.SyncByteStream):
    """A body that can be sent again, such as a file that is read again each time."""


def wait_before(attempt: int, request: httpx.Request, error: Exception) -> float | None:
    """Return the seconds to wait after a failed attempt, counted from 1, or None if it must not be repeated.

    GET, PUT and DELETE are repeated, and POST with an Idempotency-Key. Any other request is
    repeated only if it changed nothing: it reached no server, or was refused for now.
    """
    if attempt >= TRIES or not isinstance(request.stream, (httpx.ByteStream, Resendable)):
        return None  # another stream can be sent once
    safe = request.method in ("GET", "HEAD", "PUT", "DELETE") or "Idempotency-Key" in request.headers
    wait: float | None = None
    if isinstance(error, DocentError):
        wait = error.retry_after
        if error.status == 429:
            if wait is None:
                return None
        elif error.status < 500 or not (safe or error.status == 503 and wait is not None):
            return None
    elif not safe and not isinstance(error, httpx.ConnectError):
        return None
    if wait is None:
        wait = 0.5 * 2 ** (attempt - 1) * random.uniform(1, 1.5)
    end = deadline.get()
    if end is not None and time.monotonic() + wait > end:
        return None
    return wait if wait <= MAX_WAIT else None


def _succeeded(response: httpx.Response) -> bool:
    return response.status_code < 300 or response.status_code == 304


def _elsewhere(request: httpx.Request, response: httpx.Response) -> httpx.Request | None:
    """Return the request for an original file that the server has elsewhere. The key is not sent there: the address is enough."""
    if request.method != "GET" or response.status_code != 302 or not request.url.path.endswith("/original"):
        return None
    return httpx.Request("GET", request.url.join(response.headers.get("location", "")), extensions=request.extensions)


def _is_json(response: httpx.Response) -> bool:
    media: str = response.headers.get("content-type", "")
    return media.startswith("application/json")


def _whole(response: httpx.Response, body: bytes) -> httpx.Response:
    """Return response with its body, as it was sent."""
    return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(body), extensions=response.extensions)


class Retries(httpx.BaseTransport):
    """A transport that repeats requests by wait_before, and raises DocentError for redirects and replies from 400 on.

    Only the redirect to an original file is followed. A reply of JSON has arrived wholly; other replies, such as files and events, are read by the caller.
    """

    def __init__(self, inner: httpx.BaseTransport, sleep: Callable[[float], None] = time.sleep) -> None:
        self.inner, self.sleep = inner, sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        attempt = 1
        while True:
            try:
                _limit(request)
                response = self.inner.handle_request(request)
                elsewhere = _elsewhere(request, response)
                if elsewhere is not None:
                    response.close()
                    response = self.inner.handle_request(elsewhere)
                if _succeeded(response):
                    if not _is_json(response) or not isinstance(response.stream, httpx.SyncByteStream):
                        return response
                    try:
                        return _whole(response, b"".join(response.stream))
                    finally:
                        response.close()
                try:
                    body = response.read()
                finally:
                    response.close()
                raise error_of(response.status_code, response.headers, body)
            except (httpx.TransportError, DocentError) as error:
                wait = wait_before(attempt, request, error)
                if wait is None:
                    raise
            self.sleep(wait)
            attempt += 1

    def close(self) -> None:
        self.inner.close()


class AsyncRetries(httpx.AsyncBaseTransport):
    """Retries for the asynchronous operations of docent_client.rest."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        attempt = 1
        while True:
            try:
                response = await self.inner.handle_async_request(request)
                elsewhere = _elsewhere(request, response)
                if elsewhere is not None:
                    await response.aclose()
                    response = await self.inner.handle_async_request(elsewhere)
                if _succeeded(response):
                    if not _is_json(response) or not isinstance(response.stream, httpx.AsyncByteStream):
                        return response
                    try:
                        return _whole(response, b"".join([part async for part in response.stream]))
                    finally:
                        await response.aclose()
                try:
                    body = await response.aread()
                finally:
                    await response.aclose()
                raise error_of(response.status_code, response.headers, body)
            except (httpx.TransportError, DocentError) as error:
                wait = wait_before(attempt, request, error)
                if wait is None:
                    raise
            await anyio.sleep(wait)
            attempt += 1

    async def aclose(self) -> None:
        await self.inner.aclose()
