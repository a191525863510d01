"""What is verified follows what is installed."""

from collections.abc import Callable
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cli.inspect.verification.check import LiveDeployment
from hyperpod_cli.inspect.verification.subjects.eks.addon_pods import addon_pods
from hyperpod_cli.inspect.verification.subjects.eks.operators import operators
from hyperpod_cli.inspect.verification.verify import SUBJECTS, verify
from hyperpod_emulator.aws.eks.addon_objects import objects_of
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.kubernetes.controllers.workloads import UNREACHABLE
from hyperpod_emulator.testing.kubernetes_api import AUDITOR, VIEWER, daemon_set, deployment
from tests.cli.inspect.verification.conftest import Deployed, join, report
from tests.support.configs import CONFIG_FOLDER, configure

RELEASE = "hyperpod-dependencies"
INSTALLATION = ("components", "definitions", "priorities")


def found(deployment: LiveDeployment) -> dict[str, str]:
    """Return what is found of what is installed, by command."""
    subjects = {name: SUBJECTS[name] for name in INSTALLATION}
    return {check.title: check.found for check in verify(deployment, subjects=subjects)}


def test_the_default_configuration_asks_for_every_documented_one(
    deployed: Deployed, snapshot: SnapshotAssertion
) -> None:
    assert found(deployed(configure({}))) == snapshot


@pytest.mark.parametrize(
    ("helm", "gone"),
    [
        ({"components": {"neuron_device_plugin": None}}, "neuron-device-plugin-daemonset"),
        ({"components": {"mpi_operator": False}}, "mpi"),
        ({"components": {"training_operator": False}}, "pytorchjobs"),
        ({"components": {"training_operator": False}}, "training-operators"),
        ({"values": {"mpi-operator": {"enabled": False}}}, "mpijobs"),
        ({"priority_classes": None}, "inference"),
        (
            {"components": {"training_operator": False, "mpi_operator": False}},
            "kubectl get crd",
        ),
    ],
)
def test_what_is_off_is_not_asked_for(helm: dict[str, Any], gone: str, deployed: Deployed) -> None:
    commands = found(deployed(configure({"helm": helm})))

    assert not [command for command in commands if gone in command]
    assert [command for command in commands if "health-monitoring-agent" in command]


@pytest.mark.parametrize(
    ("types", "agents"),
    [
        (["ml.g5.xlarge"], [""]),
        (["ml.trn1.32xlarge"], ["-non-nvidia"]),
        (["ml.trn1.32xlarge", "ml.p5.48xlarge"], ["", "-non-nvidia"]),
        (["ml.m5.xlarge"], [""]),
    ],
)
def test_the_agent_of_each_accelerator_is_asked_for(
    deployed: Deployed, types: list[str], agents: list[str]
) -> None:
    groups = [
        {"name": f"g{index}", "instance_type": each, "instance_count": 1}
        for index, each in enumerate(types)
    ]
    config = configure({"cluster": {"name": "ml", "instance_groups": groups}})
    assert [name.split()[3] for name in found(deployed(config)) if "monitoring" in name] == [
        f"health-monitoring-agent{agent}" for agent in agents
    ]


@pytest.mark.parametrize(
    ("statuses", "told"),
    [
        (["deployed"], ""),
        (["superseded", "deployed"], ""),
        # Helm supersedes what it had deployed once an upgrade has succeeded, not before.
        (["deployed", "failed"], "is failed"),
        (["deployed", "failed", "pending-upgrade"], "is pending-upgrade"),
        (["superseded"] * 9 + ["deployed"], ""),
        (["superseded"] * 8 + ["deployed", "failed"], "is failed"),
        ([], "is not there"),
    ],
)
def test_the_newest_revision_of_a_release_counts(
    deployed: Deployed, kubernetes: KubernetesApi, statuses: list[str], told: str
) -> None:
    for version, status in enumerate(statuses, start=1):
        labels = {"owner": "helm", "name": RELEASE, "status": status, "version": str(version)}
        metadata = {
            "name": f"sh.helm.release.v1.{RELEASE}.v{version}",
            "namespace": "kube-system",
            "labels": labels,
        }
        kubernetes.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    (check,) = SUBJECTS["release"](deployed(configure({})))
    assert check.found == (told and f"{RELEASE} {told}")


def test_a_component_has_all_its_pods(
    deployed: Deployed, kubernetes: KubernetesApi, snapshot: SnapshotAssertion
) -> None:
    kubernetes.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kubeflow"}})
    kubernetes.create(deployment(f"{RELEASE}-training-operators", namespace="kubeflow"))
    kubernetes.create(daemon_set(f"{RELEASE}-nvidia-device-plugin", namespace="kube-system"))
    command = f"kubectl get deploy {RELEASE}-training-operators -n kubeflow"

    # Where no node is for it, a DaemonSet has the pods that it should have.
    assert found(deployed(configure({}))) == snapshot

    kubernetes.put_node("cpu", instance_type="ml.m5.2xlarge")
    assert found(deployed(configure({})))[command] == ""


def test_what_the_caller_may_not_see_is_not_known(deployed: Deployed) -> None:
    looked = deployed(configure({}), token=VIEWER)
    (check,) = verify(looked, subjects={"health": SUBJECTS["health"]})

    assert (check.is_known, check.found) == (False, "Kubernetes API: 403 Forbidden")
    assert "eks.admins" in check.advice


def test_the_access_policy_of_the_docs_sees_everything(deployed: Deployed) -> None:
    subjects = {name: SUBJECTS[name] for name in ("health", "readiness", "release", *INSTALLATION)}
    assert all(
        check.is_known
        for check in verify(deployed(configure({}), token=AUDITOR), subjects=subjects)
    )


def test_a_health_check_is_a_release_of_its_own(deployed: Deployed) -> None:
    script = str(CONFIG_FOLDER / "examples" / "node-health" / "gpus.sh")

    def missing(changes: dict[str, Any]) -> list[str]:
        release = {"release": SUBJECTS["release"]}
        return [check.found for check in verify(deployed(configure(changes)), subjects=release)]

    assert missing({}) == ["hyperpod-dependencies is not there"]
    assert missing({"node_health": {"script": script}}) == [
        "hyperpod-dependencies is not there",
        "node-health is not there",
    ]


ADDONS = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", "aws-fsx-csi-driver")
ARN = "arn:aws:eks:us-west-2:111122223333:cluster/shared"


@pytest.fixture
def installed(kubernetes: KubernetesApi) -> KubernetesApi:
    """A cluster with every add-on, and two nodes."""
    for addon in ADDONS:
        for item in objects_of(addon, version="v1", region="us-west-2"):
            kubernetes.create(item)
    for name in ("n0", "n1"):
        join(kubernetes, name, cluster="ml-cluster")
    return kubernetes


def csi_pods(**spec: object) -> Callable[[KubernetesApi], object]:
    """Return a function that changes the specification of the FSx driver's pods."""
    change = {"spec": {"template": {"spec": spec}}}
    return lambda kubernetes: kubernetes.merge(
        "apps/v1", "DaemonSet", "fsx-csi-node", change, namespace="kube-system"
    )


def without_driver(kubernetes: KubernetesApi) -> None:
    kubernetes.delete("storage.k8s.io/v1", "CSIDriver", "fsx.csi.aws.com")


MISSED: dict[str, Callable[[KubernetesApi], object]] = {
    "driver not registered": without_driver,
    "pod on one node alone": csi_pods(nodeSelector={"kubernetes.io/hostname": "n0"}),
    "no image": csi_pods(containers=[{"name": "fsx-plugin", "image": f"{UNREACHABLE}fsx:v1"}]),
    "silent node": lambda kubernetes: kubernetes.silence_node("n1"),
}


def missed(deployed: Deployed) -> str:
    """Return what is said of the add-ons of the default configuration."""
    checks = [*addon_pods(deployed(configure({})))]
    assert len(checks) == 7
    return report(checks)


@pytest.mark.parametrize("spoil", MISSED.values(), ids=MISSED)
def test_what_an_addon_misses_is_said(
    spoil: Callable[[KubernetesApi], object],
    deployed: Deployed,
    installed: KubernetesApi,
    snapshot: SnapshotAssertion,
) -> None:
    assert missed(deployed) == ""
    spoil(installed)
    assert missed(deployed) == snapshot


def test_nothing_is_there(
    deployed: Deployed, kubernetes: KubernetesApi, snapshot: SnapshotAssertion
) -> None:
    join(kubernetes, "n0", cluster="ml-cluster")
    assert missed(deployed) == snapshot


def test_the_driver_may_be_of_somebody_else(
    deployed: Deployed, installed: KubernetesApi, snapshot: SnapshotAssertion
) -> None:
    # As its own chart installs it, in whichever namespace.
    without_driver(installed)
    config = configure({}).model_copy(
        update={"eks": configure({}).eks.model_copy(update={"cluster_arn": ARN, "addons": ()})}
    )
    driver, csi = addon_pods(deployed(config))
    assert driver == snapshot
    assert csi.ok


OPERATORS = {"operators": {addon.key: True for addon in OPERATOR_ADDONS}}


@pytest.mark.parametrize("on", [{}, OPERATORS], ids=["off", "on"])
def test_operators_that_are_on_are_looked_for(
    on: dict[str, Any],
    deployed: Deployed,
    kubernetes: KubernetesApi,
    snapshot: SnapshotAssertion,
) -> None:
    config = configure(on)
    before = [*operators(deployed(config))]
    for namespace in (
        "cert-manager",
        "aws-hyperpod",
        "jupyter-k8s-system",
        "hyperpod-inference-system",
    ):
        kubernetes.create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        )
    for addon in config.operators.addons:
        for item in objects_of(addon.name, version="v1", region="us-west-2"):
            kubernetes.create(item)
    without_nodes = [*operators(deployed(config))]
    join(kubernetes, "n0", cluster="ml-cluster")
    after = [*operators(deployed(config))]

    assert report(before) == snapshot
    assert [check.title for check in without_nodes if check.ok] == snapshot
    assert all(check.ok for check in after)
