"""The KMS keys, buckets and file systems that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from hyperpod_cdk import Config
from hyperpod_cdk.encryption.key_policy import (
    administration,
    encryption_of_logs,
    log_group_arns,
)
from hyperpod_cdk.network.section import NetworkConfig
from hyperpod_cdk.schema.availability_zones import is_zone_name
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_emulator.aws.settings import FILE_SYSTEM_ID, KMS_KEY_ID
from hyperpod_rehearsal.existing_resources.networks import (
    all_traffic_of,
    default_vpc,
    free_blocks,
    vpc_cidr,
)
from hyperpod_rehearsal.existing_resources.resource import ExistingResource
from hyperpod_rehearsal.existing_resources.roles import policy as policy_of


def kms_key(key: str, *, policy: str = "") -> ExistingResource:
    """Return a symmetric KMS key of an ARN or id; without a policy, with the one that KMS gives."""

    def make(clients: AwsClients) -> None:
        kms, name = clients("kms"), key.rpartition("/")[2]
        if answer_of(kms.describe_key, "NotFoundException", KeyId=name) is None:
            tags = [{"TagKey": KMS_KEY_ID, "TagValue": name}]
            kms.create_key(Tags=tags, **({"Policy": policy} if policy else {}))

    return ExistingResource(f"KMS key {key}", make)


def kms_keys(config: Config) -> Iterator[ExistingResource]:
    """Yield the keys; that of all data has the policy that the preflight asks for."""
    of_config = config.encryption.kms_key_arn
    for key in dict.fromkeys(name.value for name in named_resources(config, "KMS key")):
        yield kms_key(key, policy=_policy(config, key) if key == of_config else "")


def _policy(config: Config, key: str) -> str:
    # The CDK takes a second to import, and few configurations name a key.
    from hyperpod_stacks.deployment import log_groups_of  # noqa: PLC0415

    _, partition, _, region, account, _ = key.split(":")
    arns = log_group_arns(
        log_groups_of(config), partition=partition, region=region, account=account
    )
    logs = encryption_of_logs(arns, region=region, dns_suffix="amazonaws.com")
    return policy_of(administration(partition=partition, account=account), logs)


def bucket(name: str, *scripts: str) -> ExistingResource:
    """Return an S3 bucket, with versions of scripts of these keys that do nothing."""

    def make(clients: AwsClients) -> None:
        s3 = clients("s3")
        region = s3.meta.region_name
        # us-east-1 is no LocationConstraint:
        # https://docs.aws.amazon.com/AmazonS3/latest/API/API_CreateBucketConfiguration.html
        where = {"CreateBucketConfiguration": {"LocationConstraint": region}}
        with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
            s3.create_bucket(Bucket=name, **(where if region != "us-east-1" else {}))
        if scripts:
            enabled = {"Status": "Enabled"}
            s3.put_bucket_versioning(Bucket=name, VersioningConfiguration=enabled)
        for key in scripts:
            s3.put_object(Bucket=name, Key=key, Body=b"#!/bin/bash\n")

    return ExistingResource(", ".join([f"S3 bucket {name}", *scripts]), make)


def buckets(config: Config) -> Iterator[ExistingResource]:
    """Yield the buckets of lifecycle scripts and of data."""
    keys: dict[str, list[str]] = {}
    for group in config.cluster.instance_groups:
        lifecycle = group.lifecycle
        if lifecycle is not None and lifecycle.source_s3_uri is not None:
            name, _, prefix = lifecycle.source_s3_uri.removeprefix("s3://").partition("/")
            script = lifecycle.on_create or lifecycle.on_init_complete
            keys.setdefault(name, []).append(f"{prefix.rstrip('/')}/{script}")
    for name in config.storage.bucket_names if config.storage is not None else ():
        keys.setdefault(name, [])
    for data in config.cluster.data_buckets:
        keys.setdefault(data.name, [])
    if config.lifecycle_scripts.existing_bucket_name is not None:
        # As AWS's samples name it: its owner's, which the deployment's must not replace.
        keys.setdefault(config.lifecycle_scripts.existing_bucket_name, []).append("on_create.sh")
    yield from (bucket(name, *dict.fromkeys(scripts)) for name, scripts in keys.items())


_LUSTRE_PORTS = ((988, 988), (1018, 1023))
_SMALL_PREFIX = 28


def _file_system(id_: str, *, network: NetworkConfig) -> ExistingResource:
    """Return an FSx for Lustre file system of another owner, which lets a network's nodes in.

    It is in the default VPC where none is named, in any subnet of it. Who names no security group
    of the nodes lets them in by their addresses: a new group is not there yet.
    """
    vpc_id = network.vpc_id

    def make(clients: AwsClients) -> None:
        fsx, ec2 = clients("fsx"), clients("ec2")
        if id_ in {files["FileSystemId"] for files in fsx.describe_file_systems()["FileSystems"]}:
            return
        vpc = vpc_id or default_vpc(ec2)
        group = ec2.create_security_group(GroupName=id_, Description="Of a file system", VpcId=vpc)[
            "GroupId"
        ]
        blocks = (vpc_cidr(network), *network.new_hyperpod_cidrs)
        nodes = (
            {"IpRanges": [{"CidrIp": block} for block in dict.fromkeys(blocks)]}
            if network.security_group_id is None
            else {"UserIdGroupPairs": [{"GroupId": network.security_group_id}]}
        )
        rules = [
            *all_traffic_of(group),
            *(
                {"IpProtocol": "tcp", "FromPort": first, "ToPort": last, **nodes}
                for first, last in _LUSTRE_PORTS
            ),
        ]
        ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=rules)
        fsx.create_file_system(
            FileSystemType="LUSTRE",
            FileSystemTypeVersion="2.15",
            StorageCapacity=2400,
            SubnetIds=[_subnet_of_files(ec2, network, vpc_id=vpc)],
            SecurityGroupIds=[group],
            LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
            Tags=[{"Key": FILE_SYSTEM_ID, "Value": id_}],
        )
        while _lifecycle(fsx, id_) == "CREATING":
            pass

    return ExistingResource(
        f"FSx for Lustre file system {id_} in {vpc_id or 'the default VPC'}", make
    )


def _subnet_of_files(ec2: AwsClient, network: NetworkConfig, *, vpc_id: str) -> str:
    """Return the first HyperPod subnet or, if that is new, another of its zone, made if need be."""
    if network.hyperpod_subnets[0].subnet_id is not None:
        return network.hyperpod_subnets[0].subnet_id
    zone = None if network.vpc_id is None else network.hyperpod_zone_ids[0]
    found = ec2.describe_subnets(Filters=[{"Name": "vpc-id", "Values": [vpc_id]}])["Subnets"]
    for subnet in found:
        if zone in (None, subnet["AvailabilityZoneId"], subnet["AvailabilityZone"]):
            return str(subnet["SubnetId"])
    # Others are made of the first ones.
    *_, block = free_blocks(network, prefix_length=_SMALL_PREFIX)
    place = {"AvailabilityZone" if is_zone_name(str(zone)) else "AvailabilityZoneId": zone}
    made = ec2.create_subnet(VpcId=vpc_id, CidrBlock=block, **place)["Subnet"]
    return str(made["SubnetId"])


def file_systems(config: Config) -> Iterator[ExistingResource]:
    """Yield the file systems that the configuration uses and does not make."""
    for identifier in config.storage.existing_ids if config.storage is not None else ():
        yield _file_system(identifier, network=config.network)


def _lifecycle(fsx: AwsClient, identifier: str) -> str:
    [files] = fsx.describe_file_systems(FileSystemIds=[identifier])["FileSystems"]
    return str(files["Lifecycle"])
