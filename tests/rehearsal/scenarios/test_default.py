"""config/default.yaml with what an account has, its scenarios, its users, and refused changes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from rehearsal.scenarios import SCENARIOS
from rehearsal.stage import Stage
from rehearsal.verification.inspection import wait_for_nodes
from tests.support.aws_cli import Person
from tests.support.configs import REPOSITORY
from tests.support.node import Node
from tests.support.scenario_tests import (
    SHIPPED,
    in_turn,
    test_it_deploys_and_holds_what_is_verified,
    test_what_must_come_of_a_scenario_does,
)
from tests.support.stages import DEFAULT

__all__ = ["test_it_deploys_and_holds_what_is_verified", "test_what_must_come_of_a_scenario_does"]

CONFIG = DEFAULT
_ACCOUNT = "arn:aws:iam::111122223333"
_KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"


@pytest.fixture(scope="module")
def config_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default configuration with roles, an admin and a bucket of the account's own."""
    document = yaml.safe_load(DEFAULT.read_text("utf-8"))
    document["eks"]["admins"] = [f"{_ACCOUNT}:role/team/Admin", f"{_ACCOUNT}:user/Ann"]
    document["storage"]["data_repository_s3_uri"] = "s3://training-data/set"
    document["storage"]["stop_nodes_without_lustre"] = True
    document["cluster"]["instance_groups"][0]["execution_role_arn"] = f"{_ACCOUNT}:role/Nodes"
    path = tmp_path_factory.mktemp("config") / "named.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    return path


@pytest.mark.slow(seconds=3)
def test_nodes_get_the_settings_of_the_configuration(stage: Stage, tmp_path: Path) -> None:
    _deployed(stage)
    s3 = stage.environment.clients("s3")
    bucket = stage.outputs()["ml-platform"]["S3BucketName"]
    for item in s3.list_objects_v2(Bucket=bucket)["Contents"]:
        path = tmp_path / "scripts" / item["Key"]
        path.parent.mkdir(parents=True, exist_ok=True)
        s3.download_file(Bucket=bucket, Key=item["Key"], Filename=str(path))

    (tmp_path / "node").mkdir()
    node = Node(tmp_path / "node", scripts=tmp_path / "scripts")
    node.state("failing", "lctl network up")
    run = node.run()

    assert run.code == 1
    assert "[lustre_modules] ERROR LNet, the network of Lustre, does not come up" in run.output


def _other_addresses(document: dict[str, Any]) -> None:
    document["network"]["hyperpod_subnets"][0]["cidr"] = "10.3.0.0/16"


def _encrypted_secrets(document: dict[str, Any]) -> None:
    document["eks"]["secrets_kms_key_arn"] = _KEY


def _files_elsewhere(document: dict[str, Any]) -> None:
    _further_subnet(document)
    document["storage"]["availability_zone_id"] = "usw2-az1"


def _further_subnet(document: dict[str, Any]) -> None:
    document["network"]["hyperpod_subnets"].append(
        {"cidr": "10.2.0.0/16", "availability_zone_id": "usw2-az1"}
    )


def _other_name(document: dict[str, Any]) -> None:
    document["cluster"]["name"] = "another"


CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "addresses of nodes": (_other_addresses, "network.hyperpod_subnets[0].cidr: '10.3.0.0/16' "),
    # Any other key of the network is refused in the same way (tests/changes).
    "encryption of secrets": (_encrypted_secrets, f"eks.secrets_kms_key_arn: '{_KEY}' "),
    "name of the cluster": (_other_name, "cluster.name: 'another' "),
    "zone of the file system": (_files_elsewhere, "storage.availability_zone_id: 'usw2-az1' "),
}


def _deployed(stage: Stage) -> None:
    if stage.status("hyperpod") is None:
        assert stage.deploy() is None


def _network_and_files(stage: Stage) -> list[str]:
    clients = stage.environment.clients
    subnets = clients("ec2").describe_subnets()["Subnets"]
    files = clients("fsx").describe_file_systems()["FileSystems"]
    ids = [*(subnet["SubnetId"] for subnet in subnets), *(each["FileSystemId"] for each in files)]
    return sorted(ids)


@pytest.mark.slow(seconds=8)
def test_an_admin_gets_in_and_so_does_whom_an_admin_of_the_account_lets_in(
    stage: Stage, tmp_path: Path
) -> None:
    _deployed(stage)
    wait_for_nodes(stage.config, clients=stage.environment.clients)
    iam = stage.environment.clients("iam")
    describe = {"Effect": "Allow", "Action": "eks:DescribeCluster", "Resource": "*"}
    allowed = json.dumps({"Version": "2012-10-17", "Statement": [describe]})
    for name in ("Ann", "Bob"):
        if name == "Bob":
            iam.create_user(UserName=name)
        iam.put_user_policy(UserName=name, PolicyName="Look", PolicyDocument=allowed)
    owner, ann, bob = (
        Person(environment=stage.environment, home=tmp_path, user=name)
        for name in ("", "Ann", "Bob")
    )
    configured = ann.run("aws eks update-kubeconfig --name ml-eks")
    assert configured.returncode == 0, configured.stderr

    nodes = ann.run("kubectl get nodes -o jsonpath='{.items[*].status.capacity}'")
    assert '"nvidia.com/gpu":"4"' in nodes.stdout, nodes.stderr
    assert "Unauthorized" in bob.run("kubectl get nodes").stderr

    command = stage.outputs()["ml-platform"]["GrantAdminCommand"]
    granted = owner.run(command.replace("PRINCIPAL_ARN", f"{_ACCOUNT}:user/Bob"))
    assert granted.returncode == 0, granted.stderr
    assert bob.run("kubectl get nodes").returncode == 0


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("change", CHANGES)
def test_a_refused_change_leaves_everything_as_it_was(stage: Stage, change: str) -> None:
    edit, reason = CHANGES[change]
    _deployed(stage)
    before = _network_and_files(stage)
    statuses = {kind: stage.status(kind) for kind in ("platform", "storage", "hyperpod")}

    stage.change(edit)
    told = stage.deploy()
    assert f"{reason}cannot be changed once it is deployed" in (told or "")
    stage.restore()
    if change == "zone of the file system":  # before that, the platform got a further subnet
        assert stage.deploy() is None
        statuses["platform"] = "UPDATE_COMPLETE"
    assert {kind: stage.status(kind) for kind in statuses} == statuses
    assert _network_and_files(stage) == before


def test_every_scenario_has_its_turn() -> None:
    played = [name for names in in_turn().values() for name in names]
    assert sorted(played) == sorted(SCENARIOS)
    files = {path.stem for path in Path(__file__).parent.glob("test_*.py")}
    assert {f"test_{path.stem.replace('-', '_')}" for path in SHIPPED} <= files


def test_the_documentation_lists_every_scenario() -> None:
    page = (REPOSITORY / "docs" / "rehearsal.md").read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if f"| `{name}` |" not in page] == []
