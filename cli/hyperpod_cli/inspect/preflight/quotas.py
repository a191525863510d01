"""The quotas of an account, by code or by name."""

from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError


@dataclass(frozen=True, kw_only=True, slots=True)
class Quota:
    """A limit of the account in the region.

    Attributes:
        service: Such as sagemaker.
        code: Such as L-2CE978FC.
        name: Such as ml.p5.48xlarge for cluster usage.
        value: The limit.
    """

    service: str
    code: str
    name: str
    value: float


@dataclass(kw_only=True, slots=True)
class ServiceQuotas:
    """Quotas as they apply: the account's own value, else AWS's default.

    https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_GetServiceQuota.html

    Attributes:
        client: Client of Service Quotas.
    """

    client: Any
    _by_name: dict[tuple[str, str], dict[str, Quota]] = field(default_factory=dict)

    def by_code(self, service: str, code: str) -> Quota | None:
        """Return a quota; None if the region has none of that code."""
        asked = {"ServiceCode": service, "QuotaCode": code}
        for operation in ("get_service_quota", "get_aws_default_service_quota"):
            try:
                quota = getattr(self.client, operation)(**asked)["Quota"]
                if _is_known(quota):
                    return _quota(quota)
            except ClientError as absent:
                if absent.response["Error"]["Code"] != "NoSuchResourceException":
                    raise
        return None

    def by_name(self, service: str, name: str) -> Quota | None:
        """Return a quota; None if the region has none of that name."""
        for operation in ("list_service_quotas", "list_aws_default_service_quotas"):
            found = self._listed(operation, service).get(name)
            if found is not None:
                return found
        return None

    def _listed(self, operation: str, service: str) -> dict[str, Quota]:
        """Return the quotas of a service, read once."""
        key = (operation, service)
        if key not in self._by_name:
            pages = self.client.get_paginator(operation).paginate(ServiceCode=service)
            self._by_name[key] = {
                quota["QuotaName"]: _quota(quota)
                for page in pages
                for quota in page["Quotas"]
                if _is_known(quota)
            }
        return self._by_name[key]


def _is_known(described: dict[str, Any]) -> bool:
    """Return whether there is a value, in whose place may be an `ErrorReason`.

    https://docs.aws.amazon.com/servicequotas/2019-06-24/apireference/API_ServiceQuota.html
    """
    return described.get("Value") is not None


def _quota(described: dict[str, Any]) -> Quota:
    return Quota(
        service=described["ServiceCode"],
        code=described["QuotaCode"],
        name=described["QuotaName"],
        value=described["Value"],
    )
