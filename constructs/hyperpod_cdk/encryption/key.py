"""The KMS key that a deployment makes for its data."""

from collections.abc import Sequence

from aws_cdk import Aws, Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.encryption.key_policy import administration, encryption_of_logs

_LONGEST_WINDOW = Duration.days(30)


class EncryptionKey(Construct):
    """A symmetric KMS key for the data of a deployment, with an alias; rotated every year.

    Its policy lets the account's IAM policies decide, and CloudWatch Logs encrypt some groups. The
    key stays when its stack is deleted: what is retained, such as a file system, cannot be read
    without it. A creation that fails schedules its deletion, in 30 days.

    Args:
        alias: Name of the alias, without `alias/`.
        log_groups: Patterns of the names of the log groups that it encrypts.

    Attributes:
        key: The key.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, alias: str, log_groups: Sequence[str]
    ) -> None:
        super().__init__(scope, construct_id)
        region = Stack.of(self).region
        statements = [
            administration(partition=Aws.PARTITION, account=Aws.ACCOUNT_ID),
            encryption_of_logs(
                partition=Aws.PARTITION,
                region=region,
                account=Aws.ACCOUNT_ID,
                dns_suffix=Aws.URL_SUFFIX,
                log_groups=log_groups,
            ),
        ]
        self.key: kms.IKey = kms.Key(
            self,
            "Key",
            alias=alias,
            description=f"Data of the deployment {alias}",
            enable_key_rotation=True,
            policy=iam.PolicyDocument(
                statements=[iam.PolicyStatement.from_json(each) for each in statements]
            ),
            pending_window=_LONGEST_WINDOW,
            removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
        )
