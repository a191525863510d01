"""Configurations for tests: the repository's files, and small ones that differ from a minimum."""

import subprocess
from collections.abc import Mapping
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk import Config, load_config
from tests.support.assembly import merged

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIG_FOLDER = REPOSITORY / "config"


def _in_git(folder: Path) -> list[Path]:
    """Return the configurations of a folder, without those that a user has put beside them."""
    listed = subprocess.run(
        ["git", "ls-files", "*.yaml"], cwd=folder, capture_output=True, text=True, check=False
    )
    known = {folder / name for name in listed.stdout.split()}
    # A copy that is no repository has only what is shipped.
    return sorted(path for path in folder.glob("*.yaml") if path in known or not known)


FEATURE_CONFIGS = _in_git(CONFIG_FOLDER / "examples")
"""The configurations of single features."""
SHIPPED = _in_git(CONFIG_FOLDER)
"""Those to start from, which the scenarios are played with."""
CONFIGS = [*SHIPPED, *FEATURE_CONFIGS]
"""All of them."""
EVERY_FIELD = Path(__file__).with_name("every_field.yaml")
"""A configuration with every key, but for those of the next one."""
EVERY_SLURM_FIELD = sorted(Path(__file__).parent.glob("every_slurm_*.yaml"))
"""Configurations with every key of a cluster that Slurm orchestrates."""
EVERY_EXISTING_RESOURCE = Path(__file__).with_name("every_existing_resource.yaml")
"""A configuration with every key that names what exists, in place of what is made."""
STAND_IN_CHART = REPOSITORY / "rehearsal" / "hyperpod_rehearsal" / "chart" / "hyperpod-helm-chart"
"""A chart in place of the official one, which is not part of the repository."""
EXISTING_CONTROL_PLANE = CONFIG_FOLDER / "examples" / "existing-eks.yaml"

MINIMUM: Mapping[str, Any] = {
    "name": "ml",
    "region": "us-west-2",
    "network": {
        "availability_zone_ids": ["usw2-az1", "usw2-az2"],
        "hyperpod_subnets": [{"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az1"}],
    },
    "cluster": {
        "instance_groups": [{"name": "g", "instance_type": "ml.m5.2xlarge", "instance_count": 1}]
    },
}
"""A small deployment with all subnets for nodes in one Availability Zone."""
BY_NAME = {"availability_zone_ids": None, "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}]}
"""A network in the first zones of the region."""
TWO_SUBNETS = {
    "hyperpod_subnets": [
        {"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az2"},
        {"cidr": "10.2.0.0/16", "availability_zone_id": "usw2-az1"},
    ]
}
"""A network with subnets for nodes in two zones."""
CLOSED: Mapping[str, Any] = {
    "network": {"closed": True, "hyperpod_subnets": [{"cidr": "10.1.0.0/24"}]},
    "eks": {"endpoint_access": "private"},
}
"""A network without a way to the internet."""
INFERENCE = {
    "cert_manager": True,
    "metrics_server": True,
    "s3_csi_driver": True,
    "inference_operator": True,
}
"""The inference operator, and what it needs."""
CONTROLLER = {
    "name": "controller",
    "instance_type": "ml.m5.xlarge",
    "instance_count": 1,
    "slurm": {"node_type": "controller"},
}
"""The group of Slurm's controller."""


def orchestrated_by(name: str) -> list[Path]:
    """Return those of `CONFIGS` whose cluster has an orchestrator."""
    return [path for path, orchestrator in _orchestrators().items() if orchestrator == name]


@cache
def _orchestrators() -> Mapping[Path, str]:
    return {path: load_config(path).cluster.orchestrator for path in CONFIGS}


def configured(changes: Mapping[str, Any]) -> Config:
    """Return `MINIMUM` with changes, which replace lists and values, never whole mappings."""
    return Config.model_validate(merged(MINIMUM, changes))


def configure(changes: Mapping[str, Any]) -> Config:
    """Return the default configuration with changes, as `configured` makes them."""
    return Config.model_validate(merged(_default(), changes))


@cache
def _default() -> Mapping[str, Any]:
    document: dict[str, Any] = yaml.safe_load((CONFIG_FOLDER / "default.yaml").read_text("utf-8"))
    return document


def default_document() -> dict[str, Any]:
    """Return what `config/default.yaml` holds, to be changed."""
    return {**deepcopy(_default())}


KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"
ROLE = "arn:aws:iam::111122223333:role/Nodes"
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5"
SUBNET, FIREWALL = "subnet-0123456789abcdef0", "sg-0123456789abcdef0"
ROOT = {"root_volume": True, "kms_key_id": KEY}
DATA = {"volume_size_gib": 100}
DNS = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
LUSTRE = {"dns_name": DNS, "mount_name": "abcdefgh"}


def mounts(count: int) -> list[dict[str, str]]:
    """Return so many mounts of file systems."""
    return [{**LUSTRE, "mount_path": f"/fs{index}"} for index in range(count)]
