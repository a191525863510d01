"""Every law over every configuration, and that each law finds what it forbids."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import Config, load_config
from tests.conftest import Assemble
from tests.laws.planted import PLANTED
from tests.support.configs import (
    CLOSED,
    CONFIGS,
    EVERY_EXISTING_RESOURCE,
    EVERY_FIELD,
    EVERY_SLURM_FIELD,
    configure,
    configured,
)
from tests.support.laws import Deployment, laws

EVERYWHERE = [*CONFIGS, EVERY_FIELD, *EVERY_SLURM_FIELD, EVERY_EXISTING_RESOURCE]


def violations(config: Config, templates: Mapping[str, Any]) -> list[str]:
    """Return what breaks a law, each line beginning with that."""
    deployment = Deployment(config=config, templates=templates, region=config.region or "us-west-2")
    return [f"{name}: {line}" for name, law in laws().items() for line in law(deployment)]


@pytest.mark.slow(seconds=0.6)
@pytest.mark.parametrize("path", EVERYWHERE, ids=lambda path: path.stem)
def test_every_deployment_obeys_every_law(path: Path, assemble: Assemble) -> None:
    config = load_config(path)

    assert violations(config, assemble(config).templates()) == []


_REGISTRY = {"image_registry": "111122223333.dkr.ecr.us-west-2.amazonaws.com/hyperpod"}
PAIRS: dict[str, dict[str, Any]] = {
    "a key that is made, and Container Insights": {
        "encryption": {"create_kms_key": True},
        "observability": {"cloudwatch": {}, "notifications": {}},
    },
    "a closed network, and buckets of others": {
        **CLOSED,
        "helm": _REGISTRY,
        "operators": {"s3_csi_driver": True},
        "cluster": {"data_buckets": [{"name": "data-of-another-account"}]},
    },
    "the longest names": {
        "name": "n" * 20,
        "cluster": {
            "name": "c" * 63,
            "instance_groups": [
                {"name": "g", "instance_type": "ml.g5.12xlarge", "instance_count": 1}
            ],
        },
        "eks": {"cluster_name": "e" * 100},
        "encryption": {"create_kms_key": True},
        "observability": {"cloudwatch": {}, "notifications": {}},
        "workloads": {},
    },
}
"""What no example has together."""


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("changes", PAIRS.values(), ids=PAIRS)
def test_pairs_obey_every_law(changes: dict[str, Any], assemble: Assemble) -> None:
    config = configured(changes)

    assert violations(config, assemble(config).templates()) == []


@pytest.mark.parametrize("name", laws())
def test_every_law_finds_what_it_forbids(name: str) -> None:
    for planted in PLANTED[name]:
        deployment = Deployment(
            config=configure(planted.config),
            templates={"ml-planted": {"Resources": planted.resources}},
            region=planted.region,
        )

        found = laws()[name](deployment)

        assert [line for line in found if planted.logical_id in line], planted


def test_every_law_says_where_it_is_from() -> None:
    undocumented = [
        name
        for name, law in laws().items()
        if "https://" not in (sys.modules[law.__module__].__doc__ or "")
    ]

    assert laws()
    assert undocumented == []
