"""Whether what a configuration names is of the account that it is deployed to."""

from collections.abc import Mapping

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import warning
from hyperpod_cdk.schema.named_resources import Kind, named_resources
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_GETS: Mapping[Kind, str] = {
    "principal": "it gets rights in this deployment, and its account decides who can assume it",
    "KMS key": "its account decides who can use it, and whether your data can be read",
}


@validator(phase=Phase.EXISTING_RESOURCES, names=("KMS key", "principal"))
def other_accounts(config: Config, target: Target) -> Problems:
    """An admin, another principal or a KMS key is in another account (w).

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html)
    """
    for named in named_resources(config, *_GETS):
        if not named.value.startswith("arn:"):
            continue
        account = named.value.split(":")[4]
        if account != target.account:
            message = (
                f"is of account {account}, and the deployment of {target.account}: "
                f"{_GETS[named.kind]}; correct the account if that is not meant"
            )
            command = "aws sts get-caller-identity"
            yield warning(named.path, named.value, message), command
