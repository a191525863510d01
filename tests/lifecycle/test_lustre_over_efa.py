"""Lustre uses EFA only where the node has it and the image supports it; TCP stays."""

import subprocess
from pathlib import Path

import pytest

from tests.support.node import Node

UNIT = "etc/systemd/system/hyperpod-lnet-efa.service"
COMMAND = "usr/local/sbin/hyperpod-lnet-efa"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    made = Node(tmp_path)
    made.mount("/opt/sagemaker")
    made.add_efa("rdmap16s27", "rdmap32s27", "rdmap160s27")
    return made


def test_the_service_is_installed_and_started(node: Node) -> None:
    run = node.run()
    assert "systemctl enable --now hyperpod-lnet-efa.service" in run.calls
    assert f"ExecStart=/{COMMAND}\n" in node.read(UNIT)
    assert "Lustre uses EFA for file systems that have it enabled" in run.output


def test_a_node_without_efa_is_left_alone(tmp_path: Path) -> None:
    node = Node(tmp_path)
    run = node.run()
    assert "no EFA device: Lustre uses TCP" in run.output
    assert UNIT not in node.tree()


def test_another_rdma_device_is_not_efa(tmp_path: Path) -> None:
    node = Node(tmp_path)
    folder = node.root / "sys/class/infiniband/mlx5_0/device"
    folder.mkdir(parents=True)
    (folder / "driver").symlink_to("../../../../bus/pci/drivers/mlx5_core")
    assert "no EFA device" in node.run().output


def test_an_image_without_the_module_stays_on_tcp(node: Node) -> None:
    node.state("missing_modules", "kefalnd")
    run = node.run()
    assert run.code == 0
    assert "has no EFA support" in run.output
    assert UNIT not in node.tree()


def test_a_service_that_does_not_start_costs_speed_not_the_node(node: Node) -> None:
    node.state("failing", "systemctl enable --now hyperpod-lnet-efa.service")
    run = node.run()
    assert run.code == 0
    assert "WARNING Lustre over EFA did not start" in run.output


def service(node: Node) -> list[str]:
    """What the service itself calls at boot."""
    calls = node.command(node.root / COMMAND)
    return [call for call in calls if not call.startswith(("ip ", "systemctl"))]


def test_the_service_adds_the_first_and_the_last_device(node: Node) -> None:
    node.run()
    assert service(node) == [
        "modprobe lnet",
        "lctl network up",
        "modprobe kefalnd ipif_name=ens32",
        "lnetctl net show --net efa",
        "lnetctl net add --net efa --if rdmap16s27 --peer-credits 32",
        "lnetctl net add --net efa --if rdmap160s27 --peer-credits 32",
        "lnetctl set discovery 1",
        "lnetctl udsp add --src efa --priority 0",
        "modprobe lustre",
    ]


def test_the_service_adds_nothing_twice(node: Node) -> None:
    node.run()
    node.state("lnet_efa", "- net type: efa", "  0: rdmap16s27", "  0: rdmap160s27")
    assert not [call for call in service(node) if " add " in call]


def test_the_service_fails_when_a_device_cannot_be_added(node: Node) -> None:
    node.run()
    node.state("failing", "lnetctl net add --net efa --if rdmap16s27 --peer-credits 32")
    with pytest.raises(subprocess.CalledProcessError):
        service(node)
