"""What is verified of a cluster that Slurm orchestrates."""

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import load_config
from hyperpod_cli.aws.kubernetes_api import unreached
from hyperpod_cli.inspect.registered import concerning
from hyperpod_cli.inspect.verification.check import LiveDeployment
from hyperpod_cli.inspect.verification.subjects.slurm.mounts import mounts
from hyperpod_cli.inspect.verification.subjects.slurm.partitions import partitions
from hyperpod_cli.inspect.verification.verify import SUBJECTS
from hyperpod_cli.terminal.errors import OpsError
from tests.cli.inspect.verification.conftest import paginated, report
from tests.support.configs import CONFIG_FOLDER

CONFIG = load_config(CONFIG_FOLDER / "slurm.yaml")
DNS_NAME = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
Group = dict[str, Any]
LUSTRE = {"FsxLustreConfig": {"DnsName": DNS_NAME, "MountName": "abcdefgh", "MountPath": "/fsx"}}


def deployment(spoil: Callable[[Mapping[str, Group]], object]) -> LiveDeployment:
    """Return the deployment of the configuration, with something of its groups spoiled."""
    groups: list[Group] = []
    for group in CONFIG.cluster.instance_groups:
        request = group.to_request()
        storage = [*request.pop("InstanceStorageConfigs"), LUSTRE]
        groups.append({**request, "InstanceStorageConfigs": storage, "Status": "Running"})
    spoil({group["InstanceGroupName"]: group for group in groups})
    nodes = [
        {
            "InstanceGroupName": group["InstanceGroupName"],
            "InstanceId": "i-1",
            "InstanceStatus": {"Status": group["Status"]},
        }
        for group in groups
    ]
    answers = {
        "describe_cluster": lambda **_name: {"ClusterName": "ml", "InstanceGroups": groups},
        "get_paginator": paginated(list_cluster_nodes=[{"ClusterNodeSummaries": nodes}]),
    }
    return LiveDeployment(
        config=CONFIG,
        client=lambda _: SimpleNamespace(**answers),
        kubernetes=unreached(OpsError("there is none")),
        outputs={"ml-storage": {"FileSystemDnsName": DNS_NAME}},
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda _: None,
        lambda groups: groups["controller"].update(Status="Failure"),
        lambda groups: groups["worker-group-1"]["SlurmConfig"].update(PartitionNames=["cpu"]),
        lambda groups: groups["worker-group-2"].update(InstanceStorageConfigs=[]),
    ],
    ids=["whole", "failed", "another partition", "not mounted"],
)
def test_a_slurm_cluster(
    spoil: Callable[[Mapping[str, Group]], object], snapshot: SnapshotAssertion
) -> None:
    looked = deployment(spoil)
    assert report([*partitions(looked), *mounts(looked)]) == snapshot


def test_nothing_of_kubernetes_is_looked_at() -> None:
    own = concerning(SUBJECTS, CONFIG)
    assert {"partitions", "mounts", "cluster", "routes"} <= own.keys()
    assert not [name for name, each in own.items() if each.needs_kubernetes]
