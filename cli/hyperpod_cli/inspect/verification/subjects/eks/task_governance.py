"""Task governance: the cluster policy, and the quota of each team."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.governance.section import GovernanceConfig
from hyperpod_cli.aws.session import listed
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
    there = {
        (noun, item["Name"]): item[f"{noun}Id"]
        for noun, operation in (
            (Noun.POLICY, "list_cluster_scheduler_configs"),
            (Noun.QUOTA, "list_compute_quotas"),
        )
        for item in listed(sagemaker, operation, f"{noun}Summaries", ClusterArn=arn)
    }
    for noun, item_name, wanted in _wanted(config.governance, name):
        identifier = there.get((noun, item_name))
        problem = (
            "is not there"
            if identifier is None
            else _difference(_described(sagemaker, noun, identifier), wanted)
        )
        yield checked(
            f"aws sagemaker list-{noun.command}s --cluster-arn {arn}: {item_name} in force",
            problem=problem,
            advice=_AGAIN,
        )


def _wanted(
    governance: GovernanceConfig, cluster: str
) -> Iterator[tuple[Noun, str, Mapping[str, Any]]]:
    yield Noun.POLICY, policy_name(cluster), {"SchedulerConfig": governance.to_request()}
    for team in governance.teams:
        yield Noun.QUOTA, quota_name(cluster, team.name), team.to_request()


def _described(sagemaker: Any, noun: Noun, identifier: str) -> Mapping[str, Any]:  # noqa: ANN401
    describe = (
        sagemaker.describe_cluster_scheduler_config
        if noun is Noun.POLICY
        else sagemaker.describe_compute_quota
    )
    found: Mapping[str, Any] = describe(**{f"{noun}Id": identifier})
    return found


def _difference(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str | None:
    if found["Status"] not in IN_FORCE:
        return f"is {found['Status']}: {found.get('FailureReason', '')}".rstrip(": ")
    differing = [key for key, value in wanted.items() if not says(found.get(key), value)]
    return f"has another {' and '.join(differing)}" if differing else None
