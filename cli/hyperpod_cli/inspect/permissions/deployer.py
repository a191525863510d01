"""What the person or pipeline that runs `make` must be allowed."""

from collections.abc import Iterator
from pathlib import Path

from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import roles_of_cli, stacks_in
from hyperpod_cli.inspect.permissions.documents import Document, Statement, document_of
from hyperpod_cli.inspect.permissions.names import Names, pattern
from hyperpod_cli.inspect.permissions.read_permissions import read_permissions
from hyperpod_shared.owner import CONSENT_TAG

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
    roles = sorted({pattern({"Fn::Sub": arn}, environment) for arn in roles_of_cli(assembly)})
    if roles:
        yield _allow("UseBootstrapRoles", ["sts:AssumeRole"], roles)
    storage = f"{names.deployment}-storage"
    compared = sorted({*(stack.name for stack in stacks_in(assembly)), storage})
    own = [f"{stacks}/{name}/*" for name in compared]
    for name, actions, resources in read_permissions(names, eks_cluster=cluster, stacks=compared):
        yield _allow(name, actions, resources)
    # What `make deploy` says to run after a failure; CloudFormation does it with the stack's role.
    yield _allow("RecoverStacks", _RECOVER_STACKS, own)
    # Of a stack whose creation failed. No more than CDK's bootstrap gives its role for deployments.
    lifted = ["cloudformation:UpdateTerminationProtection"]
    yield _allow("LiftProtection", lifted, [f"{stacks}/{storage}/*"])
    # The command with which a refused deletion is consented to.
    yield _allow("Consent", ["eks:TagResource"], [f"{eks}:cluster/{cluster}"]) | {
        "Condition": {"ForAllValues:StringEquals": {"aws:TagKeys": [CONSENT_TAG]}}
    }
    # The command in the output GrantAdminCommand of the platform stack.
    yield _allow("CreateAccessEntries", ["eks:CreateAccessEntry"], [f"{eks}:cluster/{cluster}"])
    entries = f"{eks}:access-entry/{cluster}/*"
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
