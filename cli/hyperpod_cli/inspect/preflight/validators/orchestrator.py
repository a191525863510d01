"""Whether the deployment has the orchestrator of the configuration."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cdk.schema.section import EKS
from hyperpod_cli.aws.stacks import described_stack
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_stacks.table import stack_name


@validator(phase=Phase.FORMER_DEPLOYMENTS, iam=["cloudformation:DescribeStacks"])
def orchestrator(config: Config, target: Target) -> Problems:
    """The deployment of that name uses the other orchestrator.

    CloudFormation refuses the change of the parameter that holds it, which stacks of former
    versions do not have: those are of EKS, and their control plane would be deleted.

    Keys: cluster.orchestrator

    [orchestrators](orchestrators.md)
    """
    stack, wanted = stack_name(config, "platform"), config.cluster.orchestrator
    described = described_stack(target.client("cloudformation"), stack)
    if described is None or described["StackStatus"] in FAILED_CREATIONS:
        return
    held = (
        str(parameter["ParameterValue"])
        for parameter in described.get("Parameters", ())
        if parameter["ParameterKey"].startswith("Orchestrator")
    )
    has = next(held, EKS)
    if has != wanted:
        message = (
            f"cannot be changed: {stack} is deployed with {has}, and HyperPod moves no cluster to "
            f"another orchestrator; restore {has}, or deploy under another name, next to this one"
        )
        command = f"aws cloudformation describe-stacks --stack-name {stack}"
        yield error(("cluster", "orchestrator"), wanted, message), command
