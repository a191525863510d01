"""Requests for clusters that Slurm orchestrates."""

from __future__ import annotations

from typing import Any

from hyperpod_emulator.testing.hyperpod_api import group
from hyperpod_emulator.testing.site import Site

LUSTRE = {
    "FsxLustreConfig": {
        "DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        "MountName": "abcdefgh",
    }
}
OPENZFS = {"FsxOpenZfsConfig": {"DnsName": "fs-0fedcba9876543210.fsx.us-west-2.amazonaws.com"}}
ACCOUNTING = {
    "AccountingDatabase": {
        "Endpoint": "accounting.cluster.us-west-2.rds.amazonaws.com",
        "SecretArn": "arn:aws:secretsmanager:us-west-2:000000000000:secret:accounting-AbCdEf",
    }
}


def controller(name: str = "controller", count: int = 1, **members: Any) -> dict[str, Any]:
    """Return a controller group that the AMI alone sets up."""
    return _slurm(name, count, {"NodeType": "Controller"}, members)


def login(name: str = "login", count: int = 1, **members: Any) -> dict[str, Any]:
    """Return a login group."""
    return _slurm(name, count, {"NodeType": "Login"}, members)


def compute(
    name: str = "workers", count: int = 2, *, partition: str = "gpu", **members: Any
) -> dict[str, Any]:
    """Return a group of workers in a partition."""
    slurm = {"NodeType": "Compute", "PartitionNames": [partition]}
    return _slurm(name, count, slurm, {"InstanceType": "ml.g5.12xlarge"} | members)


def _slurm(
    name: str, count: int, config: dict[str, Any], members: dict[str, Any]
) -> dict[str, Any]:
    own = {"InstanceType": "ml.m5.xlarge", "LifeCycleConfig": None, "SlurmConfig": config}
    return group(name, count, **(own | members))


def slurm(**members: Any) -> dict[str, Any]:
    """Return the members of a cluster that Slurm orchestrates."""
    return {"Orchestrator": {"Slurm": members}}


def site_request(site: Site, role: str, **members: Any) -> dict[str, Any]:
    """Return a CreateCluster request with an accounting database and a file system."""
    groups = [controller(), compute(InstanceStorageConfigs=[LUSTRE])]
    return {
        "ClusterName": "c1",
        "InstanceGroups": [{**group, "ExecutionRole": site.names[role]} for group in groups],
        "VpcConfig": {
            "Subnets": [site.names["Nodes"]],
            "SecurityGroupIds": [site.names["Group"]],
        },
        "NodeProvisioningMode": "Continuous",
        **slurm(**ACCOUNTING),
        **members,
    }
