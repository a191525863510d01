"""AWS as a test plays it."""

from typing import Any

import boto3
from botocore.config import Config
from botocore.stub import Stubber


class Played:
    """A session that is each of its clients, too, and answers operations as it is told to.

    An answer is a value, an error that is raised, or a function of what is asked.

    Attributes:
        calls: What was asked: operations with their parameters, in order.
        regions: Where clients were asked for.
    """

    def __init__(self, *, region: str | None = "us-west-2", **answers: object) -> None:
        self.region = self.region_name = region
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.regions: list[str | None] = []
        self._answers = answers

    def client(self, _service: str, *, region_name: str | None = None) -> Any:  # noqa: ANN401
        self.regions.append(region_name)
        return self

    polling_client = client

    def get_partition_for_region(self, _region: str) -> str:
        return "aws"

    def asked(self, operation: str) -> list[dict[str, Any]]:
        """Return the parameters of each call of an operation."""
        return [parameters for name, parameters in self.calls if name == operation]

    def __getattr__(self, operation: str) -> Any:  # noqa: ANN401 - of any operation
        if operation not in self._answers:
            raise AttributeError(operation)
        answer = self._answers[operation]

        def call(*_named: str, **asked: Any) -> object:
            self.calls.append((operation, asked))
            if isinstance(answer, Exception):
                raise answer
            return answer(**asked) if callable(answer) else answer

        return call


def stubbed(service: str) -> Stubber:
    """Return what answers for a client with credentials of nobody, which asks once."""
    clients: Any = boto3.client
    client = clients(
        service,
        region_name="us-west-2",
        aws_access_key_id="none",
        aws_secret_access_key="none",  # noqa: S106 - no secret
        config=Config(retries={"total_max_attempts": 1}),
    )
    return Stubber(client)
