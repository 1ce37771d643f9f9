"""Signatures by the Standard Webhooks specification."""

from __future__ import annotations

import base64
import hashlib
import hmac
import unittest

from docent_client import WebhookError, verify_webhook

# The example of the specification's libraries.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
HEADERS = {
    "Webhook-Id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "Webhook-Timestamp": "1614265330",
    "Webhook-Signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
BODY = b'{"test": 2432232314}'
SENT = 1614265330


def signed(body: bytes) -> dict[str, str]:
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    digest = hmac.new(key, f"{HEADERS['Webhook-Id']}.{SENT}.".encode() + body, hashlib.sha256).digest()
    return {**HEADERS, "Webhook-Signature": "v1," + base64.b64encode(digest).decode()}


class TestWebhooks(unittest.TestCase):
    def test_a_webhook_is_verified(self) -> None:
        self.assertEqual(verify_webhook(BODY, HEADERS, SECRET, now=SENT + 300), {"test": 2432232314})
        several = {**HEADERS, "Webhook-Signature": "v1a,x v1,AAAA " + HEADERS["Webhook-Signature"]}
        self.assertEqual(verify_webhook(BODY, several, SECRET, now=SENT - 300), {"test": 2432232314})

    def test_anything_else_is_refused(self) -> None:
        other = "whsec_" + base64.b64encode(b"another").decode()
        for name, body, headers, secret, now in (
            ("another body", BODY + b" ", HEADERS, SECRET, SENT),
            ("another secret", BODY, HEADERS, other, SENT),
            ("another id", BODY, {**HEADERS, "Webhook-Id": "x"}, SECRET, SENT),
            ("another time", BODY, {**HEADERS, "Webhook-Timestamp": str(SENT + 1)}, SECRET, SENT),
            ("no time", BODY, {**HEADERS, "Webhook-Timestamp": "soon"}, SECRET, SENT),
            ("too old", BODY, HEADERS, SECRET, SENT + 301),
            ("from the future", BODY, HEADERS, SECRET, SENT - 301),
            ("another version", BODY, {**HEADERS, "Webhook-Signature": HEADERS["Webhook-Signature"].replace("v1", "v2")}, SECRET, SENT),
            ("no signature", BODY, {**HEADERS, "Webhook-Signature": ""}, SECRET, SENT),
            ("strange letters", BODY, {**HEADERS, "Webhook-Signature": "v1,é"}, SECRET, SENT),
            ("no header", BODY, {"Webhook-Id": "x"}, SECRET, SENT),
            ("no object", b"[]", signed(b"[]"), SECRET, SENT),
            ("no JSON", b"x", signed(b"x"), SECRET, SENT),
        ):
            with self.subTest(name), self.assertRaises(WebhookError):
                verify_webhook(body, headers, secret, now=now)

    def test_a_secret_that_is_none(self) -> None:
        for secret in ("whsec_", "whsec_!", ""):
            with self.assertRaises(ValueError):
                verify_webhook(BODY, HEADERS, secret, now=SENT)
