"""config/examples/own-scripts.yaml."""

from pathlib import PurePosixPath
from typing import Any

import pytest

from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import verify, wait_for_nodes
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["own-scripts"]


def keys_in_bucket(stage: Stage) -> set[PurePosixPath]:
    """Return the keys that have any version."""
    bucket = stage.outputs()["scripts-platform"]["S3BucketName"]
    listed = stage.environment.clients("s3").list_object_versions(Bucket=bucket)
    return {PurePosixPath(each["Key"]) for each in listed["Versions"]}


def scripts_of_groups(stage: Stage) -> dict[str, tuple[str, set[str]]]:
    """Return where the scripts of each group are, and their paths there."""
    clients, keys = stage.environment.clients, keys_in_bucket(stage)
    bucket = stage.outputs()["scripts-platform"]["S3BucketName"]
    groups = clients("sagemaker").describe_cluster(ClusterName="scripts-cluster")["InstanceGroups"]
    found = {}
    for group in groups:
        lifecycle = group["LifeCycleConfig"]
        home = PurePosixPath(lifecycle["SourceS3Uri"].removeprefix(f"s3://{bucket}/"))
        assert home / lifecycle["OnCreate"] in keys
        there = {str(key.relative_to(home)) for key in keys if key.is_relative_to(home)}
        found[group["InstanceGroupName"]] = str(home), there
    return found


def instances(stage: Stage) -> set[str]:
    sagemaker = stage.environment.clients("sagemaker")
    listed = sagemaker.list_cluster_nodes(ClusterName="scripts-cluster")["ClusterNodeSummaries"]
    return {each["InstanceId"] for each in listed}


@pytest.mark.slow(seconds=1)
def test_each_group_finds_what_it_runs(stage: Stage) -> None:
    found = {name: paths for name, (_, paths) in scripts_of_groups(stage).items()}

    # Of the copy for the other group, nodes get a folder that nothing runs.
    assert {"settings.sh", "deployment.env", "own/on_create.sh", "own/lib/limits.sh"} <= (
        found["system"]
    )
    assert found["bare"] == {"on_create.sh", "lib/limits.sh"}


@pytest.mark.slow(seconds=10)
def test_scripts_move_come_and_go_in_a_running_deployment(stage: Stage) -> None:
    before, clients = instances(stage), stage.environment.clients

    def edit(document: dict[str, Any]) -> None:
        own = str(stage.config_path.with_name("own-scripts"))
        document["lifecycle_scripts"] = {"prefix": "nodes/v2"}
        system, bare = document["cluster"]["instance_groups"]
        # A further node, which runs what is there now.
        system |= {"lifecycle": {"directory": own}, "instance_count": 2}
        del bare["lifecycle"]

    stage.change(edit)
    assert stage.deploy() is None
    wait_for_nodes(stage.config, clients=clients)
    outputs = stage.outputs()
    checks = verify(stage.config, tools=stage.tools, clients=clients, outputs=outputs)

    assert [check.title for check in checks if not check.ok] == []
    homes = scripts_of_groups(stage)
    assert homes["system"][0] == "nodes/v2/folders/own-scripts"
    assert {"settings.sh", "own/on_create.sh", "own/lib/limits.sh"} <= homes["system"][1]
    assert homes["bare"][0] == "nodes/v2"
    assert "settings.sh" in homes["bare"][1]
    assert "own/on_create.sh" not in homes["bare"][1]
    assert all(key.is_relative_to("nodes/v2") for key in keys_in_bucket(stage))
    # Nodes keep the scripts that they have run.
    assert before < instances(stage)
