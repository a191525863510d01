"""The `governance` section: which jobs go first, and how teams share what is idle."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.limits import ApiLimits, GovernedName, ListLimits, listed_twice
from hyperpod_cdk.schema.section import Api, Listed, Section, members


class JobPriorityConfig(Section):
    """A priority class of jobs, by which Kueue orders waiting jobs."""

    name: Annotated[GovernedName, Api("Name")]
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
    """Task governance, by the quotas of `teams`."""

    absent: ClassVar[Mapping[str, str]] = {
        "teams": "teams are a section of their own; move the list to teams: at the top of the file"
    }

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
        names = [each.name for each in self.priority_classes]
        of = ("priority_classes",)
        yield from listed_twice(names, message="must be there once", of=of, key="name")
