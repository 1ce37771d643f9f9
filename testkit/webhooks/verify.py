"""Verifies the delivery on standard input (JSON) and prints the type of its event."""

import json
import sys

from standardwebhooks.webhooks import Webhook

asked = json.load(sys.stdin)
print(Webhook(asked["secret"]).verify(asked["body"], asked["headers"])["type"])
