"""Write the JSON schemas with which editors check and complete the configuration files.

Run it after changing the configuration's model: `python -m tools.generate.config_schema`.
"""

import json
import sys
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config, PipelineFile
from hyperpod_cdk.schema.section import Section

_FOLDER = Path(__file__).parents[2] / "config"
TARGET = _FOLDER / "schema.json"
PIPELINE_TARGET = _FOLDER / "pipeline-schema.json"


def schema(model: type[Section] = Config) -> dict[str, Any]:
    """Return the JSON schema of a model."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    document |= model.model_json_schema()
    flowing: dict[str, Any] = _with_flowing_descriptions(document)
    return flowing


def render(model: type[Section] = Config) -> str:
    """Return a file's text as its model gives it."""
    return json.dumps(schema(model), indent=1, ensure_ascii=False) + "\n"


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


if __name__ == "__main__":
    for target, model in ((TARGET, Config), (PIPELINE_TARGET, PipelineFile)):
        target.write_text(render(model), encoding="utf-8")
        sys.stdout.write(f"wrote {target}\n")
