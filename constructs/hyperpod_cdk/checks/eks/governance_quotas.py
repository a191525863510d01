"""The quotas of teams are of what the groups have."""

from collections.abc import Iterator, Sequence

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.instance_types import InstanceFacts, instance_facts
from hyperpod_cdk.schema.errors import Finding, KeyPath, error
from hyperpod_cdk.teams.section import QuotaConfig, TeamConfig

_MIB = 1024
# GPUs that can be divided: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/supported-gpus.html
_WITH_MIG = frozenset({"A100", "B200", "B300", "H100", "H200"})
_TOLERANCE = 1e-6


def governance_quotas(config: Config) -> Iterator[Finding]:
    """Find quotas of types that no group has, of accelerators that a type has not, and too much.

    A quota is a share of the cluster's nodes; a team borrows what is over. Where Karpenter makes
    nodes, their number is not known.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html
    """
    if config.governance is None or not config.cluster.exists:
        return
    types = config.cluster.instance_types
    for path, quota in _quotas(config.teams):
        if quota.instance_type not in types:
            message = f"is of no instance group (types: {', '.join(sorted(types))})"
            yield error((*path, "instance_type"), quota.instance_type, message)
            continue
        facts = instance_facts(quota.instance_type)
        if facts is not None:
            yield from _of_type(quota, facts, path)
    if config.cluster.auto_scaling is None:
        for name in types:
            yield from _too_much(config, name)


def _quotas(teams: Sequence[TeamConfig]) -> Iterator[tuple[KeyPath, QuotaConfig]]:
    for index, team in enumerate(teams):
        for position, quota in enumerate(team.quota):
            yield ("teams", index, "quota", position), quota


def _of_type(quota: QuotaConfig, facts: InstanceFacts, path: KeyPath) -> Iterator[Finding]:
    if quota.accelerators is not None and facts.accelerator is None:
        message = (
            f"must be left out: {quota.instance_type} has none; give nodes, vcpus or memory_gib"
        )
        yield error((*path, "accelerators"), quota.accelerators, message)
    if quota.partition is not None:
        model = None if facts.accelerator is None else facts.accelerator.name
        if model not in _WITH_MIG:
            what = f"GPUs of the model {model}" if model else "no GPUs"
            message = (
                f"must be left out: {quota.instance_type} has {what}, which MIG does not divide "
                f"(it divides {', '.join(sorted(_WITH_MIG))})"
            )
            yield error((*path, "partition"), quota.partition.type, message)


def _too_much(config: Config, name: str) -> Iterator[Finding]:
    asked = sum(
        _in_nodes(quota)
        for team in config.governed_teams
        for quota in team.quota
        if quota.instance_type == name
    )
    there = sum(
        group.instance_count
        for group in config.cluster.all_groups
        if name in group.possible_instance_types
    )
    if asked > there + _TOLERANCE:
        message = (
            f"have quotas of {round(asked, 3):.15g} nodes of {name} together, and the instance "
            f"groups have {there}; lower a quota, or raise an instance_count"
        )
        yield error(("teams",), [team.name for team in config.governed_teams], message)


def _in_nodes(quota: QuotaConfig) -> float:
    """Return how much of a quota's nodes it takes; 0 for what is not known."""
    facts = instance_facts(quota.instance_type)
    if quota.nodes is not None or facts is None:
        return quota.nodes or 0
    shares = [(quota.vcpus or 0) / facts.vcpus, (quota.memory_gib or 0) * _MIB / facts.memory_mib]
    if facts.accelerator is not None:
        shares.append((quota.accelerators or 0) / facts.accelerator.count)
    return max(shares)
