"""Loading what is refused, and the lines that say why."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml

from hyperpod_cdk import ConfigError, load_config
from tests.support.configs import default_document


def lines_for(document: object) -> tuple[str, ...]:
    """Load a document, or YAML text; return the refusal's lines without file, line and names."""
    text = document if isinstance(document, str) else yaml.safe_dump(document, sort_keys=False)
    with TemporaryDirectory() as folder:
        path = Path(folder, "config.yaml")
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load_config(path)
    assert str(caught.value) == "\n".join(caught.value.lines)
    place = re.compile(rf"{re.escape(str(path))}(:[1-9]\d*){{0,2}}: ")
    assert all(place.match(line) for line in caught.value.lines)
    assert all(line.isprintable() for line in caught.value.lines)
    lines = (place.sub("", line, count=1).replace(f"{folder}/", "") for line in caught.value.lines)
    return tuple(map(without_names, lines))


def line_after(path: str, value: object) -> str:
    """Set one value of the default configuration; return the one line of the refusal."""
    document = default_document()
    parent: Any = document
    steps = [int(i) if i else key for key, i in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)]
    for step in steps[:-1]:
        parent = parent[step]
    if isinstance(parent, list) and steps[-1] == len(parent):
        parent.append(value)
    else:
        parent[steps[-1]] = value
    (only,) = lines_for(document)
    return only


def without_names(line: str) -> str:
    """Return a line without the names beside the positions in lists."""
    return re.sub(r"(\[\d+\]) \([\w.-]+\)", r"\1", line)


def helm_lines(helm: dict[str, Any]) -> tuple[str, ...]:
    """Replace the `helm` section of the default configuration; return the refusal's lines."""
    return lines_for(default_document() | {"helm": helm})
