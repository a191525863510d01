"""config/examples/own-scripts.yaml."""

from pathlib import PurePosixPath

import pytest

from rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["own-scripts"]


@pytest.mark.slow(seconds=1)
def test_each_group_finds_what_it_runs(stage: Stage) -> None:
    clients = stage.environment.clients
    bucket = stage.outputs()["scripts-platform"]["S3BucketName"]
    listed = clients("s3").list_objects_v2(Bucket=bucket)["Contents"]
    keys = {PurePosixPath(item["Key"]) for item in listed}
    groups = clients("sagemaker").describe_cluster(ClusterName="scripts-cluster")["InstanceGroups"]

    found = {}
    for group in groups:
        lifecycle = group["LifeCycleConfig"]
        home = PurePosixPath(lifecycle["SourceS3Uri"].removeprefix(f"s3://{bucket}/"))
        assert home / lifecycle["OnCreate"] in keys
        found[group["InstanceGroupName"]] = {
            str(key.relative_to(home)) for key in keys if key.is_relative_to(home)
        }

    # Of the copy for the other group, nodes get a folder that nothing runs.
    assert {"settings.sh", "deployment.env", "own/on_create.sh", "own/lib/limits.sh"} <= (
        found["system"]
    )
    assert found["bare"] == {"on_create.sh", "lib/limits.sh"}
