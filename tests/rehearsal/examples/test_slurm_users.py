"""config/examples/slurm-users.yaml."""

import re
from typing import Any

import pytest

from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import wait_for_nodes
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["slurm-users"]


def said_by_nodes(stage: Stage) -> dict[str, list[str]]:
    """Return what the scripts of each node wrote, by its group and instance."""
    clients = stage.environment.clients
    wait_for_nodes(stage.config, clients=clients)
    stage.environment.lifecycle_logs.wait()
    cluster = clients("sagemaker").describe_cluster(ClusterName="ml-cluster")
    group = f"/aws/sagemaker/Clusters/ml-cluster/{cluster['ClusterArn'].rpartition('/')[2]}"
    logs = clients("logs")
    return {
        stream["logStreamName"]: [
            event["message"]
            for event in logs.get_log_events(
                logGroupName=group, logStreamName=stream["logStreamName"], startFromHead=True
            )["events"]
        ]
        for stream in logs.describe_log_streams(logGroupName=group)["logStreams"]
    }


def scripts_of_groups(stage: Stage) -> list[dict[str, str] | None]:
    """Return which script the nodes of each group run."""
    sagemaker = stage.environment.clients("sagemaker")
    cluster = sagemaker.describe_cluster(ClusterName="ml-cluster")
    return [group.get("LifeCycleConfig") for group in cluster["InstanceGroups"]]


@pytest.mark.slow(seconds=1)
def test_each_node_has_the_users_and_says_what_it_is(stage: Stage) -> None:
    nodes = said_by_nodes(stage)

    assert len(nodes) == 4
    for lines in nodes.values():
        text = "\n".join(lines)
        assert re.findall(r"\[users\] added (\w+) \D+ (\d+) \D+ (/\S+)", text) == [
            ("alice", "2001", "/home/alice"),
            ("bob", "2002", "/fsx/teams/vision/bob"),
            ("carol", "2003", "/home/carol"),
        ]
        assert "[motd] " in text
        assert "done: every step succeeded" in text


@pytest.mark.slow(seconds=20)
def test_a_setup_is_given_up_and_taken_up_again(stage: Stage) -> None:
    """CloudFormation removes no export that a stack imports."""

    def without_setup(document: dict[str, Any]) -> None:
        del document["cluster"]["slurm"]["setup"]

    assert all(scripts_of_groups(stage))
    stage.change(without_setup)
    assert stage.deploy() is None
    assert scripts_of_groups(stage) == [None, None, None]
    stage.restore()
    assert stage.deploy() is None
    assert all(scripts_of_groups(stage))
