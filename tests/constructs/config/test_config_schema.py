"""config/schema.json, with which editors check and complete the configuration files."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.support.configs import CONFIG_FOLDER, CONFIGS, default_document

SCHEMA = json.loads((CONFIG_FOLDER / "schema.json").read_text())


def fields(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for section in (schema, *schema["$defs"].values()):
        for name, field in section.get("properties", {}).items():
            # A section's own description serves its field where the two are the same.
            section_name = field.get("$ref", "").rpartition("/")[2]
            yield f"{section['title']}.{name}", schema["$defs"].get(section_name, {}) | field


def test_schema_of_pipelines_accepts_the_example() -> None:
    schema = json.loads((CONFIG_FOLDER / "pipeline-schema.json").read_text())
    example = (CONFIG_FOLDER / "pipeline" / "pipeline.yaml").read_text()
    jsonschema.validate(yaml.safe_load(example), schema)
    assert example.startswith("# yaml-language-server: $schema=../pipeline-schema.json\n")
    assert [name for name, field in fields(schema) if not field.get("description")] == []


def test_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_schema_accepts_what_the_model_accepts(path: Path) -> None:
    jsonschema.validate(yaml.safe_load(path.read_text()), SCHEMA)
    schema = os.path.relpath(CONFIG_FOLDER / "schema.json", path.parent)
    assert path.read_text().startswith(f"# yaml-language-server: $schema={schema}\n")


@pytest.mark.parametrize(
    ("section", "value"),
    [
        ("nmae", "x"),
        ("name", "ML"),
        ("network", {"availability_zone_ids": ["us-west-2-lax-1a"]}),
        ("eks", {"version": "1.29"}),
        ("storage", {"capacity_gib": 1000}),
        (
            "cluster",
            {"instance_groups": [{"name": "g", "instance_type": "ml.x", "instance_count": 1}]},
        ),
    ],
)
def test_schema_refuses_mistakes(section: str, value: object) -> None:
    document = default_document()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document | {section: value}, SCHEMA)


def test_every_field_is_described() -> None:
    assert [name for name, field in fields(SCHEMA) if not field.get("description")] == []
