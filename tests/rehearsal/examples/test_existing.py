"""All that can exist does, and is left as it was but for what is consented to."""

from pathlib import Path

import pytest

from hyperpod_rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified
from tests.support.seen_resources import Seen, changed, seen_by

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["existing-eks", "names"]


@pytest.mark.slow(seconds=1)
def test_nothing_but_what_was_consented_to_is_changed(
    stage: Stage, config_path: Path, before: dict[Path, Seen]
) -> None:
    assert stage.deploy_first() is None

    consented = {
        "existing-eks": {
            "EKS cluster research": ["accessConfig", "accessEntries"],
            # The scripts in it.
            "bucket research-node-scripts": ["objects"],
        }
    }
    now = seen_by(stage)
    assert changed(before[config_path], now) == consented.get(config_path.stem, {})
    if "bucket" in now:
        [was], [has] = before[config_path]["bucket"].values(), now["bucket"].values()
        theirs = set(was["objects"])
        assert {key for key, _ in theirs} == {"on_create.sh"}
        assert theirs <= set(has["objects"])
        put = {key for key, _ in set(has["objects"]) - theirs}
        assert {"hyperpod/reuse/on_create.sh"} <= put
        assert all(key.startswith("hyperpod/reuse/") for key in put)


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

    code, said = stage.look("account", "--for-deployment")
    assert (code, "is not looked at" in said) == (0, False), said
