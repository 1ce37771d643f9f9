"""Writes openapi.yaml as the SDKs' generators read it.

A request body that may be sent as several media types has one of them, application/json or else the first: generated
code would not know which to send. Event streams are left out, because an operation that has one besides JSON would only
return events: the SDKs read them by hand. A reply that is a file is application/octet-stream, whatever its media type,
because generated code knows no other.

contract.py FROM TO
"""

import sys

from ruamel.yaml import YAML

EVENTS = "text/event-stream"
FILE = "application/octet-stream"

yaml = YAML(typ="safe")
with open(sys.argv[1], encoding="utf-8") as file:
    document = yaml.load(file)
for path in document["paths"].values():
    for operation in path.values():
        if not isinstance(operation, dict):
            continue
        content = operation.get("requestBody", {}).get("content", {})
        if len(content) > 1:
            media = "application/json" if "application/json" in content else next(iter(content))
            operation["requestBody"]["content"] = {media: content[media]}
        for status, response in list(operation["responses"].items()):
            if response.get("content", {}).pop(EVENTS, None) and not response["content"]:
                del operation["responses"][status]
            files = [media for media in response.get("content", {}).values() if media.get("schema", {}).get("format") == "binary"]
            if files:
                response["content"] = {FILE: files[0]}
with open(sys.argv[2], "w", encoding="utf-8") as file:
    yaml.dump(document, file)
