"""Scenarios in which a user, or HyperPod itself, acts on the cluster outside CloudFormation."""

from collections.abc import Iterator

from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    Scenario,
    all_nodes_run,
    cluster_is,
    first_workers,
    grow,
    succeeds,
)
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import comes_true


def _node_ids(stage: Stage, *, group: str | None = None) -> set[str]:
    """Return the nodes of a group, or of all."""
    return {node.id for node in stage.nodes() if group in (None, node.group)}


@Scenario(begins="deployed", messages=("node-faulty: hardware",))
def node_replaced(stage: Stage) -> Iterator[Fact]:
    """HyperPod replaces a faulty node."""
    before = _node_ids(stage)
    faulty = sorted(_node_ids(stage, group=first_workers(stage.config).name))[0]
    stage.environment.hyperpod.replace_node(
        cluster=stage.config.cluster.name,
        instance_id=faulty,
        caller=stage.environment.caller,
    )
    comes_true(lambda: faulty not in _node_ids(stage))
    yield all_nodes_run(stage)
    yield Fact(title="one node is a new one", ok=len(_node_ids(stage) - before) == 1)
    yield succeeds("a deployment without a change leaves it alone", stage.deploy())
    yield Fact(title="the new node is still there", ok=len(_node_ids(stage) - before) == 1)


@Scenario(begins="deployed")
def delete_while_updating(stage: Stage) -> Iterator[Fact]:
    """The stack is deleted while a user updates the cluster."""
    name = stage.config.cluster.name
    sagemaker = stage.environment.clients("sagemaker")
    described = sagemaker.describe_cluster(ClusterName=name)
    sagemaker.update_cluster(
        ClusterName=name,
        NodeRecovery="None" if described["NodeRecovery"] == "Automatic" else "Automatic",
    )
    yield succeeds("the stack is deleted while the cluster updates", stage.destroy("hyperpod"))
    yield cluster_is(stage, "gone")


@Scenario(begins="deployed")
def deleted_outside(stage: Stage) -> Iterator[Fact]:
    """A user deletes the cluster outside CloudFormation."""
    name = stage.config.cluster.name
    stage.environment.clients("sagemaker").delete_cluster(ClusterName=name)
    comes_true(lambda: cluster_is(stage, "gone").ok)
    yield cluster_is(stage, "gone")
    stage.change(grow)
    yield succeeds("the next change creates the cluster again", stage.deploy())
    yield all_nodes_run(stage)
