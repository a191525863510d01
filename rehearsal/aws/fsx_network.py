"""Whether security groups let a Lustre file system and its clients talk."""

from collections.abc import Iterable
from typing import Any

from rehearsal.aws.resource_type import Refused

LUSTRE_PORTS = (988, *range(1018, 1024))
"""TCP ports between file servers and clients, both ways (FSx for Lustre User Guide)."""


def _covers(rule: dict[str, Any], port: int, group_ids: set[str]) -> bool:
    if rule["IpProtocol"] not in ("-1", "tcp"):
        return False
    if rule["IpProtocol"] == "tcp" and not rule.get("FromPort", 0) <= port <= rule.get("ToPort", 0):
        return False
    peers = {pair.get("GroupId") for pair in rule.get("UserIdGroupPairs", [])}
    return bool(peers & group_ids or rule.get("IpRanges"))


def require_lustre_traffic(*, groups: Iterable[dict[str, Any]]) -> None:
    """Check that the groups allow Lustre traffic in and out, to themselves or to some CIDR.

    Args:
        groups: Security groups of the file system, as MiniStack's EC2 keeps them.

    Raises:
        Refused: a port is closed; FSx fails such a creation with InvalidNetworkSettings.
    """
    members = list(groups)
    group_ids = {group["GroupId"] for group in members}
    for direction, store in (("inbound", "IpPermissions"), ("outbound", "IpPermissionsEgress")):
        rules = [rule for group in members for rule in group[store]]
        for port in LUSTRE_PORTS:
            if not any(_covers(rule, port, group_ids) for rule in rules):
                raise Refused(
                    f"InvalidNetworkSettings: the groups {', '.join(sorted(group_ids))} do "
                    f"not permit {direction} Lustre traffic on TCP port {port}."
                )
