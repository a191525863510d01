"""Slurm as the orchestrator of a HyperPod cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_iam as iam

from hyperpod_cdk.hyperpod.node_settings import NO_MOUNTS, Mounts
from hyperpod_cdk.hyperpod.orchestrator import InterfaceUse
from hyperpod_cdk.slurm.section import SlurmConfig


@dataclass(frozen=True, kw_only=True, slots=True)
class Slurm:
    """Slurm orchestrates the nodes: HyperPod sets it up on them, one is the controller.

    Attributes:
        slurm: How HyperPod runs Slurm.
        mounts: What HyperPod mounts on the nodes. Default: nothing.
    """

    slurm: SlurmConfig
    mounts: Mounts = NO_MOUNTS

    name = "slurm"
    interface_use = InterfaceUse(user="HyperPod", why="puts nodes into the network")

    def to_request(self) -> dict[str, Any]:
        """Return the `Orchestrator` member of CreateCluster's input."""
        return {"Slurm": self.slurm.to_request()}

    def node_statements(self) -> Sequence[iam.PolicyStatement]:
        """Return no further right: who submits a job is a user of the nodes, not of IAM."""
        return ()
