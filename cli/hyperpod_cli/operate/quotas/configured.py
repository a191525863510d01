"""The quotas of a configuration as Kueue gets them from HyperPod's task governance."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from hyperpod_cdk import Config
from hyperpod_cdk.cost.charges import charge_of
from hyperpod_cdk.facts.instance_types import instance_facts
from hyperpod_cdk.governance.section import GovernanceConfig
from hyperpod_cdk.teams.section import QuotaConfig, TeamConfig
from hyperpod_cli.operate.quotas.cohort import Kind, Quota, Rules, Team
from hyperpod_cli.terminal.errors import OpsError

# What HyperPod takes for a team that says nothing.
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceSharingConfig.html
_BORROW_PERCENT = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Nodes:
    """The nodes of an instance type.

    Attributes:
        unit: What quotas and jobs are counted in: `accelerators`, or `vCPUs` without any.
        per_node: How many of them a node has.
        usd_an_hour: The list price of a node; None if it is not known.
        is_estimate: Whether the price is that of something similar.
    """

    instance_type: str
    count: int
    unit: str
    per_node: int
    usd_an_hour: Decimal | None
    is_estimate: bool

    @property
    def kind(self) -> Kind:
        """How it is counted."""
        return self.instance_type, self.unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Governed:
    """A configuration's quotas, and the nodes that they divide.

    Attributes:
        priorities: What the names of priorities weigh.
        left_out: What of the quotas is not simulated, a line each.
    """

    name: str
    rules: Rules
    nodes: Mapping[str, Nodes]
    priorities: Mapping[str, int]
    left_out: tuple[str, ...]

    @property
    def divided(self) -> list[Nodes]:
        """The nodes of which some team has a quota."""
        kinds = {kind for team in self.rules.teams for kind in team.quotas}
        return [nodes for nodes in self.nodes.values() if nodes.kind in kinds]


def governed(config: Config, *, name: str, region: str | None) -> Governed:
    """Return the quotas of a configuration; refuse one without, and more than there are nodes.

    Where its nodes are paid for is None if that is not known.
    """
    governance = config.governance
    if governance is None:
        raise OpsError(
            f"{name}: governance: is missing, so there are no quotas; write it, and teams with "
            "quotas, as the page governance of the docs shows"
        )
    nodes = {pool.instance_type: pool for pool in _nodes(config, region=region)}
    left_out: list[str] = []
    teams = tuple(_team(team, nodes, left_out) for team in config.governed_teams)
    return Governed(
        name=name,
        rules=Rules(
            teams=teams,
            pool=_pool(governance, teams, nodes, name=name),
            fair_share=governance.fair_share,
        ),
        nodes=nodes,
        priorities={priority.name: priority.weight for priority in governance.priority_classes},
        left_out=tuple(left_out),
    )


def _nodes(config: Config, *, region: str | None) -> Iterator[Nodes]:
    counts = Counter[str]()
    for group in config.cluster.instance_groups:
        # Of several types, HyperPod takes the first that has capacity.
        counts[group.possible_instance_types[0]] += group.instance_count
    for instance_type, count in counts.items():
        facts = instance_facts(instance_type)
        if facts is None:
            unit, per_node = "nodes", 1
        elif facts.accelerator is None:
            unit, per_node = "vCPUs", facts.vcpus
        else:
            unit, per_node = "accelerators", facts.accelerator.count
        charge = charge_of(
            instance_type, quantity=1, service="HyperPod", item=instance_type, region=region
        )
        yield Nodes(
            instance_type=instance_type,
            count=count,
            unit=unit,
            per_node=per_node,
            usd_an_hour=charge.usd,
            is_estimate=charge.is_estimate,
        )


def _team(team: TeamConfig, nodes: Mapping[str, Nodes], left_out: list[str]) -> Team:
    """Return a team as a ClusterQueue, whose limits are those of its way to share."""
    quotas: dict[Kind, Quota] = {}
    for quota in team.quota:
        known = nodes.get(quota.instance_type)
        amount = None if known is None else _amount(quota, known)
        if known is None or amount is None:
            counted = "no node has the type" if known is None else f"counted are {known.unit}"
            left_out.append(f"the quota of {team.name} for {quota.instance_type} ({counted})")
            continue
        limit = _BORROW_PERCENT if team.borrow_limit_percent is None else team.borrow_limit_percent
        borrows = team.sharing == "LendAndBorrow"
        quotas[known.kind] = Quota(
            nominal=amount,
            borrowing=amount * limit // 100 if borrows else 0,
            lending=0 if team.sharing == "DontLend" else None,
        )
    return Team(
        name=team.name,
        quotas=quotas,
        weight=team.weight,
        preempts_own=team.preempt_own_jobs,
    )


def _amount(quota: QuotaConfig, nodes: Nodes) -> int | None:
    """Return a quota in the unit of its nodes; None for one of vCPUs or memory of accelerators."""
    if quota.nodes is not None:
        return quota.nodes * nodes.per_node
    return {"accelerators": quota.accelerators, "vCPUs": quota.vcpus}.get(nodes.unit)


def _pool(
    governance: GovernanceConfig, teams: tuple[Team, ...], nodes: Mapping[str, Nodes], *, name: str
) -> dict[Kind, int]:
    """Return what is in no quota, and lent.

    It is what the quota of a cohort is besides those of its ClusterQueues:
    https://kueue.sigs.k8s.io/docs/concepts/cohort/#configuring-quotas
    """
    left: dict[Kind, int] = {}
    for pool in nodes.values():
        given = sum(team.quotas[pool.kind].nominal for team in teams if pool.kind in team.quotas)
        there = pool.count * pool.per_node
        if given > there:
            raise OpsError(
                f"{name}: teams: the quotas for {pool.instance_type} are {given} "
                f"{pool.unit}, and the groups have {there}; give the teams less, or the groups more"
            )
        left[pool.kind] = there - given if governance.idle_resource_sharing else 0
    return left
