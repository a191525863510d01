"""What `hyperpod-cdk destroy` says before CloudFormation begins."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import NoCredentialsError
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import load_config
from hyperpod_cli.deliver import deletion_check
from hyperpod_shared.errors import ProvisioningError
from provisioner.deletion_check import UnknownLossError
from provisioner.framework import log
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER, EXISTING_CONTROL_PLANE
from tests.support.provisioner.fake_s3 import client_error

STACK_ID = "arn:aws:cloudformation:us-west-2:111122223333:stack/ml-hyperpod/6f1c2b5e-aa11"

NODE_STACKS = ["ml-hyperpod"]
STORAGE_STACK: dict[str, Any] = {"StackStatus": "CREATE_COMPLETE"}
PLATFORM_STACK: dict[str, Any] = {"StackStatus": "CREATE_COMPLETE"}
EKS_CLUSTER: dict[str, Any] = {"deletionProtection": False}

Run = Callable[..., tuple[int, str, dict[str, Any]]]


class Clients:
    """The deployment of the configuration; the tokens of EKS are never asked for."""

    def __init__(self, *, region: str | None) -> None:
        assert region == "us-west-2"
        self.cloudformation = self.eks = self

    token_signer = None

    def describe_cluster(self, *, name: str) -> Mapping[str, Any]:
        if not EKS_CLUSTER:
            raise client_error("ResourceNotFoundException", "DescribeCluster", name)
        return {"cluster": {**EKS_CLUSTER, "name": name}}

    def describe_stacks(self, *, StackName: str) -> Mapping[str, Any]:
        stacks = {
            **{name: {"StackId": STACK_ID.replace("ml-hyperpod", name)} for name in NODE_STACKS},
            "ml-platform": PLATFORM_STACK,
            "ml-storage": STORAGE_STACK,
        }
        if StackName not in stacks:
            message = f"Stack with id {StackName} does not exist"
            raise client_error("ValidationError", "DescribeStacks", message)
        return {"Stacks": [stacks[StackName]]}


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, repository: Path, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Return a function that runs the command with what the look brings."""

    def running(error: Exception | None, *options: str) -> tuple[int, str, dict[str, Any]]:
        seen: dict[str, Any] = {}

        def look(properties: object, **options: object) -> None:
            seen.update(options, properties=properties)
            log.info("looks")
            if error is not None:
                raise error

        monkeypatch.setattr(deletion_check, "Clients", Clients)
        monkeypatch.setattr(deletion_check, "refuse_losses", look)
        config = repository / "config" / "default.yaml"
        code, out, err = ran("deletion-check", "--config", config, *options)
        assert out == ""  # the function's log is for CloudWatch
        log.info("The log is on again")
        assert "The log is on again" in capsys.readouterr().out
        return code, err.replace(f"{repository}/", ""), seen

    return running


def test_nothing_to_lose_is_no_word(run: Run) -> None:
    code, said, seen = run(None)
    assert (code, said) == (0, "")
    assert seen["properties"].cluster_name == "ml-eks"
    assert [str(name) for name in seen["properties"].releases] == [
        "kube-system/hyperpod-dependencies"
    ]
    assert not seen["properties"].delete_user_objects
    assert seen["owner"].stack_id == STACK_ID


@pytest.mark.parametrize(
    ("example", "there", "looked_for"),
    [
        ("node-groups", ["mixed-hyperpod", "mixed-node-groups"], "mixed-hyperpod"),
        ("node-groups", ["mixed-node-groups"], "mixed-node-groups"),
        ("node-groups", [], None),
        ("eks-p4d", ["eks-p4d-node-groups"], "eks-p4d-node-groups"),
        ("eks-p4d", [], None),
        # The file has them no more, and `destroy` deletes them all the same.
        ("../default", ["ml-node-groups"], "ml-node-groups"),
        ("eks-p4d", ["eks-p4d-hyperpod"], "eks-p4d-hyperpod"),
    ],
)
def test_jobs_on_node_groups_are_looked_for_too(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    example: str,
    there: list[str],
    looked_for: str | None,
) -> None:
    monkeypatch.setattr(f"{__name__}.NODE_STACKS", there)
    code, said, seen = run(None, "--config", str(CONFIG_FOLDER / "examples" / f"{example}.yaml"))
    assert (code, said) == (0, "")
    owner = seen.get("owner")
    assert (owner and owner.stack_id.split("/")[1]) == looked_for


def test_all_stacks_are_not_deleted_while_one_is_protected(
    run: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setitem(STORAGE_STACK, "EnableTerminationProtection", True)
    code, said, seen = run(None, "--all")
    assert (code, seen) == (2, {})
    # Not of all stacks: that would buy the nodes again that are destroyed already.
    assert "--only ml-storage" in said
    assert said == snapshot
    assert run(None)[0] == 0
    monkeypatch.setitem(STORAGE_STACK, "EnableTerminationProtection", False)
    assert run(None, "--all")[0] == 0


def test_each_protection_is_named_with_what_lifts_it(
    run: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setitem(PLATFORM_STACK, "EnableTerminationProtection", True)
    code, said, _ = run(None, "--all")
    assert code == 2
    assert said == snapshot
    monkeypatch.setitem(EKS_CLUSTER, "deletionProtection", True)
    monkeypatch.setitem(STORAGE_STACK, "EnableTerminationProtection", True)
    _, said, _ = run(None, "--all")
    assert said == snapshot
    assert run(None)[0] == 0


def test_an_eks_cluster_that_is_gone_has_no_protection(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(EKS_CLUSTER, "deletionProtection")
    assert run(None, "--all")[0] == 0


def test_a_protected_cluster_that_a_rollback_left_is_lifted_by_a_command(
    run: Run, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setitem(EKS_CLUSTER, "deletionProtection", True)
    monkeypatch.setitem(PLATFORM_STACK, "StackStatus", "ROLLBACK_FAILED")
    monkeypatch.setitem(PLATFORM_STACK, "StackId", STACK_ID.replace("hyperpod", "platform"))
    code, said, _ = run(None, "--all")
    assert code == 2
    assert said == snapshot


def test_the_protection_of_a_cluster_that_stays_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(deletion_check, "Clients", Clients)
    monkeypatch.setitem(EKS_CLUSTER, "deletionProtection", True)
    monkeypatch.setattr(deletion_check, "described_stack", lambda *_: None)
    deletion_check.refuse_protected(load_config(EXISTING_CONTROL_PLANE), path=Path("mine.yaml"))


def test_a_protected_stack_whose_creation_failed_holds_no_files(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(STORAGE_STACK, "EnableTerminationProtection", True)
    monkeypatch.setitem(STORAGE_STACK, "StackStatus", "ROLLBACK_COMPLETE")
    assert run(None, "--all")[:2] == (0, "")


def test_a_loss_refuses_in_one_line(run: Run) -> None:
    code, said, _ = run(ProvisioningError("Users would lose Pod a/b", next_step="End it."))
    assert (code, said) == (2, "Users would lose Pod a/b. End it.\n")


@pytest.mark.parametrize(
    "error",
    [
        UnknownLossError("Not deleted", cause="cluster unreachable", next_step="Reach it."),
        client_error("AccessDeniedException", "DescribeCluster", "ml-eks"),
        NoCredentialsError(),
    ],
)
@pytest.mark.parametrize(
    ("options", "ends"), [((), 2), (("--unchecked",), 0)], ids=["checked", "unchecked"]
)
def test_where_it_cannot_look_it_says_so_and_goes_on_if_told_to(
    run: Run, error: Exception, options: tuple[str, ...], ends: int, snapshot: SnapshotAssertion
) -> None:
    code, said, _ = run(error, *options)
    assert code == ends
    assert said.count("\n") == 1
    assert said == snapshot


def test_without_a_stack_there_is_nothing_to_lose(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(_: Clients, *, StackName: str) -> None:
        raise client_error("ValidationError", "DescribeStacks", StackName)

    monkeypatch.setattr(Clients, "describe_stacks", absent)
    assert run(AssertionError())[:2] == (0, "")
