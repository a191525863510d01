"""KMS keys that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.aws.clients import AwsClients
from emulator.aws.shared_settings import KMS_KEY_ID
from hyperpod_cdk import Config
from hyperpod_cdk.encryption.key_policy import (
    administration,
    encryption_of_logs,
    log_group_names,
)
from hyperpod_cdk.schema.named_resources import named_resources
from hyperpod_stacks.table import stack_name
from rehearsal.existing_resources.roles import policy


@dataclass(frozen=True, kw_only=True, slots=True)
class KmsKey:
    """A symmetric KMS key.

    Attributes:
        key: Its ARN or id.
        policy: Its policy as JSON; empty for the one that KMS gives a key.
    """

    key: str
    policy: str = ""

    def __str__(self) -> str:
        return f"KMS key {self.key}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there."""
        kms = clients("kms")
        name = self.key.rpartition("/")[2]
        try:
            kms.describe_key(KeyId=name)
        except kms.exceptions.NotFoundException:
            tags = [{"TagKey": KMS_KEY_ID, "TagValue": name}]
            kms.create_key(Tags=tags, **({"Policy": self.policy} if self.policy else {}))


def kms_keys(config: Config) -> Iterator[KmsKey]:
    """Yield the keys; that of all data has the policy that the preflight asks for."""
    own = config.encryption.kms_key_arn
    for key in dict.fromkeys(
        each.value for each in named_resources(config) if each.kind == "KMS key"
    ):
        yield KmsKey(key=key, policy=_policy(config, key) if key == own else "")


def _policy(config: Config, key: str) -> str:
    _, partition, _, region, account, _ = key.split(":")
    logs = encryption_of_logs(
        partition=partition,
        region=region,
        account=account,
        dns_suffix="amazonaws.com",
        log_groups=log_group_names(
            stack_name=stack_name(config, "platform"), eks_cluster_name=config.eks_cluster_name
        ),
    )
    return policy(administration(partition=partition, account=account), logs)
