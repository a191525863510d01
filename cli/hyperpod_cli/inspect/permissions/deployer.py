"""What the person or pipeline that runs `make` must be allowed."""

from collections.abc import Iterator
from pathlib import Path

from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import roles_of_cli, stacks_in
from hyperpod_cli.inspect.permissions.documents import Document, Statement, document_of
from hyperpod_cli.inspect.permissions.looks import looks
from hyperpod_cli.inspect.permissions.names import Names, pattern
from hyperpod_cli.inspect.preflight.bootstrap import BOOTSTRAP_VERSION
from hyperpod_shared.owner import CONSENT_TAG

_READ_STACKS = [
    "cloudformation:DescribeStackEvents",
    "cloudformation:DescribeStackResources",
    "cloudformation:DescribeStacks",
    "cloudformation:GetTemplate",
    "cloudformation:ListStackResources",
]
# What is used of quotas, and where EC2 offers instance types; no more than the network is any of it
# limited to a resource.
_LOOK_AT_NETWORK = [
    "ec2:DescribeAddresses",
    "ec2:DescribeAvailabilityZones",
    "ec2:DescribeInstanceTypeOfferings",
    "ec2:DescribeInternetGateways",
    "ec2:DescribeNatGateways",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroupRules",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcAttribute",
    "ec2:DescribeVpcEndpoints",
    "ec2:DescribeVpcs",
]
# https://docs.aws.amazon.com/service-authorization/latest/reference/list_servicequotas.html
_LOOK_AT_QUOTAS = [
    "servicequotas:GetAWSDefaultServiceQuota",
    "servicequotas:GetServiceQuota",
    "servicequotas:ListAWSDefaultServiceQuotas",
    "servicequotas:ListServiceQuotas",
]
_RECOVER_STACKS = [
    "cloudformation:CancelUpdateStack",
    "cloudformation:ContinueUpdateRollback",
    "cloudformation:DeleteStack",
    "cloudformation:RollbackStack",
]


def deployer_document(assembly: Path, *, names: Names) -> Document:
    """Return the policy of whoever deploys: all else is done by the roles of `cdk bootstrap`.

    Args:
        assembly: Directory that `cdk synth` wrote; it says which roles the CDK CLI assumes.
        names: Names of the deployment's resources.
    """
    return document_of(_statements(assembly, names))


def execution_roles(assembly: Path, environment: Environment) -> Iterator[str]:
    """Yield the roles with which CloudFormation works on the stacks."""
    for stack in stacks_in(assembly):
        if stack.execution_role:
            yield pattern({"Fn::Sub": stack.execution_role}, environment)


def _statements(assembly: Path, names: Names) -> Iterator[Statement]:
    environment, (cluster,) = names.environment, names.of_type("AWS::EKS::Cluster")
    where = f"{environment.region}:{environment.account}"
    eks = f"arn:{environment.partition}:eks:{where}"
    stacks = f"arn:{environment.partition}:cloudformation:{where}:stack"
    version = f"arn:{environment.partition}:ssm:{where}:parameter{BOOTSTRAP_VERSION}"
    roles = sorted({pattern({"Fn::Sub": arn}, environment) for arn in roles_of_cli(assembly)})
    if roles:
        yield _allow("UseBootstrapRoles", ["sts:AssumeRole"], roles)
    # What `make deploy` looks at before CloudFormation creates anything.
    yield _allow("FindBootstrap", ["ssm:GetParameter"], [version])
    # What `make deploy` and `make destroy` compare with, follow, and show at the end.
    storage = f"{names.deployment}-storage"
    looked_at = sorted({*(stack.name for stack in stacks_in(assembly)), storage})
    own = [f"{stacks}/{name}/*" for name in looked_at]
    yield _allow("FollowStacks", _READ_STACKS, own)
    # What `make deploy` says to run after a failure; CloudFormation does it with the stack's role.
    yield _allow("RecoverStacks", _RECOVER_STACKS, own)
    # Of a stack whose creation failed. No more than CDK's bootstrap gives its role for deployments.
    lifted = ["cloudformation:UpdateTerminationProtection"]
    yield _allow("LiftProtection", lifted, [f"{stacks}/{storage}/*"])
    # Its Kubernetes version, its add-ons, and what EKS offers for the version that is wanted.
    reading = ["eks:DescribeCluster", "eks:ListAddons"]
    yield _allow("FindCluster", reading, [f"{eks}:cluster/{cluster}"])
    yield _allow("FindAddons", ["eks:DescribeAddon"], [f"{eks}:addon/{cluster}/*"])
    yield _allow("FindOfferedAddons", ["eks:DescribeAddonVersions"], ["*"])
    # Zones, and the VPC that the configuration names, if any; EC2 limits none of it to a resource.
    yield _allow("LookAtNetwork", _LOOK_AT_NETWORK, ["*"])
    # What the account may have, what its HyperPod clusters have of it, and what the region has.
    yield _allow("LookAtQuotas", _LOOK_AT_QUOTAS, ["*"])
    sagemaker = f"arn:{environment.partition}:sagemaker:{where}"
    yield _allow("ListClusters", ["sagemaker:ListClusters"], ["*"])
    nodes = ["sagemaker:DescribeCluster", "sagemaker:ListClusterNodes"]
    yield _allow("LookAtClusters", nodes, [f"{sagemaker}:cluster/*"])
    plans = ["sagemaker:DescribeTrainingPlan"]
    yield _allow("LookAtTrainingPlans", plans, [f"{sagemaker}:training-plan/*"])
    yield _allow("FindResourceTypes", ["cloudformation:DescribeType"], ["*"])
    for name, actions, resources in looks(names, eks_cluster=cluster):
        yield _allow(name, actions, resources)
    # The command with which a refused deletion is consented to.
    yield _allow("Consent", ["eks:TagResource"], [f"{eks}:cluster/{cluster}"]) | {
        "Condition": {"ForAllValues:StringEquals": {"aws:TagKeys": [CONSENT_TAG]}}
    }
    # The command in the output GrantAdminCommand of the platform stack.
    yield _allow("CreateAccessEntries", ["eks:CreateAccessEntry"], [f"{eks}:cluster/{cluster}"])
    entries = f"{eks}:access-entry/{cluster}/*"
    # Who is let in, which `make deploy` looks at in the end.
    looked = ["eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies"]
    yield _allow("LookAtAccessEntries", looked, [entries])
    yield _allow("MakeAdmins", ["eks:AssociateAccessPolicy"], [entries]) | {
        "Condition": {
            "StringEquals": {
                "eks:policyArn": f"arn:{environment.partition}:eks::aws:cluster-access-policy/"
                "AmazonEKSClusterAdminPolicy"
            }
        }
    }


def _allow(name: str, actions: list[str], resources: list[str]) -> Statement:
    return {"Sid": name, "Effect": "Allow", "Action": actions, "Resource": resources}
