"""A file system that stays keeps its CSI driver."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.inspect.preflight.deployed import is_deployed
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_stacks.table import stack_name


@validator(phase=Phase.FORMER_DEPLOYMENTS, iam=["cloudformation:ListStackResources"])
def storage_stack(config: Config, target: Target) -> Problems:
    """`storage: null` would remove the CSI driver of a file system that stays.

    Keys: storage

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/fsx-csi.html)
    """
    stack = stack_name(config, "storage")
    if config.storage is None and is_deployed(config, "storage", target):
        message = (
            f"takes the FSx CSI driver from the stack {stack}, which stays: pods could no longer "
            "mount the file system; keep storage, or delete the stack first"
        )
        command = f"aws cloudformation describe-stacks --stack-name {stack}"
        yield error(("storage",), None, message), command
