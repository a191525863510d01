"""File systems that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.aws.clients import AwsClients
from emulator.aws.shared_settings import FILE_SYSTEM_ID
from hyperpod_cdk import Config
from hyperpod_cli.aws.session import AwsClient
from rehearsal.existing_resources.networks import all_traffic_of, default_vpc

_LUSTRE_PORTS = ((988, 988), (1018, 1023))


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem:
    """An FSx for Lustre file system of somebody else, which lets a network's nodes in.

    Attributes:
        id: Its ID.
        vpc_id: Its VPC; None for the default one.
        subnet_id: Its subnet, that of nodes; None for any of the VPC.
        nodes_group_id: Security group of the nodes; None for one that is not there yet.
    """

    id: str
    vpc_id: str | None
    subnet_id: str | None
    nodes_group_id: str | None

    def __str__(self) -> str:
        return f"FSx for Lustre file system {self.id} in {self.vpc_id or 'the default VPC'}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there."""
        fsx, ec2 = clients("fsx"), clients("ec2")
        if self.id in {each["FileSystemId"] for each in fsx.describe_file_systems()["FileSystems"]}:
            return
        vpc_id = self.vpc_id or default_vpc(ec2)
        in_vpc = [{"Name": "vpc-id", "Values": [vpc_id]}]
        found = ec2.describe_subnets(Filters=in_vpc)["Subnets"]
        fsx.create_file_system(
            FileSystemType="LUSTRE",
            FileSystemTypeVersion="2.15",
            StorageCapacity=2400,
            SubnetIds=[self.subnet_id or found[0]["SubnetId"]],
            SecurityGroupIds=[self._group(ec2, vpc_id)],
            LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
            Tags=[{"Key": FILE_SYSTEM_ID, "Value": self.id}],
        )
        while _lifecycle(fsx, self.id) == "CREATING":
            pass

    def _group(self, ec2: AwsClient, vpc_id: str) -> str:
        group = ec2.create_security_group(
            GroupName=self.id, Description="Of a file system", VpcId=vpc_id
        )["GroupId"]
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=all_traffic_of(group))
        if self.nodes_group_id is not None:
            nodes = [{"GroupId": self.nodes_group_id}]
            ports = [
                {"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "UserIdGroupPairs": nodes}
                for first, last in _LUSTRE_PORTS
            ]
            ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=ports)
        return str(group)


def file_systems(config: Config) -> Iterator[FileSystem]:
    """Yield the file systems that the configuration uses and does not make."""
    for identifier in config.storage.existing_ids if config.storage is not None else ():
        yield FileSystem(
            id=identifier,
            vpc_id=config.network.vpc_id,
            subnet_id=config.network.hyperpod_subnets[0].subnet_id,
            nodes_group_id=config.network.security_group_id,
        )


def _lifecycle(fsx: AwsClient, identifier: str) -> str:
    [found] = fsx.describe_file_systems(FileSystemIds=[identifier])["FileSystems"]
    return str(found["Lifecycle"])
