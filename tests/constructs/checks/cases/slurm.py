"""Rules on clusters that Slurm orchestrates, and on keys of the other orchestrator."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from hyperpod_cdk import ClusterConfig, Config
from hyperpod_cdk.checks.orchestrator_keys import orchestrator_keys
from hyperpod_cdk.checks.slurm.accounting import accounting
from hyperpod_cdk.checks.slurm.mounts import mounts
from hyperpod_cdk.checks.slurm.own_parameters import own_parameters
from hyperpod_cdk.checks.slurm.setup import setup
from hyperpod_cdk.hyperpod.checks.slurm.deep_health_checks_of_slurm import (
    deep_health_checks_of_slurm,
)
from hyperpod_cdk.hyperpod.checks.slurm.node_types import node_types
from hyperpod_cdk.hyperpod.checks.slurm.partitions import partitions
from hyperpod_cdk.hyperpod.checks.slurm.strategy import strategy
from tests.support.configs import CONFIG_FOLDER
from tests.support.rule_cases import (
    CHECKS,
    ERROR,
    GPU,
    TAINT,
    TRAINIUM,
    WARNING,
    Cases,
    config,
    group,
    in_group,
)

CONTROLLER, LOGIN = {"node_type": "controller"}, {"node_type": "login"}
COMPUTE = {"node_type": "compute", "partition": "gpu"}
_LUSTRE = {"dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "mount_name": "abcdefgh"}
_EXISTING = {
    "endpoint": "slurm.example.com",
    "secret_arn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
}
_IDS = ["subnet-12345678", "subnet-1234567a"]
_THREE = ["10.192.10.0/28", "10.7.0.0/28", "10.192.20.0/28"]
_CIDRS = "cluster.slurm.accounting.subnet_cidrs"
_FOLDER = str(CONFIG_FOLDER / "examples" / "own-scripts")
_USERS = {"setup": {"users": str(CONFIG_FOLDER / "examples" / "slurm-users" / "users.csv")}}


def slurm(*kinds: Mapping[str, Any] | None, **of_cluster: Any) -> Config:
    """Return a cluster with a group of each kind; None for one that says nothing of Slurm."""
    groups = [group(index=index, slurm=kind) for index, kind in enumerate(kinds)]
    return config(*groups, of_cluster={"orchestrator": "slurm", **of_cluster})


_SCRIPTS = TemporaryDirectory()


@cache
def _base_config() -> str:
    """Return a folder of scripts with the file that HyperPod makes itself."""
    folder = Path(_SCRIPTS.name)
    for name in ("on_create.sh", "src/provisioning_parameters.json"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("#!/bin/bash\n")
    return str(folder)


def slurm_groups(*groups: Mapping[str, Any]) -> ClusterConfig:
    """Return a cluster of these groups."""
    return config(*groups, of_cluster={"orchestrator": "slurm"}).cluster


CASES: Cases = {}
CASES[node_types] = {
    "all three": slurm(CONTROLLER, LOGIN, COMPUTE, COMPUTE).cluster,
    "none said": (slurm(CONTROLLER, None).cluster, in_group(ERROR, "slurm.node_type", index=1)),
    "two controllers": (
        slurm(CONTROLLER, CONTROLLER).cluster,
        in_group(ERROR, "slurm.node_type", index=1),
    ),
    "two groups of login nodes": (
        slurm(CONTROLLER, LOGIN, LOGIN).cluster,
        in_group(ERROR, "slurm.node_type", index=2),
    ),
    "no controller": (slurm(COMPUTE).cluster, (ERROR, "cluster.instance_groups")),
    "a controller of two nodes": (
        config(
            group(slurm=CONTROLLER, instance_count=2), of_cluster={"orchestrator": "slurm"}
        ).cluster,
        in_group(ERROR, "instance_count"),
    ),
    "a controller on Spot, and no login node": (
        slurm_groups(
            group(slurm=CONTROLLER, capacity="Spot"), group(index=1, slurm=LOGIN, instance_count=0)
        ),
        in_group(ERROR, "capacity"),
        in_group(ERROR, "instance_count", index=1),
    ),
}
CASES[partitions] = {
    "as they are": slurm(CONTROLLER, LOGIN, COMPUTE, None).cluster,
    "compute without one": (
        slurm(CONTROLLER, {"node_type": "compute"}).cluster,
        in_group(ERROR, "slurm.partition", index=1),
    ),
    "login nodes and a controller in one": (
        slurm({**CONTROLLER, "partition": "a"}, {**LOGIN, "partition": "a"}).cluster,
        in_group(ERROR, "slurm.partition"),
        in_group(ERROR, "slurm.partition", index=1),
    ),
    "the one of all nodes": (
        slurm(CONTROLLER, {**COMPUTE, "partition": "dev"}).cluster,
        in_group(ERROR, "slurm.partition", index=1),
    ),
}
CASES[mounts] = {
    "the deployment's": slurm(CONTROLLER, COMPUTE),
    "two of a group, and one that no node mounts": (
        config(
            group(slurm=CONTROLLER, fsx_lustre_mounts=[_LUSTRE, {**_LUSTRE, "mount_path": "/b"}]),
            of_cluster={"orchestrator": "slurm"},
            storage={"more_file_systems": [{"name": "shared"}]},
        ),
        in_group(ERROR, "fsx_lustre_mounts"),
        (ERROR, "storage.more_file_systems"),
    ),
}
CASES[strategy] = {
    "none": slurm(CONTROLLER, slurm={}).cluster,
    "all nodes or none": slurm(
        CONTROLLER, slurm={"strategy": "merge"}, node_provisioning_mode=None
    ).cluster,
    "continuous": (
        slurm(CONTROLLER, slurm={"strategy": "managed"}).cluster,
        (ERROR, "cluster.slurm.strategy"),
    ),
}
CASES[accounting] = {
    "none": slurm(CONTROLLER),
    "a new database": slurm(CONTROLLER, slurm={"accounting": {}}),
    "an existing one": slurm(CONTROLLER, slurm={"accounting": _EXISTING}),
    "all nodes or none": (
        slurm(CONTROLLER, slurm={"accounting": _EXISTING}, node_provisioning_mode=None),
        (ERROR, "cluster.node_provisioning_mode"),
    ),
    "more subnets than zones, one taken and one outside the VPC": (
        config(
            group(slurm=CONTROLLER),
            of_cluster={"orchestrator": "slurm", "slurm": {"accounting": {"subnet_cidrs": _THREE}}},
            network={"availability_zone_ids": ["usw2-az1", "usw2-az2"]},
        ),
        (ERROR, "network.availability_zone_ids"),
        (ERROR, f"{_CIDRS}[0]"),
        (ERROR, f"{_CIDRS}[1]"),
    ),
    "subnets of a VPC that is made": (
        slurm(CONTROLLER, slurm={"accounting": {"subnet_ids": _IDS}}),
        (ERROR, "cluster.slurm.accounting.subnet_ids"),
    ),
    "none of a VPC that exists": (
        config(
            group(slurm=CONTROLLER),
            of_cluster={"orchestrator": "slurm", "slurm": {"accounting": {}}},
            network={
                "vpc_id": "vpc-1234567890abcdef0",
                "hyperpod_subnets": [
                    {"subnet_id": "subnet-1234567890abcdef0", "availability_zone_id": "usw2-az1"}
                ],
            },
        ),
        (ERROR, "cluster.slurm.accounting.subnet_ids"),
    ),
}
CASES[own_parameters] = {
    "scripts without any": slurm(CONTROLLER, slurm={}),
    "in the folder of all nodes, and in that of a group": (
        config(
            group(slurm=CONTROLLER, lifecycle={"directory": _base_config(), "run": "instead"}),
            of_cluster={"orchestrator": "slurm"},
            lifecycle_scripts={"directory": _base_config()},
        ),
        (ERROR, "lifecycle_scripts.directory"),
        in_group(ERROR, "lifecycle.directory"),
    ),
}


def _homes(*lines: str) -> Config:
    """Return a cluster with homes on both file systems, and these users."""
    text = "\n".join(lines)
    path = Path(_SCRIPTS.name) / f"{crc32(text.encode())}.csv"
    path.write_text(text)
    return config(
        group(slurm=CONTROLLER),
        of_cluster={"orchestrator": "slurm", "slurm": {"setup": {"users": str(path)}}},
        storage={"home_directories": {}},
    )


_REFUSED_HOME = (ERROR, "cluster.slurm.setup.users")
CASES[setup] = {
    "homes side by side": _homes("alice,2001", "bob,2002,/home/team/bob", "al,2003,/home/ali"),
    "a home of the system": (_homes("alice,2001,/usr/local/bin"), _REFUSED_HOME),
    "a home of a process": (_homes("alice,2001,/proc/1"), _REFUSED_HOME),
    "a home in another": (_homes("alice,2001,/home/a", "bob,2002,/home/a/b/c"), _REFUSED_HOME),
    "the home that is another's default": (
        _homes("alice,2001,/home/bob", "bob,2002"),
        _REFUSED_HOME,
    ),
    "none": slurm(CONTROLLER, slurm={}),
    "with homes on Lustre": slurm(CONTROLLER, slurm=_USERS),
    "on the nodes of one group": config(
        group(slurm=CONTROLLER),
        group(index=1, slurm=COMPUTE, lifecycle={"directory": _FOLDER}),
        of_cluster={"orchestrator": "slurm", "slurm": _USERS},
        lifecycle_scripts={"directory": _FOLDER, "run": "instead"},
    ),
    "on no node": (
        config(
            group(slurm=CONTROLLER),
            group(index=1, slurm=COMPUTE, lifecycle=None),
            of_cluster={"orchestrator": "slurm", "slurm": {"setup": {}}},
            lifecycle_scripts={"directory": _FOLDER, "run": "instead"},
        ),
        (ERROR, "cluster.slurm.setup"),
    ),
    "homes that root cannot make": (
        config(
            group(slurm=CONTROLLER),
            of_cluster={"orchestrator": "slurm", "slurm": _USERS},
            storage={"home_directories": {"root_squash": True}},
        ),
        (ERROR, "storage.home_directories.root_squash"),
    ),
    "homes that are not shared": (
        config(
            group(slurm=CONTROLLER),
            group(index=1, slurm=COMPUTE, fsx_lustre_mounts=[_LUSTRE]),
            of_cluster={"orchestrator": "slurm", "slurm": _USERS},
            storage=None,
        ),
        (WARNING, "cluster.slurm.setup.users"),
    ),
}
CASES[deep_health_checks_of_slurm] = {
    "of compute nodes": config(
        group(GPU, slurm=COMPUTE, deep_health_checks=CHECKS), of_cluster={"orchestrator": "slurm"}
    ).cluster,
    "of the controller": (
        config(
            group(GPU, slurm=CONTROLLER, deep_health_checks=CHECKS),
            of_cluster={"orchestrator": "slurm"},
        ).cluster,
        in_group(ERROR, "deep_health_checks"),
    ),
    "of Trainium, of several nodes and of one": (
        slurm_groups(
            group(TRAINIUM, slurm=COMPUTE, deep_health_checks=CHECKS),
            group(GPU, index=1, slurm=COMPUTE, deep_health_checks=["MultiNodeTrainingValidation"]),
            group(GPU, index=2, slurm=COMPUTE, deep_health_checks=["InstanceConnectivity"]),
        ),
        in_group(ERROR, "deep_health_checks"),
        in_group(ERROR, "deep_health_checks", index=1),
        in_group(WARNING, "deep_health_checks", index=2),
    ),
}
CASES[orchestrator_keys] = {
    "none": config(),
    "none, with Slurm": slurm(CONTROLLER, slurm={}),
    "slurm on EKS": (
        config(group(slurm=CONTROLLER), of_cluster={"slurm": {}}),
        (ERROR, "cluster.slurm"),
        in_group(ERROR, "slurm"),
    ),
    "eks on Slurm": (
        config(
            group(slurm=CONTROLLER, labels={"a": "b"}, taints=[TAINT]),
            group("ml.p5.48xlarge", index=1, slurm=COMPUTE),
            of_cluster={"orchestrator": "slurm", "auto_scaling": "Karpenter"},
            network={"eks_subnet_cidrs": ["10.192.7.0/28", "10.192.8.0/28"]},
            eks={},
            helm={"release": "hyperpod"},
            storage={"dynamic_provisioning": True, "claims": [{"namespace": "research"}]},
        ),
        (ERROR, "network.eks_subnet_cidrs"),
        (ERROR, "eks"),
        (ERROR, "storage.claims"),
        (ERROR, "storage.dynamic_provisioning"),
        (ERROR, "helm"),
        (ERROR, "cluster.auto_scaling"),
        in_group(ERROR, "labels"),
        in_group(ERROR, "taints"),
    ),
}
