"""A KMS key that exists already."""

from aws_cdk import aws_kms as kms
from constructs import Construct


class ImportedEncryptionKey(Construct):
    """The twin of `EncryptionKey` for a key of the user's, whose policy nothing changes.

    Args:
        key_arn: Its ARN.

    Attributes:
        key: The key.
    """

    def __init__(self, scope: Construct, construct_id: str, *, key_arn: str) -> None:
        super().__init__(scope, construct_id)
        self.key: kms.IKey = kms.Key.from_key_arn(self, "Key", key_arn)
