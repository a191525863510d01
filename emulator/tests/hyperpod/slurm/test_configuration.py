"""What HyperPod's AMI writes on a node of Slurm; what slurmctld makes of it is in tests/slurm."""

from hyperpod_emulator.hardware import unknown_hardware
from hyperpod_emulator.hyperpod.slurm.configuration import (
    SlurmNode,
    gres_conf,
    provisioning_parameters,
    resource_config,
    slurm_conf,
    slurmdbd_conf,
)

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdef123456"
MOUNTS = [
    {"EbsVolumeConfig": {"VolumeSizeInGB": 500}},
    {"FsxLustreConfig": {"DnsName": "fs-1.example.com", "MountName": "abc", "MountPath": "/fsx"}},
]
REQUEST = {
    "ClusterName": "ml-cluster",
    "Orchestrator": {"Slurm": {}},
    "InstanceGroups": [
        {
            "InstanceGroupName": "head",
            "InstanceType": "ml.m5.xlarge",
            "SlurmConfig": {"NodeType": "Controller"},
            "InstanceStorageConfigs": MOUNTS,
        },
        {
            "InstanceGroupName": "workers",
            "InstanceType": "ml.g5.xlarge",
            "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu"]},
        },
    ],
}
NODES = [
    SlurmNode(group="head", instance_id="i-1", address="10.1.0.4", instance_type="ml.m5.xlarge"),
    SlurmNode(group="workers", instance_id="i-2", address="10.1.0.5", instance_type="ml.g5.xlarge"),
]


def test_scripts_find_groups_nodes_and_roles() -> None:
    config = resource_config(REQUEST, NODES, cluster_arn=ARN)
    assert config["ClusterConfig"] == {"ClusterName": "ml-cluster", "ClusterArn": ARN}
    assert config["SlurmConfig"]["PrimaryControllerIp"] == "10.1.0.4"
    assert config["InstanceGroups"][1] == {
        "Name": "workers",
        "InstanceType": "ml.g5.xlarge",
        "Instances": [
            {
                "InstanceName": "workers-1",
                "InstanceId": "i-2",
                "AgentIpAddress": "10.1.0.5",
                "CustomerIpAddress": "10.1.0.5",
            }
        ],
    }
    assert provisioning_parameters(REQUEST) == {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": "head",
        "login_group": "",
        "worker_groups": [{"instance_group_name": "workers", "partition_name": "gpu"}],
        "fsx_dns_name": "fs-1.example.com",
        "fsx_mountname": "abc",
        "fsx_openzfs_dns_name": "",
    }


def test_a_cluster_without_known_hardware_or_a_database_says_nothing_of_them() -> None:
    text = slurm_conf(REQUEST, NODES, hardware=unknown_hardware)
    assert "NodeName=ip-10-1-0-5 NodeAddr=10.1.0.5 State=UNKNOWN\n" in text
    assert "AccountingStorage" not in text
    assert gres_conf(REQUEST, NODES, hardware=unknown_hardware) == ""
    assert slurmdbd_conf(REQUEST, NODES, cluster_id="c", user="u", password="") is None
