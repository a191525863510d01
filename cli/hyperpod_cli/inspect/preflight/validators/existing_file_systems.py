"""Whether a file system that exists can be mounted by the nodes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.deployed import outputs
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

Record = dict[str, Any]
"""As FSx describes it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """A type of file system that nodes mount; the TCP ports that clients need, also in words."""

    type: str
    name: str
    ports: tuple[int, ...]
    words: str


_LUSTRE = _Kind(
    type="LUSTRE",
    name="FSx for Lustre",
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
    ports=(988, *range(1018, 1024)),
    words="TCP 988 and 1018-1023",
)
_OPENZFS = _Kind(
    type="OPENZFS",
    name="FSx for OpenZFS",
    # https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
    ports=(111, 2049, *range(20001, 20004)),
    words="TCP 111, 2049 and 20001-20003",
)
_ID = re.compile(r"(fs-[0-9a-f]+)($|\.fsx\.)")  # others are of file caches
_VERSIONS = ("2.12", "2.15")
_USABLE = ("AVAILABLE", "UPDATING")


@validator(
    phase=Phase.EXISTING_RESOURCES,
    names=("file system",),
    iam=[
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "fsx:DescribeFileSystems",
    ],
)
def existing_file_systems(config: Config, target: Target) -> Problems:
    """Your file system cannot be mounted.

    [storage](storage.md)
    """
    seen = set[tuple[str, _Kind]]()
    for named in named_resources(config, "file system"):
        match = _ID.match(named.value)
        kind = _OPENZFS if "fsx_openzfs_mounts" in named.path else _LUSTRE
        # Told where it is named first.
        if match is not None and (match[1], kind) not in seen:
            seen.add((match[1], kind))
            for message in _problems(match[1], kind=kind, config=config, target=target):
                yield error(named.path, named.value, message), describe_command(match[1])


def file_system(identifier: str, target: Target) -> Record | None:
    """Return a file system; None if there is none."""
    answer = answer_of(target.client("fsx").describe_file_systems, FileSystemIds=[identifier])
    return None if answer is None else next(iter(answer["FileSystems"]), None)


def describe_command(identifier: str) -> str:
    """Return the command that shows a file system."""
    return f"aws fsx describe-file-systems --file-system-ids {identifier}"


def _problems(identifier: str, *, kind: _Kind, config: Config, target: Target) -> Iterator[str]:
    record = file_system(identifier, target)
    if record is None:
        yield f"is not a file system of account {target.account} in {target.region}"
        return
    if record["FileSystemType"] != kind.type:
        yield f"is of type {record['FileSystemType']}; name an {kind.name} file system"
        return
    if record["Lifecycle"] not in _USABLE:
        yield f"is {record['Lifecycle']}; wait until it is AVAILABLE, or fix what FSx names"
    if kind is _LUSTRE and record.get("FileSystemTypeVersion") not in _VERSIONS:
        version = record.get("FileSystemTypeVersion")
        yield f"has Lustre {version}; the nodes' client works with {' and '.join(_VERSIONS)}"
    yield from _network_problems(record, kind=kind, config=config, target=target)


def _network_problems(
    record: Record, *, kind: _Kind, config: Config, target: Target
) -> Iterator[str]:
    deployed = outputs(config, "platform", target)
    vpc_id = config.network.vpc_id or deployed.get("VpcId")
    if vpc_id is None:
        yield (
            f"is in {record['VpcId']}, and the deployment makes a VPC of its own; name "
            f"{record['VpcId']} in network.vpc_id"
        )
        return
    if record["VpcId"] != vpc_id:
        yield f"is in {record['VpcId']}, and the nodes are in {vpc_id}; both must be in one VPC"
        return
    yield from _zone_problems(record, config=config, target=target)
    shared = config.network.security_group_id or deployed.get("SecurityGroupId")
    groups = _security_groups(record, target)
    names = ", ".join(group["GroupId"] for group in groups)
    for of_nodes in _groups_of_nodes(config, shared):
        ranges = list(_open_ports(groups, to_groups=of_nodes))
        closed = [
            port for port in kind.ports if not any(first <= port <= last for first, last in ranges)
        ]
        if groups and closed:
            nodes = ", ".join(filter(None, of_nodes))
            nodes = nodes or "new group (name an existing one in network.security_group_id)"
            yield (
                f"has the security group {names}, which does not let TCP {closed[0]} in from "
                f"the nodes' {nodes}; add {kind.words} from it"
            )


def _groups_of_nodes(config: Config, shared: str | None) -> list[tuple[str | None, ...]]:
    """Return the security groups that nodes have together: of the deployment, or their own."""
    together: dict[tuple[str | None, ...], None] = {}
    for group in config.cluster.all_groups:
        own = () if group.override_vpc is None else group.override_vpc.security_group_ids
        together[own or (shared,)] = None
    return list(together)


def _zone_problems(record: Record, *, config: Config, target: Target) -> Iterator[str]:
    [subnet] = target.client("ec2").describe_subnets(SubnetIds=record["SubnetIds"])["Subnets"]
    names = {subnet["AvailabilityZoneId"], subnet["AvailabilityZone"]}
    zones = [zone for zone in config.network.hyperpod_zone_ids if zone is not None]
    if zones and not names.intersection(zones):
        yield (
            f"is in {subnet['AvailabilityZoneId']}, and the nodes are in {', '.join(zones)}: "
            "traffic between zones is slow and billed; put the nodes into its zone"
        )


def _security_groups(record: Record, target: Target) -> list[Record]:
    """Return the security groups of a file system, which only its network interfaces tell.

    One that is CREATING need have no interface yet, and EC2 describes all for an empty list.
    """
    ec2, known = target.client("ec2"), list(record.get("NetworkInterfaceIds", ()))
    if not known:
        return []
    interfaces = ec2.describe_network_interfaces(NetworkInterfaceIds=known)["NetworkInterfaces"]
    ids = {group["GroupId"] for interface in interfaces for group in interface["Groups"]}
    return list(ec2.describe_security_groups(GroupIds=sorted(ids))["SecurityGroups"])


def _open_ports(
    groups: list[Record], *, to_groups: Sequence[str | None]
) -> Iterator[tuple[int, int]]:
    """Yield the TCP ports that are let in from groups, if they are known, or from any address."""
    for group in groups:
        for rule in group["IpPermissions"]:
            peers = {pair["GroupId"] for pair in rule.get("UserIdGroupPairs", ())}
            if rule["IpProtocol"] not in ("-1", "tcp"):
                continue
            if peers.intersection(to_groups) or rule.get("IpRanges"):
                everything = rule["IpProtocol"] == "-1"
                yield (0, 65535) if everything else (rule["FromPort"], rule["ToPort"])
