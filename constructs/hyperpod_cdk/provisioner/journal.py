"""The provisioner's journal: what its functions are about to do, and what they have done."""

from aws_cdk import Aws, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.synthesis.function_table import function_table
from hyperpod_cdk.synthesis.reasons import statement


class Journal(Construct):
    """A table with an item for each custom resource, which a role reads and writes.

    Args:
        role: The role of the provisioner's functions.
        encryption_key: Encrypts the table. Default: a key that AWS owns.

    Attributes:
        environment: What the functions know it by.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        role: iam.Role,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        table = function_table(
            self,
            "Table",
            partition_key="resource_id",
            encryption_key=encryption_key,
            holds="names of what is deployed, and what is done with it",
        )
        self.environment = {"JOURNAL_TABLE": table.table_name}
        role.add_to_policy(
            statement(
                self,
                sid="KeepJournal",
                why="It notes what it is about to do.",
                actions=["dynamodb:GetItem", "dynamodb:PutItem"],
                resources=[table.table_arn],
            )
        )
        if encryption_key is not None:
            service = f"dynamodb.{Stack.of(self).region}.{Aws.URL_SUFFIX}"
            role.add_to_policy(
                statement(
                    self,
                    sid="EncryptJournal",
                    why="DynamoDB uses the key for who reads and writes the table.",
                    added_by="`encryption`",
                    # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/encryption.usagenotes.html
                    actions=[
                        "kms:Decrypt",
                        "kms:DescribeKey",
                        "kms:Encrypt",
                        "kms:GenerateDataKey",
                        "kms:ReEncryptFrom",
                        "kms:ReEncryptTo",
                    ],
                    resources=[encryption_key.key_arn],
                    conditions={"StringEquals": {"kms:ViaService": service}},
                )
            )
