"""What on_create.sh leaves on a node, for each operating system, with and without accelerators."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_emulator.node.node import CONFIG_AL2, CONFIG_V3
from tests.support.changed_node import CONFIG_V3_NVIDIA, SCRIPTS, ChangedNode, complaints

DROP_IN = "etc/systemd/system/containerd.service.d/90-hyperpod-data-root.conf"


def al2_cpu(directory: Path) -> ChangedNode:
    node = ChangedNode(directory, release="amzn-2")
    node.mount("/opt/sagemaker")
    return node


def al2_gpu_after_bootstrap(directory: Path) -> ChangedNode:
    node = al2_cpu(directory)
    node.add_gpu()
    node.write("etc/eks/containerd/containerd-config.toml", CONFIG_AL2.replace("runc", "nvidia"))
    node.write("etc/containerd/config.toml", CONFIG_AL2.replace("runc", "nvidia"))
    return node


def al2023_cpu(directory: Path) -> ChangedNode:
    node = ChangedNode(directory)
    node.mount("/opt/sagemaker")
    return node


def al2023_gpu_with_efa(directory: Path) -> ChangedNode:
    node = al2023_cpu(directory)
    node.add_gpu()
    node.add_rdma("rdmap16s27", "rdmap32s27", "rdmap160s27")
    node.write("etc/containerd/config.toml", CONFIG_V3_NVIDIA)
    return node


def al2023_instance_store(directory: Path) -> ChangedNode:
    node = ChangedNode(directory)
    node.mount("/opt/dlami/nvme")
    return node


def ubuntu_gpu(directory: Path) -> ChangedNode:
    node = ChangedNode(directory, release="ubuntu-22.04")
    node.mount("/opt/sagemaker")
    node.add_gpu()
    return node


NODES = [
    al2_cpu,
    al2_gpu_after_bootstrap,
    al2023_cpu,
    al2023_gpu_with_efa,
    al2023_instance_store,
    ubuntu_gpu,
]


@pytest.mark.parametrize("make_node", NODES)
def test_files_after_the_run(
    make_node: Callable[[Path], ChangedNode], tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    node = make_node(tmp_path)
    run = node.run()
    assert run.code == 0, run.output
    assert node.tree() == snapshot


@pytest.mark.parametrize("make_node", NODES)
def test_a_second_run_changes_nothing(
    make_node: Callable[[Path], ChangedNode], tmp_path: Path
) -> None:
    node = make_node(tmp_path)
    node.run()
    before = node.tree()
    node.state("lnet_efa", "- net type: efa", "  interfaces: rdmap16s27 rdmap160s27")
    run = node.run()
    assert run.code == 0, run.output
    assert node.tree() == before
    assert not [
        call for call in run.calls if call.startswith(("systemctl stop", "systemctl start"))
    ]


def test_only_the_root_of_the_configuration_changes_on_al2(tmp_path: Path) -> None:
    node = al2_cpu(tmp_path)
    node.run()
    changed = node.read("etc/eks/containerd/containerd-config.toml")
    assert changed == CONFIG_AL2.replace(
        '#root = "/var/lib/containerd"', 'root = "/opt/sagemaker/containerd"'
    )


def test_a_configuration_without_a_root_gets_one_before_the_first_table(tmp_path: Path) -> None:
    node = al2_cpu(tmp_path)
    node.write("etc/eks/containerd/containerd-config.toml", "version = 2\n[grpc]\naddress = 'x'\n")
    assert node.run().code == 0
    assert node.read("etc/eks/containerd/containerd-config.toml") == (
        "version = 2\nroot = \"/opt/sagemaker/containerd\"\n[grpc]\naddress = 'x'\n"
    )


def test_the_node_keeps_its_own_configuration_and_command_on_al2023(tmp_path: Path) -> None:
    node = al2023_cpu(tmp_path)
    node.state(
        "containerd_command",
        f"ExecStart=/usr/bin/containerd --root {node.root}/data --log-level warn",
    )
    assert node.run().code == 0
    assert node.read("etc/containerd/config.toml") == CONFIG_V3
    assert (
        "ExecStart=/usr/bin/containerd --log-level warn --root /opt/sagemaker/containerd\n"
        in node.read(DROP_IN)
    )


def test_percent_signs_of_the_command_survive_systemd(tmp_path: Path) -> None:
    node = al2023_cpu(tmp_path)
    node.state("containerd_command", "ExecStart=/usr/bin/containerd --log-level 5%")
    node.run()
    assert "containerd --log-level 5%% --root" in node.read(DROP_IN)


@pytest.mark.parametrize("gpu", [True, False])
def test_nvidia_becomes_the_default_runtime_on_gpu_nodes_only(gpu: bool, tmp_path: Path) -> None:
    node = al2023_cpu(tmp_path)
    node.write(
        "etc/containerd/config.toml",
        CONFIG_V3 + CONFIG_V3_NVIDIA.partition("\n\n")[2].partition("\n\n")[2],
    )
    if gpu:
        node.add_gpu()
    run = node.run()
    assert ('default_runtime_name = "nvidia"' in node.read("etc/containerd/config.toml")) is gpu
    assert ("systemctl try-restart containerd" in run.calls) is gpu
    assert not [call for call in run.calls if call.startswith("nvidia-ctk")]


def test_the_nvidia_tool_adds_a_runtime_that_is_not_configured(tmp_path: Path) -> None:
    run = ubuntu_gpu(tmp_path).run()
    assert (
        "nvidia-ctk runtime configure --runtime=containerd"
        " --config=/etc/containerd/config.toml --set-as-default"
    ) in run.calls


def test_a_gpu_node_without_nvidia_runtime_is_warned_about(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    node = ubuntu_gpu(tmp_path)
    node.without("nvidia-ctk")
    run = node.run()
    assert run.code == 0
    assert complaints(run.output) == snapshot


def test_running_services_stop_for_the_move_and_start_again(tmp_path: Path) -> None:
    node = al2023_cpu(tmp_path)
    node.state("active", "containerd", "kubelet")
    run = node.run()
    moves = [call for call in run.calls if call.startswith(("systemctl stop", "systemctl start"))]
    assert moves[:4] == [
        "systemctl stop kubelet",
        "systemctl stop containerd",
        "systemctl start containerd",
        "systemctl start kubelet",
    ]
    assert sorted(node.active()) == ["containerd", "kubelet"]


def test_data_of_an_earlier_image_on_the_volume_is_replaced(tmp_path: Path) -> None:
    node = al2023_cpu(tmp_path)
    node.write("opt/sagemaker/containerd/stale", "of another operating system")
    node.write("opt/sagemaker/kubelet/stale", "of another operating system")
    node.write("opt/sagemaker/keep", "somebody's data")
    assert node.run().code == 0
    assert not [name for name in node.tree() if name.endswith("stale")]
    assert node.read("opt/sagemaker/keep") == "somebody's data"


def test_every_step_that_on_create_names_exists() -> None:
    text = (SCRIPTS / "on_create.sh").read_text()
    named = " ".join(re.findall(r"STEPS=\(([^)]*)\)", text)).split()
    assert sorted(named) == sorted(path.stem for path in (SCRIPTS / "steps").glob("*.sh"))


@pytest.mark.parametrize("make_node", [al2_cpu, al2023_cpu, al2023_instance_store, ubuntu_gpu])
def test_containerd_does_not_start_on_the_root_volume(
    make_node: Callable[[Path], ChangedNode], tmp_path: Path
) -> None:
    node = make_node(tmp_path)
    assert node.run().code == 0
    (volume,) = [path for path in ("/opt/sagemaker", "/opt/dlami/nvme") if node.has(path)]
    assert f"ExecStartPre=/usr/bin/mountpoint -q {volume}\n" in node.read(DROP_IN)
    # A drop-in of AL2's must leave containerd's own command alone.
    assert ("ExecStart=\n" in node.read(DROP_IN)) is (make_node is not al2_cpu)


def test_the_check_is_added_to_a_node_that_moved_its_data_before(tmp_path: Path) -> None:
    node = al2_cpu(tmp_path)
    node.run()
    (node.root / DROP_IN).unlink()
    run = node.run()
    assert "ExecStartPre=/usr/bin/mountpoint -q /opt/sagemaker\n" in node.read(DROP_IN)
    assert not [call for call in run.calls if call.startswith("systemctl stop")]
    assert "systemctl daemon-reload" in run.calls


def test_a_node_without_a_data_volume_has_no_check(tmp_path: Path) -> None:
    node = ChangedNode(tmp_path)
    node.run()
    assert DROP_IN not in node.tree()


@pytest.mark.parametrize("script", sorted(SCRIPTS.rglob("*.sh")), ids=lambda path: path.name)
def test_no_script_fetches_anything(script: Path) -> None:
    """A node of a closed network has nothing to fetch it from."""
    commands = re.sub(r"(?m)^\s*#.*$", "", script.read_text(encoding="utf-8"))

    assert (
        re.findall(r"\b(?:curl|wget|apt-get|apt|yum|dnf|pip3?|git clone)\s|https?://", commands)
        == []
    )
