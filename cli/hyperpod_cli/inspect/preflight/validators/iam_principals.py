"""Whether the roles and users that a configuration names exist, under these ARNs."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_cli.inspect.preflight.iam_principals import get_command, principal_problem
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


@validator(
    phase=Phase.EXISTING_RESOURCES,
    iam=["iam:GetRole", "iam:GetUser"],
    names=("principal", "role"),
)
def iam_principals(config: Config, target: Target) -> Problems:
    """A role or user, such as an admin, does not exist under its ARN; HyperPod may not assume it.

    EKS refuses its access entry once the control plane is made. A principal of another account is
    `other_accounts`'s, since it cannot be looked at.

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html)
    """
    for named in named_resources(config, "principal", "role"):
        problem = principal_problem(named, target)
        if problem is not None:
            yield error(named.path, named.value, problem), get_command(named.value)
