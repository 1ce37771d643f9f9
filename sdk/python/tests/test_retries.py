"""What is repeated, how long is waited, and what is given up."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

import httpx

from docent_client import Docent, DocentError
from docent_client.proxy import proxy_of
from docent_client.rest.api.documents import get_document_original
from docent_client.rest.types import File
from docent_client.retries import Retries

Reply = httpx.Response | httpx.TransportError


class Cut(httpx.SyncByteStream):
    """A body whose connection breaks."""

    def __iter__(self) -> Iterator[bytes]:
        yield b"["
        raise httpx.ReadError("broken")


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
        cut = lambda: httpx.Response(200, headers={"Content-Type": "application/json"}, stream=Cut())  # noqa: E731
        for name, method, headers, first, times in (
            ("a read that fails", "GET", {}, lambda: refusal(500), 2),
            ("a put that breaks", "PUT", {}, broken, 2),
            ("a reply that breaks", "GET", {}, cut, 2),
            ("the reply to a post that breaks", "POST", {}, cut, 1),
            ("a permanent refusal", "PUT", {}, lambda: refusal(400), 1),
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

    def test_a_question_is_not_waited_for_longer(self) -> None:
        silent = socket.create_server(("127.0.0.1", 0))
        with silent, mock.patch("docent_client.docent._GRACE", 0.1), Docent(f"http://127.0.0.1:{silent.getsockname()[1]}", "key") as docent:
            with self.assertRaisesRegex(TimeoutError, "question q is not answered after 0.2 seconds"):
                docent.ask("Who?", question_id="q", timeout=0.2)

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

    def test_an_original_file_is_read_where_it_is(self) -> None:
        sent: list[tuple[str, bool]] = []

        def server(request: httpx.Request) -> httpx.Response:
            sent.append((str(request.url), "Authorization" in request.headers))
            if request.url.host == "files.example":
                return httpx.Response(200, content=b"%PDF", headers={"Content-Type": "application/pdf"})
            return httpx.Response(302, headers={"Location": "https://files.example/a?signature=x"})

        with Docent("https://wiki.example", "key", transport=httpx.MockTransport(server)) as docent:
            file = get_document_original.sync("d", client=docent.rest)
        assert isinstance(file, File)
        self.assertEqual(file.payload.read(), b"%PDF")
        self.assertEqual(sent, [("https://wiki.example/v1/documents/d/original", True), ("https://files.example/a?signature=x", False)])

    def test_keys_and_addresses_as_people_give_them(self) -> None:
        seen: list[httpx.Request] = []

        def reply(request: httpx.Request) -> httpx.Response:
            seen.append(request)
            return httpx.Response(200, json=[])

        with Docent("http://x", "key\r\n", transport=httpx.MockTransport(reply)) as docent:
            self.assertEqual(list(docent.collections()), [])
        self.assertEqual((seen[0].url.path, seen[0].headers["Authorization"]), ("/v1/collections", "Bearer key"))
        for key in ("one\ntwo", "k\x00", "ké"):
            with self.assertRaises(ValueError) as refused:
                Docent("http://x", key)
            self.assertNotIn(key, str(refused.exception))

    def test_the_proxy_of_the_environment(self) -> None:
        variables = {"HTTPS_PROXY": "http://proxy:3128", "http_proxy": "plain:80", "NO_PROXY": "inside.example"}
        for server, proxy in (
            ("https://docent.example/v1", "http://proxy:3128"),
            ("http://docent.example/v1", "http://plain:80"),
            ("https://docs.inside.example/v1", None),
            ("http://127.0.0.1:8080/v1", None),
            ("http://[::1]:8080/v1", None),
            ("http://localhost:8080/v1", None),
        ):
            with self.subTest(server), mock.patch.dict(os.environ, variables, clear=True):
                self.assertEqual(proxy_of(server), proxy)

    def test_requests_go_through_the_proxy(self) -> None:
        paths: list[str] = []

        class Proxy(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                paths.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(b"[]")

            def log_message(self, format: str, *args: object) -> None:
                pass

        with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            variables = {"http_proxy": f"http://127.0.0.1:{server.server_port}"}
            with mock.patch.dict(os.environ, variables, clear=True), Docent("http://docent.example", "key") as docent:
                self.assertEqual(list(docent.collections()), [])
            server.shutdown()
        self.assertEqual(paths, ["http://docent.example/v1/collections?limit=200"])
