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
    document["cluster"]["instance_groups"][0]["execution_role_arn"] = f"{_ACCOUNT}:role/Nodes"
    path = tmp_path_factory.mktemp("config") / "named.yaml"
    path.write_text(yaml.safe_dump(document), "utf-8")
    return path


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
def test_an_admin_gets_in_and_so_does_whom_the_deployer_lets_in(
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
    deployer, ann, bob = (
        Person(environment=stage.environment, home=tmp_path, user=name)
        for name in (stage.deployer.user, "Ann", "Bob")
    )
    configured = ann.run("aws eks update-kubeconfig --name ml-eks")
    assert configured.returncode == 0, configured.stderr

    nodes = ann.run("kubectl get nodes -o jsonpath='{.items[*].status.capacity}'")
    assert '"nvidia.com/gpu":"4"' in nodes.stdout, nodes.stderr
    assert "Unauthorized" in bob.run("kubectl get nodes").stderr

    command = stage.outputs()["ml-platform"]["GrantAdminCommand"]
    granted = deployer.run(command.replace("PRINCIPAL_ARN", f"{_ACCOUNT}:user/Bob"))
    assert granted.returncode == 0, granted.stderr
    assert bob.run("kubectl get nodes").returncode == 0


@pytest.mark.slow(seconds=10)
@pytest.mark.parametrize("change", CHANGES)
def test_a_refused_change_leaves_everything_as_it_was(stage: Stage, change: str) -> None:
    edit, reason = CHANGES[change]
    _deployed(stage)
    before = _network_and_files(stage)

    stage.change(edit)
    told = stage.deploy()
    assert reason in (told or "")
    assert stage.status("platform") == "UPDATE_ROLLBACK_COMPLETE"
    assert _network_and_files(stage) == before

    stage.restore()
    assert stage.deploy() is None


@pytest.mark.slow(seconds=6)
def test_without_one_statement_a_destruction_fails_and_with_it_goes_on(stage: Stage) -> None:
    _deployed(stage)
    iam = stage.environment.clients("iam")
    (role,) = [
        each["RoleName"]
        for each in iam.list_roles()["Roles"]
        if "-ProvisionerProviderframeworkonEvent" in each["RoleName"]
    ]
    (name,) = iam.list_role_policies(RoleName=role)["PolicyNames"]
    document = iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
    *others, last = document["Statement"]
    assert last["Action"] == "states:StartExecution"
    put = {"RoleName": role, "PolicyName": name}

    iam.put_role_policy(**put, PolicyDocument=json.dumps({**document, "Statement": others}))
    told = stage.destroy("hyperpod")
    assert "not authorized to perform: states:StartExecution" in (told or "")
    assert stage.status("hyperpod") == "DELETE_FAILED"

    iam.put_role_policy(**put, PolicyDocument=json.dumps(document))
    assert stage.destroy("hyperpod") is None


def test_every_scenario_has_its_turn() -> None:
    played = [name for names in in_turn().values() for name in names]
    assert sorted(played) == sorted(SCENARIOS)
    files = {path.stem for path in Path(__file__).parent.glob("test_*.py")}
    assert {f"test_{path.stem.replace('-', '_')}" for path in SHIPPED} <= files


def test_the_documentation_lists_every_scenario() -> None:
    page = (REPOSITORY / "docs" / "rehearsal.md").read_text(encoding="utf-8")
    assert [name for name in SCENARIOS if f"| `{name}` |" not in page] == []
