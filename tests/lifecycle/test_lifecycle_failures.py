"""A node that cannot be set up fails at once and says which step and what to look at."""

import re
from pathlib import Path

import pytest

from tests.support.changed_node import ChangedNode

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


def test_an_attached_volume_that_is_not_mounted_fails_the_node(tmp_path: Path) -> None:
    node = ChangedNode(tmp_path)
    node.state("disks", ROOT_DISK, UNMOUNTED_EBS, INSTANCE_STORE)
    run = node.run(HYPERPOD_VOLUME_WAIT_SECONDS="2", HYPERPOD_VOLUME_POLL_SECONDS="1")
    assert run.code == 1
    assert "waiting for /opt/sagemaker to be mounted: 1 of at most 2 s" in run.output
    assert (
        "/opt/sagemaker is not mounted after 2 s, yet this disk is attached: /dev/nvme1n1"
        in run.output
    )
    assert "ERROR step wait_for_data_volume failed with exit code 1" in log_of(node)
    assert "containerd_data_root" not in run.output


def test_the_instance_store_will_do_when_the_volume_is_not_mounted(tmp_path: Path) -> None:
    node = ChangedNode(tmp_path)
    node.mount("/opt/dlami/nvme")
    node.state("disks", ROOT_DISK, UNMOUNTED_EBS, INSTANCE_STORE)
    run = node.run(HYPERPOD_VOLUME_WAIT_SECONDS="1", HYPERPOD_VOLUME_POLL_SECONDS="1")
    assert run.code == 0, run.output
    assert "waiting for /opt/sagemaker to be mounted: 0 of at most 1 s" in run.output
    assert (
        "WARNING /opt/sagemaker is not mounted after 1 s, yet this disk is attached: /dev/nvme1n1"
        in run.output
    )
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
    assert "waiting for /opt/sagemaker to be mounted: 0 of at most 300 s" in run.output
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
    assert "no data volume: the instance group has no volume_size_gib" in run.output
    after = node.tree()
    assert after.pop("etc/modules-load.d/hyperpod-lustre.conf") == "lnet\nlustre\n"
    assert after == before


@pytest.mark.parametrize(
    ("call", "step", "message"),
    [
        (
            "systemctl daemon-reload",
            "containerd_data_root",
            "command failed: systemctl daemon-reload",
        ),
        (
            "systemctl show containerd.service --property=ExecStart",
            "containerd_data_root",
            "command failed",
        ),
    ],
)
def test_a_failing_command_fails_its_step(
    call: str, step: str, message: str, node: ChangedNode
) -> None:
    node.state("failing", call)
    run = node.run()
    assert run.code != 0
    assert f"[{step}] ERROR" in run.output
    assert message in run.output
    assert f"ERROR step {step} failed with exit code {run.code}" in log_of(node)
    assert "CloudWatch" in log_of(node)
    assert "done:" not in run.output


def test_nothing_is_lost_when_the_copy_fails(node: ChangedNode) -> None:
    node.write("opt/sagemaker/kubelet/earlier", "data")
    node.replace_command("cp", text="exit 1")
    before = node.tree()
    run = node.run()
    assert run.code == 1
    assert "cannot copy /var/lib/containerd to /opt/sagemaker/containerd; nothing was deleted" in (
        run.output
    )
    assert node.tree() == before


@pytest.mark.parametrize("release", ["debian-12", "amzn-2027", "ubuntu-30.04"])
def test_an_unknown_operating_system_is_only_warned_about(release: str, tmp_path: Path) -> None:
    node = ChangedNode(tmp_path, release=release)
    node.mount("/opt/sagemaker")
    run = node.run()
    assert run.code == 0, run.output
    assert f"WARNING the operating system {release} is unknown to these scripts" in run.output
    assert "--root /opt/sagemaker/containerd" in node.read(DROP_IN)
    assert node.read("opt/sagemaker/kubelet/.hidden") == "a dot file"


def test_a_node_without_a_release_file_is_set_up(node: ChangedNode) -> None:
    (node.root / "etc/os-release").unlink()
    run = node.run()
    assert run.code == 0, run.output
    assert "WARNING the operating system unknown-unknown is unknown to these scripts" in run.output


def test_a_drop_in_that_wins_over_ours_is_found_out(node: ChangedNode) -> None:
    node.write(
        "etc/systemd/system/containerd.service.d/99-other.conf",
        "[Service]\nExecStart=\nExecStart=/usr/bin/containerd --root /elsewhere\n",
    )
    run = node.run()
    assert run.code == 1
    assert (
        "containerd still keeps its data in /elsewhere, not in /opt/sagemaker/containerd"
        in run.output
    )


def test_pods_with_mounted_volumes_stop_the_move(node: ChangedNode) -> None:
    node.mount("/opt/sagemaker", "/var/lib/kubelet/pods/1/volumes/token")
    run = node.run()
    assert run.code == 1
    assert "pods have volumes mounted under /var/lib/kubelet" in run.output
    assert node.read("var/lib/kubelet/config.json") == "{}"


def test_a_foreign_link_is_not_replaced(node: ChangedNode) -> None:
    kubelet = node.root / "var/lib/kubelet"
    kubelet.rename(node.root / "var/lib/elsewhere")
    kubelet.symlink_to("/var/lib/elsewhere")
    run = node.run()
    assert run.code == 1
    assert (
        "/var/lib/kubelet is a link to /var/lib/elsewhere, expected /opt/sagemaker/kubelet"
        in run.output
    )


def test_a_run_that_was_cut_off_is_finished(node: ChangedNode) -> None:
    kubelet = node.root / "var/lib/kubelet"
    kubelet.rename(kubelet.with_name("kubelet.old"))
    node.write("opt/sagemaker/kubelet.new/half", "of a copy")
    assert node.run().code == 0
    assert node.read("var/lib/kubelet/.hidden") == "a dot file"
    assert not (node.root / "opt/sagemaker/kubelet.new").exists()
