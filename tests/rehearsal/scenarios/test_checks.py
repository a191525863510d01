"""What a check of a scenario says when it does not hold."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config, load_config
from hyperpod_rehearsal.scenarios import SCENARIOS, scenario
from hyperpod_rehearsal.scenarios.scenario import all_nodes_run, fails, has_status
from hyperpod_rehearsal.stage import Stage
from tests.conftest import Configure
from tests.support.configs import BY_NAME, CONFIG_FOLDER

GROUP = "/aws/lambda/ml-platform-Provisioner-OnEvent-6f1c2b5e"
FULL = {"vpc_cidr": "10.192.8.0/22", "eks_subnet_cidrs": ["10.192.8.0/28", "10.192.9.0/28"]}
ERROR = "ml-hyperpod: Cluster: Error: no capacity\nLogs: {group}"


def stage(
    *,
    nodes: int = 0,
    groups: tuple[str, ...] = (),
    status: str = "CREATE_FAILED",
    config: Config | None = None,
) -> Stage:
    """Return what the checks read of a stage."""
    logs = SimpleNamespace(
        describe_log_groups=lambda logGroupNamePrefix: {
            "logGroups": [
                {"logGroupName": name} for name in groups if name.startswith(logGroupNamePrefix)
            ]
        }
    )
    environment = SimpleNamespace(
        clients=lambda _service: logs,
        kubernetes=SimpleNamespace(objects=lambda *_kind: [{}] * nodes),
    )
    made = SimpleNamespace(config=config, environment=environment, status=lambda _kind: status)
    return cast("Stage", made)


@pytest.mark.parametrize(
    ("name", "running", "known"),
    [("default", 6, 6), ("default", 0, 0), ("default", 6, 5), ("slurm", 6, 0), ("slurm", 5, 0)],
)
def test_nodes(
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    running: int,
    known: int,
    snapshot: SnapshotAssertion,
) -> None:
    monkeypatch.setattr(scenario, "wait_for_nodes", lambda _config, **_clients: None)
    monkeypatch.setattr(scenario, "wanted_nodes", lambda _config: 6)
    monkeypatch.setattr(scenario, "running_nodes", lambda _config, **_clients: running)
    config = load_config(CONFIG_FOLDER / f"{name}.yaml")
    said = all_nodes_run(stage(nodes=known, config=config))
    assert (said.title, said.ok) == snapshot


def test_status(snapshot: SnapshotAssertion) -> None:
    said = has_status(stage(status="ROLLBACK_FAILED"), "hyperpod", "CREATE_COMPLETE")
    assert (said.title, said.ok) == snapshot


@pytest.mark.parametrize(
    ("error", "groups", "ok"),
    [
        (ERROR.format(group=GROUP), (GROUP, f"{GROUP}-2"), True),
        (ERROR.format(group=GROUP), (f"{GROUP}-2",), False),
        ("ml-hyperpod: Cluster: Error: no capacity", (GROUP,), False),
        (None, (GROUP,), False),
    ],
)
def test_log_group(error: str | None, groups: tuple[str, ...], *, ok: bool) -> None:
    checks = fails(stage(groups=groups), error, matching="no capacity")
    (named,) = [check for check in checks if "log group" in check.title]
    assert named.ok is ok


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({}, "capacity-shortage"),
        ({"cluster": {"wait_for": "in_service"}}, "slow-nodes"),
        ({"cluster": {"on_shortage": "fail"}}, "capacity-shortage"),
        ({"cluster": {"on_create_failure": "delete"}}, "lifecycle-script-fails"),
        ({"helm": {"delete_user_objects": True}}, "destroy-refused"),
        ({"cluster": {"node_provisioning_mode": None}}, "immutable-change"),
        ({}, "controller-fails"),
        ({}, "further-zone"),
        ({"network": BY_NAME}, "further-zone"),
        ({"network": FULL}, "further-zone"),
    ],
)
def test_what_a_configuration_lacks_for_a_scenario(
    configure: Configure, changes: Mapping[str, Any], name: str, snapshot: SnapshotAssertion
) -> None:
    assert SCENARIOS[name].lacking(configure(changes)) == snapshot


@pytest.mark.parametrize(
    "name", ["capacity-shortage", "controller-fails", "helm-fails", "version-upgrade"]
)
def test_what_a_cluster_with_slurm_lacks_for_a_scenario(
    name: str, snapshot: SnapshotAssertion
) -> None:
    assert SCENARIOS[name].lacking(load_config(CONFIG_FOLDER / "slurm.yaml")) == snapshot
