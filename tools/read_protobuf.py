"""Reads the numbers of Kubernetes's protobuf fields into the table of the local Kubernetes API.

`generated.proto` of each group's stable version, and what they import, in checkouts of one release:
https://github.com/kubernetes/api and https://github.com/kubernetes/apimachinery
"""

import argparse
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kubernetes import client

from hyperpod_emulator.kubernetes.server.protobuf import TABLE

_PACKAGE = re.compile(r"^package ([\w.]+);", re.MULTILINE)
_MESSAGE = re.compile(r"^message (\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r"^  (?:optional |(repeated )|map<string, )\.?([\w.]+)>? (\w+) = (\d+);", re.M)
_STABLE = re.compile(r"v\d+")
_SCALARS = ("bool", "bytes", "double", "int32", "int64", "string")

Fields = Mapping[str, tuple[str, str]]
"""Name and type by number: `[]` and `{}` are before the type of what is in a list or a map."""


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.read_protobuf", description=__doc__)
    parser.add_argument("folder", type=Path, help="Name the folder that has both checkouts.")
    folder = parser.parse_args().folder
    messages: dict[str, Fields] = {}
    for path in sorted(folder.rglob("generated.proto")):
        messages |= _messages(path.read_text("utf-8"))
    roots = [name for name in messages if _model(*name.rsplit(".", 1)) is not None]
    table = {name: messages[name] for name in sorted(_reached(roots, messages))}
    lines = [f"{json.dumps(name)}: {json.dumps(fields)}" for name, fields in table.items()]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def _messages(text: str) -> Iterator[tuple[str, Fields]]:
    (package,) = _PACKAGE.findall(text)
    for name, body in _MESSAGE.findall(text):
        model = _model(package, name)
        fields: dict[str, tuple[str, str]] = {}
        for line in _FIELD.finditer(body):
            repeated, kind, field, number = line.groups()
            full = kind if kind in _SCALARS or "." in kind else f"{package}.{kind}"
            mark = "[]" if repeated else "{}" if "map<" in line[0] else ""
            # JSON has the fields of some messages in those around them.
            inlined = model and "." in full and not mark
            if inlined and field not in model.attribute_map.values():
                field = ""
            fields[number] = (field, f"{mark}{full}")
        yield f"{package}.{name}", fields


def _model(package: str, message: str) -> Any:  # noqa: ANN401 - a class of the client
    """Return the client's class of a message of a stable version, and None of others."""
    version = package.rpartition(".")[2]
    return (
        getattr(client, f"{version.title()}{message}", None) if _STABLE.fullmatch(version) else None
    )


def _reached(names: list[str], messages: Mapping[str, Fields]) -> set[str]:
    reached: set[str] = set()
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name not in reached and name in messages:
            reached.add(name)
            waiting += [kind.lstrip("[]{}") for _, kind in messages[name].values()]
    return reached


if __name__ == "__main__":
    main()
