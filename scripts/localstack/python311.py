"""Lets Python 3.11 run LocalStack, which is written for 3.13. It changes no installed file."""

import hashlib
import re
import uuid
import warnings
from importlib.machinery import SourceFileLoader

import typing_extensions

# Type parameters and type aliases (PEP 695) are the only syntax that Python 3.11 cannot read.
GENERIC = re.compile(r"^(?P<indent> *)(?P<start>class|def) (?P<name>\w+)\[(?P<parameters>[^\]]+)\](?P<rest>.*)$", re.MULTILINE)
ALIAS = re.compile(r"^type (?=\w+ = )", re.MULTILINE)
FIRST_IMPORT = re.compile(r"^(?=import |from (?!__future__))", re.MULTILINE)


def without_type_parameters(source: str) -> str:
    """Returns a module's text with the same statements in the syntax of Python 3.11."""

    def names(m: re.Match) -> list[str]:
        return [parameter.partition(":")[0].strip() for parameter in m["parameters"].split(",")]

    def rewrite(m: re.Match) -> str:
        rest = m["rest"]
        if m["start"] == "class":
            bases = rest.removesuffix(":").strip("()")
            rest = "(" + ", ".join(filter(None, [bases, f"typing.Generic[{', '.join(names(m))}]"])) + "):"
        return f"{m['indent']}{m['start']} {m['name']}{rest}"

    declared = sorted({name for m in GENERIC.finditer(source) for name in names(m)})
    variables = "".join(f"; {name} = typing.TypeVar('{name}')" for name in declared)
    rewritten = ALIAS.sub("", GENERIC.sub(rewrite, source))
    rewritten = rewritten.replace(": Lock | None", ": 'Lock | None'")  # a class from Python 3.13 on
    return FIRST_IMPORT.sub(f"import typing{variables}; ", rewritten, count=1) if declared else rewritten


def apply() -> None:
    compile_source, uuid5 = SourceFileLoader.source_to_code, uuid.uuid5

    def source_to_code(self, data, path, **options):
        if isinstance(data, bytes) and "/site-packages/localstack/" in str(path):
            data = without_type_parameters(data.decode())
        return compile_source(self, data, path, **options)

    def uuid5_of_bytes(namespace, name):  # it takes bytes from Python 3.12 on
        if isinstance(name, bytes):
            return uuid.UUID(bytes=hashlib.sha1(namespace.bytes + name).digest()[:16], version=5)
        return uuid5(namespace, name)

    SourceFileLoader.source_to_code = source_to_code
    uuid.uuid5 = uuid5_of_bytes
    warnings.deprecated = typing_extensions.deprecated  # from Python 3.13 on
