"""AWS::SageMaker::Cluster: CloudFormation calls the HyperPod API with the rights of its caller.

Its handlers call what the schema's permissions name, and wait until the cluster is in service, or
gone: https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract.html.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_emulator.aws.cloudformation import express_mode
from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties, ResourceType
from hyperpod_emulator.aws.json_service import ServiceError
from hyperpod_emulator.aws.refused import Refused
from hyperpod_emulator.aws.sagemaker import api

_PAUSE_SECONDS = 0.1
# The schema's 12 hours, 50 times as short.
_LONGEST_SECONDS = 860.0
_GROUPS = ("InstanceGroups", "RestrictedInstanceGroups")
# A parameter's number is a text; CloudFormation converts it as the schema says.
_NUMBERS = ("InstanceCount", "MinInstanceCount", "Port", "ThreadsPerCore", "VolumeSizeInGB")
# Tags have operations of their own, and UpdateCluster's input has no VpcConfig (botocore).
# It has the mode; whether the type's handler sends it, and what HyperPod answers, is not published.
_NOT_UPDATED = ("NodeProvisioningMode", "Tags", "VpcConfig")
# A change of the image alone is UpdateClusterSoftware's, which the update handler may call.
_IMAGE = ("ImageId", "ImageReleaseVersion")
_ATTRIBUTES = ("ClusterArn", "ClusterStatus", "CreationTime", "FailureMessage")

_Answer = dict[str, Any]


def _create(properties: Properties) -> Created:
    """Create a cluster; one that fails is deleted, as by the rollback of its stack."""
    properties = _converted(properties)
    given = [{"Key": key, "Value": value} for key, value in sorted(_tags(properties).items())]
    request = {**properties, "Tags": given} if given else _without_tags(properties)
    arn = _call("CreateCluster", request)["ClusterArn"]
    try:
        cluster = _settled(arn)
    except Refused:
        _delete(arn, properties)
        raise
    return _created(cluster)


def _update(arn: str, old: Properties, new: Properties) -> Created:
    """Make only the calls that the change takes."""
    old, new = _converted(old), _converted(new)
    _tag(arn, old, new)
    request = {name: value for name, value in new.items() if name not in _NOT_UPDATED}
    if request != {name: value for name, value in old.items() if name not in _NOT_UPDATED}:
        gone = sorted(set(_by_name(old)) - set(_by_name(new)))
        request |= {"ClusterName": arn} | ({"InstanceGroupsToDelete": gone} if gone else {})
        _call("UpdateCluster", request)
        _settled(arn)
    for software in _software(old, new):
        _call("UpdateClusterSoftware", {"ClusterName": arn, **software})
        _settled(arn)
    return _created(_settled(arn))


def _delete(arn: str, _properties: Properties) -> None:
    """Delete a cluster, and return when it is gone."""
    if _described(arn) is None:
        return
    _call("DeleteCluster", {"ClusterName": arn})
    _wait(lambda: _described(arn) is None)


def _tag(arn: str, old: Properties, new: Properties) -> None:
    before, after = _tags(old), _tags(new)
    gone = sorted(before.keys() - after.keys())
    if gone:
        _call("DeleteTags", {"ResourceArn": arn, "TagKeys": gone})
    given = [
        {"Key": key, "Value": value}
        for key, value in sorted(after.items())
        if before.get(key) != value
    ]
    if given:
        _call("AddTags", {"ResourceArn": arn, "Tags": given})


def _settled(arn: str) -> _Answer:
    """Return the cluster once nothing is being done to it; refuse by its FailureMessage."""
    found: list[_Answer | None] = []

    def is_settled() -> bool:
        found[:] = [_described(arn)]
        cluster = found[0]
        return cluster is None or cluster["ClusterStatus"] in {"InService", "Failed"}

    if express_mode.readiness() is None:
        _wait(is_settled)
    else:
        is_settled()
    (cluster,) = found
    if cluster is None:
        raise _failed("NotFound", f"Cluster {arn} was not found.")
    if cluster["ClusterStatus"] == "Failed":
        raise _failed("NotStabilized", cluster.get("FailureMessage", "the cluster failed"))
    return cluster


def _wait(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _LONGEST_SECONDS
    while not holds():
        if time.monotonic() > deadline:
            raise _failed("NotStabilized", "Exceeded attempts to wait")
        time.sleep(_PAUSE_SECONDS)


def _described(arn: str) -> _Answer | None:
    try:
        return api.call("DescribeCluster", {"ClusterName": arn})
    except ServiceError as error:
        if error.code == "ResourceNotFound":
            return None
        raise _failed("GeneralServiceException", str(error)) from error


def _call(operation: str, request: Mapping[str, Any]) -> _Answer:
    try:
        return api.call(operation, request)
    except ServiceError as error:
        code = "AccessDenied" if error.code.startswith("AccessDenied") else "InvalidRequest"
        raise _failed(code, str(error)) from error


def _created(cluster: _Answer) -> Created:
    attributes = {name: str(cluster[name]) for name in _ATTRIBUTES if name in cluster}
    return cluster["ClusterArn"], attributes


def _failed(code: str, message: str) -> Refused:
    """Return a handler's failure in the words of CloudFormation's events.

    The codes: https://docs.aws.amazon.com/cloudformation-cli/latest/userguide/resource-type-test-contract-errors.html
    """
    return Refused(
        f'Resource handler returned message: "{message}" (RequestToken: {uuid.uuid4()}, '
        f"HandlerErrorCode: {code})"
    )


def _converted(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    match value:
        case Mapping():
            return {
                name: int(item) if name in _NUMBERS else _converted(item)
                for name, item in value.items()
            }
        case list():
            return [_converted(item) for item in value]
    return value


def _tags(properties: Properties) -> dict[str, str]:
    """Return the tags that a handler sets; CloudFormation's own, `aws:`, are not its business."""
    tags = properties.get("Tags") or ()
    return {tag["Key"]: tag["Value"] for tag in tags if not tag["Key"].startswith("aws:")}


def _without_tags(properties: Properties) -> dict[str, Any]:
    return {name: value for name, value in properties.items() if name != "Tags"}


def _by_name(properties: Properties) -> dict[str, Mapping[str, Any]]:
    groups = (group for kind in _GROUPS for group in properties.get(kind) or ())
    return {group["InstanceGroupName"]: group for group in groups}


def _software(old: Properties, new: Properties) -> Iterator[dict[str, Any]]:
    """Yield what UpdateClusterSoftware is asked for: an AMI, or releases, by group."""
    before = _by_name(old)
    for name, group in _by_name(new).items():
        image, release = (group.get(member) for member in _IMAGE)
        if name not in before or (image, release) == tuple(
            before[name].get(member) for member in _IMAGE
        ):
            continue
        member: dict[str, Any] = {"InstanceGroupName": name}
        if release is not None:
            member["ImageReleaseVersion"] = release
        yield {"InstanceGroups": [member]} | ({} if image is None else {"ImageId": image})


CLUSTER = ResourceType(
    name="AWS::SageMaker::Cluster", create=_create, update=_update, delete=_delete, waits=True
)
