"""KMS keys that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_cdk import Config
from hyperpod_cdk.schema.named_resources import named_resources
from rehearsal.aws.chosen_ids import KMS_KEY_ID
from rehearsal.aws.clients import AwsClients


@dataclass(frozen=True, kw_only=True, slots=True)
class KmsKey:
    """A symmetric KMS key.

    Attributes:
        key: Its ARN or id.
    """

    key: str

    def __str__(self) -> str:
        return f"KMS key {self.key}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there."""
        kms = clients("kms")
        name = self.key.rpartition("/")[2]
        try:
            kms.describe_key(KeyId=name)
        except kms.exceptions.NotFoundException:
            kms.create_key(Tags=[{"TagKey": KMS_KEY_ID, "TagValue": name}])


def kms_keys(config: Config) -> Iterator[KmsKey]:
    """Yield the keys that a configuration names."""
    named = named_resources(config)
    yield from (KmsKey(key=each.value) for each in named if each.kind == "KMS key")
