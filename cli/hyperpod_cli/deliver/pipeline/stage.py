"""The stacks of one environment, as the pipeline's synthesis wrote them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PARTITION = "${AWS::Partition}"


@dataclass(frozen=True, kw_only=True, slots=True)
class StageStack:
    """A stack of an environment.

    Attributes:
        name: Its name in CloudFormation.
        template: Its template.
        lookup_role: ARN of the role of `cdk bootstrap` that reads it.
        account: Account that it is deployed to.
        region: Region that it is deployed to.
        is_protected: Whether nobody shall delete it without lifting a protection.
    """

    name: str
    template: Mapping[str, Any]
    lookup_role: str
    account: str
    region: str
    is_protected: bool


def stage_stacks(assembly: Path, *, environment: str, partition: str) -> Iterator[StageStack]:
    """Yield the stacks of an environment.

    Args:
        assembly: What the pipeline's synthesis wrote.
        environment: Name of the environment.
        partition: Partition of its account.
    """
    folder = assembly / f"assembly-{environment}"
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    for artifact in manifest["artifacts"].values():
        if artifact["type"] != "aws:cloudformation:stack":
            continue
        properties = artifact["properties"]
        account, region = artifact["environment"].removeprefix("aws://").split("/")
        yield StageStack(
            name=properties["stackName"],
            template=json.loads((folder / properties["templateFile"]).read_text("utf-8")),
            lookup_role=properties["lookupRole"]["arn"].replace(_PARTITION, partition),
            account=account,
            region=region,
            is_protected=properties.get("terminationProtection", False),
        )
