"""The configurations with every key load; `make generate` adds the keys that they lack."""

import json

import jsonschema
import yaml

from hyperpod_cdk import load_config
from tests.support.configs import (
    CONFIG_FOLDER,
    EVERY_EXISTING_RESOURCE,
    EVERY_FIELD,
)

SCHEMA = json.loads((CONFIG_FOLDER / "schema.json").read_text("utf-8"))


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
