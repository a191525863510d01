"""config/examples/data-repository.yaml: links to S3, and a file system that grows in target."""

from typing import Any

import pytest

from hyperpod_cli.inspect.preflight.validator import Target
from hyperpod_cli.inspect.preflight.validators.file_system_changes import file_system_changes
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import verify
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["data-repository"]


def grown(document: dict[str, Any]) -> None:
    document["storage"]["capacity_gib"] = 4800


def volumes(stage: Stage) -> set[tuple[str, str]]:
    """Return the file system and the size that each volume shows."""
    return {
        (each["spec"]["csi"]["volumeHandle"], each["spec"]["capacity"]["storage"])
        for each in stage.environment.kubernetes.objects("v1", "PersistentVolume")
    }


@pytest.mark.slow(seconds=4)
def test_a_file_system_grows_in_place_and_its_volumes_with_it(stage: Stage) -> None:
    [(before, _)] = volumes(stage)
    stage.change(grown)

    assert stage.deploy() is None

    fsx = stage.environment.clients("fsx")
    [found] = fsx.describe_file_systems()["FileSystems"]
    assert (found["FileSystemId"], found["StorageCapacity"]) == (before, 4800)
    assert volumes(stage) == {(before, "4800Gi")}


@pytest.mark.parametrize(
    ("capacity_gib", "is_refused"), [(4800, False), (2400, True), (7200, True)]
)
def test_a_change_that_fsx_would_refuse_is_told_before(
    stage: Stage, capacity_gib: int, is_refused: bool
) -> None:
    target = Target(
        partition="aws",
        account=stage.environment.aws.account,
        region="us-west-2",
        client=stage.environment.clients,
    )
    assert stage.config.storage is not None
    storage = stage.config.storage.model_copy(update={"capacity_gib": capacity_gib})
    changed = stage.config.model_copy(update={"storage": storage})

    places = [finding.path for finding, _ in file_system_changes(changed, target)]
    assert places == [("storage", "capacity_gib")] * is_refused


def test_a_bucket_that_fsx_cannot_read_is_told(stage: Stage) -> None:
    s3 = stage.environment.clients("s3")
    denied = '{"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "s3:*"}]}'
    s3.put_bucket_policy(Bucket="training-datasets", Policy=denied)

    checks = failed_checks(stage)
    s3.delete_bucket_policy(Bucket="training-datasets")

    assert "/datasets is AVAILABLE is " in checks[0]
    assert checks[1].endswith("is a file in /datasets")
    assert failed_checks(stage) == []


def failed_checks(stage: Stage) -> list[str]:
    clients = stage.environment.clients
    checks = verify(stage.config, tools=stage.tools, clients=clients, outputs=stage.outputs())
    return [f"{check.title} {check.found}".strip() for check in checks if not check.ok]
