"""Write the JSON schemas with which editors check and complete the configuration files."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config, PipelineFile
from hyperpod_cdk.schema.section import Section
from tools.generate import REPOSITORY

_FOLDER = REPOSITORY / "config"
_MODELS: Mapping[str, type[Section]] = {
    "schema.json": Config,
    "pipeline-schema.json": PipelineFile,
}


def schema(model: type[Section] = Config) -> dict[str, Any]:
    """Return the JSON schema of a model."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    document |= model.model_json_schema()
    flowing: dict[str, Any] = _with_flowing_descriptions(document)
    return flowing


def render() -> Mapping[Path, str]:
    """Return the files as the models give them."""
    return {
        _FOLDER / name: json.dumps(schema(model), indent=1, ensure_ascii=False) + "\n"
        for name, model in _MODELS.items()
    }


def _with_flowing_descriptions(node: Any) -> Any:  # noqa: ANN401 - any JSON
    """Take the source code's line breaks out of the descriptions."""
    if isinstance(node, list):
        return [_with_flowing_descriptions(item) for item in node]
    if not isinstance(node, dict):
        return node
    flowing = {key: _with_flowing_descriptions(value) for key, value in node.items()}
    if isinstance(flowing.get("description"), str):
        flowing["description"] = " ".join(flowing["description"].split())
    return flowing
