"""A node that cannot be set up fails at once and says which step and what to look at."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.changed_node import ChangedNode, complaints

DROP_IN = "etc/systemd/system/containerd.service.d/90-hyperpod-data-root.conf"
EBS = "Amazon Elastic Block Store"


@pytest.fixture
def node(tmp_path: Path) -> ChangedNode:
    made = ChangedNode(tmp_path)
    made.mount("/opt/sagemaker")
    return made


def log_of(node: ChangedNode) -> str:
    return node.read("var/log/provision/provisioning.log")


def test_every_line_of_the_log_has_a_time_and_is_on_standard_output(node: ChangedNode) -> None:
    run = node.run()
    lines = log_of(node).splitlines()
    assert lines == run.output.splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \S", line) for line in lines)
    assert lines[0].endswith("start: lifecycle scripts, 6 steps")
    assert lines[-1].endswith("done: every step succeeded")


ROOT_DISK = f"/dev/nvme0n1\t{EBS}\t/"
UNMOUNTED_EBS = f"/dev/nvme1n1\t{EBS}\t"
INSTANCE_STORE = "/dev/nvme2n1\tAmazon EC2 NVMe Instance Storage\t"


def test_an_attached_volume_that_is_not_mounted_fails_the_node(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    node = ChangedNode(tmp_path)
    node.state("disks", ROOT_DISK, UNMOUNTED_EBS, INSTANCE_STORE)
    run = node.run(HYPERPOD_VOLUME_WAIT_SECONDS="2", HYPERPOD_VOLUME_POLL_SECONDS="1")
    assert run.code == 1
    assert "waiting for /opt/sagemaker" in run.output
    assert complaints(log_of(node)) == snapshot
    assert "containerd_data_root" not in run.output


def test_the_instance_store_will_do_when_the_volume_is_not_mounted(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    node = ChangedNode(tmp_path)
    node.mount("/opt/dlami/nvme")
    node.state("disks", ROOT_DISK, UNMOUNTED_EBS, INSTANCE_STORE)
    run = node.run(HYPERPOD_VOLUME_WAIT_SECONDS="1", HYPERPOD_VOLUME_POLL_SECONDS="1")
    assert run.code == 0, run.output
    assert "waiting for /opt/sagemaker" in run.output
    assert complaints(run.output) == snapshot
    assert "data volume: /opt/dlami/nvme" in run.output
    assert node.read("opt/dlami/nvme/kubelet/.hidden") == "a dot file"


def test_the_instance_store_is_taken_at_once_when_no_volume_is_attached(tmp_path: Path) -> None:
    node = ChangedNode(tmp_path)
    node.mount("/opt/dlami/nvme")
    node.state("disks", ROOT_DISK, INSTANCE_STORE)
    run = node.run(HYPERPOD_VOLUME_WAIT_SECONDS="300")
    assert run.code == 0, run.output
    assert "waiting for" not in run.output
    assert "data volume: /opt/dlami/nvme" in run.output


def test_a_volume_that_is_mounted_late_is_used(tmp_path: Path) -> None:
    node = ChangedNode(tmp_path)
    node.mount("/opt/sagemaker")
    node.state("mounts")
    node.replace_command("sleep", text=f'echo "{node.root}/opt/sagemaker" >"$STUB_STATE/mounts"')
    run = node.run(HYPERPOD_VOLUME_WAIT_SECONDS="300")
    assert run.code == 0, run.output
    assert "waiting for /opt/sagemaker" in run.output
    assert "data volume: /opt/sagemaker" in run.output


def test_the_volume_is_waited_for_300_seconds(tmp_path: Path) -> None:
    node = ChangedNode(tmp_path)
    node.replace_command("sleep", text='printf "slept %s\\n" "$1" >>"$STUB_STATE/calls"')
    run = node.run(HYPERPOD_VOLUME_WAIT_SECONDS="")
    assert run.code == 0, run.output
    slept = [call for call in run.calls if call.startswith("slept ")]
    assert sum(int(call.removeprefix("slept ")) for call in slept) == 300


def test_a_group_without_a_volume_keeps_everything_on_the_root_volume(tmp_path: Path) -> None:
    node = ChangedNode(tmp_path)
    node.state("disks", f"/dev/nvme0n1\t{EBS}\t/")
    before = node.tree()
    run = node.run()
    assert run.code == 0
    assert "no data volume: " in run.output
    after = node.tree()
    assert after.pop("etc/modules-load.d/hyperpod-lustre.conf") == "lnet\nlustre\n"
    assert after == before


def another_drop_in(node: ChangedNode) -> None:
    node.write(
        "etc/systemd/system/containerd.service.d/99-other.conf",
        "[Service]\nExecStart=\nExecStart=/usr/bin/containerd --root /elsewhere\n",
    )


def foreign_link(node: ChangedNode) -> None:
    kubelet = node.root / "var/lib/kubelet"
    kubelet.rename(node.root / "var/lib/elsewhere")
    kubelet.symlink_to("/var/lib/elsewhere")


FAILING: dict[str, Callable[[ChangedNode], object]] = {
    "reload": lambda node: node.state("failing", "systemctl daemon-reload"),
    "a drop-in that wins over ours": another_drop_in,
    "pods with volumes": lambda node: node.mount(
        "/opt/sagemaker", "/var/lib/kubelet/pods/1/volumes/token"
    ),
    "a link of somebody else": foreign_link,
}


@pytest.mark.parametrize("spoil", FAILING.values(), ids=FAILING)
def test_a_failing_step_fails_the_node_and_says_why(
    spoil: Callable[[ChangedNode], object], node: ChangedNode, snapshot: SnapshotAssertion
) -> None:
    spoil(node)
    run = node.run()
    assert run.code != 0
    assert complaints(run.output) == complaints(log_of(node)) == snapshot
    assert "done:" not in run.output
    kept = {"var/lib/kubelet/config.json", "var/lib/elsewhere/config.json"}
    assert kept & node.tree().keys()


def test_a_start_command_that_cannot_be_read_fails_the_node(node: ChangedNode) -> None:
    node.state("failing", "systemctl show containerd.service --property=ExecStart")
    run = node.run()
    assert run.code != 0
    assert "[containerd_data_root] ERROR" in run.output
    assert "done:" not in run.output


def test_nothing_is_lost_when_the_copy_fails(
    node: ChangedNode, snapshot: SnapshotAssertion
) -> None:
    node.write("opt/sagemaker/kubelet/earlier", "data")
    node.replace_command("cp", text="exit 1")
    before = node.tree()
    run = node.run()
    assert run.code == 1
    assert complaints(run.output) == snapshot
    assert node.tree() == before


@pytest.mark.parametrize("release", ["debian-12", "amzn-2027", "ubuntu-30.04", None])
def test_an_unknown_operating_system_is_only_warned_about(
    release: str | None, tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    node = ChangedNode(tmp_path, release=release or "amzn-2023")
    if release is None:
        (node.root / "etc/os-release").unlink()
    node.mount("/opt/sagemaker")
    run = node.run()
    assert run.code == 0, run.output
    assert complaints(run.output) == snapshot
    assert "--root /opt/sagemaker/containerd" in node.read(DROP_IN)
    assert node.read("opt/sagemaker/kubelet/.hidden") == "a dot file"


def test_a_run_that_was_cut_off_is_finished(node: ChangedNode) -> None:
    kubelet = node.root / "var/lib/kubelet"
    kubelet.rename(kubelet.with_name("kubelet.old"))
    node.write("opt/sagemaker/kubelet.new/half", "of a copy")
    assert node.run().code == 0
    assert node.read("var/lib/kubelet/.hidden") == "a dot file"
    assert not (node.root / "opt/sagemaker/kubelet.new").exists()
