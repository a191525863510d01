"""Compute quotas and scheduler configurations: a cluster that has any cannot be deleted.

They are task governance's, set up by an administrator and not by this stack, so they are deleted
only where the user agreed to that.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from provisioner.aws.api import Answer
from provisioner.aws.errors import AWS_ERRORS, is_not_found
from provisioner.framework import log
from provisioner.hyperpod.api import HyperPodApi

_GONE = frozenset({"Deleted", "Deleting"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Governance:
    """One object of task governance.

    Args:
        kind: What it is, for people.
        name: Its name.
        delete: Deletes it.
    """

    kind: str
    name: str
    delete: Callable[[], Answer]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def governance_of(api: HyperPodApi, arn: str) -> Sequence[Governance]:
    """Return what governs a cluster; nothing when it cannot be found out."""
    try:
        return [*_quotas(api, arn), *_schedulers(api, arn)]
    except AWS_ERRORS as error:
        log.warning("task governance not known", cluster=api.name, cause=str(error))
        return ()


def delete_governance(api: HyperPodApi, objects: Sequence[Governance]) -> None:
    """Delete task governance's objects; what is gone already is a success.

    Raises:
        ClientError: The service refused.
    """
    for item in objects:
        log.warning("deleting", object=str(item), cluster=api.name)
        try:
            api.call(item.delete)
        except AWS_ERRORS as error:
            if not is_not_found(error):
                raise


def _quotas(api: HyperPodApi, arn: str) -> Iterator[Governance]:
    for item in _pages(api.sagemaker.list_compute_quotas, arn, "ComputeQuotaSummaries"):
        yield Governance(
            kind="compute quota",
            name=item["Name"],
            delete=partial(
                api.sagemaker.delete_compute_quota, ComputeQuotaId=item["ComputeQuotaId"]
            ),
        )


def _schedulers(api: HyperPodApi, arn: str) -> Iterator[Governance]:
    found = _pages(
        api.sagemaker.list_cluster_scheduler_configs, arn, "ClusterSchedulerConfigSummaries"
    )
    for item in found:
        yield Governance(
            kind="cluster policy",
            name=item["Name"],
            delete=partial(
                api.sagemaker.delete_cluster_scheduler_config,
                ClusterSchedulerConfigId=item["ClusterSchedulerConfigId"],
            ),
        )


def _pages(list_page: Callable[..., Answer], arn: str, key: str) -> Iterator[Answer]:
    request: dict[str, object] = {"ClusterArn": arn}
    while True:
        page = list_page(**request)
        yield from (item for item in page.get(key, ()) if item["Status"] not in _GONE)
        if not page.get("NextToken"):
            return
        request["NextToken"] = page["NextToken"]
