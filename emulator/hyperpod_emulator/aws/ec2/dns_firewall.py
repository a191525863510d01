"""Route 53 Resolver DNS Firewall: which names a VPC resolves.

Errors and limits are those of botocore's model of `route53resolver`; what a domain is, says
https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/resolver-dns-firewall-user-managed-domain-lists.html.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType
from hyperpod_emulator.aws.ministack import ec2, get_account_id, get_region
from hyperpod_emulator.aws.refused import Refused

_DOMAIN = re.compile(r"(?=.{1,255}$)\*?[A-Za-z0-9.-]*")
_PRIORITIES = range(101, 9900)
_records: dict[str, Properties] = {}


def resolves(vpc_id: str, name: str) -> bool:
    """Return whether the resolver of a VPC answers for a name."""
    associations = [each for each in _records.values() if each.get("VpcId") == vpc_id]
    for association in sorted(associations, key=_priority):
        rules = _records[association["FirewallRuleGroupId"]].get("FirewallRules", ())
        for rule in sorted(rules, key=_priority):
            domains = _records[rule["FirewallDomainListId"]].get("Domains", ())
            if any(_matches(name.lower(), domain.lower()) for domain in domains):
                return bool(rule["Action"] != "BLOCK")
    return True


def _priority(numbered: Mapping[str, Any]) -> int:
    return int(numbered["Priority"])


def _matches(name: str, domain: str) -> bool:
    return name.endswith(domain[1:]) if domain.startswith("*") else name == domain


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
