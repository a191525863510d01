"""Changes of a running deployment that CloudFormation refuses are refused in a rehearsal too."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hyperpod_cdk.loading import load_config
from rehearsal.environment import rehearsal_environment
from rehearsal.kubernetes import InProcessControlPlane
from rehearsal.progress import Progress
from rehearsal.stage import Stage, choose_chart
from tests.support.configs import CONFIG_FOLDER

_DEFAULT = CONFIG_FOLDER / "default.yaml"
_KEY = "arn:aws:kms:us-west-2:000000000000:key/1234abcd-12ab-34cd-56ef-1234567890ab"


def _other_addresses(document: dict[str, Any]) -> None:
    document["network"]["hyperpod_subnets"][0]["cidr"] = "10.3.0.0/16"


def _other_zone(document: dict[str, Any]) -> None:
    document["network"]["hyperpod_subnets"][0]["availability_zone_id"] = "usw2-az1"


def _other_public_subnets(document: dict[str, Any]) -> None:
    document["network"]["public_subnet_cidrs"] = ["10.192.12.0/24", "10.192.13.0/24"]


def _encrypted_secrets(document: dict[str, Any]) -> None:
    document["eks"]["secrets_kms_key_arn"] = _KEY


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "addresses of nodes": (_other_addresses, "cannot be updated as it is in use by ml-"),
    "zone of nodes": (_other_zone, "InvalidSubnet.Conflict"),
    "public subnets": (_other_public_subnets, "Resource.AlreadyAssociated"),
    "encryption of secrets": (_encrypted_secrets, "Rename ml-eks and update the stack again."),
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """The default configuration, deployed."""
    directory = tmp_path_factory.mktemp("changes")
    config = load_config(_DEFAULT)
    assert config.region is not None
    with rehearsal_environment(
        region=config.region,
        kubernetes=InProcessControlPlane(kubernetes_version=config.eks.version),
        eks_cluster_name=f"{config.name}-eks",
        log_file=directory / "local-aws.log",
    ) as environment:
        made = Stage(
            environment=environment,
            config_path=_DEFAULT,
            config=config,
            chart=choose_chart(config),
            work_directory=directory,
            progress=Progress(),
        )
        made.bootstrap()
        assert made.deploy() is None
        yield made
        assert made.destroy() is None


def _network_and_files(stage: Stage) -> list[str]:
    clients = stage.environment.clients
    subnets = clients("ec2").describe_subnets()["Subnets"]
    files = clients("fsx").describe_file_systems()["FileSystems"]
    ids = [*(subnet["SubnetId"] for subnet in subnets), *(each["FileSystemId"] for each in files)]
    return sorted(ids)


@pytest.mark.slow(seconds=20)
@pytest.mark.parametrize("change", CHANGES)
def test_a_refused_change_leaves_everything_as_it_was(stage: Stage, change: str) -> None:
    edit, reason = CHANGES[change]
    before = _network_and_files(stage)

    stage.change(edit)
    told = stage.deploy()
    assert reason in (told or "")
    assert stage.status("platform") == "UPDATE_ROLLBACK_COMPLETE"
    assert _network_and_files(stage) == before

    stage.restore()
    assert stage.deploy() is None
