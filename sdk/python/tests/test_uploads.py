"""Files that are sent to an address, by a server that fails."""

from __future__ import annotations

import json
import tempfile
import threading
import tracemalloc
import unittest
from collections.abc import Callable
from email.utils import formatdate
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from docent_client import Docent, DocentError
from docent_client.uploads import MAX_PDF, MAX_RST, MAX_UPLOAD, MEDIA_TYPES, PDF

FILE = b"%PDF-1.7\nA report.\n"
QUERY = "X-Amz-Credential=AKIA%2F20261121&X-Amz-Signature=hidden"
BROKEN = 0
"""A try whose connection breaks after the file has arrived."""


class Store:
    """An API with one upload, whose address gives these statuses one after the other, and the last of them again."""

    def __init__(self, statuses: list[int], life: int = 900, retry_after: str = "0", headers: dict[str, str] | None = None) -> None:
        self.asked = list[Any]()
        self.sent = list[tuple[dict[str, str], str]]()
        """The headers and the SHA-256 of each try."""
        self.others = list[str]()
        store = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                store.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                reply = {"id": "the-id", "uploadUrl": f"{store.base}/bucket/a?{QUERY}", "method": "PUT", "expiresAt": "2026-11-21T12:15:00.000Z"}
                sent = {"Content-Type": "application/pdf", "If-None-Match": "*", "X-Amz-Checksum-Sha256": "x"}
                self.date = formatdate(1795263300 - life, usegmt=True)
                self.reply(201, json.dumps({**reply, "headers": sent}).encode(), {"Content-Type": "application/json"})

            def do_PUT(self) -> None:
                if self.path != "/bucket/a?" + QUERY:
                    store.others.append(self.path)
                digest = sha256()
                left = int(self.headers["Content-Length"])
                while left > 0:
                    part = self.rfile.read(min(left, 1 << 16))
                    left -= len(part)
                    digest.update(part)
                store.sent.append((dict(self.headers.items()), digest.hexdigest()))
                status = statuses[min(len(store.sent), len(statuses)) - 1]
                if status == BROKEN:
                    self.close_connection = True
                    return
                location = {"Location": f"{store.base}/elsewhere?{QUERY}"} if status == 307 else {}
                self.reply(status, b"", {"Retry-After": retry_after, **location, **(headers or {})})

            date = ""

            def date_time_string(self, timestamp: float | None = None) -> str:
                return self.date or super().date_time_string(timestamp)

            def reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self) -> Docent:
        self.docent = Docent(self.base, "key")
        return self.docent

    def __exit__(self, *_: object) -> None:
        self.docent.close()
        self.server.shutdown()
        self.server.server_close()


class TestUploads(unittest.TestCase):
    folder: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "report.PDF").write_bytes(FILE)

    def sparse(self, name: str, size: int) -> Path:
        path = self.folder / name
        with path.open("wb") as file:
            file.truncate(size)
        return path

    def test_a_file_is_sent_to_its_address(self) -> None:
        for name, statuses, refused in (
            ("at once", [204], 0),
            ("of S3", [200], 0),
            ("again", [503, 500, 204], 0),
            ("after a break", [BROKEN, 204], 0),
            ("its reply was lost", [BROKEN, 412], 0),
            ("its reply was lost at serve", [500, 409], 0),
            ("the address was used", [409], 409),
            ("the address has expired", [403], 403),
            ("it redirects", [307], 307),
            ("it fails each time", [503, 503, 503, 503, 503], 503),
        ):
            store = Store(statuses)
            with self.subTest(name), store as docent:
                try:
                    self.assertEqual((docent.upload(self.folder / "report.PDF"), 0), ("the-id", refused))
                except DocentError as error:
                    self.assertEqual(error.status, refused)
                    self.assertRegex(str(error), "^The address of the upload answered")
                    self.assertNotIn("hidden", str(error))
                self.assertEqual(store.asked, [{"mediaType": PDF, "size": len(FILE), "sha256": sha256(FILE).hexdigest()}])
                self.assertEqual([digest for _, digest in store.sent], [sha256(FILE).hexdigest()] * len(statuses))
                self.assertEqual(store.others, [])
                for headers, _ in store.sent:
                    wanted = {"Content-Type": PDF, "If-None-Match": "*", "X-Amz-Checksum-Sha256": "x", "Content-Length": str(len(FILE))}
                    self.assertEqual(headers, {"Host": store.base.removeprefix("http://"), **wanted})

    def test_a_refusal_of_the_server_itself_keeps_its_code(self) -> None:
        def server(request: httpx.Request) -> httpx.Response:
            if request.method == "POST":
                return httpx.Response(409, json={"status": 409, "code": "upload-limit", "detail": "This team has 20 uploads."})
            raise AssertionError(request.url)

        with Docent("http://x", "key", transport=httpx.MockTransport(server)) as docent, self.assertRaises(DocentError) as caught:
            docent.upload(FILE, media_type=PDF)
        self.assertEqual(caught.exception.code, "upload-limit")

    def test_an_address_that_has_expired_by_then_is_not_tried_again(self) -> None:
        store = Store([503], life=20, retry_after="30")
        with store as docent, self.assertRaises(DocentError):
            docent.upload(FILE, media_type=PDF)
        self.assertEqual(len(store.sent), 1)

    def test_an_address_that_is_none(self) -> None:
        reply = {"id": "i", "uploadUrl": "file:///hidden", "method": "PUT", "headers": {}, "expiresAt": "2026-11-21T12:15:00.000Z"}
        with Docent("http://x", "key", transport=httpx.MockTransport(lambda _: httpx.Response(201, json=reply))) as docent:
            with self.assertRaises(ValueError) as refused:
                docent.upload(FILE, media_type=PDF)
        self.assertNotIn("hidden", str(refused.exception))

    def test_what_cannot_be_sent_is_not_asked_for(self) -> None:
        def server(request: httpx.Request) -> httpx.Response:
            raise AssertionError(request.url)

        with Docent("http://x", "key", transport=httpx.MockTransport(server)) as docent:
            tries: tuple[tuple[str, Callable[[], str], str], ...] = (
                ("no media type", lambda: docent.upload(FILE), "give a media_type"),
                ("another media type", lambda: docent.upload(FILE, media_type="text/plain"), "give a media_type"),
                ("another extension", lambda: docent.upload(self.sparse("a.txt", 1)), "give a media_type"),
                ("empty", lambda: docent.upload(b"", media_type=PDF), "it is empty"),
                ("a large PDF", lambda: docent.upload(self.sparse("large.pdf", MAX_PDF + 1)), "it has over 96 MB"),
                ("large reStructuredText", lambda: docent.upload(self.sparse("large.rst", MAX_RST + 1)), "it has over 4 MB"),
                ("a large file", lambda: docent.upload(self.sparse("large.docx", MAX_UPLOAD + 1)), "it has over 100 MB"),
            )
            for name, call, reason in tries:
                with self.subTest(name), self.assertRaisesRegex(ValueError, reason):
                    call()
            with self.assertRaises(FileNotFoundError):
                docent.upload(self.folder / "none.pdf")

    def test_a_file_is_not_read_into_memory(self) -> None:
        store = Store([503, 200])
        path = self.sparse("sheet.xlsx", 32 << 20)
        with store as docent:
            tracemalloc.start()
            try:
                docent.upload(path)
                _, peak = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
        self.assertEqual((len(store.sent), store.asked[0]["mediaType"]), (2, MEDIA_TYPES[".xlsx"]))
        self.assertLess(peak, 8 << 20)

    def test_a_file_that_becomes_shorter_is_not_sent_again(self) -> None:
        path = self.sparse("cut.pdf", 1 << 20)
        sent = 0

        def server(request: httpx.Request) -> httpx.Response:
            nonlocal sent
            if request.method == "POST":
                with path.open("wb"):
                    pass
                reply = {"id": "i", "uploadUrl": "http://x/a", "method": "PUT", "headers": {}, "expiresAt": "2026-11-21T12:15:00.000Z"}
                return httpx.Response(201, json=reply)
            sent += 1
            request.read()
            return httpx.Response(200)

        with Docent("http://x", "key", transport=httpx.MockTransport(server)) as docent:
            with self.assertRaisesRegex(ValueError, "became shorter"):
                docent.upload(path)
        self.assertLessEqual(sent, 1)
