"""SNS topics that a configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from emulator.aws.local_aws import AwsClients
from hyperpod_cdk import Config
from hyperpod_cdk.schema.named_resources import named_resources


@dataclass(frozen=True, kw_only=True, slots=True)
class Topic:
    """A topic.

    Attributes:
        arn: Its ARN.
    """

    arn: str

    def __str__(self) -> str:
        return f"SNS topic {self.arn}"

    def make(self, clients: AwsClients) -> None:
        """Create it unless it is there."""
        clients("sns").create_topic(Name=self.arn.rpartition(":")[2])


def topics(config: Config) -> Iterator[Topic]:
    """Yield the topics."""
    for named in named_resources(config):
        if named.kind == "SNS topic":
            yield Topic(arn=named.value)
