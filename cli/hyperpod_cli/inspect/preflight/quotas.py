"""Quotas of the account, compared with what is used and what a deployment adds."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError, EndpointConnectionError

from hyperpod_cdk.schema.errors import Finding, KeyPath, Severity, one_line, warning
from hyperpod_cli.inspect.preflight.validator import Problem, Target


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """What a deployment adds to what a quota limits.

    Attributes:
        path: The key that asks for it.
        quota: The limit; None where Service Quotas has none of that name.
        used: What there is without the deployment.
        wanted: What the deployment adds.
        severity: What follows if that is too much.
    """

    path: KeyPath
    quota: Quota | None
    used: int
    wanted: int
    severity: Severity = Severity.ERROR

    def problem(self) -> Problem | None:
        """Return what is wrong; None for nothing."""
        quota = self.quota
        if quota is None or not self.wanted or self.used + self.wanted <= quota.value:
            return None
        in_use = f" with {self.used} in use" if self.used else ""
        message = (
            f"is too much for the quota {quota.name!r}, which is {quota.value:g}{in_use}; request "
            f"{self.used + self.wanted}: aws service-quotas "
            f"request-service-quota-increase --service-code {quota.service} --quota-code "
            f"{quota.code} --desired-value {self.used + self.wanted}"
        )
        finding = Finding(
            path=self.path, value=self.wanted, message=message, severity=self.severity
        )
        command = (
            f"aws service-quotas get-service-quota --service-code {quota.service} "
            f"--quota-code {quota.code}"
        )
        return Problem(finding=finding, command=command)


def problems(needs: Iterator[Need], target: Target) -> Iterator[Problem]:
    """Yield what is wrong; a region without Service Quotas is told, since nobody can change it.

    https://docs.aws.amazon.com/general/latest/gr/servicequotas.html
    """
    try:
        found = list(needs)
    except EndpointConnectionError as unreachable:
        message = f"does not answer for quotas, so none is compared: {one_line(unreachable)}"
        finding = warning(("region",), target.region, message)
        yield Problem(finding=finding, command="aws service-quotas list-services")
        return
    yield from (problem for need in found if (problem := need.problem()) is not None)


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
