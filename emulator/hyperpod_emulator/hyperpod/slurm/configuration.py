"""Slurm's configuration and what scripts read on a node, as HyperPod's AMI makes them.

Names and places are those of the nodes of HyperPod that AWS's engineers describe,
https://github.com/awslabs/awsome-distributed-ai/blob/95b939cdc5b24ded03a70da21533964f9354b731/1.architectures/5.sagemaker-hyperpod/tools/devops-agent/docs/hyperpod-mental-model.md
What the request says is at
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_emulator.hardware import HardwareOf

Request = Mapping[str, Any]
"""A CreateCluster request, or UpdateCluster's with the groups that there are."""

DEV = "dev"
"""The default partition, with every node that runs slurmd."""
_DIRECTORY = "/opt/slurm/etc"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmNode:
    """A node of the cluster.

    Attributes:
        instance_id: Of the instance that the node is at present.
        address: Private IPv4 address in the user's VPC, which a replacement keeps.
    """

    group: str
    instance_id: str
    address: str
    instance_type: str

    @property
    def name(self) -> str:
        """Slurm's name of the node, and its host name, such as `ip-10-1-0-7`."""
        return "ip-" + self.address.replace(".", "-")


def slurm_conf(request: Request, nodes: Sequence[SlurmNode], *, hardware: HardwareOf) -> str:
    """Return slurm.conf for the nodes that there are, of which one is the controller."""
    controller = _of_type(request, nodes, "Controller")[0]
    lines = [
        f"ClusterName={request['ClusterName']}",
        f"SlurmctldHost={controller.name}({controller.address})",
        "SlurmctldParameters=enable_configless",
        "SlurmUser=slurm",
        "AuthType=auth/munge",
        "StateSaveLocation=/var/spool/slurm/ctld",
        "SlurmdSpoolDir=/var/spool/slurmd",
        "SlurmctldLogFile=/var/log/slurm/slurmctld.log",
        "SlurmdLogFile=/var/log/slurm/slurmd.log",
        f"PlugStackConfig={_DIRECTORY}/plugstack.conf",
        "ProctrackType=proctrack/cgroup",
        "SelectType=select/cons_tres",
        "SelectTypeParameters=CR_Core",
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-release-notes.html
        "ResumeTimeout=300",
        "UnkillableStepTimeout=300",
        "GresTypes=gpu",
    ]
    if _database(request) is not None:
        lines += [
            "JobAcctGatherType=jobacct_gather/linux",
            "AccountingStorageType=accounting_storage/slurmdbd",
            f"AccountingStorageHost={controller.name}",
            "AccountingStorageTRES=gres/gpu",
        ]
    for node in _with_slurmd(request, nodes):
        has = _resources(request, node, hardware)
        lines.append(f"NodeName={node.name} NodeAddr={node.address}{has} State=UNKNOWN")
    lines += _partitions(request, nodes)
    return "".join(f"{line}\n" for line in lines)


def gres_conf(request: Request, nodes: Sequence[SlurmNode], *, hardware: HardwareOf) -> str:
    """Return gres.conf: the GPUs of each node; empty on a cluster without any."""
    return "".join(
        f"NodeName={node.name} Name=gpu File=/dev/nvidia{_numbers(gpus)}\n"
        for node in _with_slurmd(request, nodes)
        if (gpus := _gpus(node, hardware))
    )


def slurmdbd_conf(
    request: Request, nodes: Sequence[SlurmNode], *, cluster_id: str, user: str, password: str
) -> str | None:
    """Return slurmdbd.conf; None for a cluster without an accounting database.

    The controller, which runs slurmdbd, is among the nodes; user and password are from the
    database's secret.
    """
    database = _database(request)
    if database is None:
        return None
    lines = [
        "AuthType=auth/munge",
        f"DbdHost={_of_type(request, nodes, 'Controller')[0].name}",
        "SlurmUser=slurm",
        "LogFile=/var/log/slurm/slurmdbd.log",
        "PidFile=/run/slurmdbd.pid",
        "StorageType=accounting_storage/mysql",
        f"StorageHost={database['Endpoint']}",
        f"StoragePort={database.get('Port', 3306)}",
        f"StorageLoc={database.get('Name', f'slurm_acct_db_{cluster_id}')}",
        f"StorageUser={user}",
        f"StoragePass={password}",
    ]
    return "".join(f"{line}\n" for line in lines)


def resource_config(
    request: Request, nodes: Sequence[SlurmNode], *, cluster_arn: str
) -> dict[str, Any]:
    """Return what `/opt/ml/config/resource_config.json` holds: groups and their nodes.

    The controller is among them.
    """
    return {
        "ClusterType": "Slurm",
        "ClusterConfig": {"ClusterName": request["ClusterName"], "ClusterArn": cluster_arn},
        "SlurmConfig": {
            "PrimaryControllerIp": _of_type(request, nodes, "Controller")[0].address,
            "SecondaryControllerIps": [],
        },
        "InstanceGroups": [
            {
                "Name": (name := group["InstanceGroupName"]),
                "InstanceType": group.get("InstanceType"),
                "Instances": [
                    {
                        "InstanceName": f"{name}-{index}",
                        "InstanceId": node.instance_id,
                        # In a network of HyperPod's own, which is not played.
                        "AgentIpAddress": node.address,
                        "CustomerIpAddress": node.address,
                    }
                    for index, node in enumerate(_in_group(nodes, name), start=1)
                ],
            }
            for group in request["InstanceGroups"]
        ],
    }


def provisioning_parameters(request: Request) -> dict[str, Any]:
    """Return what `/opt/ml/config/provisioning_parameters.json` holds: the groups' roles."""
    first = {kind: next(iter(_groups(request, kind)), {}) for kind in ("Controller", "Login")}
    mounts: dict[str, Any] = {}
    for storage in first["Controller"].get("InstanceStorageConfigs", []):
        mounts |= storage
    lustre, open_zfs = (mounts.get(f"Fsx{kind}Config", {}) for kind in ("Lustre", "OpenZfs"))
    return {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": first["Controller"].get("InstanceGroupName", ""),
        "login_group": first["Login"].get("InstanceGroupName", ""),
        "worker_groups": [
            {
                "instance_group_name": group["InstanceGroupName"],
                "partition_name": group["SlurmConfig"]["PartitionNames"][0],
            }
            for group in _groups(request, "Compute")
        ],
        "fsx_dns_name": lustre.get("DnsName", ""),
        "fsx_mountname": lustre.get("MountName", ""),
        "fsx_openzfs_dns_name": open_zfs.get("DnsName", ""),
    }


def _groups(request: Request, node_type: str) -> list[Mapping[str, Any]]:
    return [g for g in request["InstanceGroups"] if g["SlurmConfig"]["NodeType"] == node_type]


def _in_group(nodes: Iterable[SlurmNode], name: str) -> list[SlurmNode]:
    return [node for node in nodes if node.group == name]


def _of_type(request: Request, nodes: Sequence[SlurmNode], node_type: str) -> list[SlurmNode]:
    names = [group["InstanceGroupName"] for group in _groups(request, node_type)]
    return [node for name in names for node in _in_group(nodes, name)]


def _with_slurmd(request: Request, nodes: Sequence[SlurmNode]) -> list[SlurmNode]:
    """Return the nodes that jobs may run on, which login nodes are, in `dev`."""
    return _of_type(request, nodes, "Compute") + _of_type(request, nodes, "Login")


def _partitions(request: Request, nodes: Sequence[SlurmNode]) -> list[str]:
    members: dict[str, list[str]] = {}
    for group in _groups(request, "Compute"):
        for partition in group["SlurmConfig"]["PartitionNames"]:
            names = [node.name for node in _in_group(nodes, group["InstanceGroupName"])]
            members.setdefault(partition, []).extend(names)
    named = [
        # Slurm's way to say that a partition has no nodes as yet.
        f"PartitionName={partition} Nodes={','.join(names) or chr(34) * 2}"
        for partition, names in members.items()
        if partition != DEV
    ]
    lines = [f"PartitionName={DEV} Nodes=ALL Default=YES", *named]
    return [f"{line} MaxTime=INFINITE State=UP" for line in lines]


def _resources(request: Request, node: SlurmNode, hardware: HardwareOf) -> str:
    found = hardware(node.instance_type)
    if found is None:
        return ""
    group = next(g for g in request["InstanceGroups"] if g["InstanceGroupName"] == node.group)
    threads = group.get("ThreadsPerCore", found.default_threads_per_core)
    cpus = found.vcpus // found.default_threads_per_core * threads
    gpus = _gpus(node, hardware)
    gres = f" Gres=gpu:{gpus}" if gpus else ""
    return f" CPUs={cpus} RealMemory={found.memory_mib}{gres}"


def _gpus(node: SlurmNode, hardware: HardwareOf) -> int:
    found = hardware(node.instance_type)
    accelerator = found.accelerator if found is not None else None
    return accelerator.count if accelerator is not None and accelerator.kind == "GPU" else 0


def _numbers(count: int) -> str:
    return f"[0-{count - 1}]" if count > 1 else "0"


def _database(request: Request) -> Mapping[str, Any] | None:
    slurm: Mapping[str, Any] = request.get("Orchestrator", {}).get("Slurm", {})
    return slurm.get("AccountingDatabase")
