"""What is repeated, how long is waited, and what is given up."""

from __future__ import annotations

import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

import httpx

from docent_client import Docent, DocentError
from docent_client.retries import Retries

Reply = httpx.Response | httpx.TransportError


def refusal(status: int, retry_after: str | None = None) -> httpx.Response:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return httpx.Response(status, headers=headers, json={"status": status, "code": "c", "detail": "D.", "requestId": "r"})


class TestRetries(unittest.TestCase):
    def send(self, request: httpx.Request, *replies: Callable[[], Reply]) -> tuple[httpx.Response | Exception, list[float], int]:
        waits: list[float] = []
        sent: list[bytes] = []

        class Server(httpx.BaseTransport):
            def handle_request(self, request: httpx.Request) -> httpx.Response:
                assert isinstance(request.stream, httpx.SyncByteStream)
                sent.append(b"".join(request.stream))
                reply = replies[min(len(sent), len(replies)) - 1]()
                if isinstance(reply, Exception):
                    raise reply
                return reply

        transport = Retries(Server(), waits.append)
        try:
            return transport.handle_request(request), waits, len(sent)
        except (DocentError, httpx.TransportError) as error:
            return error, waits, len(sent)

    def test_what_is_repeated(self) -> None:
        ok = lambda: httpx.Response(200)  # noqa: E731
        unreached = lambda: httpx.ConnectError("refused")  # noqa: E731
        broken = lambda: httpx.ReadError("broken")  # noqa: E731
        for name, method, headers, first, times in (
            ("a read that fails", "GET", {}, lambda: refusal(500), 2),
            ("a put that breaks", "PUT", {}, broken, 2),
            ("a refusal for good", "PUT", {}, lambda: refusal(400), 1),
            ("a redirect", "PUT", {}, lambda: httpx.Response(301, headers={"Location": "https://x/"}), 1),
            ("a used-up quota", "GET", {}, lambda: refusal(429), 1),
            ("too many requests", "POST", {}, lambda: refusal(429, "1"), 2),
            ("a day to wait", "GET", {}, lambda: refusal(429, "86400"), 1),
            ("a busy server", "POST", {}, lambda: refusal(503, "1"), 2),
            ("a post that failed", "POST", {}, lambda: refusal(500), 1),
            ("a post that broke", "POST", {}, broken, 1),
            ("a post that reached nobody", "POST", {}, unreached, 2),
            ("a post with a key", "POST", {"Idempotency-Key": "k"}, broken, 2),
        ):
            with self.subTest(name):
                result, waits, sent = self.send(httpx.Request(method, "http://x/", headers=headers, content=b"body"), first, ok)
                self.assertEqual(sent, times)
                self.assertEqual(isinstance(result, httpx.Response), times == 2)
                self.assertEqual(len(waits), times - 1)

    def test_it_waits_as_long_as_the_server_says(self) -> None:
        _, waits, _ = self.send(httpx.Request("GET", "http://x/"), lambda: refusal(503, "7"), lambda: httpx.Response(200))
        self.assertEqual(waits, [7.0])

    def test_it_gives_up(self) -> None:
        error, waits, sent = self.send(httpx.Request("GET", "http://x/"), lambda: refusal(500))
        assert isinstance(error, DocentError)
        self.assertEqual((error.status, error.code, error.detail, error.request_id, sent), (500, "c", "D.", "r", 5))
        for i, wait in enumerate(waits):
            self.assertTrue(0.5 * 2**i <= wait <= 0.75 * 2**i, waits)

    def test_a_body_of_a_stream_is_sent_once(self) -> None:
        _, _, sent = self.send(httpx.Request("PUT", "http://x/", content=iter([b"a"])), lambda: refusal(500))
        self.assertEqual(sent, 1)

    def test_a_reply_of_something_else(self) -> None:
        error, _, _ = self.send(httpx.Request("POST", "http://x/"), lambda: httpx.Response(502, text="<html>", headers={"X-Request-Id": "p"}))
        assert isinstance(error, DocentError)
        self.assertEqual((error.status, error.code, error.request_id), (502, "", "p"))

    def test_an_address_that_is_none(self) -> None:
        for server in ("localhost:8080", "ftp://x/v1"):
            with self.assertRaises(ValueError):
                Docent(server, "key")

    def test_nothing_is_put_where_the_server_redirects(self) -> None:
        moved = httpx.MockTransport(lambda request: httpx.Response(301, headers={"Location": "https://wiki.example/v1/documents"}))
        with tempfile.TemporaryDirectory() as folder, Docent("http://wiki.example", "key", transport=moved) as docent:
            (Path(folder) / "a.md").write_text("# a")
            result = docent.put_folder(folder, "c")
        self.assertEqual(result.put, [])
        self.assertIn("answered 301 and points to https://wiki.example/v1/documents", "".join(result.failed.values()))
