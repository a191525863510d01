"""Whether a connection passes NetworkPolicies, as Kubernetes describes them.

https://kubernetes.io/docs/concepts/services-networking/network-policies/
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

Object = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Peer:
    """An end of a connection: a pod of a namespace, or an address that is no pod's."""

    address: str
    namespace: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)


def connects(
    source: Peer, target: Peer, *, port: int, policies: Sequence[Object], protocol: str = "TCP"
) -> bool:
    """Say whether both ends let a connection pass."""
    return _passes("Egress", source, target, port, protocol, policies) and _passes(
        "Ingress", target, source, port, protocol, policies
    )


def _passes(
    direction: str,
    own: Peer,
    other: Peer,
    port: int,
    protocol: str,
    policies: Sequence[Object],
) -> bool:
    mine = [
        policy
        for policy in policies
        if policy["metadata"]["namespace"] == own.namespace
        and direction in policy["spec"]["policyTypes"]
        and _selects(policy["spec"]["podSelector"], own.labels)
    ]
    side = "to" if direction == "Egress" else "from"
    return not mine or any(
        (not rule.get(side) or any(_is(peer, other, own.namespace) for peer in rule[side]))
        and (
            not rule.get("ports")
            or {"port": port, "protocol": protocol} in [*map(dict, rule["ports"])]
        )
        for policy in mine
        for rule in policy["spec"].get(direction.lower()) or ()
    )


def _is(peer: Object, other: Peer, namespace: str | None) -> bool:
    if "ipBlock" in peer:
        address, block = ip_address(other.address), peer["ipBlock"]
        return address in ip_network(block["cidr"]) and not any(
            address in ip_network(each) for each in block.get("except") or ()
        )
    if other.namespace is None:
        return False
    is_there = other.namespace == namespace
    if "namespaceSelector" in peer:
        names = {"kubernetes.io/metadata.name": other.namespace}
        is_there = _selects(peer["namespaceSelector"], names)
    return is_there and _selects(peer.get("podSelector") or {}, other.labels)


def _selects(selector: Object, labels: Mapping[str, str]) -> bool:
    return all(
        labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items()
    ) and all(
        {"In": True, "NotIn": False}[each["operator"]]
        == (labels.get(each["key"]) in each["values"])
        for each in selector.get("matchExpressions") or ()
    )
