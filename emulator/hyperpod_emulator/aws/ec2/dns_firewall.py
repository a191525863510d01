"""Route 53 Resolver DNS Firewall: which names a VPC resolves.

Errors and limits are those of botocore's model of `route53resolver`; what a domain is, says
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-user-managed-domain-lists.html.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from hyperpod_emulator.aws import json_service
from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType
from hyperpod_emulator.aws.ec2.network import firewall_action
from hyperpod_emulator.aws.json_service import Asked, Content, ServiceError
from hyperpod_emulator.aws.ministack import ec2, get_account_id, get_region
from hyperpod_emulator.aws.refused import Refused

_DOMAIN = re.compile(r"(?=.{1,255}$)\*?[A-Za-z0-9.-]*")
_PRIORITIES = range(101, 9900)
_records: dict[str, Properties] = {}


def resolves(vpc_id: str, name: str) -> bool:
    """Return whether the resolver of a VPC answers for a name."""
    rules = (
        (rule["Action"], _records[rule["FirewallDomainListId"]].get("Domains", ()))
        for association in _associations(vpc_id)
        for rule in _rules(association["FirewallRuleGroupId"])
    )
    return firewall_action(name, rules) != "BLOCK"


def _associations(vpc_id: str) -> list[Properties]:
    return sorted(
        (each for each in _records.values() if each.get("VpcId") == vpc_id), key=_priority
    )


def _rules(group_id: str) -> list[Properties]:
    return sorted(_records[group_id].get("FirewallRules", ()), key=_priority)


def _priority(numbered: Mapping[str, Any]) -> int:
    return int(numbered["Priority"])


def _check_list(properties: Properties) -> None:
    for domain in properties.get("Domains", ()):
        if _DOMAIN.fullmatch(domain) is None:
            raise Refused(f"ValidationException: {domain} is no domain")


def _check_group(properties: Properties) -> None:
    rules = properties.get("FirewallRules", ())
    if len({_priority(rule) for rule in rules}) != len(rules):
        raise Refused("ValidationException: two rules of a group have one priority")
    for rule in rules:
        _require(rule["FirewallDomainListId"], among=_records)


def _check_association(properties: Properties) -> None:
    _require(properties["FirewallRuleGroupId"], among=_records)
    _require(properties["VpcId"], among=ec2._vpcs)
    if _priority(properties) not in _PRIORITIES:
        raise Refused("ValidationException: a priority is between 100 and 9900")


def _require(identifier: str, *, among: Mapping[str, object]) -> None:
    if identifier not in among:
        raise Refused(f"ResourceNotFoundException: {identifier} does not exist")


def _delete(identifier: str, _: Properties) -> None:
    for user, properties in _records.items():
        if identifier in json.dumps(properties):
            raise Refused(f"ConflictException: {identifier} is used by {user}")
    _records.pop(identifier, None)


def _type(name: str, *, prefix: str, check: Callable[[Properties], None]) -> ResourceType:
    kind = re.sub(r"\B(?=[A-Z])", "-", name).lower()

    def put(identifier: str, properties: Properties) -> Created:
        check(properties)
        _records[identifier] = properties
        arn = f"arn:aws:route53resolver:{get_region()}:{get_account_id()}:{kind}/{identifier}"
        return identifier, {"Id": identifier, "Arn": arn}

    return ResourceType(
        name=f"AWS::Route53Resolver::{name}",
        create=lambda properties: put(f"{prefix}-{uuid4().hex[:16]}", properties),
        update=lambda identifier, _, properties: put(identifier, properties),
        delete=_delete,
    )


RESOURCE_TYPES = (
    _type("FirewallDomainList", prefix="rslvr-fdl", check=_check_list),
    _type("FirewallRuleGroup", prefix="rslvr-frg", check=_check_group),
    _type("FirewallRuleGroupAssociation", prefix="rslvr-frgassoc", check=_check_association),
)


async def _answer(asked: Asked) -> Content:
    """Answer what tells which names a VPC resolves."""
    request = asked.request
    match asked.operation:
        case "ListFirewallRuleGroupAssociations":
            return {"FirewallRuleGroupAssociations": _associations(request["VpcId"])}
        case "ListFirewallRules":
            return {"FirewallRules": _rules(request["FirewallRuleGroupId"])}
        case "ListFirewallDomains":
            return {"Domains": _records[request["FirewallDomainListId"]].get("Domains", [])}
    raise ServiceError("InvalidAction", f"{asked.operation} is not emulated.")


def install() -> None:
    """Let the rules be read."""
    json_service.register(
        service="route53resolver", target_prefix="Route53Resolver.", answer=_answer
    )
