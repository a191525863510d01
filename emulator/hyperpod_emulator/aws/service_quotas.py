"""Quotas of an account that asked for more, their API, and the calls that they limit.

The quotas on instance types are the HyperPod API's own.
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/Welcome.html
"""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws import json_service
from hyperpod_emulator.aws.cloudformation.resource_type import Properties, check_creation
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.json_service import Asked, Content, HyperPodClient, ServiceError
from hyperpod_emulator.aws.ministack import Query, Response, ec2, wrap
from hyperpod_emulator.aws.refused import Refused

VPCS, ADDRESSES, INTERFACES = "L-F678F1CE", "L-0263D0A3", "L-DF5E4CA3"
PER_CLUSTER, ACROSS_CLUSTERS = "L-2CE978FC", "L-3308CCC7"
SPOT_ACROSS_CLUSTERS, VOLUME_SIZE = "L-97A2C724", "L-E13DF72A"


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A quota.

    Attributes:
        applied: What the local account has; None where AWS keeps the default.
    """

    service: str
    name: str
    default: float
    applied: float | None = None

    @property
    def limit(self) -> float:
        """What holds."""
        return self.default if self.applied is None else self.applied


def _of_sagemaker(name: str, *, default: float, applied: float) -> Value:
    return Value(service="sagemaker", name=name, default=default, applied=applied)


# https://docs.aws.amazon.com/ec2/latest/instancetypes/ec2-instance-quotas.html
_VCPUS = {
    "L-1216C47A": ("Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", 5),
    "L-34B43A08": ("All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests", 5),
    "L-DB2E81BA": ("Running On-Demand G and VT instances", 0),
    "L-3819A6DF": ("All G and VT Spot Instance Requests", 0),
    "L-417A185B": ("Running On-Demand P instances", 0),
    "L-7212CCBC": ("All P4, P3 and P2 Spot Instance Requests", 0),
    "L-C4BD4855": ("All P5 Spot Instance Requests", 0),
    "L-2C3B7624": ("Running On-Demand Trn instances", 0),
    "L-5480EFD2": ("All Trn Spot Instance Requests", 0),
}
_LOCAL_VCPUS = 24 * 192
# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
# https://docs.aws.amazon.com/general/latest/gr/sagemaker.html
VALUES = {
    VPCS: Value(service="vpc", name="VPCs per Region", default=5, applied=300),
    ADDRESSES: Value(service="ec2", name="EC2-VPC Elastic IPs", default=5, applied=150),
    INTERFACES: Value(service="vpc", name="Network interfaces per Region", default=5000),
    PER_CLUSTER: _of_sagemaker(
        "Maximum number instances allowed per SageMaker HyperPod cluster",
        default=20,
        applied=2000,
    ),
    ACROSS_CLUSTERS: _of_sagemaker(
        "Total number of instances allowed across SageMaker HyperPod clusters",
        default=30,
        applied=4000,
    ),
    SPOT_ACROSS_CLUSTERS: _of_sagemaker(
        "Total number of Spot instances allowed across SageMaker HyperPod clusters",
        default=0,
        applied=1000,
    ),
    **{
        code: Value(service="ec2", name=name, default=default, applied=_LOCAL_VCPUS)
        for code, (name, default) in _VCPUS.items()
    },
    VOLUME_SIZE: _of_sagemaker(
        "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
        default=1024,
        applied=8192,
    ),
}


_KINDS = ("InstanceGroups", "RestrictedInstanceGroups")
_Cluster = Mapping[str, Any]


async def require_quotas(request: _Cluster, *, client: HyperPodClient) -> None:
    """Refuse a cluster with more instances, or larger volumes, than the quotas.

    The client is of the HyperPod API, which knows the other clusters.
    """
    wanted = Counter[bool]()
    for group in _groups(request):
        wanted[_is_spot(group)] += group["InstanceCount"]
        for size in _volume_sizes(group):
            _require(VOLUME_SIZE, used=0, wanted=size, unit="Gigabytes")
    _require(PER_CLUSTER, used=0, wanted=wanted.total())
    used = Counter[bool]()
    async for cluster in _others(request["ClusterName"], client):
        for group in _groups(cluster):
            used[_is_spot(group)] += group["TargetCount"]
    _require(ACROSS_CLUSTERS, used=used.total(), wanted=wanted.total())
    _require(SPOT_ACROSS_CLUSTERS, used=used[True], wanted=wanted[True])


def _require(code: str, *, used: int, wanted: int, unit: str = "Instances") -> None:
    quota = VALUES[code]
    if wanted and used + wanted > quota.limit:
        raise ServiceError(
            "ResourceLimitExceeded",
            f"The account-level service limit '{quota.name}' is {quota.limit:g} {unit}, with "
            f"current utilization of {used} {unit} and a request delta of {wanted} {unit}. Please "
            "use AWS Service Quotas to request an increase for this quota.",
        )


async def _others(name: str, client: HyperPodClient) -> AsyncIterator[_Cluster]:
    """Yield the other clusters; a request may name its own by its ARN, too."""
    request: dict[str, Any] = {}
    while True:
        page = await client.call("ListClusters", request) or {}
        for summary in page.get("ClusterSummaries", ()):
            if name in summary.values():
                continue
            described = await client.call(
                "DescribeCluster", {"ClusterName": summary["ClusterName"]}
            )
            if described is not None:
                yield described
        if "NextToken" not in page:
            return
        request = {"NextToken": page["NextToken"]}


def _groups(cluster: _Cluster) -> Iterator[Mapping[str, Any]]:
    for kind in _KINDS:
        yield from cluster.get(kind, ())


def _is_spot(group: Mapping[str, Any]) -> bool:
    return "Spot" in group.get("CapacityRequirements", {})


def _volume_sizes(group: Mapping[str, Any]) -> Iterator[int]:
    for storage in group.get("InstanceStorageConfigs", ()):
        size = storage.get("EbsVolumeConfig", {}).get("VolumeSizeInGB")
        if size is not None:
            yield size


_SAGEMAKER = "sagemaker"
_PAGE = 100
_EC2 = {
    # https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
    "AllocateAddress": (
        ADDRESSES,
        "AddressLimitExceeded",
        "The maximum number of addresses has been reached.",
    ),
    "CreateVpc": (VPCS, "VpcLimitExceeded", "The maximum number of VPCs has been reached."),
}

Described = dict[str, Any]


async def _authorized(asked: Asked) -> Content:
    authorization.require_caller(
        headers=asked.headers, action=f"servicequotas:{asked.operation}", resource="*"
    )
    client = HyperPodClient(headers=asked.headers)
    types = await client.quotas() if asked.request.get("ServiceCode") == _SAGEMAKER else {}
    return _answer(asked.operation, asked.request, types)


def install() -> None:
    """Answer for quotas, and let EC2 refuse what is beyond them."""
    json_service.register(
        service="servicequotas", target_prefix="ServiceQuotasV20190624.", answer=_authorized
    )
    for operation in _EC2:
        wrap(ec2._ACTION_MAP, operation, partial(_limited, operation))
    check_creation("AWS::EC2::VPC", _check_vpcs)


def _answer(operation: str, request: Mapping[str, Any], types: Mapping[str, float]) -> Described:
    is_default = "Default" in operation
    found = {
        quota["QuotaCode"]: quota
        for quota in _quotas(types, is_default=is_default)
        if quota["ServiceCode"] == request["ServiceCode"]
    }
    if operation in {"GetServiceQuota", "GetAWSDefaultServiceQuota"}:
        code = request["QuotaCode"]
        if code not in found:
            raise ServiceError("NoSuchResourceException", f"No quota {code}.")
        return {"Quota": found[code]}
    if operation in {"ListServiceQuotas", "ListAWSDefaultServiceQuotas"}:
        start = int(request.get("NextToken", 0))
        end = start + min(int(request.get("MaxResults", _PAGE)), _PAGE)
        more = {"NextToken": str(end)} if end < len(found) else {}
        return {"Quotas": [*found.values()][start:end], **more}
    raise ServiceError("UnknownOperationException", f"{operation} is not known.")


def _quotas(types: Mapping[str, float], *, is_default: bool) -> Iterator[Described]:
    for code, value in VALUES.items():
        # A list of applied quotas leaves out those that the account never asked to change.
        if is_default or value.applied is not None:
            limit = value.default if is_default else value.limit
            yield _described(value.service, code, value.name, limit)
    for name, limit in types.items():
        code = f"L-{sha256(name.encode()).hexdigest()[:8].upper()}"
        yield _described(_SAGEMAKER, code, name, 0.0 if is_default else limit)


def _described(service: str, code: str, name: str, value: float) -> Described:
    return {
        "ServiceCode": service,
        "QuotaCode": code,
        "QuotaName": name,
        "Value": value,
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


def _check_vpcs(_properties: Properties) -> None:
    """Limit a handler of CloudFormation's that makes no call."""
    _, error, message = _EC2["CreateVpc"]
    if _is_reached("CreateVpc"):
        raise Refused(f"{error}: {message}")


def _is_reached(operation: str) -> bool:
    there = ec2._addresses if operation == "AllocateAddress" else ec2._vpcs
    return len(list(there.values())) >= VALUES[_EC2[operation][0]].limit


def _limited(operation: str, call: Callable[[Query], Response], query: Query) -> Response:
    _, error, message = _EC2[operation]
    if _is_reached(operation):
        return ec2._error(error, message, HTTPStatus.BAD_REQUEST)
    return call(query)
