"""Reads the settings of a Google SecOps feed from its input with Google's client library, which knows every member."""

import sys

from google.cloud.chronicle_v1.types import CustomAPISettings
from google.protobuf import json_format

json_format.Parse(sys.stdin.read(), CustomAPISettings.pb(CustomAPISettings()))
