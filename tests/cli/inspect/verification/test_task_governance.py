"""Kueue, the cluster policy and the quotas: where they are as configured, and where not."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hyperpod_cdk import Config
from hyperpod_cli.inspect.verification.subjects.eks.task_governance import task_governance
from hyperpod_emulator.aws.eks.addon_objects import objects_of
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_shared.governance import ADDON, Noun
from tests.cli.inspect.verification.conftest import Deployed, join, paginated
from tests.support.configs import configure

GOVERNANCE = {
    "teams": [{"name": "research", "quota": [{"instance_type": "ml.g5.2xlarge", "nodes": 1}]}],
    "governance": {},
    "cluster": {
        "instance_groups": [{"name": "gpu", "instance_type": "ml.g5.2xlarge", "instance_count": 1}]
    },
}
QUOTA, POLICY = "ml-cluster-research", "ml-cluster-policy"


def sagemaker(config: Config, **changes: Any) -> dict[str, Callable[..., Any]]:
    assert config.governance is not None
    (team,) = config.teams
    objects: Mapping[Noun, dict[str, Any]] = {
        Noun.POLICY: {"Name": POLICY, "SchedulerConfig": config.governance.to_request()},
        Noun.QUOTA: {"Name": QUOTA, **team.to_request(), **changes},
    }

    def page(noun: Noun) -> list[Any]:
        return [{f"{noun}Summaries": [{"Name": objects[noun]["Name"], f"{noun}Id": str(noun)}]}]

    def describe(noun: Noun) -> Callable[..., Any]:
        return lambda **_id: {"Status": "Created", **objects[noun]}

    return {
        "describe_cluster": lambda **_name: {"ClusterArn": "arn"},
        "describe_cluster_scheduler_config": describe(Noun.POLICY),
        "describe_compute_quota": describe(Noun.QUOTA),
        "get_paginator": paginated(
            list_cluster_scheduler_configs=page(Noun.POLICY), list_compute_quotas=page(Noun.QUOTA)
        ),
    }


def install_kueue(kubernetes: KubernetesApi) -> None:
    kubernetes.create(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kueue-system"}}
    )
    for item in objects_of(ADDON, version="v1", region="us-west-2"):
        kubernetes.create(item)
    join(kubernetes, "n0", cluster="ml-cluster")


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, ""),
        ({"Name": "theirs"}, "is not there"),
        ({"Status": "CreateFailed", "FailureReason": "no room"}, "is CreateFailed: no room"),
        (
            {"ComputeQuotaTarget": {"TeamName": "research", "FairShareWeight": 9}},
            "has another ComputeQuotaTarget",
        ),
    ],
    ids=["as configured", "absent", "failed", "changed"],
)
def test_quota_is_in_force_as_configured(
    changes: dict[str, Any], found: str, deployed: Deployed, kubernetes: KubernetesApi
) -> None:
    install_kueue(kubernetes)
    config = configure(GOVERNANCE)
    kueue, policy, quota = task_governance(deployed(config, sagemaker=sagemaker(config, **changes)))

    assert (kueue.ok, policy.ok, quota.ok, quota.found) == (True, True, not found, found)


def test_missing_kueue_and_no_governance(deployed: Deployed) -> None:
    config = configure(GOVERNANCE)
    kueue, *_ = task_governance(deployed(config, sagemaker=sagemaker(config)))

    assert kueue.found == "is not installed"
    assert [*task_governance(deployed(configure({})))] == []
