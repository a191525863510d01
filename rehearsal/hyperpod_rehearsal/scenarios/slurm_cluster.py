"""Scenarios of Slurm's controller: it fails, or someone edits its slurm.conf by hand."""

from collections.abc import Callable, Iterator
from typing import Any

from hyperpod_emulator.hyperpod import Faults
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    WITH_SLURM,
    Scenario,
    all_nodes_run,
    all_or_nothing,
    cluster_is,
    fails,
    grow,
    has_status,
    is_refused,
    lacks_fixed_instance_types,
    succeeds,
)
from hyperpod_rehearsal.stage import Stage
from hyperpod_shared.clusters import CONTROLLER


@Scenario(
    messages=("cluster-fails: capacity",), needs={**WITH_SLURM, "cluster.on_create_failure": "keep"}
)
def controller_fails(stage: Stage) -> Iterator[Fact]:
    """AWS has no instance for Slurm's controller, so no other node begins."""
    [controller] = (group.name for group in stage.config.cluster.groups_of_type(CONTROLLER))
    stage.environment.hyperpod.faults = Faults(capacity_shortage=frozenset({controller}))
    # What fails with it is told after it.
    matching = rf"^The HyperPod cluster \S+ is Failed: group {controller}: capacity: "
    yield from fails(stage, stage.deploy(), matching=matching)
    yield has_status(stage, "hyperpod", "ROLLBACK_FAILED")
    yield cluster_is(stage, "Failed")


def _with_strategy(strategy: str, *, nodes: int) -> Callable[[dict[str, Any]], None]:
    """Return the change to a strategy, which goes without continuous provisioning alone."""

    def edit(document: dict[str, Any]) -> None:
        all_or_nothing(document)
        document["cluster"].setdefault("slurm", {})["strategy"] = strategy
        grow(document, by=nodes)

    return edit


@Scenario(
    messages=("change-undone: slurm.conf",),
    needs=WITH_SLURM,
    also_lacking=lacks_fixed_instance_types,
)
def slurm_conf_edited(stage: Stage) -> Iterator[Fact]:
    """The file slurm.conf is edited by hand, which the strategy managed stops at."""
    stage.change(_with_strategy("managed", nodes=0))
    yield succeeds("a deployment with the strategy managed works", stage.deploy())
    yield all_nodes_run(stage)
    stage.environment.hyperpod.edit_slurm_conf(
        cluster=stage.config.cluster.name,
        caller=stage.environment.caller,
    )
    stage.change(_with_strategy("managed", nodes=1))
    yield is_refused(stage.deploy(), matching=r"drift.*slurm\.conf.*cluster\.slurm\.strategy")
    yield has_status(stage, "hyperpod", "UPDATE_ROLLBACK_COMPLETE")
    yield cluster_is(stage, "InService")
    stage.change(_with_strategy("overwrite", nodes=1))
    yield succeeds("with the strategy overwrite, the last group grows", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    yield all_nodes_run(stage)
    # The way in which nodes are provisioned cannot be changed back.
    yield succeeds("the HyperPod stack is destroyed", stage.destroy("hyperpod"))
