"""File systems that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_cdk import Config
from rehearsal.aws.chosen_ids import FILE_SYSTEM_ID
from rehearsal.aws.clients import AwsClients


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem:
    """An FSx for Lustre file system of somebody else.

    Attributes:
        id: Its ID.
    """

    id: str

    def __str__(self) -> str:
        return f"FSx for Lustre file system {self.id}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there, in the default VPC, open to its members."""
        fsx, ec2 = clients("fsx"), clients("ec2")
        if self.id in {each["FileSystemId"] for each in fsx.describe_file_systems()["FileSystems"]}:
            return
        vpcs = ec2.describe_vpcs(Filters=[{"Name": "is-default", "Values": ["true"]}])["Vpcs"]
        in_vpc = [{"Name": "vpc-id", "Values": [vpcs[0]["VpcId"]]}]
        subnet = ec2.describe_subnets(Filters=in_vpc)["Subnets"][0]
        group = ec2.create_security_group(
            GroupName=self.id, Description="Of a file system", VpcId=vpcs[0]["VpcId"]
        )["GroupId"]
        itself = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[itself])
        fsx.create_file_system(
            FileSystemType="LUSTRE",
            FileSystemTypeVersion="2.15",
            StorageCapacity=2400,
            SubnetIds=[subnet["SubnetId"]],
            SecurityGroupIds=[group],
            LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
            Tags=[{"Key": FILE_SYSTEM_ID, "Value": self.id}],
        )


def existing_file_systems(config: Config) -> Iterator[FileSystem]:
    """Yield the file systems that the configuration uses and does not make."""
    for _, files in config.storage.file_systems if config.storage is not None else ():
        if files.file_system_id is not None:
            yield FileSystem(id=files.file_system_id)
