"""What AWS says of what a configuration names, to compare before and after."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_rehearsal.stage import Stage

Seen = Mapping[str, Mapping[str, Any]]
"""By kind, and by id, what EC2 describes."""

# How many addresses of a subnet are free is no setting of it: whoever uses the subnet takes some.
_NO_SETTING = "AvailableIpAddressCount"
_KINDS = {
    "vpc": ("describe_vpcs", "Vpcs", "VpcId", "vpc-id"),
    "subnet": ("describe_subnets", "Subnets", "SubnetId", "vpc-id"),
    "route table": ("describe_route_tables", "RouteTables", "RouteTableId", "vpc-id"),
    "NAT gateway": ("describe_nat_gateways", "NatGateways", "NatGatewayId", "vpc-id"),
    "internet gateway": (
        "describe_internet_gateways",
        "InternetGateways",
        "InternetGatewayId",
        "attachment.vpc-id",
    ),
    "security group": ("describe_security_groups", "SecurityGroups", "GroupId", "vpc-id"),
    "endpoint": ("describe_vpc_endpoints", "VpcEndpoints", "VpcEndpointId", "vpc-id"),
}


def seen_of(vpc_id: str, *, clients: AwsClients) -> Seen:
    """Return all that there is of a VPC."""
    ec2 = clients("ec2")
    found: dict[str, dict[str, Any]] = {}
    for kind, (call, key, id_key, name) in _KINDS.items():
        argument = "Filter" if kind == "NAT gateway" else "Filters"
        answer = getattr(ec2, call)(**{argument: [{"Name": name, "Values": [vpc_id]}]})
        found[kind] = {
            each[id_key]: {name: value for name, value in each.items() if name != _NO_SETTING}
            for each in answer[key]
            if each.get("State") != "deleted"
        }
    for attribute in ("enableDnsSupport", "enableDnsHostnames"):
        answer = ec2.describe_vpc_attribute(VpcId=vpc_id, Attribute=attribute)
        found["vpc"][attribute] = {key: answer[key] for key in answer if key.startswith("Enable")}
    return found


def changed(before: Seen, after: Seen) -> dict[str, list[str]]:
    """Return the keys of what was there before and is another now, or gone, by kind and id."""
    return {
        f"{kind} {id_}": sorted(
            key for key in record if after[kind].get(id_, {}).get(key) != record[key]
        )
        for kind, records in before.items()
        for id_, record in records.items()
        if after[kind].get(id_) != record
    }


def seen_by(stage: Stage) -> Seen:
    """Return all that there is of what the configuration names, by kind and name."""
    config, clients = stage.config, stage.environment.clients
    vpc_id = config.network.vpc_id
    network: Seen = {} if vpc_id is None else seen_of(vpc_id, clients=clients)
    found: dict[str, Mapping[str, Any]] = dict(network)
    if config.eks.is_existing:
        found["EKS cluster"] = _control_plane(config.eks_cluster_name, clients=clients)
    if config.lifecycle_scripts.existing_bucket_name is not None:
        name = config.lifecycle_scripts.existing_bucket_name
        found["bucket"] = {name: _bucket(name, clients=clients)}
    if config.cluster.execution_role_arn is not None:
        name = config.cluster.execution_role_arn.rpartition("/")[2]
        found["role"] = {name: _role(name, clients=clients)}
    if config.storage is not None and config.storage.existing_ids:
        ids = list(config.storage.existing_ids)
        described = clients("fsx").describe_file_systems(FileSystemIds=ids)["FileSystems"]
        found["file system"] = {each["FileSystemId"]: each for each in described}
    return found


def left_of(stage: Stage) -> Seen:
    """Return what a deployment leaves as it was: EKS never changes an authentication mode back."""
    found = seen_by(stage)
    for each in found.get("EKS cluster", {}).values():
        each.get("accessConfig", {}).pop("authenticationMode", None)
    return found


def _control_plane(name: str, *, clients: AwsClients) -> Mapping[str, Any]:
    eks = clients("eks")
    addons = eks.list_addons(clusterName=name)["addons"]
    described = {
        addon: eks.describe_addon(clusterName=name, addonName=addon)["addon"] for addon in addons
    }
    cluster = eks.describe_cluster(name=name)["cluster"]
    try:
        entries = eks.list_access_entries(clusterName=name)["accessEntries"]
    except ClientError:  # the mode has none
        entries = []
    return {
        name: {**cluster, "accessEntries": sorted(entries)},
        # Their health follows the nodes.
        **{
            addon: {key: each[key] for key in ("addonVersion", "addonArn", "createdAt", "tags")}
            for addon, each in described.items()
        },
    }


def _bucket(name: str, *, clients: AwsClients) -> dict[str, Any]:
    s3 = clients("s3")
    settings: dict[str, Any] = {}
    for what in ("policy", "encryption", "versioning", "logging", "tagging"):
        try:
            answer = getattr(s3, f"get_bucket_{what}")(Bucket=name)
        except ClientError as absent:
            settings[what] = absent.response["Error"]["Code"]
        else:
            settings[what] = {k: v for k, v in answer.items() if k != "ResponseMetadata"}
    versions = s3.list_object_versions(Bucket=name)
    settings["objects"] = sorted(
        (each["Key"], each["VersionId"])
        for kind in ("Versions", "DeleteMarkers")
        for each in versions.get(kind, [])
    )
    return settings


def _role(name: str, *, clients: AwsClients) -> dict[str, Any]:
    iam = clients("iam")
    inline = iam.list_role_policies(RoleName=name)["PolicyNames"]
    attached = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    role = iam.get_role(RoleName=name)["Role"]
    return {
        **{key: value for key, value in role.items() if key != "RoleLastUsed"},
        "attached": attached,
        "inline": {
            policy: iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
            for policy in inline
        },
    }
