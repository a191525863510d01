"""The tables of DynamoDB in which functions remember."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.synthesis.reasons import NIST, acknowledge, skip_checkov


def function_table(
    scope: Construct,
    construct_id: str,
    *,
    partition_key: str,
    sort_key: str | None = None,
    encryption_key: kms.IKey | None = None,
    holds: str,
    not_recovered: str | None = None,
) -> dynamodb.Table:
    """Return a table that is billed by use, and goes with its stack.

    DynamoDB deletes an item within days after the attribute `expires_at`, in seconds since the
    epoch.

    Args:
        scope: Parent.
        construct_id: Id.
        partition_key: Attribute of the partition key, a string.
        sort_key: Attribute of the sort key, a string. Default: none.
        encryption_key: Encrypts it. Default: a key that AWS owns.
        holds: What it holds, in a clause, for who reads findings.
        not_recovered: Why it needs no point-in-time recovery, in a sentence. Default: it has it.
    """
    text = dynamodb.AttributeType.STRING
    table = dynamodb.Table(
        scope,
        construct_id,
        partition_key=dynamodb.Attribute(name=partition_key, type=text),
        sort_key=dynamodb.Attribute(name=sort_key, type=text) if sort_key else None,
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        encryption_key=encryption_key,
        point_in_time_recovery_specification=None
        if not_recovered
        else dynamodb.PointInTimeRecoverySpecification(point_in_time_recovery_enabled=True),
        time_to_live_attribute="expires_at",
        removal_policy=RemovalPolicy.DESTROY,
    )
    no_backup = not_recovered or "Point-in-time recovery keeps 35 days of it."
    acknowledge(table, {f"{NIST}DynamoDBInBackupPlan": no_backup})
    skipped = {}
    if not_recovered:
        rules = (f"{NIST}DynamoDBPITREnabled", "AwsSolutions-DDB3")
        acknowledge(table, dict.fromkeys(rules, not_recovered))
        skipped["CKV_AWS_28"] = not_recovered
    if encryption_key is None:
        skipped["CKV_AWS_119"] = f"It holds {holds}; DynamoDB encrypts it with a key of AWS's."
    skip_checkov(table, resource_type="AWS::DynamoDB::Table", reasons=skipped)
    return table
