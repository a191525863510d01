"""Updates of a cluster: its subnets and security groups, and its version.

EKS raises the version by one minor version at a time. It lowers it by one within seven days of such
an update, which the emulator does not outlast, if the add-ons fit, or by force:
https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html
https://docs.aws.amazon.com/eks/latest/userguide/rollback-cluster.html
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties
from hyperpod_emulator.aws.eks import addons
from hyperpod_emulator.aws.eks import api as eks_api
from hyperpod_emulator.aws.eks.addon_versions import version_problem
from hyperpod_emulator.aws.ministack import Response, cloudformation, ec2, eks, provisioners, wrap
from hyperpod_emulator.aws.refused import Refused

_MIN_ZONES = 2
_MIN_ADDRESSES = 6
_ZONES_WITHOUT_EKS = frozenset({"use1-az3", "usw1-az2", "cac1-az3"})


_ZONES = "_zones_at_creation"


def network_refusal(body: Mapping[str, Any]) -> Response | None:
    """Return EKS's refusal of the network of a new cluster, or None."""
    vpc_config = body.get("resourcesVpcConfig", {})
    problem = _problem(vpc_config)
    if problem is not None:
        return eks_api.refusal(problem)
    return _place_refusal(body["name"], vpc_config)


def keep_zones(cluster: dict[str, Any]) -> None:
    """Note the zones of a new cluster, which it keeps."""
    cluster[_ZONES] = _zones(cluster["resourcesVpcConfig"])


def install() -> None:
    """Check each change of a cluster: by CloudFormation, and by UpdateClusterVersion."""
    wrap(provisioners._RESOURCE_HANDLERS["AWS::EKS::Cluster"], "update", _update)
    eks_api.route("POST", _UPDATES, _update_cluster_version)
    eks_api.route("GET", rf"{_UPDATES}/([0-9a-f-]+)", _describe_update)


def _update(
    updated: Callable[..., Created],
    name: str,
    old: Properties,
    new: Properties,
    stack: str,
    *names: str,
) -> Created:
    cluster, wanted = eks._clusters[name], str(new["Version"])
    if wanted != old["Version"] and not _is_kept(cluster, wanted, stack=stack):
        refusal = _version_problem(cluster, wanted, force=bool(new.get("Force")))
        if refusal is not None:
            raise Refused(": ".join(refusal))
        _change(cluster, wanted)
    vpc_config = provisioners._eks_cluster_fields(new)["resourcesVpcConfig"]
    problem = _problem(vpc_config) or _new_zones_problem(vpc_config, zones=cluster[_ZONES])
    if problem:
        raise Refused(f"InvalidParameterException: {problem}")
    # What is there is what stays, whichever version the template has.
    return updated(name, old, {**new, "Version": cluster["version"]}, stack, *names)


def _problem(vpc_config: dict[str, Any]) -> str | None:
    """Return what is wrong with the subnets and security groups of a cluster, or None."""
    subnet_ids = vpc_config.get("subnetIds", [])
    for identifier in subnet_ids:
        if identifier not in ec2._subnets:
            return f"The subnet ID '{identifier}' does not exist"
    for identifier in vpc_config.get("securityGroupIds", []):
        if identifier not in ec2._security_groups:
            return f"The security group '{identifier}' does not exist"
    vpcs = {ec2._subnets[identifier]["VpcId"] for identifier in subnet_ids}
    if len(vpcs) != 1:
        return "Subnets must all belong to one VPC."
    for identifier in vpc_config.get("securityGroupIds", []):
        if ec2._security_groups[identifier]["VpcId"] not in vpcs:
            return f"Security group {identifier} does not belong to the VPC of the subnets"
    if len(_zones(vpc_config)) < _MIN_ZONES:
        return "Subnets specified must be in at least two different AZs"
    return None


def _place_refusal(name: str, vpc_config: Mapping[str, Any]) -> Response | None:
    """Return EKS's refusal to place a new control plane in subnets, or None.

    Worded as in https://github.com/aws-samples/aws-deeplearning-labs/issues/1 and, of an update,
    https://github.com/elastic-ipfs/infrastructure/pull/221.
    """
    subnets = [ec2._subnets[identifier] for identifier in vpc_config["subnetIds"]]
    without = [each for each in subnets if each["AvailabilityZoneId"] in _ZONES_WITHOUT_EKS]
    if without:
        message = (
            f"Cannot create cluster '{name}' because {without[0]['AvailabilityZone']}, the "
            "targeted availability zone, does not currently have sufficient capacity to support "
            "the cluster."
        )
        return eks_api.refusal(message, code="UnsupportedAvailabilityZoneException")
    free = {each["SubnetId"]: each["AvailableIpAddressCount"] for each in subnets}
    if min(free.values()) < _MIN_ADDRESSES:
        counts = " ".join(f"{identifier} Free IPs: {count}" for identifier, count in free.items())
        message = (
            f"Provided subnets {counts}, need at least {_MIN_ADDRESSES} IPs in each subnet to be "
            "free for this operation"
        )
        return eks_api.refusal(message, code="InvalidRequestException")
    return None


def _new_zones_problem(vpc_config: dict[str, Any], *, zones: set[str]) -> str | None:
    added = _zones(vpc_config) - zones
    if not added:
        return None
    return (
        "Subnets must be in the same set of AZs as originally provided when the cluster was "
        f"created ({', '.join(sorted(zones))}), not in {', '.join(sorted(added))}"
    )


def _zones(vpc_config: dict[str, Any]) -> set[str]:
    return {ec2._subnets[identifier]["AvailabilityZone"] for identifier in vpc_config["subnetIds"]}


_UPDATES = r"/clusters/([A-Za-z0-9_-]+)/updates"
_FORMER = "_former_version"
_MADE = "_version_updates"
_ROLLBACK = "UPDATE_ROLLBACK_IN_PROGRESS"


def _is_kept(cluster: Mapping[str, Any], wanted: str, *, stack: str) -> bool:
    """Return whether an update by CloudFormation leaves the version alone.

    A stack's rollback "does not trigger a cluster version rollback" (EKS user guide,
    rollback-cluster). EKS's own API refuses the version that a cluster has already
    (https://github.com/rancher/rancher/issues/21043); CloudFormation may not call it.
    """
    is_back = bool(cloudformation._stacks[stack]["StackStatus"] == _ROLLBACK)
    return is_back or wanted == cluster["version"]


def _version_problem(
    cluster: Mapping[str, Any], wanted: str, *, force: bool
) -> tuple[str, str] | None:
    """Return code and message of EKS's refusal to change a cluster's version, or None.

    As worded in https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2607. What EKS
    finds in insights is an InvalidStateException (API reference, UpdateClusterVersion); how it
    words those of a rollback is not published.
    """
    version = cluster["version"]
    step = _minor(wanted) - _minor(version)
    goes_back = step == -1 and cluster.get(_FORMER) == wanted
    if step != 1 and not goes_back:
        return (
            "InvalidParameterException",
            f"Unsupported Kubernetes minor version update from {version} to {wanted}",
        )
    unfit = [*_addons_unfit(cluster["name"], wanted)] if goes_back and not force else []
    if unfit:
        return (
            "InvalidStateException",
            f"Rollback readiness insights have status ERROR: {', '.join(unfit)} not compatible "
            f"with {wanted}",
        )
    return None


def _addons_unfit(cluster_name: str, wanted: str) -> list[str]:
    own = [each for key, each in eks._addons.items() if key.startswith(f"{cluster_name}/")]
    return [
        f"{addon['addonName']} {addon['addonVersion']}"
        for addon in own
        if version_problem(addon, addon_name=addon["addonName"], kubernetes_version=wanted)
    ]


def _change(cluster: dict[str, Any], wanted: str) -> None:
    # A cluster that went back can go no further.
    rises = _minor(wanted) > _minor(cluster["version"])
    cluster[_FORMER] = cluster["version"] if rises else None
    cluster["version"] = wanted


def _update_cluster_version(
    asked: re.Match[str], body: Mapping[str, Any], _query: eks_api.Query
) -> Response | None:
    cluster, wanted = eks._clusters.get(asked[1]), body["version"]
    if cluster is None:
        return None
    problem = _version_problem(cluster, wanted, force=bool(body.get("force")))
    if problem is not None:
        code, message = problem
        return eks_api.refusal(message, code=code)
    rises = _minor(wanted) > _minor(cluster["version"])
    _change(cluster, wanted)
    params = [{"type": "Version", "value": wanted}]
    made = eks_api.update("VersionUpdate" if rises else "VersionRollback", params=params)
    # It is in progress when it is described for the first time.
    cluster.setdefault(_MADE, {})[made["id"]] = made
    return eks_api.updating(made)


def _describe_update(asked: re.Match[str], _body: object, query: eks_api.Query) -> Response | None:
    name, identifier = asked.groups()
    if "addonName" in query:
        return addons.describe_update(name, query["addonName"][0], identifier)
    if name not in eks._clusters:
        return None
    updates = eks._clusters[name].get(_MADE, {})
    if identifier not in updates:
        return eks_api.no_update(identifier)
    response = eks_api.updating(updates[identifier])
    updates[identifier] = {**updates[identifier], "status": "Successful"}
    return response


def _minor(version: str) -> int:
    return int(version.split(".")[1])
