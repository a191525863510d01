"""The rules of security groups, and flow logs."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType
from hyperpod_emulator.aws.ec2 import api as ec2_api
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.ministack import (
    Query,
    Response,
    cloudformation,
    ec2,
    get_account_id,
    provisioners,
    wrap,
)
from hyperpod_emulator.aws.refused import Refused

_PEERS = {
    "IpRanges": "CidrIp",
    "Ipv6Ranges": "CidrIpv6",
    "PrefixListIds": "PrefixListId",
    "UserIdGroupPairs": "GroupId",
}


def _group(group_id: object) -> dict[str, Any]:
    return ec2_api.existing(
        ec2._security_groups, group_id, code="InvalidGroup", noun="security group"
    )


def _is_default(rule: dict[str, Any], new: dict[str, Any]) -> bool:
    """Return whether a rule equal to the new one came with the group, not from a rule resource."""
    return "SecurityGroupRuleId" not in rule and bool(ec2._rules_match(rule, new))


def _opens_all_egress(rule: dict[str, Any]) -> bool:
    """Return whether a rule has the content of the one that EC2 gives to a new group."""
    is_any = rule["IpProtocol"] == "-1"
    return is_any and [each["CidrIp"] for each in rule["IpRanges"]] == ["0.0.0.0/0"]


def _content(rule: dict[str, Any]) -> tuple[object, ...]:
    """Return what two rules of a group must not share."""
    ports = () if rule["IpProtocol"] == "-1" else (rule.get("FromPort"), rule.get("ToPort"))
    peers = [each.get(key) for kind, key in _PEERS.items() for each in rule.get(kind) or ()]
    return rule["IpProtocol"], ports, sorted(map(str, peers))


def install() -> None:
    """Give a VPC's default group its rule for itself, and refuse to take away what is not there.

    https://docs.aws.amazon.com/vpc/latest/userguide/default-security-group.html; the refusal is
    that of botocore's `RevokeSecurityGroupIngress` for a VPC that is not the default one.
    """
    wrap(provisioners._RESOURCE_HANDLERS["AWS::EC2::VPC"], "create", _create_vpc)
    for direction, store in (("Ingress", "IpPermissions"), ("Egress", "IpPermissionsEgress")):
        wrap(ec2._ACTION_MAP, f"RevokeSecurityGroup{direction}", partial(_revoke, store))


def _create_vpc(create: Callable[..., Created], *vpc: Any) -> Created:
    created = create(*vpc)
    own = created[1]["DefaultSecurityGroup"]
    rule = {"IpProtocol": "-1", "SourceSecurityGroupId": own}
    ec2._security_groups[own]["IpPermissions"] = provisioners._ec2_sg_permissions([rule])
    return created


def _revoke(store: str, revoke: Callable[[Query], Response], query: Query) -> Response:
    group = ec2._security_groups.get(ec2._p(query, "GroupId"))
    there = [_content(rule) for rule in group[store]] if group is not None else []
    wanted = map(_content, ec2._parse_ip_permissions(query, "IpPermissions"))
    if group is not None and any(rule not in there for rule in wanted):
        message = "The specified rule does not exist in this security group."
        return ec2._error("InvalidPermission.NotFound", message, 400)
    return revoke(query)


def _made_by_stacks() -> Iterator[str]:
    for stack in cloudformation._stacks.values():
        for resource in stack.get("_resources", {}).values():
            yield resource["PhysicalResourceId"]


def _resource_type(*, name: str, store: str, egress: bool) -> ResourceType:
    def create(properties: Properties) -> Created:
        group_id = properties.get("GroupId")
        group = _group(group_id)
        [rule] = provisioners._ec2_sg_permissions([properties])
        peers = [rule[kind] for kind in ("IpRanges", "Ipv6Ranges", "PrefixListIds")]
        if not any((*peers, rule["UserIdGroupPairs"])):
            raise Refused("InvalidParameterValue: the rule names no CIDR, prefix list or group.")
        for pair in rule["UserIdGroupPairs"]:
            _group(pair.get("GroupId"))
        if egress:
            # EC2 opens all egress of a group. CloudFormation takes that rule away when it adds one,
            # also from a group that is not its own, and does not bring it back:
            # https://github.com/aws-cloudformation/cfn-language-discussion/issues/157
            is_own = any(group_id == physical_id for physical_id in _made_by_stacks())
            group[store] = [
                other
                for other in group[store]
                if not (_is_default(other, rule) if is_own else _opens_all_egress(other))
            ]
        if any(_content(rule) == _content(other) for other in group[store]):
            raise Refused(
                f"InvalidPermission.Duplicate: the specified rule already exists in {group_id}."
            )
        rule_id = ec2._sg_rule_id(group_id, egress, rule)
        group[store].append({**rule, "SecurityGroupRuleId": rule_id})
        return rule_id, {"Id": rule_id}

    def update(rule_id: str, _old: Properties, new: Properties) -> Created:
        [rule] = provisioners._ec2_sg_permissions([new])
        group = _group(new.get("GroupId"))
        group[store] = [
            {**rule, "SecurityGroupRuleId": rule_id}
            if other.get("SecurityGroupRuleId") == rule_id
            else other
            for other in group[store]
        ]
        return rule_id, {"Id": rule_id}

    def delete(rule_id: str, properties: Properties) -> None:
        group = ec2._security_groups.get(properties.get("GroupId"))
        if group is not None:
            group[store] = [r for r in group[store] if r.get("SecurityGroupRuleId") != rule_id]

    return ResourceType(
        name=name,
        create=create,
        update=update,
        delete=delete,
        tagged=False,
    )


INGRESS = _resource_type(name="AWS::EC2::SecurityGroupIngress", store="IpPermissions", egress=False)
EGRESS = _resource_type(
    name="AWS::EC2::SecurityGroupEgress",
    store="IpPermissionsEgress",
    egress=True,
)


_STORES = {
    "VPC": ec2._vpcs,
    "Subnet": ec2._subnets,
    "NetworkInterface": ec2._network_interfaces,
}
_SERVICE = "vpc-flow-logs.amazonaws.com"


def _create(properties: Properties) -> Created:
    resource_type, resource_id = (
        properties.get("ResourceType", ""),
        properties.get("ResourceId", ""),
    )
    if resource_type not in _STORES:
        raise Refused(f"InvalidParameter: ResourceType {resource_type}: use {', '.join(_STORES)}.")
    if resource_id not in _STORES[resource_type]:
        raise Refused(f"InvalidResourceId.NotFound: {resource_type} {resource_id} does not exist.")
    destination_type = properties.get("LogDestinationType", "cloud-watch-logs")
    if destination_type == "cloud-watch-logs":
        role_arn = properties.get("DeliverLogsPermissionArn", "")
        # https://docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
        sent = {"aws:SourceAccount": get_account_id()}
        if not authorization.allows(role_arn=role_arn, service=_SERVICE, sent=sent):
            raise Refused(
                f"InvalidParameter: DeliverLogsPermissionArn '{role_arn}' is not a role that "
                f"{_SERVICE} may assume; CloudWatch Logs needs one."
            )
    answer = ec2_api.call(
        "CreateFlowLogs",
        ResourceId__1=resource_id,
        ResourceType=resource_type,
        TrafficType=properties.get("TrafficType", "ALL"),
        LogDestinationType=destination_type,
        LogDestination=properties.get("LogDestination", ""),
        LogGroupName=properties.get("LogGroupName", ""),
    )
    flow_log_id = answer["item"]
    provisioners._ec2_apply_tags(flow_log_id, properties)
    return flow_log_id, {"Id": flow_log_id}


def _update(flow_log_id: str, old: Properties, new: Properties) -> Created:
    provisioners._ec2_apply_tags(flow_log_id, new, old)
    return flow_log_id, {"Id": flow_log_id}


def _delete(flow_log_id: str, _properties: Properties) -> None:
    ec2_api.call("DeleteFlowLogs", FlowLogId__1=flow_log_id)


FLOW_LOG = ResourceType(
    name="AWS::EC2::FlowLog",
    create=_create,
    update=_update,
    delete=_delete,
)
