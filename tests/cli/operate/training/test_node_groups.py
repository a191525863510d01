"""Jobs on nodes of EKS node groups: what they ask for, and what keeps them from running."""

from typing import Any

import pytest
from kubernetes.client import ApiClient
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import Config
from hyperpod_cli.operate.training.request import JobRequest
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_emulator.kubernetes import KubernetesApi
from tests.cli.operate.training.conftest import asked, busy
from tests.cli.operate.training.test_checks import notes
from tests.conftest import Raises
from tests.support.configs import configured

GROUP = {"name": "p4d", "instance_types": ["p4d.24xlarge"], "desired_size": 2, "max_size": 4}
LABEL = "eks.amazonaws.com/nodegroup"


def of_node_groups(**changes: Any) -> Config:
    return configured({"cluster": None, "node_groups": [{**GROUP, **changes}]})


def asked_of_group(config: Config, **options: Any) -> JobRequest:
    """Return a job whose values name the type of HyperPod."""
    return asked(config, group="p4d", **options)


@pytest.fixture
def joined(ready: KubernetesApi) -> KubernetesApi:
    """A cluster with two nodes of the group beside those of HyperPod."""
    for number in range(2):
        labels = {LABEL: "p4d"}
        ready.put_node(f"ip-10-1-0-{number}", instance_type="p4d.24xlarge", labels=labels)
    return ready


def test_a_job_asks_for_nodes_of_the_group() -> None:
    request = asked_of_group(of_node_groups())
    assert (request.group.name, request.nodes) == ("p4d", 2)
    assert request.node_labels == {
        "node.kubernetes.io/instance-type": "p4d.24xlarge",
        LABEL: "p4d",
    }
    assert request.container["resources"]["limits"]["nvidia.com/gpu"] == "8"
    assert request.container["resources"]["limits"]["vpc.amazonaws.com/efa"] == "4"


def test_a_job_tolerates_the_taints_of_the_group() -> None:
    taint = {"key": "team", "value": "research", "effect": "NoSchedule"}
    tolerations = asked_of_group(of_node_groups(taints=[taint])).pod["tolerations"]
    assert {"key": "team", "operator": "Equal", "value": "research"}.items() <= next(
        each.items() for each in tolerations if each["key"] == "team"
    )


def test_no_team_has_a_quota_of_it(raises: Raises) -> None:
    group = {"name": "g5", "instance_type": "ml.g5.12xlarge", "instance_count": 1}
    quota = {"instance_type": "ml.g5.12xlarge", "nodes": 1}
    teams = [{"name": "research", "quota": [quota]}]
    config = configured(
        {
            "cluster": {"instance_groups": [group]},
            "node_groups": [GROUP],
            "teams": teams,
            "governance": {},
        }
    )
    assert asked_of_group(config).namespace == "default"
    with raises(OpsError):
        asked_of_group(config, team="research")


SCALED = {"operators": {"cluster_autoscaler": True}, "cluster": None, "node_groups": [GROUP]}


@pytest.mark.parametrize(
    ("config", "options", "is_busy"),
    [
        (of_node_groups(), {}, False),
        (of_node_groups(), {}, True),
        (configured(SCALED), {"nodes": 4}, False),
    ],
    ids=["free", "busy", "scaled"],
)
def test_what_a_job_waits_for_is_told(
    joined: KubernetesApi,
    api: ApiClient,
    *,
    config: Config,
    options: dict[str, int],
    is_busy: bool,
    snapshot: SnapshotAssertion,
) -> None:
    if is_busy:
        busy(joined, "ip-10-1-0-0")
    assert notes(api, asked_of_group(config, **options)) == snapshot


@pytest.mark.usefixtures("joined")
@pytest.mark.parametrize(
    ("config", "nodes", "fix"),
    [
        (of_node_groups(), 3, "desired_size: 3"),
        (configured(SCALED), 5, "max_size: 5"),
    ],
)
def test_more_nodes_than_the_group_has_are_refused(
    api: ApiClient, config: Config, nodes: int, fix: str
) -> None:
    with pytest.raises(OpsError) as refused:
        notes(api, asked_of_group(config, nodes=nodes))
    (line,) = refused.value.lines
    assert line.startswith(f"nodes: {nodes} ")
    assert f" {fix} of p4d " in line
