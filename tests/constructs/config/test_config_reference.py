"""What is generated of the configuration: its reference, its schema, and files with every key."""

import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from hyperpod_cdk import load_config
from tests.support.configs import (
    CONFIG_FOLDER,
    CONFIGS,
    EVERY_EXISTING_RESOURCE,
    EVERY_FIELD,
    default_document,
)
from tools.generate.pages import config_reference

(PAGE,) = config_reference.render().values()


def test_the_page_has_nested_sections() -> None:
    assert "## `cluster.instance_groups[]`" in PAGE
    assert "- `instance_count` (integer, required): " in PAGE


def test_each_section_has_one_list() -> None:
    paths = re.findall(r"^(?:## |The same: )(`.+`)\.?$", PAGE, re.MULTILINE)
    named = [path for line in paths for path in line.split(", ")]
    assert "`cluster.restricted_instance_groups[].ebs_volumes[]`" in named
    assert sorted(set(named)) == sorted(named)
    lists = [set(re.findall(r"^- `.+", part, re.MULTILINE)) for part in PAGE.split("\n## ")]
    assert all(len(one & other) < 5 for one, other in itertools.combinations(lists, 2))


def test_links_lead_to_sections() -> None:
    titles = re.findall(r"^## (.+)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
    linked = set(re.findall(r"\]\(#([^)]+)\)", PAGE))
    assert "clusterinstance_groups" in linked
    assert linked - anchors == set()


@pytest.mark.parametrize(
    "row",
    [
        "- `region` (string; default: that of the CDK",
        "- `wait_for` (accepted, in_service, nodes; default: nodes): ",
        '- `compression` (NONE, ZSTD, LZ4; default: `"LZ4"`): ',
        "- `threads_per_core` (integer; default: 2 ",
    ],
)
def test_a_default_is_in_its_place(row: str) -> None:
    assert PAGE.count(f"\n{row}") == 1


SCHEMA = json.loads((CONFIG_FOLDER / "schema.json").read_text())
# `jsonschema.validate` would look at the schema itself each time.
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


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
    VALIDATOR.validate(yaml.safe_load(path.read_text()))
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
        VALIDATOR.validate(document | {section: value})


def test_every_field_is_described() -> None:
    assert [name for name, field in fields(SCHEMA) if not field.get("description")] == []


@pytest.mark.parametrize("path", [EVERY_EXISTING_RESOURCE, EVERY_FIELD], ids=lambda path: path.stem)
def test_a_file_with_all_there_is_loads_and_fits_the_schema(path: Path) -> None:
    VALIDATOR.validate(yaml.safe_load(path.read_text("utf-8")))

    assert load_config(path)


def test_the_short_form_of_the_volume_gives_way_to_the_full_one() -> None:
    gpu, spot, system = load_config(EVERY_FIELD).cluster.instance_groups

    assert (gpu.volume_size_gib, len(gpu.ebs_volumes)) == (None, 2)
    assert (spot.volume_size_gib, spot.ebs_volumes) == (200, ())
    assert (system.volume_size_gib, system.ebs_volumes) == (None, ())


def test_a_group_knows_every_type_its_nodes_may_have() -> None:
    cluster = load_config(EVERY_FIELD).cluster

    assert [group.possible_instance_types for group in cluster.instance_groups] == [
        ("ml.p5.48xlarge",),
        ("ml.g5.2xlarge", "ml.g5.4xlarge"),
        ("ml.m5.2xlarge",),
    ]
    assert cluster.restricted_instance_groups[0].possible_instance_types == ("ml.p5.48xlarge",)
