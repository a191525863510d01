"""A subnet, security group or VPC that something still uses cannot be deleted.

Every network interface holds its subnet and its security groups:
https://docs.aws.amazon.com/vpc/latest/userguide/subnet-deleting.html,
https://docs.aws.amazon.com/vpc/latest/userguide/deleting-security-groups.html and
https://docs.aws.amazon.com/vpc/latest/userguide/delete-vpc.html.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_emulator.aws import rds
from hyperpod_emulator.aws.cloudformation.resource_type import check_deletion, run_in_thread
from hyperpod_emulator.aws.fsx import store as fsx_store
from hyperpod_emulator.aws.json_service import HyperPodClient
from hyperpod_emulator.aws.ministack import cloudformation, ec2, eks, lambda_svc
from hyperpod_emulator.aws.refused import Refused

_SUBNET, _GROUP = "AWS::EC2::Subnet", "AWS::EC2::SecurityGroup"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interfaces:
    """Where the network interfaces of something are: subnets, and security groups, by id."""

    subnets: Iterable[str]
    groups: Iterable[str] = ()


def _of_services() -> Iterator[_Interfaces]:
    """Yield the network interfaces of everything in this process."""
    for cluster in eks._clusters.values():
        vpc = cluster["resourcesVpcConfig"]
        groups = [*vpc.get("securityGroupIds", ()), vpc.get("clusterSecurityGroupId")]
        yield _Interfaces(subnets=vpc.get("subnetIds", ()), groups=groups)
    for file_system_id, record in fsx_store.FILE_SYSTEMS.items():
        groups = fsx_store.SECURITY_GROUPS[file_system_id]
        yield _Interfaces(subnets=record["SubnetIds"], groups=groups)
    for subnets, groups in rds.interfaces():
        yield _Interfaces(subnets=subnets, groups=groups)
    for gateway in ec2._nat_gateways.values():
        if gateway["State"] != "deleted":
            yield _Interfaces(subnets=[gateway["SubnetId"]])
    for vpc in _of_functions():
        yield _Interfaces(subnets=vpc.get("SubnetIds", ()), groups=vpc.get("SecurityGroupIds", ()))
    for endpoint in ec2._vpc_endpoints.values():
        yield _Interfaces(
            subnets=endpoint.get("SubnetIds", ()), groups=endpoint.get("SecurityGroupIds", ())
        )


def _of_functions() -> Iterator[Mapping[str, Any]]:
    """Yield the VPC settings of each function; MiniStack keeps them in the stacks alone."""
    for stack in cloudformation._stacks.values():
        for resource in stack.get("_resources", {}).values():
            if resource["PhysicalResourceId"] in lambda_svc._functions:
                yield resource["Properties"].get("VpcConfig") or {}


async def _of_hyperpod(client: HyperPodClient) -> list[_Interfaces]:
    """Return the network interfaces of all HyperPod nodes."""
    if not client.url:
        return []
    listed = await client.call("ListClusters", {}) or {}
    found = []
    for summary in listed.get("ClusterSummaries", ()):
        # A cluster may be gone by now.
        cluster = await client.call("DescribeCluster", {"ClusterName": summary["ClusterName"]})
        found += list(_of_nodes(cluster or {}))
    return found


def _of_nodes(cluster: Mapping[str, Any]) -> Iterator[_Interfaces]:
    for kind in ("InstanceGroups", "RestrictedInstanceGroups"):
        for group in cluster.get(kind, ()):
            vpc = group.get("OverrideVpcConfig") or cluster.get("VpcConfig")
            if vpc and group["CurrentCount"]:
                # All instances of a group are in one subnet, here the first.
                yield _Interfaces(subnets=vpc["Subnets"][:1], groups=vpc["SecurityGroupIds"])


def _named_by_rules(group_id: str) -> bool:
    """Return whether a rule of another security group names this one."""
    return any(
        pair.get("GroupId") == group_id
        for other in ec2._security_groups.values()
        if other["GroupId"] != group_id
        for rule in (*other["IpPermissions"], *other["IpPermissionsEgress"])
        for pair in rule.get("UserIdGroupPairs", ())
    )


def _in_vpc(vpc_id: str) -> bool:
    """Return whether a VPC still has what EC2 does not delete with it."""
    tables = [table for table in ec2._route_tables.values() if table["VpcId"] == vpc_id]
    return (
        any(endpoint["VpcId"] == vpc_id for endpoint in ec2._vpc_endpoints.values())
        or any(subnet["VpcId"] == vpc_id for subnet in ec2._subnets.values())
        or not all(any(a.get("Main") for a in table["Associations"]) for table in tables)
    )


def _interfaces() -> list[_Interfaces]:
    return [*_of_services(), *asyncio.run(_of_hyperpod(HyperPodClient()))]


def _require_unused_subnet(subnet_id: str) -> None:
    if any(subnet_id in each.subnets for each in _interfaces()):
        raise Refused(
            f"DependencyViolation: The subnet '{subnet_id}' has dependencies and cannot be deleted."
        )


def _require_unused_group(group_id: str) -> None:
    if _named_by_rules(group_id) or any(group_id in each.groups for each in _interfaces()):
        raise Refused(f"DependencyViolation: resource {group_id} has a dependent object")


def _require_empty_vpc(vpc_id: str) -> None:
    if _in_vpc(vpc_id):
        raise Refused(
            f"DependencyViolation: The vpc '{vpc_id}' has dependencies and cannot be deleted."
        )


def install() -> None:
    """Check each deletion by CloudFormation."""
    check_deletion(_SUBNET, _require_unused_subnet)
    check_deletion(_GROUP, _require_unused_group)
    check_deletion("AWS::EC2::VPC", _require_empty_vpc)
    # The HyperPod API may be asking this process for a subnet just then.
    run_in_thread(_SUBNET, _GROUP)
