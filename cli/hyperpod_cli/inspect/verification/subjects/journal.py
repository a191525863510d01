"""The provisioner's journal."""

from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.deployed import resources_of
from hyperpod_cli.inspect.verification.check import Checks, LiveDeployment, Phase, checked, subject
from hyperpod_stacks.table import stack_name

_DEPLOY = "run `hyperpod-cdk deploy`"


@subject(
    phase=Phase.INSTALLATION,
    iam=[
        "cloudformation:ListStackResources",
        "dynamodb:DescribeContinuousBackups",
        "dynamodb:DescribeTable",
    ],
)
def journal(deployment: LiveDeployment) -> Checks:
    """The provisioner's journal is active, recoverable, and encrypted as configured."""
    names = resources_of(
        deployment.config, "platform", deployment.client, resource_type="AWS::DynamoDB::Table"
    )
    if not names:
        platform = stack_name(deployment.config, "platform")
        yield checked(
            f"aws cloudformation list-stack-resources --stack-name {platform}: a journal",
            problem="it has none",
            advice=f"An earlier release made the stack: {_DEPLOY}",
        )
        return
    [name] = names
    dynamodb = deployment.client("dynamodb")
    described = answer_of(dynamodb.describe_table, TableName=name)
    status = "not there" if described is None else described["Table"]["TableStatus"]
    yield checked(
        f"aws dynamodb describe-table --table-name {name}: ACTIVE",
        problem=None if status == "ACTIVE" else f"is {status}",
        advice="Without it, the provisioner delays what it does not know. DynamoDB keeps a backup "
        f"of a deleted table for 35 days (`aws dynamodb list-backups --table-name {name} "
        "--backup-type SYSTEM`): restore it by the same name with "
        "`aws dynamodb restore-table-from-backup`",
    )
    if described is None:
        return
    backups = dynamodb.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    recovery = backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"]
    yield checked(
        f"aws dynamodb describe-continuous-backups --table-name {name}: ENABLED",
        problem=None if recovery == "ENABLED" else f"point-in-time recovery is {recovery}",
        advice=f"Run `aws dynamodb update-continuous-backups --table-name {name} "
        "--point-in-time-recovery-specification PointInTimeRecoveryEnabled=true`",
    )
    if deployment.config.encryption.has_key:
        wanted = deployment.outputs_of("platform")["EncryptionKeyArn"]
        found = described["Table"].get("SSEDescription", {}).get("KMSMasterKeyArn")
        yield checked(
            f"aws dynamodb describe-table --table-name {name}: encrypted with the key",
            problem=None if found == wanted else f"with {found or 'a key of AWS'}",
            advice=f"It was changed, or made before the key was configured: {_DEPLOY}",
        )
