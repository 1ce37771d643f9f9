"""Folders of documents."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import BoundedSemaphore
from urllib.parse import quote, unquote_to_bytes

import httpx

from .errors import DocentError
from .rest import AuthenticatedClient
from .rest.api.documents import delete_document, get_document, put_document
from .rest.models.document import Document
from .rest.models.document_input import DocumentInput
from .rest.models.document_input_media_type_type_1 import DocumentInputMediaTypeType1
from .rest.models.document_receipt import DocumentReceipt
from .rest.models.document_summary import DocumentSummary
from .rest.models.indexing_state import IndexingState
from .rest.types import Unset
from .uploads import MEDIA_TYPES, check_size

KINDS = (".md", ".markdown", ".mdx", ".txt", ".text", *MEDIA_TYPES)
MAX_DOCUMENT = 10 << 20
PACK_FROM = 4 << 20
"""The size in bytes from which a text is sent compressed, and another file to an address of its own."""
UPLOADS = 4
"""How many files are sent to addresses at a time. A team may have 20 uploads that no document uses yet."""

Prepare = Callable[[Path, DocumentInput], DocumentInput | None]
"""Changes a document before it is put, for example its metadata and access; None leaves the file out."""


@dataclass
class FolderResult:
    """What put_folder did, by paths and URIs."""

    put: list[Path] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """The reason by path or URI."""
    pending: list[Path] = field(default_factory=list)
    """Files whose documents were put, but not found yet when the time to wait was over."""


def put_folder(
    rest: AuthenticatedClient,
    documents: Callable[[str], Iterator[DocumentSummary]],
    upload: Callable[[Path], str],
    folder: Path,
    collection_id: str,
    base_uri: str | None = None,
    delete: bool = False,
    parallel: int = 8,
    prepare: Prepare | None = None,
    wait: float = 0.0,
) -> FolderResult:
    """Put the Markdown, text, reStructuredText, PDF and Office files below folder into a collection, several at a time.

    A file's URI is base_uri followed by its path below folder; without base_uri it is its file: URI.
    A file that has not changed changes nothing on the server, so a run that broke off is started
    again. A PDF, Office or reStructuredText file that has not changed is not sent either, if the key may
    read documents, unless it could not be read or indexed before. Hidden files and folders, and
    node_modules, are left out. A file that fails does not stop the others. A key that is refused, or a
    used-up quota, does: DocentError.

    With delete, documents of the collection are removed whose URI is below base_uri and whose file is
    gone, whatever its kind; a folder without any file to put is then an error. Front matter is not read: a file whose front
    matter says who may read it fails unless prepare sets its access. With wait, at most so many
    seconds are waited until questions find what was put; a file whose text cannot be read then fails.

    A PDF or Office file over 4 MB is uploaded after prepare, which sees its document without body and upload.
    """
    folder = Path(os.path.abspath(folder))
    base = base_uri or "file://" + _escape(folder.as_posix() if folder.as_posix().startswith("/") else "/" + folder.as_posix())
    if not base.endswith(("/", "=")):
        base += "/"
    files = {base + _escape(path.relative_to(folder).as_posix()): path for path in _files(folder)}
    if delete and not files:
        raise ValueError(f"{folder} has no file to put, so every document under {base} would be removed")
    result = FolderResult()
    known = _known(documents, collection_id) if any(path.suffix.lower() in MEDIA_TYPES for path in files.values()) else {}
    sending = BoundedSemaphore(UPLOADS)
    stored: dict[Path, str] = {}
    end = 0.0

    def failed(identifier: str) -> bool:
        """Report whether the server tries again when a document is put as it is stored; also if it is gone."""
        try:
            document = get_document.sync(identifier, client=rest)
        except DocentError as error:
            if error.status == 404:
                return True
            raise
        return not isinstance(document, Document) or document.indexing.state is IndexingState.FAILED

    def put(uri: str, path: Path) -> None:
        try:
            document = _document(path, uri, collection_id)
            large = not document.body
            if prepare is not None:
                prepared = prepare(path, document)
                if prepared is None:
                    return
                document = prepared
            if uri in known and document.uri == uri and document.collection_id == collection_id and _is_stored(known[uri], path, document) and not failed(known[uri].id):
                result.put.append(path)
                stored[path] = known[uri].id
                return
            if isinstance(document.body, str) and not document.media_type:
                if isinstance(document.access, Unset) and re.match(r"---\r?\n(?:(?!---).*\n)*access\s*:", document.body):
                    raise ValueError("its front matter says who may read it, which is not read here: set access by prepare")
                document.body = _packed(document.body)
            if large and not document.body and not document.upload:
                with sending:
                    document.upload = upload(path)
                    receipt = put_document.sync(client=rest, body=document)
            else:
                receipt = put_document.sync(client=rest, body=document)
            if not isinstance(receipt, DocumentReceipt):
                raise ValueError("the reply is not one of Docent's API")
            result.put.append(path)
            stored[path] = receipt.id
        except (OSError, ValueError, httpx.TransportError, DocentError) as error:
            _fail(result, str(path), error)

    def remove(uri: str, identifier: str) -> None:
        try:
            delete_document.sync_detailed(identifier, client=rest)
            result.deleted.append(uri)
        except (httpx.TransportError, DocentError) as error:
            _fail(result, uri, error)

    def await_index(path: Path, identifier: str) -> None:
        try:
            pause = 0.05
            while True:
                document = get_document.sync(identifier, client=rest)
                indexing = document.indexing if isinstance(document, Document) else None
                if indexing is None or indexing.state is IndexingState.INDEXED:
                    return
                if indexing.state is IndexingState.FAILED:
                    reason = indexing.error.detail if not isinstance(indexing.error, Unset) else ""
                    result.failed[str(path)] = reason or "it could not be indexed"
                    return
                if time.monotonic() + pause > end:
                    result.pending.append(path)
                    return
                time.sleep(pause)
                pause = min(2 * pause, 2.0)
        except (httpx.TransportError, DocentError) as error:
            _fail(result, str(path), error)

    with ThreadPoolExecutor(parallel) as pool:
        try:
            list(pool.map(put, files.keys(), files.values()))
            if delete:
                gone = {d.uri: d.id for d in documents(collection_id) if d.uri not in files and _is_gone(folder, base, d.uri)}
                list(pool.map(remove, gone.keys(), gone.values()))
            if wait > 0:
                end = time.monotonic() + wait
                list(pool.map(await_index, stored.keys(), stored.values()))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    result.put.sort()
    result.deleted.sort()
    result.pending.sort()
    return result


def _known(documents: Callable[[str], Iterator[DocumentSummary]], collection_id: str) -> dict[str, DocumentSummary]:
    """Return the documents of files in a collection by their URIs; none for a key that may only write."""
    try:
        return {d.uri: d for d in documents(collection_id) if not isinstance(d.sha256, Unset)}
    except DocentError as error:
        if error.status == 403:
            return {}
        raise


def _is_stored(known: DocumentSummary, path: Path, document: DocumentInput) -> bool:
    """Report whether putting the file of path as document would change nothing of what is stored."""
    body, old, new = document.body, known.to_dict(), document.to_dict()
    old_access = new_access = None
    if new.pop("keepAccess", False) is not True:
        old_access, new_access = old.get("access"), new.get("access")
    if old_access != new_access or any(_text(old.get(name)) != _text(new.get(name)) for name in ("title", "mediaType", "metadata")):
        return False
    if set(new) - {"body", "collectionId", "uri", "title", "mediaType", "metadata", "access"} or not isinstance(known.size, int):
        return False  # it has an upload, or what is not known here
    digest = hashlib.sha256()
    if isinstance(body, str) and body:
        digest.update(base64.b64decode(body))
    elif path.stat().st_size != known.size:
        return False
    else:
        with path.open("rb") as file:
            while part := file.read(64 << 10):
                digest.update(part)
    return digest.hexdigest() == known.sha256


def _text(value: object) -> str:
    """Return a text to compare values by with their types, which == does not: 1 == True."""
    return json.dumps(value, sort_keys=True)


def _fail(result: FolderResult, what: str, error: Exception) -> None:
    if isinstance(error, DocentError) and error.status in (401, 403, 429):
        raise error  # every further call would fail as well
    result.failed[what] = str(error)


def _files(folder: Path) -> Iterator[Path]:
    def stop(error: OSError) -> None:
        raise error  # a folder that cannot be read must not look empty

    for root, folders, names in os.walk(folder, onerror=stop):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        for name in sorted(names):
            path = Path(root, name)
            if not name.startswith(".") and path.suffix.lower() in KINDS and path.is_file():
                yield path


def _document(path: Path, uri: str, collection_id: str) -> DocumentInput:
    """Return the document of a file; it has no body if the file is uploaded."""
    document = DocumentInput(collection_id=collection_id, title=os.fsencode(path.stem).decode(errors="replace")[:1024], uri=uri)
    media_type = MEDIA_TYPES.get(path.suffix.lower())
    if media_type is not None:
        document.media_type = DocumentInputMediaTypeType1(media_type)
        size = path.stat().st_size
        check_size(size, media_type)
        if size <= PACK_FROM:
            document.body = base64.b64encode(path.read_bytes()).decode()
        return document
    data = path.read_bytes()
    if len(data) > MAX_DOCUMENT:
        raise ValueError("it has over 10 MB")
    document.body = body = data.decode("utf-8-sig")
    if not body.strip():
        raise ValueError("it is empty")
    heading = re.search(r"^# +(\S.*?)\s*#*\s*$", body, re.MULTILINE)
    if heading:
        document.title = heading.group(1)[:1024]
    return document


def _packed(body: str) -> str:
    """Return a large text as base64 of its gzip form, because gateways limit the size of requests."""
    data = body.encode()
    return base64.b64encode(gzip.compress(data)).decode() if len(data) > PACK_FROM else body


def _is_gone(folder: Path, base: str, uri: str) -> bool:
    """Report whether uri belongs to a path below folder at which no file exists, neither of another kind nor out of reach."""
    if not uri.startswith(base):
        return False
    name = os.fsdecode(unquote_to_bytes(uri[len(base) :]))
    if base + _escape(name) != uri or "\0" in name or {"", ".", ".."} & set(name.split("/")):
        return False
    try:
        os.lstat(folder / name)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        pass
    return False


def _escape(path: str) -> str:
    return "/".join(quote(os.fsencode(part), safe="$&+:=@") for part in path.split("/"))
