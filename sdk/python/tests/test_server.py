"""The SDK against a running docent serve, which DOCENT_SERVER and DOCENT_API_KEY name."""

from __future__ import annotations

import asyncio
import os
import tempfile
import unittest
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import httpx

from docent_client import AnswerEvent, Docent, DocentError
from docent_client.rest.api.answers import list_answers
from docent_client.rest.api.collections import delete_collection, list_collections
from docent_client.rest.api.context import search_context
from docent_client.rest.api.documents import get_document, get_document_original, put_document
from docent_client.rest.models.access import Access
from docent_client.rest.models.collection import Collection
from docent_client.rest.models.document import Document
from docent_client.rest.models.document_input import DocumentInput
from docent_client.rest.models.document_receipt import DocumentReceipt
from docent_client.rest.models.metadata import Metadata
from docent_client.rest.models.search_request import SearchRequest
from docent_client.rest.types import UNSET, File

from .files import pdf

TEXT = "# Rolling back\n\nTo roll back a release, run `deployctl undo` within 24 hours.\n"
QUESTION = "How do I roll back a release?"


class Cut(httpx.BaseTransport):
    """Breaks the first streams of answers, as many as given, after an event each."""

    def __init__(self, cuts: int) -> None:
        self.inner, self.cuts, self.resumed = httpx.HTTPTransport(), cuts, list[str]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = self.inner.handle_request(request)
        if request.headers.get("Accept") != "text/event-stream":
            return response
        self.resumed.append(request.headers.get("Last-Event-ID", ""))
        if self.cuts == 0:
            return response
        self.cuts -= 1
        whole = response.read()

        class Broken(httpx.SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                yield b"\n\n".join(whole.split(b"\n\n")[:2]) + b"\n\n"
                raise httpx.ReadError("cut")

        return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, stream=Broken())


class Counted(httpx.BaseTransport):
    """Remembers which calls change something, but for those that send a file to its address."""

    inner = httpx.HTTPTransport()
    sent: ClassVar[list[str]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "GET" and not (request.method == "PUT" and "/uploads/" in request.url.path):
            self.sent.append(f"{request.method} {request.url.path}")
        return self.inner.handle_request(request)


class TestServer(unittest.TestCase):
    docent: Docent
    folder: Path
    handbook: Collection

    @classmethod
    def setUpClass(cls) -> None:
        cls.docent = Docent()
        cls.addClassCleanup(cls.docent.close)
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "sub dir").mkdir()
        (cls.folder / ".git").mkdir()
        for name, text in {"undo.md": TEXT, "sub dir/lunch.txt": "The canteen opens at noon.\n", ".git/x.md": "hidden", "a.png": ""}.items():
            (cls.folder / name).write_text(text)
        cls.handbook = cls.docent.collection("python-" + uuid.uuid4().hex[:8])
        result = cls.docent.put_folder(cls.folder, cls.handbook.id, base_uri="https://wiki.example/docs", wait=120)
        assert not result.failed and not result.pending, result
        assert [str(path.relative_to(cls.folder)) for path in result.put] == ["sub dir/lunch.txt", "undo.md"], result

    def test_collections_of_a_name_asked_for_at_once_are_one(self) -> None:
        name = f"once {uuid.uuid4().hex[:8]}"
        with ThreadPoolExecutor(8) as pool:
            ids = {made.id for made in pool.map(lambda _: self.docent.collection(name), range(8))}
        self.assertEqual(len(ids), 1)
        delete_collection.sync_detailed(ids.pop(), client=self.docent.rest)
        again = self.docent.collection(name)
        self.assertEqual(self.docent.collection(name).id, again.id)
        self.assertIn(again.id, [c.id for c in self.docent.collections()])

    def test_ask_waits_for_the_answer(self) -> None:
        identifier = str(uuid.uuid4())
        answer = self.docent.ask(QUESTION, question_id=identifier)
        self.assertIn("deployctl undo", str(answer.answer))
        self.assertIn("undo.md", str(answer.references))
        self.assertEqual(self.docent.ask(QUESTION, question_id=identifier).to_dict(), answer.to_dict())
        self.assertIn(identifier, [a.question_id for a in self.docent.answers()])

    def test_a_filter_restricts_what_is_found(self) -> None:
        answer = self.docent.ask(QUESTION, filter={"product": "none"})
        self.assertFalse(answer.references)

    def text_of(self, events: list[AnswerEvent]) -> str:
        text = ""
        for event in events:
            text = event.text if event.name == "text.replace" else text + event.text
        return text

    def test_a_stream_has_the_text_and_the_answer(self) -> None:
        events = list(self.docent.stream(QUESTION))
        self.assertEqual(events[0].name, "answer.created")
        self.assertTrue(any(s.url.endswith("undo.md") for e in events for s in e.sources))
        answer = events[-1].answer
        assert answer is not None
        self.assertEqual(self.text_of(events), answer.answer)

    def test_a_broken_stream_is_continued(self) -> None:
        cut = Cut(2)
        with Docent(transport=cut) as docent:
            events = list(docent.stream(QUESTION))
        answer = events[-1].answer
        assert answer is not None
        self.assertEqual(self.text_of(events), answer.answer)
        self.assertEqual(len(cut.resumed), 3)
        self.assertEqual(cut.resumed[0], "")
        self.assertNotIn("", cut.resumed[1:])

    def test_lists_are_read_to_the_end(self) -> None:
        for i in range(3):
            self.docent.ask(f"{QUESTION} {i}")
        pages = [a.question_id for a in self.docent.pages(list_answers.sync_detailed, limit=2)]
        self.assertGreater(len(pages), 2)
        self.assertEqual(pages, list(dict.fromkeys(pages)))
        self.assertLessEqual({"Rolling back", "lunch"}, {d.title for d in self.docent.documents(self.handbook.id)})

    def test_security_events_are_read_to_the_end(self) -> None:
        pages = list(self.docent.security_events())
        self.assertTrue(any(page.events for page in pages))
        self.assertFalse(pages[-1].has_more)
        cursor = pages[-1].next_cursor
        self.assertTrue(cursor)
        again = [event for page in self.docent.security_events(cursor) for event in page.events]
        self.assertLess(len(again), sum(len(page.events) for page in pages))

    def test_files_that_are_gone_are_deleted(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            collection = self.docent.collection("gone-" + uuid.uuid4().hex[:8])
            for file in ("a.md", "b.md"):
                (folder / file).write_text("# " + file)
            (folder / "bad.md").write_bytes(b"\xff\xfe\xff")
            (folder / "secret.md").write_text("---\ntitle: x\naccess:\n  users: [eve]\n---\nSecret.\n")
            result = self.docent.put_folder(folder, collection.id)
            self.assertEqual(sorted(Path(path).name for path in result.failed), ["bad.md", "secret.md"])
            (folder / "a.md").unlink()

            def limit(path: Path, document: DocumentInput) -> DocumentInput | None:
                document.access = Access(users=["eve"], groups=[])
                return document if path.name == "secret.md" else None

            result = self.docent.put_folder(folder, collection.id, delete=True, prepare=limit)
            self.assertEqual([Path(uri).name for uri in result.deleted], ["a.md"])
            self.assertEqual(sorted(Path(d.uri).name for d in self.docent.documents(collection.id)), ["b.md", "secret.md"])
            for path in folder.iterdir():
                path.unlink()
            with self.assertRaises(ValueError):
                self.docent.put_folder(folder, collection.id, delete=True)

    def test_files_that_are_not_put_are_not_gone(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder, base = Path(name), "https://wiki.example/kept/"
            collection = self.docent.collection("kept-" + uuid.uuid4().hex[:8])
            (folder / "a.md").write_text("# a")
            (folder / os.fsdecode(b"caf\xe9.md")).write_text("# The canteen")
            (folder / "page.html").write_text("<h1>Page</h1>")
            for uri in ("page.html", "gone.html", "../a.md", "b.md?version=2"):  # as docent put and other programs put them
                body = DocumentInput(body="x", collection_id=collection.id, title="x", uri=base + uri)
                put_document.sync_detailed(client=self.docent.rest, body=body)
            result = self.docent.put_folder(folder, collection.id, base_uri=base, delete=True)
            self.assertEqual((result.failed, result.deleted), ({}, [base + "gone.html"]))
            uris = sorted(d.uri.removeprefix(base) for d in self.docent.documents(collection.id))
            self.assertEqual(uris, ["../a.md", "a.md", "b.md?version=2", "caf%E9.md", "page.html"])

    def test_large_documents_are_put(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "large.txt").write_text("A line of a long log file.\n" * 200_000)
            result = self.docent.put_folder(name, self.handbook.id)
            self.assertEqual(result.failed, {})
            self.assertIn("large", [d.title for d in self.docent.documents(self.handbook.id)])

    def test_pdf_files_of_a_folder_are_put(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            collection = self.docent.collection("pdf-" + uuid.uuid4().hex[:8])
            (folder / "small.pdf").write_bytes(pdf("The cellar holds zeppelins."))
            (folder / "large.pdf").write_bytes(pdf("The attic holds quinces.", 5 << 20))
            (folder / "left.pdf").write_bytes(pdf("left out", 5 << 20))
            (folder / "empty.docx").touch()

            def choose(path: Path, document: DocumentInput) -> DocumentInput | None:
                return None if path.name == "left.pdf" else document

            for _ in range(2):
                result = self.docent.put_folder(folder, collection.id, base_uri="https://wiki.example/pdf", prepare=choose, wait=120)
                self.assertEqual({Path(path).name: reason for path, reason in result.failed.items()}, {"empty.docx": "it is empty"})
                self.assertEqual((result.pending, [path.name for path in result.put]), ([], ["large.pdf", "small.pdf"]))
            for query in ("cellar zeppelins", "attic quinces"):
                found = search_context.sync(client=self.docent.rest, body=SearchRequest(query=query))
                self.assertIn(query.split()[1], str(found))

    def test_restructured_text_of_a_folder_is_put(self) -> None:
        with tempfile.TemporaryDirectory() as name, Docent(transport=Counted()) as docent:
            folder, sent = Path(name), Counted.sent
            collection = docent.collection("rst-" + uuid.uuid4().hex[:8])
            base = "https://wiki.example/rst/"
            text = "Cellar\n~~~~~~\n\nIt holds demijohns.\n"
            old = put_document.sync(client=docent.rest, body=DocumentInput(collection.id, "guide", base + "guide.rst", body=text))
            (folder / "guide.rst").write_text(text)
            (folder / "latin.rst").write_bytes(b"Caf\xe9\n====\n")
            (folder / "empty.rst").touch()
            for wanted in (["PUT /v1/documents", "PUT /v1/documents"], ["PUT /v1/documents"]):
                sent.clear()
                result = docent.put_folder(folder, collection.id, base_uri=base, wait=120)
                reasons = {Path(path).name: reason for path, reason in result.failed.items()}
                self.assertEqual(reasons, {"empty.rst": "it is empty", "latin.rst": "The file is not text in UTF-8. Save it as UTF-8."})
                self.assertEqual(sent, wanted)
            assert isinstance(old, DocumentReceipt)
            found = get_document.sync(old.id, client=docent.rest)
            assert isinstance(found, Document)
            self.assertEqual((found.media_type, found.body), ("text/x-rst", "# Cellar\n\nIt holds demijohns.\n\n"))

    def test_pdf_files_that_have_not_changed_are_not_sent(self) -> None:
        with tempfile.TemporaryDirectory() as name, Docent(transport=Counted()) as docent:
            folder, sent = Path(name), Counted.sent
            collection = docent.collection("unchanged-" + uuid.uuid4().hex[:8])
            (folder / "small.pdf").write_bytes(pdf("The cellar holds barrels."))
            (folder / "large.pdf").write_bytes(pdf("The attic holds trunks.", 5 << 20))

            def put(change: Callable[[DocumentInput], None], wanted: list[str]) -> None:
                def prepare(path: Path, document: DocumentInput) -> DocumentInput:
                    change(document)
                    return document

                sent.clear()
                result = docent.put_folder(folder, collection.id, base_uri="https://wiki.example/unchanged", prepare=prepare)
                self.assertEqual((result.failed, len(result.put), sorted(sent)), ({}, 2, wanted))

            def labelled(document: DocumentInput) -> None:
                document.metadata = Metadata.from_dict({"version": 2, "labels": ["a", "b"]})
                document.access = Access(users=[], groups=[])

            def numbered(document: DocumentInput) -> None:
                document.metadata = Metadata.from_dict({"final": 1})

            def marked(document: DocumentInput) -> None:
                document.metadata = Metadata.from_dict({"final": True})

            def kept(document: DocumentInput) -> None:
                labelled(document)
                document.access, document.keep_access = UNSET, True

            def titled(document: DocumentInput) -> None:
                kept(document)
                document.title += " of the house"

            whole = ["POST /v1/uploads", "PUT /v1/documents", "PUT /v1/documents"]
            for change in (lambda _: None, numbered, marked, labelled, titled):
                put(change, whole)
                put(change, [])
            put(labelled, whole)
            put(kept, [])
            put(lambda _: None, whole)
            (folder / "large.pdf").write_bytes(pdf("The attic holds chests.", 5 << 20))  # of the same size
            put(lambda _: None, ["POST /v1/uploads", "PUT /v1/documents"])

    def test_pdf_files_that_could_not_be_read_are_sent_again(self) -> None:
        with tempfile.TemporaryDirectory() as name, Docent(transport=Counted()) as docent:
            folder, sent = Path(name), Counted.sent
            collection = docent.collection("broken-" + uuid.uuid4().hex[:8])
            (folder / "broken.pdf").write_bytes(b"%PDF-1.7\n, and no more of it")
            (folder / "whole.pdf").write_bytes(pdf("The cellar holds crates."))
            for wanted in (["PUT /v1/documents", "PUT /v1/documents"], ["PUT /v1/documents"]):
                sent.clear()
                result = docent.put_folder(folder, collection.id, base_uri="https://wiki.example/broken", wait=120)
                self.assertEqual(([Path(path).name for path in result.failed], sent), (["broken.pdf"], wanted))

    def test_an_upload_is_for_one_document(self) -> None:
        data = pdf("The shed holds ladders.")
        upload = self.docent.upload(data, media_type="application/pdf")
        body = DocumentInput(self.handbook.id, "Shed", "https://wiki.example/shed.pdf", upload=upload)
        put_document.sync(client=self.docent.rest, body=body)
        receipt = put_document.sync(client=self.docent.rest, body=body)  # as after a reply that was lost
        assert isinstance(receipt, DocumentReceipt)
        file = get_document_original.sync(receipt.id, client=self.docent.rest)
        assert isinstance(file, File)
        self.assertEqual(file.payload.read(), data)
        body.uri = "https://wiki.example/other.pdf"
        with self.assertRaises(DocentError):
            put_document.sync(client=self.docent.rest, body=body)
        with Docent(key="docent_team_wrong") as stranger, self.assertRaises(DocentError) as refused:
            stranger.upload(data, media_type="application/pdf")
        self.assertEqual(refused.exception.status, 401)

    def test_refusals_are_errors(self) -> None:
        with self.assertRaises(DocentError) as caught:
            self.docent.ask("")
        self.assertEqual((caught.exception.status, caught.exception.code), (400, "invalid-request"))
        self.assertTrue(caught.exception.request_id)
        with Docent(key="docent_team_wrong") as stranger, self.assertRaises(DocentError) as refused:
            list(stranger.collections())
        self.assertEqual(refused.exception.status, 401)
        with Docent(key="docent_team_wrong") as stranger, self.assertRaises(DocentError):
            stranger.put_folder(self.folder, self.handbook.id)

    def test_generated_operations_also_run_asynchronously(self) -> None:
        async def run() -> Any:
            return await list_collections.asyncio(client=self.docent.rest)

        collections = asyncio.run(run())
        self.assertIn(self.handbook.id, [c.id for c in collections])

    def test_every_module_can_be_imported(self) -> None:
        import importlib
        import pkgutil

        import docent_client

        modules = [m.name for m in pkgutil.walk_packages(docent_client.__path__, "docent_client.")]
        self.assertGreater(len(modules), 200)
        for module in modules:
            importlib.import_module(module)


if __name__ == "__main__":
    assert os.environ.get("DOCENT_API_KEY"), "set DOCENT_API_KEY"
    unittest.main()
