"""What the security groups of a file system must let through."""

from collections.abc import Iterable, Iterator
from typing import Any

from emulator.aws.cloudformation.resource_type import Refused

Group = dict[str, Any]

LUSTRE_PORTS = (988, *range(1018, 1024))
"""TCP ports between file servers and clients, both ways (FSx for Lustre User Guide)."""
# https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html
_NFS_PORTS = (111, 2049, 20001, 20002, 20003)
_DIRECTIONS = (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress"))


def require_lustre_traffic(groups: Iterable[Group], *, efa: bool) -> None:
    """Check that the groups allow Lustre traffic in and out, to themselves or to some CIDR.

    Args:
        groups: Security groups of the file system, as MiniStack's EC2 keeps them.
        efa: Whether it is EFA-enabled, which takes all traffic of the groups by name; no CIDR
            counts (https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html).

    Raises:
        Refused: a port is closed; FSx fails such a creation with InvalidNetworkSettings.
    """
    members = list(groups)
    group_ids = {group["GroupId"] for group in members}
    named = ", ".join(sorted(group_ids))
    for direction, member in _DIRECTIONS:
        rules = [rule for group in members for rule in group[member]]
        for port in LUSTRE_PORTS:
            if not any(_covers(rule, port, group_ids) for rule in rules):
                raise Refused(
                    f"InvalidNetworkSettings: the groups {named} do not permit {direction} Lustre "
                    f"traffic on TCP port {port}."
                )
        if efa and not any(_is_of_members(rule, group_ids) for rule in rules):
            raise Refused(
                f"InvalidNetworkSettings: Insufficient security group permissions: the groups "
                f"{named} do not permit all {direction} traffic of themselves, which EFA needs."
            )


def require_nfs_traffic(groups: Iterable[Group]) -> None:
    """Check that the groups allow NFS in. FSx itself does not; clients would wait for ever.

    Raises:
        Refused: a port is closed.
    """
    members = list(groups)
    group_ids = {group["GroupId"] for group in members}
    rules = [rule for group in members for rule in group["IpPermissions"]]
    for port in _closed(rules, group_ids):
        raise Refused(f"InvalidNetworkSettings: no rule permits NFS on TCP port {port}.")


def _closed(rules: list[dict[str, Any]], group_ids: set[str]) -> Iterator[int]:
    for port in _NFS_PORTS:
        if not any(_covers(rule, port, group_ids) for rule in rules):
            yield port


def _is_of_members(rule: dict[str, Any], group_ids: set[str]) -> bool:
    return rule["IpProtocol"] == "-1" and bool(_peers(rule) & group_ids)


def _covers(rule: dict[str, Any], port: int, group_ids: set[str]) -> bool:
    if rule["IpProtocol"] not in ("-1", "tcp"):
        return False
    if rule["IpProtocol"] == "tcp" and not rule.get("FromPort", 0) <= port <= rule.get("ToPort", 0):
        return False
    return bool(_peers(rule) & group_ids or rule.get("IpRanges"))


def _peers(rule: dict[str, Any]) -> set[str]:
    return {pair.get("GroupId") for pair in rule.get("UserIdGroupPairs", [])}
