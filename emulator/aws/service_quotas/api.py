"""The API of Service Quotas, and the calls of EC2 that its values limit.

https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/Welcome.html
"""

import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from emulator.aws import json_service
from emulator.aws.cloudformation.resource_type import Created, Refused
from emulator.aws.hyperpod_client import HyperPodClient
from emulator.aws.iam import authorization
from emulator.aws.json_service import Response, ServiceError
from emulator.aws.ministack import ec2, provisioners
from emulator.aws.parent_process import Settings
from emulator.aws.service_quotas.values import ADDRESSES, VALUES, VPCS

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


def install(*, settings: Settings) -> None:
    """Answer for quotas, and let EC2 refuse what is beyond them."""

    async def handle(
        _method: str, _path: str, headers: Mapping[str, str], body: bytes, _query: Mapping[str, Any]
    ) -> Response:
        operation, request = json_service.operation(headers), json.loads(body or b"{}")
        try:
            authorization.require_caller(
                headers=headers,
                action=f"servicequotas:{operation}",
                resource="*",
                context={},
            )
            client = HyperPodClient(url=settings.hyperpod_api, headers=headers)
            types = await client.quotas() if request.get("ServiceCode") == _SAGEMAKER else {}
            return json_service.respond(_answer(operation, request, types))
        except ServiceError as error:
            return json_service.respond_error(error)

    json_service.register(
        service="servicequotas", target_prefix="ServiceQuotasV20190624.", handler=handle
    )
    for operation in _EC2:
        ec2.ACTION_MAP[operation] = _limited(operation, ec2.ACTION_MAP[operation])
    handlers = provisioners.RESOURCE_HANDLERS["AWS::EC2::VPC"]
    handlers["create"] = _limited_creation("CreateVpc", handlers["create"])


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


def _limited_creation(operation: str, create: Callable[..., Created]) -> Callable[..., Created]:
    """Limit a handler of CloudFormation's that makes no call."""
    _, error, message = _EC2[operation]

    def limited(*arguments: Any) -> Created:
        if _is_reached(operation):
            raise Refused(f"{error}: {message}")
        return create(*arguments)

    return limited


def _is_reached(operation: str) -> bool:
    there = ec2.addresses if operation == "AllocateAddress" else ec2.vpcs
    return len(list(there.values())) >= VALUES[_EC2[operation][0]].limit


def _limited(operation: str, call: Callable[..., Any]) -> Callable[..., Any]:
    _, error, message = _EC2[operation]

    def limited(query: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a response of MiniStack
        if _is_reached(operation):
            return ec2.error(error, message, HTTPStatus.BAD_REQUEST)
        return call(query)

    return limited
