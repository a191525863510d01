"""The little of CloudFormation and EKS that the HyperPod cluster's handler asks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.support.provisioner.fake_s3 import client_error


@dataclass
class FakeCloudFormation:
    """One stack whose status the test sets; None: there is no such stack."""

    status: str | None = "CREATE_IN_PROGRESS"
    error: Exception | None = None
    asked: list[str] = field(default_factory=list)

    def describe_stacks(self, *, StackName: str) -> Mapping[str, Any]:
        self.asked.append(StackName)
        if self.error is not None:
            raise self.error
        if self.status is None:
            message = f"Stack with id {StackName} does not exist"
            raise client_error("ValidationError", "DescribeStacks", message)
        return {"Stacks": [{"StackStatus": self.status}]}
