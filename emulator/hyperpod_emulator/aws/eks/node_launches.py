"""What EKS says of a node group whose instances EC2 does not launch, or whose AMI there is not."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from hyperpod_emulator.aws.ec2.capacity import Launch, launch_problem
from hyperpod_emulator.aws.ministack import ec2, eks, get_region, ssm, wrap

# https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
_PARAMETER = re.compile(
    r"/aws/service/eks/optimized-ami/(?P<version>[\d.]+)/amazon-linux-2023"
    r"/(?P<architecture>x86_64|arm64)/(?P<hardware>standard|nvidia|neuron)/amazon-eks-node-al2023-"
    r"(?P=architecture)-(?P=hardware)-(?P=version)-v(?P<date>\d{8})/image_id"
)
_CODE, _FAILED = "AsgInstanceLaunchFailures", "Launching EC2 instance failed."

Group = dict[str, Any]


def release_problem(cluster_name: str, body: Mapping[str, Any]) -> str | None:
    """Return why EKS refuses the version or release that a group asks for; None if it has it.

    https://repost.aws/knowledge-center/eks-resolve-node-group-errors-cluster
    https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html
    """
    release = body.get("releaseVersion")
    version = eks._clusters.get(cluster_name, {}).get("version", "")
    if (asked := body.get("version", version)) != version:
        return f"Requested Kubernetes version {asked} is not that of the cluster, {version}."
    if not release:
        return None
    date = release.rpartition("-")[2]
    if release.startswith(f"{version}.") and _is_released(date):
        return None
    return f"Requested release version {release} is not valid for kubernetes version {version}."


def install() -> None:
    """Answer for the public parameters of EKS's AMIs."""

    def find(known: Callable[[str], dict[str, Any] | None], name: str) -> dict[str, Any] | None:
        release = _PARAMETER.fullmatch(name)
        if release is None or not _is_released(release["date"]):
            return known(name)
        arn = f"arn:aws:ssm:{get_region()}::parameter{name}"
        value = f"ami-{hashlib.sha256(name.encode()).hexdigest()[:17]}"
        return {"Name": name, "Type": "String", "Value": value, "Version": 1, "ARN": arn}

    wrap(ssm, "_public_parameter", find)


def _is_released(date: str) -> bool:
    """Say whether EKS has AMIs of a day: here of each that has been."""
    return date <= datetime.now(tz=UTC).strftime("%Y%m%d")


def issues_of(group: Group) -> list[dict[str, Any]]:
    """Return what is wrong with a group's health once its instances are to be launched.

    https://docs.aws.amazon.com/eks/latest/APIReference/API_Issue.html
    """
    launch = _launch(group)
    problem = launch_problem(launch, _others(group))
    if problem is None:
        return []
    kind = "Spot" if launch.is_spot else "On-Demand"
    message = f"Could not launch {kind} Instances. {problem.rstrip('.')}. {_FAILED}"
    names = [each["name"] for each in group["resources"]["autoScalingGroups"]]
    return [{"code": _CODE, "message": message, "resourceIds": names}]


def told(group: Group) -> str:
    """Return what CloudFormation says of a group that has failed.

    As in https://github.com/aws-samples/amazon-eks-ami-rhel/issues/11.
    """
    issues = ", ".join(
        f"Issue(Code={each['code']}, Message={each['message']}, "
        f"ResourceIds=[{', '.join(each['resourceIds'])}])"
        for each in group["health"]["issues"]
    )
    return (
        f'Resource handler returned message: "[{issues}] (Service: null, Status Code: 0, Request '
        'ID: null)" (RequestToken: 6fa52710-1b9e-8feb-65e7-e5a3f91f49af, HandlerErrorCode: '
        "GeneralServiceException)"
    )


def _others(group: Group) -> Iterator[Launch]:
    for other in eks._nodegroups.values():
        if other["nodegroupArn"] != group["nodegroupArn"]:
            yield _launch(other)


def template_of(group: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the data of the launch template of a group; None if there is none such."""
    found = ec2._launch_templates.get((group.get("launchTemplate") or {}).get("id"))
    data: dict[str, Any] | None = found and found["Versions"][-1]["LaunchTemplateData"]
    return data


def _launch(group: Group) -> Launch:
    template = template_of(group) or {}
    specification = template.get("CapacityReservationSpecification") or {}
    target = specification.get("CapacityReservationTarget") or {}
    subnets = [ec2._subnets[each] for each in group["subnets"] if each in ec2._subnets]
    return Launch(
        instance_type=group["instanceTypes"][0],
        zone_ids=frozenset(each["AvailabilityZoneId"] for each in subnets),
        count=group["scalingConfig"]["desiredSize"],
        is_spot=group["capacityType"] == "SPOT",
        reservation=next(iter(target.values()), ""),
        placement_group=(template.get("Placement") or {}).get("GroupName", ""),
    )
