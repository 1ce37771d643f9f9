"""The errors of the API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any


class DocentError(Exception):
    """A refusal by the server. Match on code, which is empty if something other than Docent answered."""

    def __init__(self, status: int, code: str, detail: str, request_id: str = "", retry_after: float | None = None) -> None:
        super().__init__(f"{detail or 'The server answered ' + str(status) + '.'} ({code or status}, request {request_id or 'unknown'})")
        self.status = status
        self.code = code
        self.detail = detail
        self.request_id = request_id
        self.retry_after = retry_after
        """The seconds after which it is worth trying again; None if the reply does not say."""


def error_of(status: int, headers: Mapping[str, str], body: bytes) -> DocentError:
    """Return the error of a reply. Of a body that is not the API's problem object only the status counts."""
    try:
        problem: Any = json.loads(body)
    except ValueError:
        problem = None
    if not isinstance(problem, dict):
        problem = {}
    text = {name: value for name, value in problem.items() if isinstance(value, str)}
    detail = text.get("detail") or text.get("title") or ""
    if not detail and 300 <= status < 400:
        detail = f"The server answered {status} and points to {headers.get('location')}; is the address of the server right?"
    request_id = text.get("requestId") or headers.get("x-request-id") or ""
    return DocentError(status, text.get("code", ""), detail, request_id, _retry_after(headers.get("retry-after")))


def _retry_after(value: str | None) -> float | None:
    if value is None:
        return None
    if value.isascii() and value.isdigit() and len(value) < 10:
        return float(value)
    try:
        return max(parsedate_to_datetime(value).timestamp() - time(), 0.0)
    except ValueError:
        return None
