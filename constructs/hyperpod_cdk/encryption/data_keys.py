"""KMS keys of the deployment's data: one that is made, or one that exists."""

from collections.abc import Sequence
from dataclasses import dataclass

import jsii
from aws_cdk import Aws, Duration, IStableAnyProducer, Lazy, RemovalPolicy, Stack, Token
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from hyperpod_cdk.encryption.key_policy import (
    administration,
    encryption_of_logs,
    encryption_of_scaled_volumes,
    log_group_arns,
)
from hyperpod_cdk.encryption.section import EncryptionConfig
from hyperpod_cdk.synthesis.reasons import skip_checkov
from hyperpod_cdk.synthesis.trust import mark_own

_LONGEST_WINDOW = Duration.days(30)


@jsii.implements(IStableAnyProducer)
class _LogGroupArns:
    """The ARNs of log groups by the patterns that there are at the time of the synthesis."""

    def __init__(self, patterns: Sequence[str], *, region: str) -> None:
        self._patterns, self._region = patterns, region

    def produce(self) -> list[str]:
        place = {"partition": Aws.PARTITION, "account": Aws.ACCOUNT_ID}
        return log_group_arns(self._patterns, region=self._region, **place)


class EncryptionKey(Construct):
    """A symmetric KMS key for the data of a deployment, with an alias; rotated every year.

    Its policy lets the account's IAM policies decide, and CloudWatch Logs encrypt some groups. The
    key stays when its stack is deleted: what is retained, such as a file system, cannot be read
    without it. A creation that fails schedules its deletion, in 30 days.

    Args:
        alias: Name of the alias, without `alias/`.
        log_groups: Patterns of the names of the log groups that it encrypts; those that are added
            until the synthesis are among them.
        scaled_volumes: Whether EC2 Auto Scaling encrypts volumes with it. Default: false.

    Attributes:
        key: The key.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        alias: str,
        log_groups: Sequence[str],
        scaled_volumes: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        region, account = Stack.of(self).region, Aws.ACCOUNT_ID
        place = {"region": region, "account": account, "dns_suffix": Aws.URL_SUFFIX}
        statements = [
            administration(partition=Aws.PARTITION, account=account),
            encryption_of_logs(
                Lazy.any(_LogGroupArns(log_groups, region=region)),
                region=region,
                dns_suffix=Aws.URL_SUFFIX,
            ),
        ]
        if scaled_volumes:
            statements += encryption_of_scaled_volumes(partition=Aws.PARTITION, **place)
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
        mark_own(self.key)
        if scaled_volumes:
            reason = (
                "One role of the account, by a condition, through EC2: it may not be there yet."
            )
            skip_checkov(self, resource_type="AWS::KMS::Key", reasons={"CKV_AWS_33": reason})


CREATED = "the key of create_kms_key"


@dataclass(frozen=True, kw_only=True, slots=True)
class DataKeys:
    """The key for each kind of data; None for one that AWS keeps.

    Attributes:
        eks_secrets: Of Kubernetes secrets.
        lifecycle_bucket: Of the bucket with the lifecycle scripts.
        file_system: Of the file system.
        node_volumes: Of the nodes' EBS volumes.
        logs: Of log groups.
        images: Of the repository of training images, and of its builds.
        accounting: Of the database of Slurm's accounting.
        provisioner: Of the provisioner: its journal, and the environment of its functions.
    """

    eks_secrets: kms.IKey | None = None
    lifecycle_bucket: kms.IKey | None = None
    file_system: kms.IKey | None = None
    node_volumes: kms.IKey | None = None
    logs: kms.IKey | None = None
    images: kms.IKey | None = None
    accounting: kms.IKey | None = None
    provisioner: kms.IKey | None = None

    @property
    def key_arn(self) -> str | None:
        """ARN of the key, if there is one."""
        return None if self.provisioner is None else self.provisioner.key_arn

    @property
    def volume_key_arn(self) -> str | None:
        """ARN of the key of the nodes' EBS volumes."""
        return None if self.node_volumes is None else self.node_volumes.key_arn


def data_keys(
    scope: Construct,
    construct_id: str,
    *,
    encryption: EncryptionConfig,
    alias: str,
    log_groups: Sequence[str],
    scaled_volumes: bool = False,
) -> DataKeys:
    """Make or import the key that a configuration asks for, and return what it encrypts.

    Args:
        scope: Parent of the key.
        construct_id: Its id.
        encryption: The section.
        alias: Name of the alias of a key that is made, without `alias/`.
        log_groups: Patterns of the names of the log groups that a key that is made encrypts;
            `LogGroups` adds one for each group.
        scaled_volumes: Whether EC2 Auto Scaling launches nodes. Default: false.
    """
    key: kms.IKey | None = None
    if encryption.kms_key_arn is not None:
        key = kms.Key.from_key_arn(scope, construct_id, encryption.kms_key_arn)
    elif encryption.create_kms_key:
        key = EncryptionKey(
            scope,
            construct_id,
            alias=alias,
            log_groups=log_groups,
            scaled_volumes=scaled_volumes and encryption.node_volumes,
        ).key
    kinds = DataKeys.__dataclass_fields__.keys() & EncryptionConfig.model_fields.keys()
    encrypted = {kind: key for kind in kinds if getattr(encryption, kind)}
    return DataKeys(provisioner=key, **encrypted)


def fixed_text(key: kms.IKey | None) -> str | None:
    """Return a key as `FixedValue` compares it: its ARN, or words for one that is made."""
    if key is None:
        return None
    return CREATED if Token.is_unresolved(key.key_arn) else key.key_arn
