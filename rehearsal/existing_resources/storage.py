"""The KMS keys, buckets and file systems that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from emulator.aws.local_aws import AwsClients
from emulator.aws.settings import FILE_SYSTEM_ID, KMS_KEY_ID
from hyperpod_cdk import Config
from hyperpod_cdk.encryption.key_policy import (
    administration,
    encryption_of_logs,
)
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import AwsClient
from hyperpod_stacks.table import log_groups_of
from rehearsal.existing_resources.networks import all_traffic_of, default_vpc
from rehearsal.existing_resources.roles import policy


@dataclass(frozen=True, kw_only=True, slots=True)
class KmsKey:
    """A symmetric KMS key.

    Attributes:
        key: Its ARN or id.
        policy: Its policy as JSON; empty for the one that KMS gives a key.
    """

    key: str
    policy: str = ""

    def __str__(self) -> str:
        return f"KMS key {self.key}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there."""
        kms = clients("kms")
        name = self.key.rpartition("/")[2]
        try:
            kms.describe_key(KeyId=name)
        except kms.exceptions.NotFoundException:
            tags = [{"TagKey": KMS_KEY_ID, "TagValue": name}]
            kms.create_key(Tags=tags, **({"Policy": self.policy} if self.policy else {}))


def kms_keys(config: Config) -> Iterator[KmsKey]:
    """Yield the keys; that of all data has the policy that the preflight asks for."""
    own = config.encryption.kms_key_arn
    for key in dict.fromkeys(
        each.value for each in named_resources(config) if each.kind == "KMS key"
    ):
        yield KmsKey(key=key, policy=_policy(config, key) if key == own else "")


def _policy(config: Config, key: str) -> str:
    _, partition, _, region, account, _ = key.split(":")
    logs = encryption_of_logs(
        partition=partition,
        region=region,
        account=account,
        dns_suffix="amazonaws.com",
        log_groups=log_groups_of(config),
    )
    return policy(administration(partition=partition, account=account), logs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """An S3 bucket.

    Attributes:
        name: Its name.
        scripts: Keys of lifecycle scripts in it.
    """

    name: str
    scripts: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"S3 bucket {self.name}" + "".join(f", {key}" for key in self.scripts)

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there, with versions of a script that does nothing."""
        s3 = clients("s3")
        region = s3.meta.region_name
        # us-east-1 is no LocationConstraint:
        # https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucketConfiguration.html
        where = {"LocationConstraint": region}
        with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
            if region == "us-east-1":
                s3.create_bucket(Bucket=self.name)
            else:
                s3.create_bucket(Bucket=self.name, CreateBucketConfiguration=where)
        if self.scripts:
            enabled = {"Status": "Enabled"}
            s3.put_bucket_versioning(Bucket=self.name, VersioningConfiguration=enabled)
        for key in self.scripts:
            s3.put_object(Bucket=self.name, Key=key, Body=b"#!/bin/bash\n")


def buckets(config: Config) -> Iterator[Bucket]:
    """Yield the buckets of lifecycle scripts and of data."""
    keys: dict[str, list[str]] = {}
    for group in config.cluster.instance_groups:
        lifecycle = group.lifecycle
        if lifecycle is not None and lifecycle.source_s3_uri is not None:
            bucket, prefix = _location(lifecycle.source_s3_uri)
            script = lifecycle.on_create or lifecycle.on_init_complete
            keys.setdefault(bucket, []).append(f"{prefix}/{script}")
    for bucket in config.storage.bucket_names if config.storage is not None else ():
        keys.setdefault(bucket, [])
    for data in config.cluster.data_buckets:
        keys.setdefault(data.name, [])
    if config.lifecycle_scripts.existing_bucket_name is not None:
        # As AWS's samples name it: its owner's, which the deployment's must not replace.
        keys.setdefault(config.lifecycle_scripts.existing_bucket_name, []).append("on_create.sh")
    for name, scripts in keys.items():
        yield Bucket(name=name, scripts=tuple(dict.fromkeys(scripts)))


def _location(s3_uri: str) -> tuple[str, str]:
    bucket, _, prefix = s3_uri.removeprefix("s3://").partition("/")
    return bucket, prefix.rstrip("/")


_LUSTRE_PORTS = ((988, 988), (1018, 1023))


@dataclass(frozen=True, kw_only=True, slots=True)
class FileSystem:
    """An FSx for Lustre file system of another owner, which lets a network's nodes in.

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
