"""AWS::EKS::Nodegroup: a group is ACTIVE once its nodes have joined, and gone once they have left.

What EKS refuses of a launch template:
https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html; of labels:
https://github.com/eksctl-io/eksctl/issues/4007
"""

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import (
    Created,
    Properties,
    ResourceType,
    tag_map,
)
from hyperpod_emulator.aws.eks import api as eks_api
from hyperpod_emulator.aws.eks import node_launches
from hyperpod_emulator.aws.eks.addon_manager import addon_manager
from hyperpod_emulator.aws.eks.node_launches import template_of
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.ministack import Response, ec2, eks, provisioners, wrap
from hyperpod_emulator.aws.refused import Refused

_PAUSE_SECONDS = 0.2
_UNSETTLED, _DEGRADED = ("CREATING", "UPDATING"), "DEGRADED"
# What a group has of a member that is left out, where that is no object.
_NOTHING: Mapping[str, Any] = {"taints": [], "releaseVersion": ""}
_NUMBERS = ("minSize", "maxSize", "desiredSize", "maxUnavailable")


def _member(name: str) -> str:
    return name[0].lower() + name[1:]


def _request(properties: Properties) -> dict[str, Any]:
    """Return the input of CreateNodegroup; a template's numbers may be texts."""
    given = {
        name: value for name, value in properties.items() if name not in ("ClusterName", "Tags")
    }
    camel: dict[str, Any] = {
        _member(name): value if name == "Labels" else provisioners._pascal_to_camel(value)
        for name, value in given.items()
    }
    for key in ("scalingConfig", "updateConfig"):
        numbers = camel.get(key) or {}
        camel[key] = {k: int(v) if k in _NUMBERS else v for k, v in numbers.items()}
    return {**camel, "tags": tag_map(properties)}


_RESERVED = ("kubernetes.io", "k8s.io", "eks.amazonaws.com")
_BOTH = "may not be specified on the same request"


def _problem(body: Mapping[str, Any]) -> str | None:
    """Return why EKS refuses a group, or None."""
    template = template_of(body)
    if "launchTemplate" in body and template is None:
        return "Launch template was not found."
    return next(iter((*_problems(body), *_template_problems(body, template or {}))), None)


def _problems(body: Mapping[str, Any]) -> Iterator[str]:
    role = authorization.role(body["nodeRole"])
    if role is None or "ec2.amazonaws.com" not in str(role["AssumeRolePolicyDocument"]):
        yield (
            "Following required service principals [ec2.amazonaws.com] were not found in the "
            f"trust relationships of nodeRole {body['nodeRole']}"
        )
    scaling = body["scalingConfig"]
    if not scaling["minSize"] <= scaling["desiredSize"] <= scaling["maxSize"]:
        yield "desired capacity must be between minimum and maximum capacity"
    for subnet in body["subnets"]:
        if subnet not in ec2._subnets:
            yield f"The subnet ID '{subnet}' does not exist"
    for label in body.get("labels") or {}:
        domain = label.rpartition("/")[0]
        if any(f".{domain}".endswith(f".{each}") for each in _RESERVED):
            listed = ", ".join(f"{each}/" for each in _RESERVED)
            yield f"Label cannot contain reserved prefixes [{listed}]"


def _template_problems(body: Mapping[str, Any], template: Mapping[str, Any]) -> Iterator[str]:
    interfaces = template.get("NetworkInterfaces") or ()
    if template.get("IamInstanceProfile"):
        yield "Launch template should not specify an instance profile."
    if any(each.get("SubnetId") for each in interfaces):
        yield "Launch template should not specify a subnet."
    market = (template.get("InstanceMarketOptions") or {}).get("MarketType")
    if market == "spot":
        yield "Launch template should not request Spot Instances; use the capacity type."
    if (market == "capacity-block") != (body.get("capacityType") == "CAPACITY_BLOCK"):
        yield "The capacity type CAPACITY_BLOCK needs the market type capacity-block."
    if template.get("InstanceType") and body.get("instanceTypes"):
        yield f"An instance type in the launch template and instance types {_BOTH}"
    if interfaces and template.get("SecurityGroupIds"):
        yield f"Network interfaces and an instance-level security groups {_BOTH}"


def install() -> None:
    """Check groups, let their status follow their nodes, and make the access entry of the role."""
    node_launches.install()
    wrap(eks, "_create_nodegroup", _create_group)
    wrap(eks, "_describe_nodegroup", _describe_group)
    eks_api.route("POST", r"/clusters/([^/]+)/node-groups/([^/]+)/update-config", _scale)


def _create_group(
    created: Callable[..., Response], cluster_name: str, body: dict[str, Any]
) -> Response:
    problem = _problem(body) or node_launches.release_problem(cluster_name, body)
    if problem is not None:
        return eks_api.refusal(problem)
    response = created(cluster_name, body)
    if response[0] >= HTTPStatus.BAD_REQUEST:
        return response
    group = eks._nodegroups[f"{cluster_name}/{body['nodegroupName']}"]
    group |= {key: value for key, value in body.items() if key != "diskSize"}
    group |= {"instanceTypes": _types(body), "status": "CREATING"}
    issues = node_launches.issues_of(group)
    if issues:
        group |= {"status": "CREATE_FAILED", "health": {"issues": issues}}
    # https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
    entry = {"principalArn": body["nodeRole"], "type": "EC2_LINUX"}
    eks._create_access_entry(cluster_name, entry)
    return eks._describe_nodegroup(cluster_name, body["nodegroupName"])


def _describe_group(described: Callable[..., Response], cluster_name: str, name: str) -> Response:
    group = eks._nodegroups.get(f"{cluster_name}/{name}")
    if group is not None and _is_complete(group):
        if group["status"] in (*_UNSETTLED, _DEGRADED):
            group |= {"status": "ACTIVE", "health": {"issues": []}}
    elif group is not None and group["status"] in ("ACTIVE", _DEGRADED):
        # A node has gone.
        issues = node_launches.issues_of(group)
        group |= {"status": _DEGRADED if issues else "ACTIVE", "health": {"issues": issues}}
    return described(cluster_name, name)


def _scale(asked: re.Match[str], body: Mapping[str, Any], _query: eks_api.Query) -> Response:
    """Answer UpdateNodegroupConfig of `scalingConfig`, which MiniStack does not know."""
    group = eks._nodegroups[f"{asked[1]}/{asked[2]}"]
    group["scalingConfig"] |= body.get("scalingConfig") or {}
    return eks_api.updating(eks_api.update("ConfigUpdate"))


def _types(body: Mapping[str, Any]) -> list[str]:
    own = (template_of(body) or {}).get("InstanceType")
    return [own] if own else list(body.get("instanceTypes") or ["t3.medium"])


def _is_complete(group: Mapping[str, Any]) -> bool:
    """Say whether as many nodes as wanted are ready; without a Kubernetes API there are none."""
    wanted, manager = group["scalingConfig"]["desiredSize"], addon_manager()
    return manager is None or manager.ready_nodes(group["nodegroupName"]) == wanted


def _settled(properties: Properties) -> Created:
    cluster, name = properties["ClusterName"], properties["NodegroupName"]
    while (group := _described(cluster, name))["status"] in _UNSETTLED:
        time.sleep(_PAUSE_SECONDS)
    if group["status"] != "ACTIVE":
        raise Refused(node_launches.told(group))
    attributes = {"Arn": group["nodegroupArn"], "ClusterName": cluster, "NodegroupName": name}
    return f"{cluster}/{name}", {**attributes, "Id": f"{cluster}/{name}"}


def _described(cluster: str, name: str) -> dict[str, Any]:
    group: dict[str, Any] = eks_api.answer(eks._describe_nodegroup(cluster, name))["nodegroup"]
    return group


def _create(properties: Properties) -> Created:
    eks_api.answer(eks._create_nodegroup(properties["ClusterName"], _request(properties)))
    try:
        return _settled(properties)
    except Refused:
        _delete("", properties)
        raise


def _update(_physical_id: str, old: Properties, new: Properties) -> Created:
    group = eks._nodegroups[f"{new['ClusterName']}/{new['NodegroupName']}"]
    body = _request(new)
    problem = _problem(body) or node_launches.release_problem(new["ClusterName"], body)
    if problem is not None:
        raise Refused(f"InvalidParameterException: {problem}")
    was = _request(old)
    # What a refused update has not changed, its rollback does not change either.
    changed = {
        name
        for name in body.keys() | was.keys()
        if body.get(name) != was.get(name) and body.get(name) != group.get(name)
    }
    _refuse_together(changed, group)
    if changed:
        group |= {name: body.get(name, _NOTHING.get(name, {})) for name in changed}
        group |= {"instanceTypes": _types(group), "status": "UPDATING"}
        eks._tags[group["nodegroupArn"]] = tag_map(new)
    return _settled(new)


# https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateNodegroupVersion.html
_OF_VERSION = {"launchTemplate", "releaseVersion", "version"}


def _refuse_together(changed: Collection[str], group: Mapping[str, Any]) -> None:
    """Refuse what CloudFormation and EKS do not change at once, or while there are nodes."""
    if _OF_VERSION.isdisjoint(changed):
        return
    if not _OF_VERSION.issuperset(changed):
        # https://github.com/aws/containers-roadmap/issues/1258
        raise Refused("Version and ReleaseVersion updates cannot be combined with other updates")
    if group.get("capacityType") == "CAPACITY_BLOCK" and group["scalingConfig"]["desiredSize"]:
        # https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html; AWS does not
        # publish its words.
        raise Refused("InvalidRequestException: A Capacity Block's node group must have size 0")


def _delete(_physical_id: str, properties: Properties) -> None:
    cluster, name = properties["ClusterName"], properties["NodegroupName"]
    eks_api.gone_or_answer(eks._delete_nodegroup(cluster, name))
    manager = addon_manager()
    while manager is not None and manager.ready_nodes(name):
        time.sleep(_PAUSE_SECONDS)


NODE_GROUP = ResourceType(
    name="AWS::EKS::Nodegroup",
    create=_create,
    update=_update,
    delete=_delete,
    # MiniStack knows where its tags go.
    tagged=False,
    waits=True,
)
