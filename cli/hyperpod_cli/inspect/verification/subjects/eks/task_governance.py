"""Task governance: the cluster policy, and the quota of each team."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.governance.section import GovernanceConfig
from hyperpod_cli.inspect.preflight.deployed import governance_of
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_cli.inspect.verification.nodes import Workload
from hyperpod_shared.governance import (
    IN_FORCE,
    KUEUE_DEPLOYMENT,
    KUEUE_NAMESPACE,
    Noun,
    policy_name,
    quota_name,
    says,
)

_AGAIN = (
    "Jobs of the team wait without it. It was changed or deleted: change something in the section "
    "governance and deploy, which makes all of it again"
)
_KUEUE = Workload(
    kind="deploy",
    name=KUEUE_DEPLOYMENT,
    namespace=KUEUE_NAMESPACE,
    without="No job of a team starts without it. ",
)


@subject(
    phase=Phase.ADDONS,
    iam=[
        "sagemaker:DescribeCluster",
        "sagemaker:DescribeClusterSchedulerConfig",
        "sagemaker:DescribeComputeQuota",
        "sagemaker:ListClusterSchedulerConfigs",
        "sagemaker:ListComputeQuotas",
    ],
    needs_kubernetes=True,
)
def task_governance(deployment: LiveDeployment) -> Checks:
    """Kueue's controller runs; the cluster policy and each team's quota are as configured."""
    config = deployment.config
    if config.governance is None:
        return
    yield _KUEUE.check(deployment, install="`hyperpod-cdk deploy` installs it")
    sagemaker, name = deployment.client("sagemaker"), config.cluster.name
    arn = sagemaker.describe_cluster(ClusterName=name)["ClusterArn"]
    there = {(noun, item["Name"]): item for noun, item in governance_of(sagemaker, arn)}
    for noun, item_name, wanted in _wanted(config, config.governance, name):
        yield checked(
            f"aws sagemaker list-{noun.command}s --cluster-arn {arn}: {item_name} in force",
            problem=_difference(there.get((noun, item_name)), wanted),
            advice=_AGAIN,
        )


def _wanted(
    config: Config, governance: GovernanceConfig, cluster: str
) -> Iterator[tuple[Noun, str, Mapping[str, Any]]]:
    yield Noun.POLICY, policy_name(cluster), {"SchedulerConfig": governance.to_request()}
    for team in config.governed_teams:
        yield Noun.QUOTA, quota_name(cluster, team.name), team.to_request()


def _difference(item: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> str | None:
    if item is None:
        return "is not there"
    if item["Status"] not in IN_FORCE:
        return f"is {item['Status']}: {item.get('FailureReason', '')}".rstrip(": ")
    differing = [key for key, value in wanted.items() if not says(item.get(key), value)]
    return f"has another {' and '.join(differing)}" if differing else None
