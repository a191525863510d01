"""What a cluster that Slurm orchestrates says of it: the `slurm` keys of cluster and groups."""

from typing import Annotated, Any, Literal

from pydantic import Field

from hyperpod_cdk.schema.limits import ApiLimits
from hyperpod_cdk.schema.section import Section, members
from hyperpod_cdk.slurm.accounting_section import AccountingConfig
from hyperpod_cdk.slurm.setup_section import SlurmSetupConfig
from hyperpod_shared.clusters import LOGIN


class SlurmNodesConfig(Section):
    """What the nodes of a group are in Slurm."""

    node_type: Annotated[Literal["controller", "login", "compute"], Field(examples=[LOGIN])]
    """controller: runs slurmctld, on one node of one group. login: where users submit jobs, at most
    one group. compute: runs jobs. It cannot be changed later."""

    partition: Annotated[
        str | None,
        ApiLimits(
            shape_name="sagemaker.ClusterPartitionName",
            noun="the name of a partition (letters, digits, inner hyphens)",
        ),
        Field(examples=["cpu"]),
    ] = None
    """Partition of a compute group's nodes, which are in the partition `dev` too. Compute groups
    need one, others have none."""

    def __str__(self) -> str:
        return self.node_type + (f" partition {self.partition}" if self.partition else "")

    def to_request(self) -> dict[str, Any]:
        """Return a ClusterSlurmConfig."""
        names = () if self.partition is None else (self.partition,)
        return members({"NodeType": self.node_type.capitalize(), "PartitionNames": names})


class SlurmConfig(Section):
    """How HyperPod runs Slurm."""

    strategy: Annotated[
        Literal["managed", "overwrite", "merge"] | None, Field(examples=["overwrite"])
    ] = None
    """What HyperPod does with partitions that were edited in slurm.conf by hand, on a cluster whose
    node_provisioning_mode is null. managed: it rejects cluster updates until the edits are undone.
    overwrite: it replaces them. merge: it keeps the edits. Default: managed; with Continuous, which
    takes no strategy, it keeps the edits."""

    accounting: Annotated[AccountingConfig | None, Field(examples=[{"multi_az": True}])] = None
    """A separate database for Slurm's accounting: {} creates one, endpoint and secret_arn name an
    existing one. It cannot be removed later. Default: none, it is kept on the controller and lost
    with it."""

    setup: Annotated[SlurmSetupConfig | None, Field(examples=[{}])] = None
    """What every node gets after its AMI has set up Slurm: users, a message, limits. Default: the
    AMI's own setup alone."""

    def to_request(self) -> dict[str, Any]:
        """Return a ClusterOrchestratorSlurmConfig, without a database."""
        strategy = self.strategy and self.strategy.capitalize()
        return members({"SlurmConfigStrategy": strategy})
