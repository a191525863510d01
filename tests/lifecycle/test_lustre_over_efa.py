"""Lustre uses EFA only where the node has it and the image supports it; TCP stays."""

import subprocess
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.support.changed_node import ChangedNode, complaints

UNIT = "etc/systemd/system/hyperpod-lnet-efa.service"
COMMAND = "usr/local/sbin/hyperpod-lnet-efa"


@pytest.fixture
def node(tmp_path: Path) -> ChangedNode:
    made = ChangedNode(tmp_path)
    made.mount("/opt/sagemaker")
    made.add_rdma("rdmap16s27", "rdmap32s27", "rdmap160s27")
    return made


def test_the_service_is_installed_and_started(node: ChangedNode) -> None:
    run = node.run()
    assert "systemctl enable --now hyperpod-lnet-efa.service" in run.calls
    assert f"ExecStart=/{COMMAND}\n" in node.read(UNIT)


def test_a_node_without_efa_is_left_alone(tmp_path: Path) -> None:
    node = ChangedNode(tmp_path)
    run = node.run()
    assert "no EFA device" in run.output
    assert UNIT not in node.tree()


def test_another_rdma_device_is_not_efa(tmp_path: Path) -> None:
    node = ChangedNode(tmp_path)
    node.add_rdma("mlx5_0", driver="mlx5_core")
    assert "no EFA device" in node.run().output


def test_an_image_without_the_module_stays_on_tcp(node: ChangedNode) -> None:
    node.state("missing_modules", "kefalnd")
    run = node.run()
    assert run.code == 0
    assert "has no EFA support" in run.output
    assert UNIT not in node.tree()


def service(node: ChangedNode) -> list[str]:
    """What the service itself calls at boot."""
    calls = node.command(node.root / COMMAND)
    return [call for call in calls if not call.startswith(("ip ", "systemctl"))]


def test_the_service_adds_the_first_and_the_last_device(node: ChangedNode) -> None:
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


def test_the_service_adds_nothing_twice(node: ChangedNode) -> None:
    node.run()
    node.state("lnet_efa", "- net type: efa", "  0: rdmap16s27", "  0: rdmap160s27")
    assert not [call for call in service(node) if " add " in call]


def test_the_service_fails_when_a_device_cannot_be_added(node: ChangedNode) -> None:
    node.run()
    node.state("failing", "lnetctl net add --net efa --if rdmap16s27 --peer-credits 32")
    with pytest.raises(subprocess.CalledProcessError):
        service(node)


def devices(count: int) -> list[str]:
    return [f"rdmap{index}s0" for index in range(100, 100 + count)]


@pytest.mark.parametrize(
    ("instance_type", "present", "used"),
    [
        ("p5.48xlarge", 32, [0, 4, 8, 12, 16, 20, 24, 28]),
        ("p5e.48xlarge", 32, [0, 4, 8, 12, 16, 20, 24, 28]),
        ("p5en.48xlarge", 16, [0, 2, 4, 6, 8, 10, 12, 14]),
        ("p5.4xlarge", 1, [0]),
        ("p6-b200.48xlarge", 8, list(range(8))),
        ("p6-b300.48xlarge", 16, list(range(16))),
        ("p6-b300.48xlarge", 17, list(range(16))),
        ("p6e-gb200.36xlarge", 17, [0, 2, 4, 6, 8, 10, 12, 14]),
        ("p5.48xlarge", 3, [0, 1, 2]),
        ("p4d.24xlarge", 4, [0, 3]),
        ("g6.8xlarge", 1, [0]),
        (None, 4, [0, 3]),
    ],
)
def test_the_number_of_devices_is_that_of_the_guide(
    instance_type: str | None, present: int, used: list[int], tmp_path: Path
) -> None:
    node = ChangedNode(tmp_path)
    node.add_rdma(*devices(present))
    node.add_rdma("ibp1s0", driver="mlx5_core")
    if instance_type is not None:
        node.set_instance_type(instance_type)
    node.run()
    added = [call.split()[6] for call in service(node) if call.startswith("lnetctl net add")]
    assert added == [devices(present)[index] for index in used]


def test_trainium2_stays_on_tcp(node: ChangedNode) -> None:
    node.set_instance_type("trn2.48xlarge")
    run = node.run()
    assert "support EFA on trn2.48xlarge" in run.output
    assert UNIT not in node.tree()


AMI_SERVICE = "configure-efa-fsx-lustre-client.service"


def test_the_setup_of_the_ami_is_preferred(node: ChangedNode) -> None:
    setup = node.add_setup_of_the_ami()
    run = node.run()
    assert run.code == 0, run.output
    assert "setup.sh" in run.calls
    assert f"{setup}: Lustre uses EFA" in run.output
    assert UNIT not in node.tree()


def test_the_setup_of_the_ami_runs_before_lnet_is_up(node: ChangedNode) -> None:
    node.add_setup_of_the_ami()
    calls = node.run().calls
    assert calls.index("setup.sh") < calls.index("lctl network up")


def test_what_the_setup_of_the_ami_made_is_not_made_again(node: ChangedNode) -> None:
    node.add_setup_of_the_ami()
    node.run()
    run = node.run()
    assert "setup.sh" not in run.calls
    assert f"systemctl enable --now {AMI_SERVICE}" in run.calls
    assert UNIT not in node.tree()


def test_the_service_of_the_setup_counts_not_its_exit_code(node: ChangedNode) -> None:
    node.add_setup_of_the_ami()
    node.state("failing", "setup.sh")
    node.state("active", AMI_SERVICE)
    run = node.run()
    assert run.code == 0
    assert "WARNING" not in run.output


def test_a_setup_that_fails_is_warned_about(node: ChangedNode, snapshot: SnapshotAssertion) -> None:
    node.add_setup_of_the_ami()
    node.state("failing", "setup.sh")
    run = node.run()
    assert run.code == 0
    assert complaints(run.output) == snapshot
