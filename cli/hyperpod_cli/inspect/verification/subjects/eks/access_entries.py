"""Who gets into the EKS cluster."""

from hyperpod_cdk.eks.access import access_by_principal
from hyperpod_cli.aws.session import AwsClient, answer_of, listed
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject

# https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html
_NODES = "HYPERPOD_LINUX"


@subject(phase=Phase.ACCESS, iam=["eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies"])
def access_entries(deployment: LiveDeployment) -> Checks:
    """The entries of nodes' roles, admins, viewers and editors exist, with their policies."""
    config = deployment.config
    eks, name = deployment.client("eks"), config.eks_cluster_name
    default_role = deployment.outputs_of("platform").get("SageMakerIAMRoleArn", "")
    for role in sorted(
        {group.execution_role_arn or default_role for group in config.cluster.all_groups}
    ):
        answer = answer_of(eks.describe_access_entry, clusterName=name, principalArn=role)
        kind = None if answer is None else answer["accessEntry"]["type"]
        yield checked(
            f"aws eks describe-access-entry --cluster-name {name} --principal-arn {role}: {_NODES}",
            problem=None if kind == _NODES else f"is {kind}" if kind else "there is none",
            advice="Nodes of this role cannot join: HyperPod makes the entry when it creates a "
            f"cluster; delete what there is, and make it again with type {_NODES}",
        )
    for principal, granted in access_by_principal(config.eks_of_teams).items():
        wanted = {access.policy for access in granted}
        missing = sorted(wanted - _policies(eks, name, principal))
        yield checked(
            f"aws eks list-associated-access-policies --cluster-name {name} "
            f"--principal-arn {principal}",
            problem=missing,
            words="lacks {}",
            advice="Run `hyperpod-cdk deploy`; what it made and was removed, CloudFormation makes "
            "again only once its entry has changed, so associate the policy by the AWS CLI",
        )


def _policies(eks: AwsClient, cluster: str, principal: str) -> set[str]:
    """Return the policies of an access entry by name; none if there is no entry."""
    asked = {"clusterName": cluster, "principalArn": principal}
    operation, key = "list_associated_access_policies", "associatedAccessPolicies"
    answer = answer_of(lambda: {key: [*listed(eks, operation, key, **asked)]}) or {}
    return {policy["policyArn"].rpartition("/")[2] for policy in answer.get(key, ())}
