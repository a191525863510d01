"""Scenarios in which a user, or HyperPod itself, acts on the cluster outside CloudFormation."""

from collections.abc import Collection, Iterator

from emulator.hyperpod import Caller
from rehearsal.report import Fact
from rehearsal.scenarios.scenario import (
    Scenario,
    all_nodes_run,
    cluster_is,
    first_workers,
    succeeds,
)
from rehearsal.stage import Stage
from rehearsal.verification import comes_true


def _node_ids(stage: Stage, *, groups: Collection[str] = ()) -> set[str]:
    """Return the nodes of some groups, or of all."""
    name = stage.config.cluster.name
    listed = stage.environment.clients("sagemaker").list_cluster_nodes(ClusterName=name)
    return {
        node["InstanceId"]
        for node in listed["ClusterNodeSummaries"]
        if not groups or node["InstanceGroupName"] in groups
    }


def _node_replaced(stage: Stage) -> Iterator[Fact]:
    yield succeeds("the first deployment works", stage.deploy_first())
    yield all_nodes_run(stage)
    before = _node_ids(stage)
    faulty = sorted(_node_ids(stage, groups=[first_workers(stage.config).name]))[0]
    stage.environment.hyperpod.replace_node(
        cluster=stage.config.cluster.name,
        instance_id=faulty,
        caller=Caller(account=stage.environment.aws.account, region=stage.environment.region),
    )
    comes_true(lambda: faulty not in _node_ids(stage))
    yield all_nodes_run(stage)
    yield Fact(check="one node is a new one", ok=len(_node_ids(stage) - before) == 1)
    yield succeeds("a deployment without a change leaves it alone", stage.deploy())
    yield Fact(check="the new node is still there", ok=len(_node_ids(stage) - before) == 1)


def _delete_while_updating(stage: Stage) -> Iterator[Fact]:
    yield succeeds("the first deployment works", stage.deploy_first())
    yield all_nodes_run(stage)
    name = stage.config.cluster.name
    sagemaker = stage.environment.clients("sagemaker")
    described = sagemaker.describe_cluster(ClusterName=name)
    sagemaker.update_cluster(
        ClusterName=name,
        NodeRecovery="None" if described["NodeRecovery"] == "Automatic" else "Automatic",
    )
    yield succeeds("the stack is deleted while the cluster updates", stage.destroy("hyperpod"))
    yield cluster_is(stage, "gone")


def _deleted_outside(stage: Stage) -> Iterator[Fact]:
    yield succeeds("the first deployment works", stage.deploy_first())
    yield all_nodes_run(stage)
    name = stage.config.cluster.name
    stage.environment.clients("sagemaker").delete_cluster(ClusterName=name)
    comes_true(lambda: cluster_is(stage, "gone").ok)
    yield cluster_is(stage, "gone")

    def grown(document: dict[str, dict[str, list[dict[str, int]]]]) -> None:
        document["cluster"]["instance_groups"][-1]["instance_count"] += 1

    stage.change(grown)
    yield succeeds("the next change creates the cluster again", stage.deploy())
    yield all_nodes_run(stage)


SCENARIOS = (
    Scenario(
        name="node-replaced",
        summary="HyperPod replaces a faulty node",
        play=_node_replaced,
        messages=("node-faulty: hardware",),
        on_a_deployment=True,
    ),
    Scenario(
        name="delete-while-updating",
        summary="the stack is deleted while a user updates the cluster",
        play=_delete_while_updating,
        on_a_deployment=True,
    ),
    Scenario(
        name="deleted-outside",
        summary="a user deletes the cluster outside CloudFormation",
        play=_deleted_outside,
        on_a_deployment=True,
    ),
)
