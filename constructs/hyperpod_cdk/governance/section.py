"""The `governance` section: the quotas of teams, and which of their jobs go first."""

from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from hyperpod_cdk.hyperpod.group_types import InstanceType
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import DNS_LABEL, ApiLimits, ListLimits, Message, listed_twice
from hyperpod_cdk.schema.section import Api, Listed, Section, members

_MOST_AMOUNT = 10_000_000
# The API takes up to 10000, and documents 1 to 500.
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceSharingConfig.html
_MOST_BORROWED = 500
_BORROWED = 50
"""HyperPod's default, which is sent: an update that leaves it out keeps the former one."""
LEND_AND_BORROW: Final = "LendAndBorrow"

Amount = Annotated[int, Field(ge=1, le=_MOST_AMOUNT)]
# The API's pattern repeats a repetition: it lets longer names pass, which Kubernetes refuses, and
# takes hours to refuse one.
_Name = Annotated[
    str,
    Field(pattern=rf"^{DNS_LABEL}$", max_length=40),
    Message("must be lower-case letters, digits and inner hyphens, at most 40"),
]
Weight = Annotated[int, ApiLimits(shape_name="sagemaker.FairShareWeight", noun="a weight")]


class PartitionQuotaConfig(Section):
    """Parts of GPUs that are divided by MIG."""

    type: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.MIGProfileType", noun="a MIG profile"),
        Api("Type"),
        Field(examples=["mig-2g.10gb"]),
    ]
    """MIG profile, such as mig-1g.5gb."""

    count: Annotated[Amount, Api("Count"), Field(examples=[4])]
    """How many of them."""


class QuotaConfig(Section):
    """What a team may use of one instance type: whole nodes, accelerators, or a share of a node."""

    instance_type: Annotated[InstanceType, Api("InstanceType"), Field(examples=["ml.g5.12xlarge"])]
    """Instance type of one of the cluster's groups, such as ml.p5.48xlarge."""

    nodes: Annotated[Amount | None, Api("Count"), Field(examples=[2])] = None
    """Whole nodes. Default: none."""

    accelerators: Annotated[Amount | None, Api("Accelerators"), Field(examples=[4])] = None
    """GPUs or Trainium devices, with the same share of the nodes' vCPUs and memory, unless these
    are also set. Default: none."""

    vcpus: Annotated[Amount | None, Api("VCpu"), Field(examples=[8])] = None
    """vCPUs. Default: by HyperPod, in proportion to the accelerators."""

    memory_gib: Annotated[Amount | None, Api("MemoryInGiB"), Field(examples=[32])] = None
    """Memory in GiB. Default: by HyperPod, in proportion to the accelerators."""

    partition: Annotated[PartitionQuotaConfig | None, Api("AcceleratorPartition")] = None
    """Parts of GPUs, in groups that are divided by MIG. Default: none."""

    def _findings(self) -> Iterator[Finding]:
        parts = ("accelerators", "vcpus", "memory_gib", "partition")
        given = [key for key in parts if getattr(self, key) is not None]
        if self.nodes is None and not given:
            message = "is missing: give nodes, accelerators, vcpus, memory_gib or a partition"
            yield error(("nodes",), None, message)
        if self.nodes is not None and given:
            message = f"must be left out with {given[0]}: a quota is in nodes or in parts of them"
            yield error(("nodes",), self.nodes, message)
        if self.accelerators is not None and self.partition is not None:
            message = "must be left out with accelerators: a GPU is whole or divided"
            yield error(("partition",), self.partition.type, message)


class TeamConfig(Section):
    """A team, its quota, and how it shares idle compute."""

    name: Annotated[_Name, Field(examples=["research"])]
    """Name of the team; its jobs run in the namespace hyperpod-ns-<name>."""

    quota: Annotated[
        Listed[QuotaConfig],
        ListLimits(
            shape_name="sagemaker.ComputeQuotaResourceConfigList",
            noun="instance types",
            may_be_empty=False,
        ),
    ]
    """Compute that is reserved for the team, by instance type."""

    weight: Annotated[Weight, Field(examples=[50])] = 0
    """Its share of idle compute, relative to the weights of the other teams, 0 to 100. Default:
    0."""

    sharing: Literal["DontLend", "Lend", "LendAndBorrow"] = LEND_AND_BORROW
    """DontLend: nobody else uses its quota. Lend: other teams may use its idle quota.
    LendAndBorrow: it also uses the idle quota of other teams. Default: LendAndBorrow."""

    borrow_limit_percent: Annotated[
        Annotated[int, Field(ge=1, le=_MOST_BORROWED)] | None, Field(examples=[100])
    ] = None
    """How much it may borrow, as a percentage of its quota, 1 to 500. Default: 50, HyperPod's."""

    preempt_own_jobs: bool = True
    """Whether its jobs are preempted by its own jobs of higher priority. Default: true."""

    def _findings(self) -> Iterator[Finding]:
        if not self.quota:
            yield error(("quota",), [], "must list at least one instance type")
        if self.borrow_limit_percent is not None and self.sharing != LEND_AND_BORROW:
            message = f"must be left out: with sharing {self.sharing} the team borrows nothing"
            yield error(("borrow_limit_percent",), self.borrow_limit_percent, message)
        yield from listed_twice(
            [each.instance_type for each in self.quota],
            message="must be there once in a team's quota",
            of=("quota",),
            key="instance_type",
        )

    @property
    def borrows_percent(self) -> int | None:
        """How much it may borrow, in percent of its quota; None if it borrows nothing."""
        if self.sharing != LEND_AND_BORROW:
            return None
        return self.borrow_limit_percent or _BORROWED

    def to_request(self) -> dict[str, Any]:
        """Return the ComputeQuotaConfig and ComputeQuotaTarget of a CreateComputeQuota."""
        return members(
            {
                "ComputeQuotaConfig.ComputeQuotaResources": self.quota,
                "ComputeQuotaConfig.ResourceSharingConfig.Strategy": self.sharing,
                "ComputeQuotaConfig.ResourceSharingConfig.BorrowLimit": self.borrows_percent,
                "ComputeQuotaConfig.PreemptTeamTasks": (
                    "LowerPriority" if self.preempt_own_jobs else "Never"
                ),
                "ComputeQuotaTarget.TeamName": self.name,
                "ComputeQuotaTarget.FairShareWeight": self.weight,
            }
        )


class JobPriorityConfig(Section):
    """A priority class of jobs, by which Kueue orders waiting jobs."""

    name: Annotated[_Name, Api("Name")]
    """Name; jobs name it with -priority appended, such as training-priority."""

    weight: Annotated[
        int,
        ApiLimits(shape_name="sagemaker.PriorityWeight", noun="a weight"),
        Api("Weight"),
    ]
    """Weight, 0 to 100; higher weights go first."""


DEFAULT_PRIORITIES: Final = (
    JobPriorityConfig(name="inference", weight=100),
    JobPriorityConfig(name="training", weight=75),
    JobPriorityConfig(name="best-effort", weight=10),
)


class GovernanceConfig(Section):
    """Task governance: quotas of teams, and priorities of jobs."""

    teams: Listed[TeamConfig]
    """The teams that share the cluster."""

    priority_classes: Annotated[
        Listed[JobPriorityConfig],
        ListLimits(shape_name="sagemaker.PriorityClassList", noun="priorities"),
        Field(examples=[[{"name": "urgent", "weight": 90}]]),
    ] = DEFAULT_PRIORITIES
    """Priorities of jobs, at most 10. Default: inference (100), training (75) and best-effort (10),
    in the order of helm.priority_classes."""

    fair_share: bool = True
    """Whether teams share idle compute by their weights; otherwise, the first team that requests it
    gets it. Default: true."""

    idle_resource_sharing: bool = True
    """Whether compute that is in no team's quota is also lent. Default: true."""

    def to_request(self) -> dict[str, Any]:
        """Return a SchedulerConfig."""
        return members(
            {
                "PriorityClasses": self.priority_classes,
                "FairShare": "Enabled" if self.fair_share else "Disabled",
                "IdleResourceSharing": "Enabled" if self.idle_resource_sharing else "Disabled",
            }
        )

    def _findings(self) -> Iterator[Finding]:
        if not self.teams:
            yield error(("teams",), [], "must list at least one team")
        for key in ("teams", "priority_classes"):
            names = [each.name for each in getattr(self, key)]
            yield from listed_twice(names, message="must be there once", of=(key,), key="name")
