"""Whether a file system that exists can be mounted by the nodes."""

from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.stacks.table import stack_name
from hyperpod_cli.inspect.preflight.storage.facts import (
    Record,
    describe_command,
    file_system,
    open_ports,
    outputs,
    security_groups,
)
from hyperpod_cli.inspect.preflight.validator import Place, Problem

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
_PORTS = (988, *range(1018, 1024))
_VERSIONS = ("2.12", "2.15")
_USABLE = ("AVAILABLE", "UPDATING")


def existing_file_systems(config: Config, place: Place) -> Iterator[Problem]:
    """Find file systems that are not there, cannot be mounted, or that the nodes do not reach."""
    if config.storage is None:
        return
    for path, files in config.storage.file_systems:
        if files.file_system_id is not None:
            key = ("storage", *path, "file_system_id")
            for message in _problems(files.file_system_id, config=config, place=place):
                finding = Finding(path=key, value=files.file_system_id, message=message)
                yield Problem(finding=finding, command=describe_command(files.file_system_id))


def _problems(identifier: str, *, config: Config, place: Place) -> Iterator[str]:
    found = file_system(identifier, place)
    if found is None:
        yield f"is not a file system of account {place.account} in {place.region}"
        return
    if found["FileSystemType"] != "LUSTRE":
        yield f"is of type {found['FileSystemType']}; name an FSx for Lustre file system"
        return
    if found["Lifecycle"] not in _USABLE:
        yield f"is {found['Lifecycle']}; wait until it is AVAILABLE, or fix what FSx names"
    if found.get("FileSystemTypeVersion") not in _VERSIONS:
        version = found.get("FileSystemTypeVersion")
        yield f"has Lustre {version}; the nodes' client works with {' and '.join(_VERSIONS)}"
    yield from _network_problems(found, config=config, place=place)


def _network_problems(found: Record, *, config: Config, place: Place) -> Iterator[str]:
    deployed = outputs(stack_name(config, "platform"), place)
    vpc_id = config.network.vpc_id or deployed.get("VpcId")
    if vpc_id is None:
        yield (
            f"is in {found['VpcId']}, and the deployment makes a VPC of its own; name "
            f"{found['VpcId']} in network.vpc_id"
        )
        return
    if found["VpcId"] != vpc_id:
        yield f"is in {found['VpcId']}, and the nodes are in {vpc_id}; both must be in one VPC"
        return
    yield from _zone_problems(found, config=config, place=place)
    group = config.network.security_group_id or deployed.get("SecurityGroupId")
    groups = security_groups(found, place)
    ranges = list(open_ports(groups, to_group=group))
    closed = [port for port in _PORTS if not any(first <= port <= last for first, last in ranges)]
    if groups and closed:
        names = ", ".join(each["GroupId"] for each in groups)
        nodes = group or "the nodes' new group (name an existing one in network.security_group_id)"
        yield (
            f"has the security group {names}, which lets TCP {closed[0]} of Lustre in from nobody "
            f"in {nodes}; add TCP 988 and 1018-1023 from it"
        )


def _zone_problems(found: Record, *, config: Config, place: Place) -> Iterator[str]:
    [subnet] = place.client("ec2").describe_subnets(SubnetIds=found["SubnetIds"])["Subnets"]
    own = {subnet["AvailabilityZoneId"], subnet["AvailabilityZone"]}
    zones = [zone for zone in config.network.hyperpod_zone_ids if zone is not None]
    if zones and not own.intersection(zones):
        yield (
            f"is in {subnet['AvailabilityZoneId']}, and the nodes are in {', '.join(zones)}: "
            "traffic between zones is slow and billed; put the nodes into its zone"
        )
