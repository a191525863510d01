"""Which groups are idle, what they cost, and how that ends."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiClient
from rich.console import Console
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.operate.clusters import Chosen, ClusterNode, DescribedCluster
from hyperpod_cli.operate.idle import IdleGroup, display, idle_groups, slurm_use
from hyperpod_cli.operate.nodes.health import DeviceUse, device_use
from hyperpod_cli.terminal.console import print_json
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.testing.kubernetes_api import pod
from tests.conftest import Raises
from tests.support.clusters import described, node
from tests.support.configs import configured

ENDED = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC)


def chosen(config: Config | None) -> Chosen:
    options = ["--cluster", "ml-cluster"] if config is None else ["mine.yaml"]
    session = AwsSession.__new__(AwsSession)
    return Chosen(
        name="ml-cluster", session=session, config=config, file=Path("mine.yaml"), options=options
    )


def config(**cluster: Any) -> Config:
    group = {"name": "workers", "instance_type": "ml.p5.48xlarge", "instance_count": 2}
    return configured({"cluster": {"instance_groups": [group], **cluster}})


def idle(
    nodes: list[ClusterNode],
    *,
    busy: tuple[int, ...] = (),
    last: Mapping[str, datetime] | None = None,
    cluster: DescribedCluster | None = None,
    of: Config | None = None,
) -> list[IdleGroup]:
    names = frozenset(node(number).kubernetes_name for number in busy)
    return idle_groups(
        cluster or described({"workers": (2, 2)}),
        nodes,
        DeviceUse(busy=names, last=last or {}),
        region="us-west-2",
        config=of,
        chosen=chosen(of),
    )


def with_group(**members: Any) -> DescribedCluster:
    found = described({"workers": (2, 2)}).described
    (group,) = found["InstanceGroups"]
    return DescribedCluster(described={**found, "InstanceGroups": [{**group, **members}]})


def test_a_group_of_which_nothing_is_used_is_scaled_to_0() -> None:
    nodes = [node(1), node(2)]
    last = {each.kubernetes_name: ENDED.replace(minute=n) for n, each in enumerate(nodes)}
    (found,) = idle(nodes, last=last, of=config())

    assert (found.idle, found.running, found.since) == (2, 2, "2026-11-02T03:01:05Z")
    assert float(found.usd_a_month) == pytest.approx(float(found.usd_an_hour) * 730)
    assert found.command == "hyperpod-cdk scale workers 0 mine.yaml"


def test_of_a_group_in_use_the_idle_nodes_are_named() -> None:
    (found,) = idle([node(1), node(2)], busy=(1,), of=config())

    assert (found.idle, found.running, found.since) == (1, 2, "")
    assert found.command == f"hyperpod-cdk delete {node(2).id} mine.yaml"


def test_without_a_configuration_nodes_are_named() -> None:
    (found,) = idle([node(1)])

    assert found.command == f"hyperpod-cdk delete {node(1).id} --cluster ml-cluster"


@pytest.mark.parametrize(
    "nodes",
    [
        pytest.param([node(1)], id="in use"),
        pytest.param([replace(node(2), instance_type="ml.m5.large")], id="without accelerators"),
        pytest.param([node(2, status="DeepHealthCheckInProgress")], id="being checked"),
        pytest.param([replace(node(2), instance_type="ml.new.type")], id="of an unknown type"),
    ],
)
def test_not_idle(nodes: list[ClusterNode]) -> None:
    assert idle(nodes, busy=(1,)) == []


@pytest.mark.parametrize(
    ("members", "is_ended"),
    [({"TrainingPlanArn": "arn"}, False), ({"CapacityRequirements": {"Spot": {}}}, True)],
)
def test_prices_that_are_not_known(
    members: dict[str, Any], *, is_ended: bool, snapshot: SnapshotAssertion
) -> None:
    (found,) = idle([node(1)], cluster=with_group(**members))

    assert (found.usd_an_hour, found.usd_a_month) == ("", "")
    assert found.note.rpartition("; ")[2] == snapshot
    assert bool(found.command) is is_ended


@pytest.mark.parametrize(("least", "deleted"), [(2, []), (1, [node(1).id])])
def test_the_least_number_of_nodes_stays(
    least: int, deleted: list[str], snapshot: SnapshotAssertion
) -> None:
    (found,) = idle([node(1), node(2)], cluster=with_group(MinCount=least), of=config())

    assert found.note.rpartition("; ")[2] == snapshot
    assert found.command.split()[2:3] == deleted


def test_nodes_of_a_pool_are_karpenters(snapshot: SnapshotAssertion) -> None:
    group = {"name": "workers", "instance_type": "ml.p5.48xlarge", "instance_count": 0}
    pool = {"name": "gpu", "instance_groups": ["workers"], "consolidate_after_minutes": 7}
    of = config(auto_scaling="Karpenter", node_pools=[pool], instance_groups=[group])
    (found,) = idle([node(1)], of=of)

    assert found.note.rpartition("; ")[2] == snapshot
    assert found.command == ""


def test_pods_tell_who_has_devices_and_who_had(kubernetes: KubernetesApi, api: ApiClient) -> None:
    for name in ("a", "b", "c"):
        kubernetes.put_node(name, instance_type="ml.p5.48xlarge")
    kubernetes.create(pod("trains", devices="8", nodeName="a"))
    kubernetes.create(pod("waits", devices="8"))
    kubernetes.create(pod("logs", nodeName="b"))
    kubernetes.create(pod("done", devices="8", nodeName="b"))
    terminated = {"terminated": {"exitCode": 0, "finishedAt": "2026-11-02T03:04:05Z"}}
    container = {
        **{"name": "main", "image": "x", "imageID": "", "ready": False, "restartCount": 0},
        "state": terminated,
    }
    status = {"phase": "Succeeded", "containerStatuses": [container]}
    kubernetes.set_status("v1", "Pod", "done", status, namespace="default")

    found = device_use(api)

    assert found.busy == {"a"}
    assert found.last == {"b": ENDED}
    assert found.waiting == ("default/waits",)


def test_slurm_says_what_is_idle(raises: Raises) -> None:
    nodes = [replace(node(number), host=f"ip-{number}") for number in (1, 2, 3, 4)]
    use = slurm_use("ip-1 idle\nip-2  mix\nip-3 idle*\nip-9 idle\n", nodes=nodes)

    assert use.busy == {"ip-2", "ip-4"}
    with raises(OpsError):
        slurm_use("sinfo: error\n", nodes=nodes)


def test_groups_are_shown_with_the_commands_that_end_them(snapshot: SnapshotAssertion) -> None:
    nodes = [node(1), node(2)]
    whole = idle(nodes, last={each.kubernetes_name: ENDED for each in nodes}, of=config())
    use = DeviceUse(busy=frozenset(), waiting=("ns/job", "ns/other"))
    shown = StringIO()
    out = Console(file=shown, width=120, color_system=None)
    for part in display([*whole, *idle(nodes, busy=(1,))], use, now=ENDED + timedelta(hours=51)):
        out.print(part)
    assert shown.getvalue() == snapshot


def test_groups_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"groups": idle([node(1)]), "waiting": ["ns/job"]})

    found = json.loads(capsys.readouterr().out)
    assert found["waiting"] == ["ns/job"]
    assert [each["idle"] for each in found["groups"]] == [1]
