"""A node that cannot use Lustre joins the cluster, unless the deployment says it must not."""

from pathlib import Path

import pytest

from tests.support.changed_node import ChangedNode

STOP = "LUSTRE_FAILURE=stop\n"

# What fails, the step, its message.
TROUBLE = [
    ("modprobe lnet", "lustre_modules", "kernel module lnet exists but does not load"),
    ("modprobe lustre", "lustre_modules", "kernel module lustre exists but does not load"),
    ("lctl network up", "lustre_modules", "LNet, the network of Lustre, does not come up"),
    (
        "systemctl enable --now hyperpod-lnet-efa.service",
        "lustre_over_efa",
        "Lustre over EFA did not start: Lustre uses TCP",
    ),
]


@pytest.fixture
def node(tmp_path: Path) -> ChangedNode:
    made = ChangedNode(tmp_path)
    made.mount("/opt/sagemaker")
    made.add_rdma("rdmap16s27")
    return made


@pytest.mark.parametrize(("call", "step", "message"), TROUBLE)
def test_it_is_warned_about(call: str, step: str, message: str, node: ChangedNode) -> None:
    node.state("failing", call)
    run = node.run()
    assert run.code == 0, run.output
    assert f"[{step}] WARNING {message}" in run.output
    assert f"WARNING step {step} failed with exit code 1; the node joins the cluster" in run.output
    assert "ERROR" not in run.output
    assert "done: every step but " in run.output


@pytest.mark.parametrize(("call", "step", "message"), TROUBLE)
def test_it_stops_the_node_when_the_deployment_says_so(
    call: str, step: str, message: str, node: ChangedNode
) -> None:
    node.configure(STOP)
    node.state("failing", call)
    run = node.run()
    assert run.code == 1
    assert f"[{step}] ERROR {message}" in run.output
    assert f"ERROR step {step} failed with exit code 1" in run.output
    assert "done:" not in run.output


def test_an_image_without_lustre_still_gives_a_node(node: ChangedNode) -> None:
    node.state("missing_modules", "lustre", "kefalnd")
    run = node.run()
    assert run.code == 0
    assert "WARNING the image has no kernel module lustre" in run.output
    assert not [call for call in run.calls if call.startswith("modprobe")]


def test_an_image_without_lustre_stops_the_node_when_the_deployment_says_so(
    node: ChangedNode,
) -> None:
    node.configure(STOP)
    node.state("missing_modules", "lustre", "kefalnd")
    run = node.run()
    assert run.code == 1
    assert "ERROR the image has no kernel module lustre" in run.output


def test_other_steps_stop_the_node_whatever_the_deployment_says(node: ChangedNode) -> None:
    node.configure("LUSTRE_FAILURE=warn\n")
    node.replace_command("cp", text="exit 1")
    assert node.run().code == 1


def test_a_command_that_hangs_is_ended(node: ChangedNode) -> None:
    node.replace_command("lctl", text="exec sleep 600")
    run = node.run(HYPERPOD_LUSTRE_WAIT_SECONDS="1")
    assert run.code == 0, run.output
    assert "WARNING step lustre_modules was ended after 1 s" in run.output


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
def test_another_value_is_told_and_means_warn(value: str, node: ChangedNode) -> None:
    node.configure(f"LUSTRE_FAILURE={value}\n")
    node.state("failing", "lctl network up")
    run = node.run()
    assert run.code == 0, run.output
    assert (
        f"WARNING deployment.env: LUSTRE_FAILURE is {value!r}, must be 'warn' or 'stop';"
        " using 'warn'"
    ) in run.output


def test_the_environment_wins_over_the_file(node: ChangedNode) -> None:
    node.configure(STOP)
    node.state("failing", "lctl network up")
    assert node.run(HYPERPOD_LUSTRE_FAILURE="warn").code == 0
