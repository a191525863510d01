"""A configuration with every key loads, and there is no key that it lacks."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import yaml

from hyperpod_cdk import load_config
from tests.support.configs import (
    CONFIG_FOLDER,
    EVERY_EXISTING_RESOURCE,
    EVERY_FIELD,
    EXISTING_CONTROL_PLANE,
)

# Keys that are there because both kinds of group share a section; the checks refuse them.
REFUSED = {
    "cluster.restricted_instance_groups.ebs_volumes.kms_key_id",
    "cluster.restricted_instance_groups.ebs_volumes.root_volume",
}
SCHEMA = json.loads((CONFIG_FOLDER / "schema.json").read_text("utf-8"))


def keys(section: dict[str, Any], path: str = "") -> Iterator[str]:
    """Yield the path of every key under a section of the schema; lists add nothing to a path."""
    for name, field in section.get("properties", {}).items():
        yield f"{path}{name}"
        for inner in sections(field):
            yield from keys(inner, f"{path}{name}.")


def sections(field: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "$ref" in field:
        yield SCHEMA["$defs"][field["$ref"].rpartition("/")[2]]
    for alternative in field.get("anyOf", ()):
        yield from sections(alternative)
    if "items" in field:
        yield from sections(field["items"])


def used(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from used(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield f"{path}{key}"
            yield from used(item, f"{path}{key}.")


def test_every_key_that_may_be_set_is_in_it() -> None:
    documents = (EVERY_FIELD, EVERY_EXISTING_RESOURCE, EXISTING_CONTROL_PLANE)
    found = {key for path in documents for key in used(yaml.safe_load(path.read_text("utf-8")))}
    # The first file system has the keys of the further ones; some of them exclude each other.
    found |= {key.replace("storage.more_file_systems.", "storage.") for key in found}
    assert set(keys(SCHEMA)) - found == REFUSED


def test_every_existing_resource_loads_and_fits_the_schema() -> None:
    jsonschema.validate(yaml.safe_load(EVERY_EXISTING_RESOURCE.read_text("utf-8")), SCHEMA)

    assert load_config(EVERY_EXISTING_RESOURCE).network.vpc_id


def test_it_loads_and_fits_the_schema() -> None:
    jsonschema.validate(yaml.safe_load(EVERY_FIELD.read_text("utf-8")), SCHEMA)

    assert load_config(EVERY_FIELD).cluster.tiered_storage


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
