"""Requests that are repeated where that may help and does no harm."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import anyio
import httpx

from .errors import DocentError, error_of

TRIES = 5
MAX_WAIT = 60.0
"""The longest wait in seconds. If a server asks for more, the caller has to decide."""


def wait_before(attempt: int, request: httpx.Request, error: Exception) -> float | None:
    """Return the seconds to wait after a failed attempt, counted from 1, or None if it must not be repeated.

    GET, PUT and DELETE are repeated, and POST with an Idempotency-Key. Any other request is
    repeated only if it changed nothing: it reached no server, or was refused for now.
    """
    if attempt >= TRIES or not isinstance(request.stream, httpx.ByteStream):
        return None  # a body that is read from a file can be sent once
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
    return wait if wait <= MAX_WAIT else None


def _succeeded(response: httpx.Response) -> bool:
    return response.status_code < 300 or response.status_code == 304


class Retries(httpx.BaseTransport):
    """A transport that repeats requests by wait_before, and raises DocentError for redirects and replies from 400 on."""

    def __init__(self, inner: httpx.BaseTransport, sleep: Callable[[float], None] = time.sleep) -> None:
        self.inner, self.sleep = inner, sleep

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        attempt = 1
        while True:
            try:
                response = self.inner.handle_request(request)
                if _succeeded(response):
                    return response
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
                if _succeeded(response):
                    return response
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
