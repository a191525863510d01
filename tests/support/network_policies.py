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
    asked = {"port": port, "protocol": protocol}
    return all(
        any(_allows(rule, side=side, own=own, other=other, asked=asked) for rule in rules)
        for direction, side, own, other in (
            ("Egress", "to", source, target),
            ("Ingress", "from", target, source),
        )
        for rules in [_rules(policies, direction=direction, own=own)]
    )


def _rules(policies: Sequence[Object], *, direction: str, own: Peer) -> Sequence[Object]:
    """Return the rules for an end; one that allows everything where no policy selects it."""
    mine = [
        policy["spec"]
        for policy in policies
        if policy["metadata"]["namespace"] == own.namespace
        and direction in policy["spec"]["policyTypes"]
        and _selects(policy["spec"]["podSelector"], own.labels)
    ]
    return [rule for each in mine for rule in each.get(direction.lower()) or ()] if mine else [{}]


def _allows(rule: Object, *, side: str, own: Peer, other: Peer, asked: Object) -> bool:
    peers, ports = rule.get(side), rule.get("ports")
    return (not peers or any(_is(peer, other, own.namespace) for peer in peers)) and (
        not ports or asked in [{"protocol": "TCP", **each} for each in ports]
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
    wanted: dict[str, Sequence[str]] = {
        key: [value] for key, value in (selector.get("matchLabels") or {}).items()
    }
    refused: dict[str, Sequence[str]] = {}
    by_operator = {"In": wanted, "NotIn": refused}
    for each in selector.get("matchExpressions") or ():
        by_operator[each["operator"]][each["key"]] = each["values"]
    return all(labels.get(key) in values for key, values in wanted.items()) and not any(
        labels.get(key) in values for key, values in refused.items()
    )
