"""Task governance that others have set up, and an add-on that cannot be brought to ours."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.facts.addon_versions import ADDON_VERSIONS
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.inspect.preflight.deployed import governance_of, resources_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_shared.governance import ADDON, GovernanceStatus, Noun, maker_of, quota_name
from hyperpod_stacks.table import stack_name

_KEY = ("governance",)
# Before v1.4, Kueue stores cohorts as v1alpha1, which the definitions of v1.5 and later refuse:
# https://kueue.sigs.k8s.io/docs/installation/
_STORES_ALPHA = re.compile(r"v1\.[0-3]\.|v0\.")
_GOING = frozenset({GovernanceStatus.DELETING, GovernanceStatus.DELETED})


@validator(
    phase=Phase.EXISTING_RESOURCES,
    iam=["cloudformation:ListStackResources", "eks:DescribeAddon", "sagemaker:DescribeCluster"],
)
def task_governance(config: Config, target: Target) -> Problems:
    """The cluster already has the add-on, a version that cannot be updated, a policy or a quota.

    Keys: governance

    [HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup.html)
    """
    if config.governance is None:
        return
    yield from _addon(config, target)
    sagemaker = target.client("sagemaker")
    cluster = answer_of(sagemaker.describe_cluster, ClusterName=config.cluster.name)
    if cluster is None:
        return
    teams = {team.name for team in config.governed_teams}
    names = {quota_name(config.cluster.name, team) for team in teams}
    for noun, item in _theirs(sagemaker, cluster["ClusterArn"], config):
        team = item.get("ComputeQuotaTarget", {}).get("TeamName")
        if noun is Noun.POLICY or team in teams or item["Name"] in names:
            whose = f" of the team {team}" if team else ""
            message = (
                f"would make a {noun.words}{whose}, and the HyperPod cluster has "
                f"{item['Name']} already, which others made; if it is not needed: `aws sagemaker "
                f"delete-{noun.command} --{noun.command}-id {item[f'{noun}Id']}`"
            )
            command = f"describe-{noun.command} --{noun.command}-id {item[f'{noun}Id']}"
            yield error(_KEY, item["Name"], message), f"aws sagemaker {command}"


def _addon(config: Config, target: Target) -> Problems:
    eks, name = target.client("eks"), config.eks_cluster_name
    answer = answer_of(eks.describe_addon, clusterName=name, addonName=ADDON)
    if answer is None:
        return
    version = answer["addon"]["addonVersion"]
    resources = resources_of(config, "operators", target.client, resource_type="AWS::EKS::Addon")
    delete = f"aws eks delete-addon --cluster-name {name} --addon-name {ADDON}"
    command = f"aws eks describe-addon --cluster-name {name} --addon-name {ADDON}"
    if _STORES_ALPHA.match(version):
        wanted = ADDON_VERSIONS[config.eks.version][ADDON]
        message = (
            f"would bring {ADDON} from {version} to {wanted}, which fails: its Kueue stores "
            "cohorts as v1alpha1; note the quotas, leave governance out and deploy, or delete what "
            f"others made, then `{delete}`, `kubectl delete crd cohorts.kueue.x-k8s.io`, and "
            "deploy with governance again"
        )
        yield error(_KEY, version, message), command
    elif f"{name}|{ADDON}" not in resources:
        message = (
            f"would install {ADDON}, which {name} has already, and CloudFormation takes none over; "
            f"leave governance out, or run `{delete} --preserve`"
        )
        yield error(_KEY, version, message), command


def _theirs(
    sagemaker: AwsClient, cluster_arn: str, config: Config
) -> Iterator[tuple[Noun, Mapping[str, Any]]]:
    """Yield the policies and quotas of a cluster that the operators stack did not make."""
    for noun, item in governance_of(sagemaker, cluster_arn):
        is_ours = maker_of(item.get("Description", "")) == stack_name(config, "operators")
        if item["Status"] not in _GOING and not is_ours:
            yield noun, item
