"""Webhooks, signed by the Standard Webhooks specification."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

TOLERANCE = 300.0
"""How many seconds the time of a webhook may differ from the receiver's clock."""


class WebhookError(Exception):
    """The request is not a webhook that was signed with the secret just now. Reply with status 400."""


def verify_webhook(
    body: bytes, headers: Mapping[str, str], secret: str, *, tolerance: float = TOLERANCE, now: float | None = None
) -> dict[str, Any]:
    """Return the event of a webhook, or raise WebhookError.

    body is the request's body as it was received, and secret begins with whsec_. A receiver may get
    an event more than once: remember the header webhook-id of those that were handled.
    """
    named = {name.lower(): value for name, value in headers.items()}
    try:
        identifier, sent, signatures = (named["webhook-" + name] for name in ("id", "timestamp", "signature"))
    except KeyError as missing:
        raise WebhookError(f"The header {missing.args[0]} is missing.") from None
    if not (sent.isascii() and sent.isdigit() and len(sent) < 16):
        raise WebhookError("The header webhook-timestamp is not a time.")
    if abs((time.time() if now is None else now) - int(sent)) > tolerance:
        raise WebhookError("The webhook is too old, or from the future.")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise ValueError("the secret of a webhook is whsec_ followed by base64") from None
    if not key:
        raise ValueError("the secret of a webhook is empty")
    digest = hmac.new(key, f"{identifier}.{sent}.".encode() + body, hashlib.sha256).digest()
    wanted = b"v1," + base64.b64encode(digest)
    valid = False
    for signature in signatures.split(" "):  # one for each secret while a secret is replaced
        valid |= hmac.compare_digest(wanted, signature.encode())
    if not valid:
        raise WebhookError("No signature of the webhook is of this secret.")
    try:
        event: Any = json.loads(body)
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise WebhookError("The body is not a JSON object.")
    return event
