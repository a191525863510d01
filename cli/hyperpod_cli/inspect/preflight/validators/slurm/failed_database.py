"""A database of Slurm's accounting that the rollback of a failed creation could not delete."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import KeyPath, error
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.deployed import left_by_rollback
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator
from hyperpod_stacks.table import stack_name

_KEY: KeyPath = ("cluster", "slurm", "accounting")


@validator(
    phase=Phase.FORMER_DEPLOYMENTS,
    iam=[
        "cloudformation:DescribeStacks",
        "cloudformation:ListStackResources",
        "rds:DescribeDBInstances",
    ],
)
def failed_database(config: Config, target: Target) -> Problems:
    """The rollback of a failed creation left the protected database of Slurm's accounting.

    The template retains it then, with the subnets whose CIDRs those of the next one have:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html

    Keys: cluster.slurm.accounting.delete_with_stack

    [RDS](https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBInstance.html)
    """
    stack = stack_name(config, "storage")
    if not config.makes_accounting:
        return
    for name in left_by_rollback(config, "storage", target, resource_type="AWS::RDS::DBInstance"):
        call = target.client("rds").describe_db_instances
        # Its owner may have deleted it since.
        answer = answer_of(call, "DBInstanceNotFound", DBInstanceIdentifier=name)
        if answer is None or not answer["DBInstances"][0]["DeletionProtection"]:
            continue
        message = (
            f"protects {name}, which the rollback of {stack} could not delete (ROLLBACK_FAILED); a "
            "deployment deletes the stack first and leaves the database in its subnets, whose "
            "CIDRs the new ones need. Nothing has used it; delete it (docs: destroy): "
            '"An accounting database that stayed"'
        )
        command = f"aws rds describe-db-instances --db-instance-identifier {name}"
        yield error((*_KEY, "delete_with_stack"), False, message), command
