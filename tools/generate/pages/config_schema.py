"""Write the JSON schemas with which editors check and complete the configuration files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema
from pydantic_core.core_schema import CoreSchema

from hyperpod_cdk import Config, PipelineFile
from hyperpod_cdk.schema.section import Section
from tools.generate import REPOSITORY
from tools.json_text import json_text

_FOLDER = REPOSITORY / "config"
_MODELS: Mapping[str, type[Section]] = {
    "schema.json": Config,
    "pipeline-schema.json": PipelineFile,
}


class _WithoutTitles(GenerateJsonSchema):
    """Leaves out the titles of fields, which say their keys again."""

    def field_title_should_be_set(self, schema: CoreSchema) -> bool:  # noqa: ARG002
        return False


def schema(model: type[Section] = Config) -> dict[str, Any]:
    """Return the JSON schema of a model."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    document |= model.model_json_schema(schema_generator=_WithoutTitles)
    flowing: dict[str, Any] = _with_flowing_descriptions(document)
    return flowing


def render() -> Mapping[Path, str]:
    """Return the files as the models give them."""
    return {_FOLDER / name: json_text(schema(model)) for name, model in _MODELS.items()}


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
