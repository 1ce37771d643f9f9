"""A client of Docent: ask questions, keep documents current, verify webhooks.

docent_client.rest has every operation of the API, generated from its description.
"""

from .answers import AnswerEvent, AnswerFailed, Source
from .docent import DEFAULT_SERVER, Docent
from .errors import DocentError
from .folder import FolderResult
from .webhooks import WebhookError, verify_webhook

__all__ = [
    "DEFAULT_SERVER",
    "AnswerEvent",
    "AnswerFailed",
    "Docent",
    "DocentError",
    "FolderResult",
    "Source",
    "WebhookError",
    "verify_webhook",
]
