"""A small archive, as the reader of a deployment would write it."""

from typing import Any

from hyperpod_cli.inspect.archive.archive import FORMAT, Archive
from hyperpod_cli.inspect.archive.deployment import (
    ArchivedDeployment,
    ArchivedNode,
    ArchivedStack,
    Manifest,
)

ACCOUNT, REGION = "111122223333", "us-west-2"


def archive_with(**deployment: Any) -> Archive:
    """Return an archive of `ml` with one stack and one node.

    Args:
        deployment: Other values of what is deployed.
    """
    values: dict[str, Any] = {
        "stacks": (ArchivedStack(name="ml-platform", status="UPDATE_COMPLETE"),),
        "nodes": (
            ArchivedNode(id="i-1", group="workers", instance_type="ml.m5.large", status="Running"),
        ),
        **deployment,
    }
    return Archive(
        manifest=Manifest(
            format=FORMAT,
            account=ACCOUNT,
            region=REGION,
            deployment="ml",
            version="0.1.0",
            written="2026-01-02T03:04:05+00:00",
        ),
        deployment=ArchivedDeployment(**values),
        templates={each.name: {"Resources": {}} for each in values["stacks"]},
        assets={"0" * 64 + ".zip": b"chart"},
    )
