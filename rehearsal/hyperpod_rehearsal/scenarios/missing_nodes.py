"""Scenarios in which nodes are missing, and the deployment succeeds and says so."""

import re
from collections.abc import Iterator
from functools import partial

from hyperpod_cdk import Config
from hyperpod_cdk.config.output_names import SHORTAGE
from hyperpod_emulator.hyperpod import Faults
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    Scenario,
    all_nodes_run,
    cluster_is,
    first_workers,
    grow,
    has_status,
    succeeds,
)
from hyperpod_rehearsal.stage import Stage

_TELLING = {
    "cluster.wait_for": "nodes",
    "cluster.on_shortage": "continue",
    "cluster.node_provisioning_mode": "Continuous",
}
"""With which a deployment succeeds and tells which nodes are missing."""


def _tells(stage: Stage, *, matching: str) -> Iterator[Fact]:
    """Yield the checks that the output, and the CLI's last lines, tell what is missing."""
    shortage = stage.outputs()[stage.stack("hyperpod")][SHORTAGE]
    matched = re.search(matching, shortage) is not None
    lacking = "" if matched else f", and not /{matching}/"
    yield Fact(title=f"the output {SHORTAGE} says: {shortage}{lacking}", ok=matched)
    printed = all(line in stage.last_lines for line in shortage.splitlines())
    yield Fact(title="the last lines of cdk deploy say the same", ok=printed)


@Scenario(messages=("nodes-fail: capacity",), needs=_TELLING)
def capacity_shortage(stage: Stage) -> Iterator[Fact]:
    """AWS has no instance left for the first group."""
    group = first_workers(stage.config)
    stage.environment.hyperpod.faults = Faults(capacity_shortage=frozenset({group.name}))
    yield succeeds("the deployment succeeds", stage.deploy())
    yield has_status(stage, "hyperpod", "CREATE_COMPLETE")
    counts = rf"{group.name}: 0 of {group.instance_count} nodes"
    yield from _tells(stage, matching=rf"{counts}: capacity: .*reserve capacity")
    stage.environment.hyperpod.faults = Faults()
    yield all_nodes_run(stage)


def _lacks_deep_health_checks(config: Config) -> str | None:
    checked = any(group.deep_health_checks for group in config.cluster.all_groups)
    return None if checked else "a group with deep_health_checks"


@Scenario(
    messages=("nodes-fail: deep health check",),
    needs=_TELLING,
    also_lacking=_lacks_deep_health_checks,
)
def deep_health_check_fails(stage: Stage) -> Iterator[Fact]:
    """The nodes of the first group with deep health checks fail them."""
    group = next(group for group in stage.config.cluster.all_groups if group.deep_health_checks)
    stage.environment.hyperpod.faults = Faults(deep_health_check_failure=frozenset({group.name}))
    yield succeeds("the deployment succeeds", stage.deploy())
    counts = rf"{group.name}: 0 of {group.instance_count} nodes"
    yield from _tells(stage, matching=rf"{counts}: .*deep health check: .*so wait")
    yield cluster_is(stage, "InService")


@Scenario(begins="deployed", messages=("nodes-fail: capacity",), needs=_TELLING)
def capacity_shortage_of_an_update(stage: Stage) -> Iterator[Fact]:
    """The first group grows, and AWS has no instance left for it."""
    group = first_workers(stage.config)
    index = stage.config.cluster.all_groups.index(group)
    stage.environment.hyperpod.faults = Faults(capacity_shortage=frozenset({group.name}))
    stage.change(partial(grow, index=index))
    yield succeeds("the update succeeds", stage.deploy())
    yield has_status(stage, "hyperpod", "UPDATE_COMPLETE")
    counts = rf"{group.name}: {group.instance_count} of {group.instance_count + 2} nodes"
    yield from _tells(stage, matching=rf"{counts}: capacity: ")
