"""Whether the roles and users that a configuration names exist, under these ARNs."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.inspect.preflight.iam_principals import get_command, principal_problem
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

# `existing_role` looks at these, and at what they may do.
_OF_NODES = "execution_role_arn"


@validator(phase=Phase.EXISTING_RESOURCES, iam=["iam:GetRole", "iam:GetUser"], names=("principal",))
def iam_principals(config: Config, target: Target) -> Problems:
    """A role or user of your account, such as an admin, does not exist under its ARN.

    EKS refuses its access entry once the control plane is made. One of another account is
    `other_accounts`'s, since it cannot be looked at.

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html)
    """
    for named in named_resources(config):
        if named.kind != "principal" or named.path[-1] == _OF_NODES:
            continue
        if named.value.split(":")[4] == target.account:
            problem = principal_problem(named.value, target)
            if problem is not None:
                yield error(named.path, named.value, problem), get_command(named.value)
