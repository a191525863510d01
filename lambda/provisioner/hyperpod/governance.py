"""Compute quotas and scheduler configurations: a cluster that has any cannot be deleted.

They are task governance's, set up by an administrator and not by this stack, so they are named and
never deleted.
"""

from collections.abc import Callable, Iterator, Sequence

from hyperpod_shared.aws_errors import AWS_ERRORS
from provisioner.aws.api import Answer
from provisioner.framework import log
from provisioner.hyperpod.api import HyperPodApi

_GONE = frozenset({"Deleted", "Deleting"})


def governance_of(api: HyperPodApi, arn: str) -> Sequence[str]:
    """Name what governs a cluster; nothing when it cannot be found out."""
    quotas, schedulers = (
        api.sagemaker.list_compute_quotas,
        api.sagemaker.list_cluster_scheduler_configs,
    )
    try:
        return [
            *(f"compute quota {name}" for name in _names(quotas, arn, "ComputeQuotaSummaries")),
            *(
                f"cluster policy {name}"
                for name in _names(schedulers, arn, "ClusterSchedulerConfigSummaries")
            ),
        ]
    except AWS_ERRORS as error:
        log.warning("task governance not known", cluster=api.name, cause=str(error))
        return ()


def _names(list_page: Callable[..., Answer], arn: str, key: str) -> Iterator[str]:
    request: dict[str, object] = {"ClusterArn": arn}
    while True:
        page = list_page(**request)
        yield from (item["Name"] for item in page.get(key, ()) if item["Status"] not in _GONE)
        if not page.get("NextToken"):
            return
        request["NextToken"] = page["NextToken"]
