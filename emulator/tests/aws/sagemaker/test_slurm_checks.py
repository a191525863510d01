"""What Slurm's nodes need of roles and the network."""

import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import aws_clients
from hyperpod_emulator.node.node import VpcNetwork
from hyperpod_emulator.testing.site import Site
from hyperpod_emulator.testing.slurm_requests import ACCOUNTING, site_request
from hyperpod_emulator.testing.stacks import Template, client, deploy, network


def test_the_nodes_roles_need_their_rights(site: Site) -> None:
    sagemaker = client(site.aws, "sagemaker")
    with pytest.raises(ClientError) as error:
        sagemaker.create_cluster(**site_request(site, "BlindRole"))
    told = str(error.value)
    role, secret = site.names["BlindRole"], ACCOUNTING["AccountingDatabase"]["SecretArn"]
    for sentence in (
        f"Instance group workers: {role} is not allowed fsx:DescribeFileSystems on *.",
        f"Instance group controller: {role} is not allowed secretsmanager:GetSecretValue on "
        f"{secret}.",
    ):
        assert sentence in told
    assert told.count("is not allowed") == 2

    sagemaker.create_cluster(**site_request(site, "SlurmRole"))
    grown = site_request(site, "BlindRole")["InstanceGroups"]
    with pytest.raises(ClientError, match=re.escape("fsx:DescribeFileSystems on *")):
        sagemaker.update_cluster(ClusterName="c1", InstanceGroups=grown)


def test_the_network_must_be_one(site: Site) -> None:
    elsewhere = {"Subnets": [site.names["Nodes"]], "SecurityGroupIds": [site.names["OtherGroup"]]}
    with pytest.raises(ClientError, match=f"{site.names['OtherGroup']} is not in vpc-"):
        client(site.aws, "sagemaker").create_cluster(
            **site_request(site, "SlurmRole", VpcConfig=elsewhere)
        )


def _file_system(kind: str, **settings: Any) -> Template:
    configuration = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}[kind]
    return {
        "Type": "AWS::FSx::FileSystem",
        "DependsOn": ["In", "Out"],
        "Properties": {
            "FileSystemType": kind,
            "StorageCapacity": 1200,
            "SubnetIds": [{"Ref": "Nodes"}],
            "SecurityGroupIds": [{"Ref": "Group"}],
            configuration: settings,
        },
    }


@pytest.fixture(scope="module")
def mountable(shared_site: Site) -> dict[str, str]:
    """Return a subnet, a security group, and the names of a Lustre and an OpenZFS file system."""
    lustre = _file_system("LUSTRE", DeploymentType="PERSISTENT_2", PerUnitStorageThroughput=250)
    open_zfs = _file_system("OPENZFS", DeploymentType="SINGLE_AZ_HA_2", ThroughputCapacity=160)
    template = {**network(), "Lustre": lustre, "OpenZfs": open_zfs}
    outputs: Template = {name: {"Ref": name} for name in ("Nodes", "Group")}
    outputs |= {name: {"Fn::GetAtt": [name, "DNSName"]} for name in ("Lustre", "OpenZfs")}
    outputs["MountName"] = {"Fn::GetAtt": ["Lustre", "LustreMountName"]}
    return deploy(shared_site.aws, template, outputs).outputs


@pytest.mark.parametrize(
    ("changes", "mounts"),
    [
        ({}, True),
        ({"Lustre": "fs-0.fsx.us-west-2.amazonaws.com"}, False),
        ({"MountName": "another"}, False),
        ({"OpenZfs": "fs-0.fsx.us-west-2.amazonaws.com"}, False),
        ({"Nodes": None}, False),
        ({"Group": None}, False),
    ],
)
def test_a_node_mounts_what_is_in_its_vpc_and_lets_it_in(
    site: Site, mountable: dict[str, str], changes: dict[str, str | None], *, mounts: bool
) -> None:
    elsewhere = {"Nodes": site.names["Nodes"], "Group": site.names["OtherGroup"]}
    names = mountable | {name: value or elsewhere[name] for name, value in changes.items()}
    vpc = VpcNetwork(aws_clients(site.aws))
    lustre = {"DnsName": names["Lustre"], "MountName": names["MountName"]}
    storage: list[dict[str, Any]] = [
        {"FsxLustreConfig": lustre},
        {"FsxOpenZfsConfig": {"DnsName": names["OpenZfs"]}},
        {"EbsVolumeConfig": {"VolumeSizeInGB": 500}},
    ]
    groups = (names["Group"],)

    found = vpc.mounts(storage=storage, subnet_id=names["Nodes"], groups=groups)
    assert found is mounts
