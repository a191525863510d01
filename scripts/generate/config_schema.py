"""Write config/schema.json, with which editors check and complete the configuration files.

Run it after changing the configuration's model: `python -m scripts.generate.config_schema`.
"""

import json
import sys
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config

TARGET = Path(__file__).parents[2] / "config" / "schema.json"


def schema() -> dict[str, Any]:
    """Return the JSON schema of the model."""
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    document |= Config.model_json_schema()
    flowing: dict[str, Any] = _with_flowing_descriptions(document)
    return flowing


def render() -> str:
    """Return the file's text as the model gives it."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


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
    TARGET.write_text(render(), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET}\n")
