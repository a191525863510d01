"""All that can exist does, and is left as it was but for what is consented to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified
from tests.support.seen_networks import changed
from tests.support.seen_resources import Seen, seen_by
from tests.support.stages import stage_until_destroyed

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["existing-eks", "names"]
MODE = "authenticationMode"


def seen(stage: Stage) -> Seen:
    """Return what is there, but for what EKS never changes back."""
    found = seen_by(stage.config, clients=stage.environment.clients)
    for cluster in found.get("EKS cluster", {}).values():
        cluster.get("accessConfig", {}).pop(MODE, None)
    return found


@pytest.fixture(scope="module")
def before() -> dict[Path, Seen]:
    """Return what was there before the deployment of each example."""
    return {}


@pytest.fixture(scope="module")
def stage(
    config_path: Path, before: dict[Path, Seen], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    """A local AWS with what the example names; after it all, that is what it was."""
    directory = tmp_path_factory.mktemp("existing")
    with stage_until_destroyed(directory, config_path, left=seen) as made:
        before[config_path] = seen_by(made.config, clients=made.environment.clients)
        yield made


@pytest.mark.slow(seconds=1)
def test_nothing_but_what_was_consented_to_is_changed(
    stage: Stage, config_path: Path, before: dict[Path, Seen]
) -> None:
    assert stage.deploy_first() is None

    after = seen_by(stage.config, clients=stage.environment.clients)
    consented = {
        "existing-eks": {
            "EKS cluster research": ["accessConfig", "accessEntries"],
            # The scripts in it.
            "bucket research-node-scripts": ["objects"],
        }
    }
    assert changed(before[config_path], after) == consented.get(config_path.stem, {})


@pytest.mark.slow(seconds=1)
def test_names_are_as_configured(stage: Stage, config_path: Path) -> None:
    assert stage.deploy_first() is None

    outputs = stage.outputs()[stage.stack("platform")]
    found = {key: outputs[key] for key in ("EKSClusterName", "S3BucketName", "SageMakerIAMRoleArn")}
    account = stage.environment.aws.account
    assert (
        found
        == {
            "names": {
                "EKSClusterName": "Research_EKS",
                "S3BucketName": "sagemaker-research-node-scripts",
                "SageMakerIAMRoleArn": f"arn:aws:iam::{account}:role/ResearchHyperPodNodes",
            },
            "existing-eks": {
                "EKSClusterName": "research",
                "S3BucketName": "research-node-scripts",
                "SageMakerIAMRoleArn": "arn:aws:iam::111122223333:role/research/HyperPodNodes",
            },
        }[config_path.stem]
    )
    # The keys that the public create_config.sh asks for.
    assert {f"Output{key}": value for key, value in found.items()}.items() <= outputs.items()


@pytest.mark.slow(seconds=2)
def test_preflight_passes_before_and_after(stage: Stage) -> None:
    assert stage.deploy_first() is None

    code, said = stage.look("scripts.account", "--for-deployment")
    assert (code, "is not looked at" in said) == (0, False), said
