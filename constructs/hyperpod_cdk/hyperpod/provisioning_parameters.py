"""What AWS's own scripts for Slurm nodes read of a cluster."""

import json
from collections.abc import Sequence
from typing import Any

from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.node_settings import Mounts
from hyperpod_cdk.slurm.section import COMPUTE, CONTROLLER, LOGIN

PROVISIONING_PARAMETERS = "provisioning_parameters.json"
"""The file, beside the `on_create.sh` that does all of a node's setup."""


def provisioning_parameters(groups: Sequence[InstanceGroupConfig], *, mounts: Mounts) -> str:
    """Return the text of the file.

    Its keys are those that AWS's base-config reads, in lifecycle_script.py:
    https://github.com/awslabs/awsome-distributed-training/tree/main/1.architectures/5.sagemaker-hyperpod

    Args:
        groups: The instance groups, of which one is the controller.
        mounts: The deployment's file systems, whose names may be CDK tokens. A group's own ones
            stand for those that it has not.
    """

    def named(kind: str) -> list[InstanceGroupConfig]:
        return [each for each in groups if each.slurm is not None and each.slurm.node_type == kind]

    parameters: dict[str, Any] = {"version": "1.0.0", "workload_manager": "slurm"}
    for kind in (CONTROLLER, LOGIN):
        parameters |= {f"{kind}_group": group.name for group in named(kind)}
    parameters["worker_groups"] = [
        {"instance_group_name": group.name, "partition_name": group.slurm.partition}
        for group in named(COMPUTE)
        if group.slurm is not None
    ]
    lustre = (*mounts.lustre, *(mount for group in groups for mount in group.fsx_lustre_mounts))
    for files in lustre[:1]:
        parameters |= {"fsx_dns_name": files.dns_name, "fsx_mountname": files.mount_name}
    homes = (*mounts.openzfs, *(mount for group in groups for mount in group.fsx_openzfs_mounts))
    for each in homes[:1]:
        parameters["fsx_openzfs_dns_name"] = each.dns_name
    return json.dumps(parameters, indent=2) + "\n"
