"""What FSx and EC2 say of file systems."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cli.aws.stacks import described_stack
from hyperpod_cli.inspect.preflight.validator import Place

Record = dict[str, Any]
"""As FSx describes it."""

_UNKNOWN = "FileSystemNotFound"


def file_system(identifier: str, place: Place) -> Record | None:
    """Return a file system; None if there is none."""
    try:
        found = place.client("fsx").describe_file_systems(FileSystemIds=[identifier])
    except ClientError as error:
        if error.response["Error"]["Code"] != _UNKNOWN:
            raise
        return None
    return next(iter(found["FileSystems"]), None)


def security_groups(found: Record, place: Place) -> list[Record]:
    """Return the security groups of a file system, which only its network interfaces tell.

    One that is CREATING need have no interface yet, and EC2 describes all for an empty list.
    """
    ec2, known = place.client("ec2"), list(found.get("NetworkInterfaceIds", ()))
    if not known:
        return []
    interfaces = ec2.describe_network_interfaces(NetworkInterfaceIds=known)["NetworkInterfaces"]
    ids = {group["GroupId"] for each in interfaces for group in each["Groups"]}
    return list(ec2.describe_security_groups(GroupIds=sorted(ids))["SecurityGroups"])


def outputs(stack: str, place: Place) -> dict[str, str]:
    """Return the outputs of a stack by their keys; none if there is no stack."""
    found = described_stack(place.client("cloudformation"), stack) or {}
    return {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", ())}


def describe_command(identifier: str) -> str:
    """Return the command that shows a file system."""
    return f"aws fsx describe-file-systems --file-system-ids {identifier}"


def open_ports(groups: list[Record], *, to_group: str | None) -> Iterator[tuple[int, int]]:
    """Yield the TCP ports that security groups let in, from a group or from any address.

    Args:
        groups: As EC2 describes them.
        to_group: The group that is let in; None for one that is not known.
    """
    for group in groups:
        for rule in group["IpPermissions"]:
            peers = {pair["GroupId"] for pair in rule.get("UserIdGroupPairs", ())}
            if rule["IpProtocol"] not in ("-1", "tcp"):
                continue
            if to_group in peers or rule.get("IpRanges"):
                everything = rule["IpProtocol"] == "-1"
                yield (0, 65535) if everything else (rule["FromPort"], rule["ToPort"])
