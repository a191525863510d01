"""The keys of the `cluster` section about its deployment: how long, and what if it fails."""

from typing import Annotated, Literal

from pydantic import Field

from hyperpod_cdk.schema.limits import Message
from hyperpod_cdk.schema.section import Section

# CloudFormation gives a custom resource an hour; the last answer needs some of it.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-cloudformation-customresource.html
MOST_WAIT_MINUTES = 55


class WaitingConfig(Section):
    """What a deployment of the cluster waits for, and what happens to a failed cluster."""

    wait_for: Literal["accepted", "in_service", "nodes"] = "nodes"
    """When a deployment of the cluster is done. accepted: as soon as HyperPod accepted it.
    in_service: when the cluster is in service; with continuous provisioning, nodes come afterwards.
    nodes: when every group has its instances, or its least number of them, or when it is known
    which are missing and why (on_shortage). Default: nodes."""

    wait_minutes: Annotated[
        int,
        Field(ge=1, le=MOST_WAIT_MINUTES),
        Message(
            f"must be 1 to {MOST_WAIT_MINUTES} minutes: CloudFormation waits no longer than an hour"
        ),
    ] = 50
    """Maximum time to wait, in minutes, 1 to 55. Default: 50."""

    on_shortage: Literal["fail", "continue"] = "continue"
    """What happens when the cluster is not ready: fail rolls the deployment back after
    wait_minutes; continue lets it succeed, as soon as the cause of missing nodes is known, and
    reports what is missing, while HyperPod keeps trying. Default: continue."""

    on_create_failure: Literal["keep", "delete"] = "keep"
    """What happens to a cluster whose creation failed: keep leaves it so that you can inspect it,
    until the next deployment replaces it or the stack is deleted; delete removes it. Default:
    keep."""

    software_update: Annotated[
        str | None,
        Field(pattern=r"^[A-Za-z0-9_.:/=+@ -]{1,64}$", max_length=64),
        Message('must be 1 to 64 letters, digits, spaces or _.:/=+@-, such as "2026-11"'),
    ] = None
    """Any text, such as a date in quotes. If you change it, every group without its own machine
    image gets HyperPod's latest, which takes nodes out of service. Default: none."""

    def to_properties(self) -> dict[str, str]:
        """Return the custom resource's properties; all of them, so that a default may change."""
        return {
            "WaitFor": self.wait_for,
            "WaitMinutes": str(self.wait_minutes),
            "OnShortage": self.on_shortage,
            "OnCreateFailure": self.on_create_failure,
            "SoftwareUpdate": self.software_update or "",
        }
