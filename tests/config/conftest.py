"""Loading changed configurations."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk import ConfigError, load_config

DEFAULT = Path(__file__).parents[2] / "config" / "default.yaml"


@pytest.fixture
def default_document() -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(DEFAULT.read_text())
    return document


@pytest.fixture
def lines_for(tmp_path: Path) -> Callable[[object], tuple[str, ...]]:
    """Load a document, or YAML text, and return the lines of the refusal without the file name."""

    def lines(document: object) -> tuple[str, ...]:
        path = tmp_path / "config.yaml"
        text = document if isinstance(document, str) else yaml.safe_dump(document, sort_keys=False)
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError) as caught:
            load_config(path)
        assert str(caught.value) == "\n".join(caught.value.lines)
        assert all(line.startswith(f"{path}: ") for line in caught.value.lines)
        assert all(line.isprintable() for line in caught.value.lines)
        return tuple(line.removeprefix(f"{path}: ") for line in caught.value.lines)

    return lines


@pytest.fixture
def line_after(
    default_document: dict[str, Any], lines_for: Callable[[object], tuple[str, ...]]
) -> Callable[[str, object], str]:
    """Set one value of the default configuration and return the one line of the refusal."""

    def line(path: str, value: object) -> str:
        parent: Any = default_document
        steps = [int(i) if i else key for key, i in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path)]
        for step in steps[:-1]:
            parent = parent[step]
        if isinstance(parent, list) and steps[-1] == len(parent):
            parent.append(value)
        else:
            parent[steps[-1]] = value
        (only,) = lines_for(default_document)
        return only

    return line


@pytest.fixture
def helm_lines(
    default_document: dict[str, Any], lines_for: Callable[[object], tuple[str, ...]]
) -> Callable[[dict[str, Any]], tuple[str, ...]]:
    """Replace the `helm` section of the default configuration; return the refusal's lines."""
    return lambda helm: lines_for(default_document | {"helm": helm})
