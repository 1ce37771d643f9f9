"""Files that are too large for a request of the API: they are sent to an address that works once."""

from __future__ import annotations

import hashlib
import io
import os
import re
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import BinaryIO

import httpx

from .errors import DocentError, error_of
from .proxy import proxy_of
from .rest import AuthenticatedClient
from .rest.api.documents import create_upload
from .rest.models.create_upload import CreateUpload
from .rest.models.create_upload_input import CreateUploadInput
from .rest.models.create_upload_input_media_type import CreateUploadInputMediaType
from .retries import Resendable, Retries, deadline

MAX_UPLOAD = 100 << 20
MAX_PDF = 96 << 20
MAX_RST = 4 << 20

_OFFICE = "application/vnd.openxmlformats-officedocument."
PDF = "application/pdf"
RST = "text/x-rst"
MEDIA_TYPES = {
    ".pdf": PDF,
    ".docx": _OFFICE + "wordprocessingml.document",
    ".docm": _OFFICE + "wordprocessingml.document",
    ".dotx": _OFFICE + "wordprocessingml.document",
    ".dotm": _OFFICE + "wordprocessingml.document",
    ".xlsx": _OFFICE + "spreadsheetml.sheet",
    ".xlsm": _OFFICE + "spreadsheetml.sheet",
    ".xltx": _OFFICE + "spreadsheetml.sheet",
    ".xltm": _OFFICE + "spreadsheetml.sheet",
    ".pptx": _OFFICE + "presentationml.presentation",
    ".pptm": _OFFICE + "presentationml.presentation",
    ".ppsx": _OFFICE + "presentationml.presentation",
    ".ppsm": _OFFICE + "presentationml.presentation",
    ".potx": _OFFICE + "presentationml.presentation",
    ".potm": _OFFICE + "presentationml.presentation",
    ".rst": RST,
}
"""The media types of the files whose text the server reads, by the extensions of their names."""

_PART = 64 << 10


def check_size(size: int, media_type: str) -> None:
    """Raise ValueError if a file cannot be uploaded for its size in bytes."""
    most = {PDF: MAX_PDF, RST: MAX_RST}.get(media_type, MAX_UPLOAD)
    if size == 0:
        raise ValueError("it is empty")
    if size > most:
        raise ValueError(f"it has over {most >> 20} MB")


def upload(
    rest: AuthenticatedClient, file: str | os.PathLike[str] | bytes, media_type: str | None = None, transport: httpx.BaseTransport | None = None
) -> str:
    """Send a file whose text the server reads, and return the id for upload of a DocumentInput.

    An Office file may have up to 100 MB, a PDF up to 96 MB, and reStructuredText up to 4 MB.

    The document has to be put within an hour. The file is a path, read twice and never whole into memory, or
    the bytes themselves, for which media_type is needed; that of a path is the one of its extension unless given.
    Raises ValueError for a file that cannot be sent, before anything is, and OSError, httpx.TransportError and
    DocentError.
    """
    if media_type is None and not isinstance(file, bytes):
        media_type = MEDIA_TYPES.get(Path(file).suffix.lower())
    if media_type is None or media_type not in MEDIA_TYPES.values():
        raise ValueError("give a media_type of a PDF, DOCX, XLSX, PPTX or reStructuredText file: " + ", ".join(MEDIA_TYPES.values()))
    with io.BytesIO(file) if isinstance(file, bytes) else open(file, "rb") as opened:
        size = opened.seek(0, os.SEEK_END)
        check_size(size, media_type)
        content = _Content(opened, size)
        body = CreateUploadInput(media_type=CreateUploadInputMediaType(media_type), size=size, sha256=content.sha256())
        asked = time.monotonic()
        response = create_upload.sync_detailed(client=rest, body=body)
        to = response.parsed
        if not isinstance(to, CreateUpload):
            raise error_of(int(response.status_code), response.headers, response.content)
        if not re.match(r"https?://[^/\s]", to.upload_url):
            raise ValueError("the server returned an address that is none")  # without the address, which is a secret
        before = deadline.set(_end(asked, to, response.headers.get("date", "")))
        try:
            _send(to, content, transport)
        finally:
            deadline.reset(before)
        return to.id


class _Content(Resendable):
    """The first size bytes of a file, read again each time."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.size = file, size
        self.sent = 0
        """How often sending began."""

    def __iter__(self) -> Iterator[bytes]:
        self.sent += 1
        return self._parts()

    def _parts(self) -> Iterator[bytes]:
        self.file.seek(0)
        left = self.size
        while left > 0:
            part = self.file.read(min(left, _PART))
            if not part:
                raise ValueError("the file became shorter while it was sent")
            left -= len(part)
            yield part

    def sha256(self) -> str:
        digest = hashlib.sha256()
        for part in self._parts():
            digest.update(part)
        return digest.hexdigest()


def _end(asked: float, to: CreateUpload, date: str) -> float | None:
    """Return when the address expires, by time.monotonic; None if the server's clock is unknown, and only it knows."""
    try:
        return asked + to.expires_at.timestamp() - parsedate_to_datetime(date).timestamp()
    except ValueError:
        return None


def _send(to: CreateUpload, content: _Content, transport: httpx.BaseTransport | None) -> None:
    """Send the file with the headers that the address asks for and no other: neither the key nor a redirect's target gets it."""
    url = httpx.URL(to.upload_url)
    headers = {"Host": url.netloc.decode(), **to.headers.additional_properties, "Content-Length": str(content.size)}
    timeout = httpx.Timeout(60.0, connect=10.0).as_dict()
    request = httpx.Request(to.method.value, url, headers=headers, stream=content, extensions={"timeout": timeout})
    inner = transport or httpx.HTTPTransport(proxy=proxy_of(to.upload_url))
    try:
        Retries(inner).handle_request(request).close()
    except DocentError as error:
        if content.sent > 1 and error.status in (409, 412):
            return  # an earlier try arrived, but its reply did not; its checksum was compared
        if error.code:
            raise
        # Something other than Docent answered, such as S3. A redirect's address would show the secret.
        hint = "; it may have expired" if error.status == 403 else ""
        detail = f"The address of the upload answered {error.status}{hint}."
        raise DocentError(error.status, "", detail, error.request_id, error.retry_after) from None
    finally:
        if transport is None:
            inner.close()
