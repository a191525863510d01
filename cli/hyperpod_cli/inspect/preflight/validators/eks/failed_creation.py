"""A control plane that the rollback of a failed creation could not delete."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.deployed import left_by_rollback
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_stacks.table import stack_name


@validator(
    phase=Phase.FORMER_DEPLOYMENTS,
    iam=[
        "cloudformation:DescribeStacks",
        "cloudformation:ListStackResources",
        "eks:DescribeCluster",
    ],
)
def failed_creation(config: Config, target: Target) -> Problems:
    """The rollback of a failed creation left an EKS cluster with `eks.deletion_protection`.

    Its owner lifts the protection: the right to do so is that to change all else of the cluster.

    Keys: eks.deletion_protection

    [EKS](https://docs.aws.amazon.com/eks/latest/userguide/deletion-protection.html)
    """
    stack = stack_name(config, "platform")
    if config.eks.is_existing:
        return
    for name in left_by_rollback(config, "platform", target, resource_type="AWS::EKS::Cluster"):
        answer = answer_of(target.client("eks").describe_cluster, name=name)
        # Its owner may have deleted it since.
        if answer is None or not answer["cluster"].get("deletionProtection"):
            continue
        message = (
            f"protects {name}, which the rollback of {stack} could not delete (ROLLBACK_FAILED); "
            "a deployment deletes the stack first, and fails so again. Nothing has used it; run: "
            f"{lift_command(name, region=target.region)}"
        )
        path, command = ("eks", "deletion_protection"), f"aws eks describe-cluster --name {name}"
        yield error(path, config.eks.deletion_protection, message), command


def lift_command(name: str, *, region: str) -> str:
    """Return the commands that lift the deletion protection of a cluster."""
    where = f"--name {name} --region {region}"
    return (
        f"aws eks update-cluster-config --no-deletion-protection {where} && aws eks wait "
        f"cluster-active {where}"
    )
