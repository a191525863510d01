"""The folder that `templates` writes, made once for all workers, and templates with values."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from hyperpod_cdk import load_config
from hyperpod_cdk.helm.chart import read_hyperpod_chart
from hyperpod_cli.deliver.templates.package import write_package
from hyperpod_rehearsal.stand_in_chart import STAND_IN
from tests.support.configs import CONFIG_FOLDER, REPOSITORY


def template_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for the default configuration, which nobody may change."""
    own = tmp_path_factory.getbasetemp()
    # The workers of pytest-xdist have a folder each, beside each other.
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own
    folder = shared / "template-package"
    with FileLock(folder.with_suffix(".lock")):
        if not folder.exists():
            written = folder.with_suffix(".part")
            write_default_package(written)
            written.rename(folder)
    return folder


def write_default_package(folder: Path) -> None:
    """Write the folder for the default configuration."""
    context = json.loads((REPOSITORY / "cdk.json").read_text("utf-8"))["context"]
    config = load_config(CONFIG_FOLDER / "default.yaml")
    write_package(config, chart=read_hyperpod_chart(STAND_IN), target=folder, context=context)


_NO_VALUE = {"Ref": "AWS::NoValue"}
_VARIABLE = re.compile(r"\$\{([^}]+)\}")


class ResolvedTemplate:
    """Evaluates what needs no resource: parameters, conditions, mappings, rules, texts.

    Args:
        template: The template.
        values: Values of parameters and pseudo parameters. Default: those of the template.
    """

    def __init__(self, template: Mapping[str, Any], values: Mapping[str, Any]) -> None:
        self._template = template
        parameters = template.get("Parameters", {})
        defaults = {name: body["Default"] for name, body in parameters.items() if "Default" in body}
        self._values = {**defaults, **values}

    def section(self, name: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return a section with all that can be evaluated."""
        return self._resolved(self._template.get(name, {}))

    def refusals(self) -> list[str]:
        """Return the descriptions of the rules' assertions that are not met."""
        return [
            assertion["AssertDescription"]
            for rule in self._template.get("Rules", {}).values()
            if self._resolved(rule.get("RuleCondition", True))
            for assertion in rule["Assertions"]
            if not self._resolved(assertion["Assert"])
        ]

    def _resolved(self, node: Any) -> Any:  # noqa: ANN401, PLR0911 - a case each
        match node:
            case {"Ref": str(name)}:
                return self._values.get(name, node)
            case {"Fn::Join": [str(separator), list(parts)]}:
                return self._joined(self._interleaved(parts, separator=separator))
            case {"Fn::Sub": str(text)}:
                return self._joined(list(self._pieces(text)))
            case {"Fn::FindInMap": [name, key, column]}:
                row = self._template["Mappings"][name][self._resolved(key)]
                return row[self._resolved(column)]
            case {"Fn::If": [name, yes, no]}:
                chosen = self._resolved(self._template["Conditions"][name])
                return self._resolved(yes if chosen else no)
            case {"Fn::Equals": [left, right]}:
                return str(self._resolved(left)) == str(self._resolved(right))
            case {"Fn::Not": [condition]}:
                return not self._resolved(condition)
            case {"Fn::And": list(conditions)}:
                return all(map(self._resolved, conditions))
            case {"Fn::Or": list(conditions)}:
                return any(map(self._resolved, conditions))
            case {"Fn::Contains": [list(items), item]}:
                return self._resolved(item) in items
            case dict():
                resolved = ((key, self._resolved(item)) for key, item in node.items())
                return {key: item for key, item in resolved if item != _NO_VALUE}
            case list():
                return [item for item in map(self._resolved, node) if item != _NO_VALUE]
        return node

    def _interleaved(self, parts: list[Any], *, separator: str) -> list[Any]:
        resolved = [self._resolved(part) for part in parts]
        return [item for part in resolved for item in (separator, part)][1:]

    def _pieces(self, text: str) -> Iterator[Any]:
        for index, piece in enumerate(_VARIABLE.split(text)):
            if index % 2 == 0:
                yield piece
            elif piece.startswith("!"):
                yield f"${{{piece[1:]}}}"
            elif "." in piece:
                yield {"Fn::GetAtt": piece.split(".")}
            else:
                yield self._resolved({"Ref": piece})

    @staticmethod
    def _joined(parts: list[Any]) -> Any:  # noqa: ANN401 - any JSON value
        """Return one text, or a join of as few parts as there can be."""
        merged: list[Any] = []
        for part in parts:
            inner = part["Fn::Join"][1] if isinstance(part, dict) and "Fn::Join" in part else [part]
            for piece in inner:
                if isinstance(piece, dict):
                    merged.append(piece)
                elif merged and isinstance(merged[-1], str):
                    merged[-1] += str(piece)
                elif piece != "":
                    merged.append(str(piece))
        if not merged:
            return ""
        return merged[0] if len(merged) == 1 else {"Fn::Join": ["", merged]}
