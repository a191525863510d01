"""How log groups are made: their encryption, and how long they keep what is logged."""

from dataclasses import dataclass

from aws_cdk import RemovalPolicy
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct

from hyperpod_cdk.synthesis.acknowledge import acknowledge_log_groups


@dataclass(frozen=True, kw_only=True, slots=True)
class LogGroups:
    """What the log groups of a deployment have in common.

    Attributes:
        key: Encrypts them; its policy must let CloudWatch Logs do so. None for a key that AWS owns.
        retention_days: How long they keep what is logged, one of the times that CloudWatch Logs
            has; None for as long as each group's construct says.
    """

    key: kms.IKey | None = None
    retention_days: int | None = None

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
            removal_policy: What becomes of it with its stack. Default: it stays.
        """
        group = logs.LogGroup(
            scope,
            construct_id,
            log_group_name=name,
            encryption_key=self.key,
            retention=retention,
            removal_policy=removal_policy,
        )
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
