"""What must hold after a step of a life."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from hyperpod_cdk import Config
from hyperpod_cdk.config.output_names import SHORTAGE
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.aws.stacks import NOTHING_SHORT
from hyperpod_cli.operate.clusters import ClusterNode
from hyperpod_cli.plan.plan import Plan
from hyperpod_cli.plan.removal import KEPT
from hyperpod_rehearsal.change.outcome import ChangeAction, ResourceChange, Snapshot
from hyperpod_rehearsal.lives.stage import LifeStage
from hyperpod_rehearsal.verification import left_behind, verify, wait_for_nodes
from hyperpod_shared.clusters import awaits_plan, groups_of
from hyperpod_stacks.table import STACKS, stack_name

_PATIENCE_SECONDS = 30.0
_PAUSE_SECONDS = 0.5
# Nodes of Slurm keep what they mount (docs: hyperpod-cluster), which the output says.
_REMOUNTED = "on new nodes only"


def unannounced(
    plan: Plan, *, changes: Iterable[ResourceChange], ended: Sequence[ClusterNode]
) -> Iterator[str]:
    """Yield what was lost, and which nodes have ended, without a word in the plan."""
    if plan.unknown:
        yield plan.unknown
    losses = [effect for effect in plan.effects if effect.loses]
    said = {
        (effect.stack, each)
        for effect in plan.effects
        # Of a group, its nodes are what is lost.
        if effect.loses or effect.rule == "group.removed"
        for each in effect.resources
    }
    for change in changes:
        if change.loses and (change.stack, change.logical_id) not in said:
            yield f"not announced: {change.stack}: {change.name} ({change.type}) {change.action}"
    announced: Counter[str] = Counter()
    for effect in plan.effects:
        announced[effect.group] += effect.ends
    for group, count in Counter(node.group for node in ended).items():
        # Where nodes cannot be counted, the stack says that it ends them.
        if count > announced[group] and not any(effect.group in ("", group) for effect in losses):
            yield f"not announced: {count} nodes of group {group} end ({announced[group]} said)"


def not_holding(stage: LifeStage, *, counts: Mapping[str, int], is_output_stale: bool) -> list[str]:
    """Return what `verify` finds wrong with so many nodes, once nothing is on its way any more.

    The output about shortages is stale if an operator has changed numbers of nodes since it was
    written.
    """
    waiting = dict.fromkeys(_awaiting_plans(stage), 0)
    config = _with_counts(stage.config, {**counts, **waiting})
    # Which groups have other numbers than in the file is what the output says.
    judges_output = config == stage.config and not is_output_stale
    wait_for_nodes(config, clients=stage.environment.clients)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        found = [
            f"{each.title}: {each.found}"
            for each in verify(
                config,
                tools=stage.tools,
                clients=stage.environment.clients,
                outputs=stage.outputs(),
                deployer=stage.deployer.client,
            )
            if not each.ok
        ]
        if not found or time.monotonic() > deadline:
            return [*found, *(_shortage(stage) if judges_output else ())]
        time.sleep(_PAUSE_SECONDS)


def _shortage(stage: LifeStage) -> Iterator[str]:
    """Yield the output about shortages, which has no reason to name any."""
    outputs = stage.outputs().get(stack_name(stage.config, "hyperpod"), {})
    shortage = outputs.get(SHORTAGE, NOTHING_SHORT)
    # A deployment that does not wait for nodes only says which had not come when it ended.
    is_as_told = shortage == NOTHING_SHORT or _REMOUNTED in shortage
    if stage.config.cluster.wait_for == "nodes" and not is_as_told:
        yield f"the output {SHORTAGE} is {shortage}"


def _awaiting_plans(stage: LifeStage) -> list[str]:
    """Return the groups that have no nodes before their training plan begins."""
    if not stage.config.cluster.exists:
        return []
    describe = stage.environment.clients("sagemaker").describe_cluster
    described = answer_of(describe, ClusterName=stage.config.cluster.name) or {}
    return [name for name, group in groups_of(described).items() if awaits_plan(group)]


def _with_counts(config: Config, counts: Mapping[str, int]) -> Config:
    lists = {
        key: tuple(
            group.model_copy(update={"instance_count": counts[group.name]})
            for group in getattr(config.cluster, key)
        )
        for key in ("instance_groups", "restricted_instance_groups")
    }
    return config.model_copy(update={"cluster": config.cluster.model_copy(update=lists)})


def left_as_said(
    plan: Plan, *, changes: Iterable[ResourceChange], before: Snapshot
) -> Iterator[str]:
    """Yield the IDs of what a deployment has left without a stack, where its plan speaks of it."""
    said = {(effect.stack, each) for effect in plan.effects for each in effect.resources}
    for change in changes:
        key = (change.stack, change.logical_id)
        if change.action is ChangeAction.KEPT and key in said:
            yield before.resources[key][0]


def unsaid(kept: Iterable[str], *, plan: Plan, existing: Iterable[str]) -> Iterator[str]:
    """Yield what the deletion of stacks has left, and neither was there before nor is in its plan.

    Args:
        kept: What it has left.
        plan: That of the deletion.
        existing: What the account had before, or a deployment has left.
    """
    said = (effect.text for effect in plan.effects if effect.rule.startswith(KEPT))
    known = words([*existing, *said])
    for resource in kept:
        if resource.split()[-1] not in known:
            yield f"is left, and the plan did not say so: {resource}"


def remains(stage: LifeStage, *, existing: Iterable[str]) -> Iterator[str]:
    """Yield what is still there after all stacks have gone, and was not there before."""
    before = words(existing)
    stacks = [stack_name(stage.config, kind) for kind in STACKS]
    for each in left_behind(stage.environment, stacks=stacks):
        if not any(word.endswith(f"/{each.split()[-1]}") for word in before):
            yield f"is left: {each}"


def words(texts: Iterable[str]) -> set[str]:
    """Return the words of texts, of which IDs, names and ARNs are some."""
    return {word for text in texts for word in text.replace(",", " ").split()}
