"""Log groups and the buckets of access logs."""

import re
from dataclasses import dataclass, field

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct, IConstruct

from hyperpod_cdk.schema.limits import is_token
from hyperpod_cdk.synthesis.reasons import NIST, acknowledge, acknowledge_log_groups, skip_checkov

_DAYS = 90
# A value in a text that CloudFormation fills in.
_TOKEN = re.compile(r"\$\{Token\[[^\]]*\]\}")


def access_log_bucket(
    scope: Construct, construct_id: str, *, expire_after_days: int | None = None
) -> s3.Bucket:
    """Return a bucket for access logs, which is retained; logs go after 90 days by default."""
    access_logs = s3.Bucket(
        scope,
        construct_id,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        versioned=True,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        lifecycle_rules=[
            s3.LifecycleRule(
                expiration=Duration.days(expire_after_days or _DAYS),
                noncurrent_version_expiration=Duration.days(1),
                abort_incomplete_multipart_upload_after=Duration.days(1),
            )
        ],
        removal_policy=RemovalPolicy.RETAIN,
    )
    acknowledge(
        access_logs,
        {
            "AwsSolutions-S1": "This bucket holds the access logs; logging it would never end.",
            # https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html
            f"{NIST}S3DefaultEncryptionKMS": (
                "S3 delivers access logs to buckets that it encrypts with its own keys only."
            ),
        },
    )
    skip_checkov(
        access_logs,
        resource_type="AWS::S3::Bucket",
        reasons={"CKV_AWS_18": "It holds the access logs; logging it would never end."},
    )
    return access_logs


@dataclass(frozen=True, kw_only=True, slots=True)
class LogGroups:
    """What the log groups of a deployment have in common.

    Attributes:
        key: Encrypts them; its policy must let CloudWatch Logs do so. None for a key that AWS owns.
        retention_days: How long they keep what is logged, one of the times that CloudWatch Logs
            has; None for as long as each group's construct says.
        patterns: Of the names of the groups that are made with the key, which its policy takes.
    """

    key: kms.IKey | None = None
    retention_days: int | None = None
    patterns: list[str] = field(default_factory=list)

    def add(
        self,
        scope: Construct,
        construct_id: str,
        *,
        retention: logs.RetentionDays,
        name: str | None = None,
        removal_policy: RemovalPolicy | None = None,
    ) -> logs.LogGroup:
        """Return a new log group.

        Args:
            scope: Parent.
            construct_id: Id.
            retention: How long it keeps what is logged, if the deployment does not say.
            name: Its name. Default: CloudFormation makes one.
            removal_policy: What becomes of it with its stack. Default: it stays; with a key that
                the deployment makes, which goes with a creation that fails, once it is created.
        """
        if removal_policy is None and self.key is not None and is_token(self.key.key_arn):
            removal_policy = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
        group = logs.LogGroup(
            scope,
            construct_id,
            log_group_name=name,
            encryption_key=self.key,
            retention=retention,
            removal_policy=removal_policy,
        )
        if self.key is not None:
            # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-name.html
            generated = f"{Stack.of(scope).stack_name}-*"
            self.patterns.append(generated if name is None else _TOKEN.sub("*", name))
        if self.retention_days is not None:
            resource = group.node.default_child
            assert isinstance(resource, logs.CfnLogGroup)  # noqa: S101 - what the L2 makes
            resource.retention_in_days = self.retention_days  # the L2 takes an enum
        return group

    def acknowledge(self, scope: IConstruct) -> None:
        """Record why the log groups under `scope` have no key of their own, if they have none."""
        if self.key is None:
            acknowledge_log_groups(scope)


OWNED_BY_AWS = LogGroups()
"""Encrypted with keys of AWS's, each kept for as long as its construct says."""
