"""A node that cannot use Lustre joins the cluster, unless the deployment says it must not."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.changed_node import ChangedNode, complaints

STOP = "LUSTRE_FAILURE=stop\n"

TROUBLE = (
    "modprobe lnet",
    "modprobe lustre",
    "lctl network up",
    "systemctl enable --now hyperpod-lnet-efa.service",
)


@pytest.fixture
def node(tmp_path: Path) -> ChangedNode:
    made = ChangedNode(tmp_path)
    made.mount("/opt/sagemaker")
    made.add_rdma("rdmap16s27")
    return made


@pytest.mark.parametrize("call", TROUBLE)
def test_it_is_warned_about(call: str, node: ChangedNode, snapshot: SnapshotAssertion) -> None:
    node.state("failing", call)
    run = node.run()
    assert run.code == 0, run.output
    assert complaints(run.output) == snapshot
    assert "done: every step but " in run.output


@pytest.mark.parametrize("call", TROUBLE)
def test_it_stops_the_node_when_the_deployment_says_so(
    call: str, node: ChangedNode, snapshot: SnapshotAssertion
) -> None:
    node.configure(STOP)
    node.state("failing", call)
    run = node.run()
    assert run.code == 1
    assert complaints(run.output) == snapshot
    assert "done:" not in run.output


@pytest.mark.parametrize(("settings", "code"), [("", 0), (STOP, 1)], ids=["warn", "stop"])
def test_an_image_without_lustre_stops_a_node_only_when_the_deployment_says_so(
    settings: str, code: int, node: ChangedNode, snapshot: SnapshotAssertion
) -> None:
    node.configure(settings)
    node.state("missing_modules", "lustre", "kefalnd")
    run = node.run()
    assert run.code == code
    assert complaints(run.output) == snapshot
    assert not [call for call in run.calls if call.startswith("modprobe")]


def test_other_steps_stop_the_node_whatever_the_deployment_says(node: ChangedNode) -> None:
    node.configure("LUSTRE_FAILURE=warn\n")
    node.replace_command("cp", text="exit 1")
    assert node.run().code == 1


def test_a_command_that_hangs_is_ended(node: ChangedNode, snapshot: SnapshotAssertion) -> None:
    node.replace_command("lctl", text="exec sleep 600")
    run = node.run(HYPERPOD_LUSTRE_WAIT_SECONDS="1")
    assert run.code == 0, run.output
    assert complaints(run.output) == snapshot


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 0),
        ("LUSTRE_FAILURE=warn\n", 0),
        ("LUSTRE_FAILURE=stop", 1),
        ("LUSTRE_FAILURE=stop\r\n", 1),
        ("# a comment\nOTHER=1\nLUSTRE_FAILURE=stop\n", 1),
    ],
)
def test_the_file_beside_the_scripts_decides(text: str, code: int, node: ChangedNode) -> None:
    node.configure(text)
    node.state("failing", "lctl network up")
    assert node.run().code == code


@pytest.mark.parametrize("value", ["Stop", "yes", "$(touch /tmp/run)", "stop;warn"])
def test_another_value_is_told_and_means_warn(
    value: str, node: ChangedNode, snapshot: SnapshotAssertion
) -> None:
    node.configure(f"LUSTRE_FAILURE={value}\n")
    node.state("failing", "lctl network up")
    run = node.run()
    assert run.code == 0, run.output
    assert complaints(run.output) == snapshot


def test_the_environment_wins_over_the_file(node: ChangedNode) -> None:
    node.configure(STOP)
    node.state("failing", "lctl network up")
    assert node.run(HYPERPOD_LUSTRE_FAILURE="warn").code == 0
