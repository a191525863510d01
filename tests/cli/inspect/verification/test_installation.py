"""What is verified follows what is installed."""

from typing import Any

import pytest

from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cli.inspect.verification.check import Check, LiveDeployment
from hyperpod_cli.inspect.verification.subjects.eks.addon_pods import addon_pods
from hyperpod_cli.inspect.verification.subjects.eks.operators import operators
from hyperpod_cli.inspect.verification.verify import SUBJECTS, verify
from hyperpod_emulator.aws.eks.addon_objects import objects_of
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.kubernetes.controllers.workloads import UNREACHABLE
from hyperpod_emulator.testing.kubernetes_api import AUDITOR, VIEWER, daemon_set, deployment
from tests.cli.inspect.verification.conftest import Deployed, join
from tests.support.configs import CONFIG_FOLDER, configure

RELEASE = "hyperpod-dependencies"
DOCUMENTED = {
    "kubectl get ds health-monitoring-agent -n aws-hyperpod",
    f"kubectl get ds {RELEASE}-nvidia-device-plugin -n kube-system",
    "kubectl get ds neuron-device-plugin-daemonset -n kube-system",
    f"kubectl get ds {RELEASE}-aws-efa-k8s-device-plugin -n kube-system",
    f"kubectl get deploy {RELEASE}-training-operators -n kubeflow",
    f"kubectl get deploy {RELEASE}-mpi-operator -n kube-system",
    "kubectl get crd mpijobs.kubeflow.org mxjobs.kubeflow.org paddlejobs.kubeflow.org"
    " pytorchjobs.kubeflow.org tfjobs.kubeflow.org xgboostjobs.kubeflow.org",
    "kubectl get priorityclass system-node-critical",
    "kubectl get priorityclass inference training best-effort",
}


INSTALLATION = ("components", "definitions", "priorities")


def found(deployment: LiveDeployment) -> dict[str, str]:
    """Return what is found of what is installed, by command."""
    subjects = {name: SUBJECTS[name] for name in INSTALLATION}
    return {check.title: check.found for check in verify(deployment, subjects=subjects)}


def test_the_default_configuration_asks_for_every_documented_one(deployed: Deployed) -> None:
    commands = found(deployed(configure({})))

    version = "kubectl get crd mpijobs.kubeflow.org -o jsonpath={.status.storedVersions[]}"
    assert commands.keys() == DOCUMENTED | {version}
    there = "kubectl get priorityclass system-node-critical"
    assert {name for name, problem in commands.items() if not problem} == {there}
    assert commands[version] == "is None, not v2beta1"


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
    assert "kubectl get ds health-monitoring-agent -n aws-hyperpod" in commands


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
    assert [name for name in found(deployed(config)) if "monitoring" in name] == [
        f"kubectl get ds health-monitoring-agent{agent} -n aws-hyperpod" for agent in agents
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


def test_a_component_has_all_its_pods(deployed: Deployed, kubernetes: KubernetesApi) -> None:
    kubernetes.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kubeflow"}})
    kubernetes.create(deployment(f"{RELEASE}-training-operators", namespace="kubeflow"))
    kubernetes.create(daemon_set(f"{RELEASE}-nvidia-device-plugin", namespace="kube-system"))
    command = f"kubectl get deploy {RELEASE}-training-operators -n kubeflow"

    told = found(deployed(configure({})))
    assert told[command] == "0 of 2 pods are ready"
    # Where no node is for it, a DaemonSet has the pods that it should have.
    assert told[f"kubectl get ds {RELEASE}-nvidia-device-plugin -n kube-system"] == ""

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


FSX = "aws-fsx-csi-driver"
ADDONS = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", FSX)
DRIVER = "kubectl get csidriver fsx.csi.aws.com"
CSI = "kubectl get pods -A -l app=fsx-csi-node -o wide: one is ready on each node"
SYSTEM = "kube-system"
AGAIN = "aws eks update-addon --cluster-name ml-eks --addon-name"
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


def failed(deployed: Deployed) -> dict[str, Check]:
    """Return each check of the default configuration that does not hold."""
    checks = [*addon_pods(deployed(configure({})))]
    assert len(checks) == 7
    return {check.title: check for check in checks if not check.ok}


@pytest.mark.usefixtures("installed")
def test_all_is_there(deployed: Deployed) -> None:
    assert failed(deployed) == {}


def test_nothing_is_there(deployed: Deployed, kubernetes: KubernetesApi) -> None:
    join(kubernetes, "n0", cluster="ml-cluster")
    found = failed(deployed)
    assert {check.found for check in found.values()} == {"is not installed", "0 of 1; n0: none"}
    assert (len(found), found[CSI].found) == (7, "0 of 1; n0: none")
    assert all(AGAIN in check.advice for check in found.values())
    assert found[DRIVER].advice.startswith("Storage issues: no pod mounts the file system ")


def test_the_driver_is_not_registered(deployed: Deployed, installed: KubernetesApi) -> None:
    installed.delete("storage.k8s.io/v1", "CSIDriver", "fsx.csi.aws.com")
    (check,) = failed(deployed).values()
    assert (check.title, check.found) == (DRIVER, "is not installed")


def test_a_node_is_named_with_the_state_of_its_pod(
    deployed: Deployed, installed: KubernetesApi
) -> None:
    def change(spec: dict[str, object]) -> None:
        change = {"spec": {"template": {"spec": spec}}}
        installed.merge("apps/v1", "DaemonSet", "fsx-csi-node", change, namespace=SYSTEM)

    change({"nodeSelector": {"kubernetes.io/hostname": "n0"}})
    (check,) = failed(deployed).values()
    assert (check.title, check.found) == (CSI, "1 of 2; n1: none")
    assert "kubectl describe pods -A -l app=fsx-csi-node" in check.advice

    image = {"name": "fsx-plugin", "image": f"{UNREACHABLE}fsx:v1"}
    change({"nodeSelector": None, "containers": [image]})
    (check,) = failed(deployed).values()
    assert check.found == "0 of 2; n0: ImagePullBackOff, n1: ImagePullBackOff"


def test_the_pods_of_a_silent_node_are_not_ready(
    deployed: Deployed, installed: KubernetesApi
) -> None:
    installed.silence_node("n1")
    found = failed(deployed)
    assert {check.found for check in found.values()} == {"1 of 2; n1: not ready"}
    assert len(found) == 4


def test_the_driver_may_be_of_somebody_else(deployed: Deployed, installed: KubernetesApi) -> None:
    # As its own chart installs it, in whichever namespace.
    installed.delete("storage.k8s.io/v1", "CSIDriver", "fsx.csi.aws.com")
    config = configure({}).model_copy(
        update={"eks": configure({}).eks.model_copy(update={"cluster_arn": ARN, "addons": ()})}
    )
    driver, csi = addon_pods(deployed(config))
    assert (driver.title, driver.found, csi.ok) == (DRIVER, "is not installed", True)
    assert "Install the driver again" in driver.advice


OPERATORS = {
    "operators": {addon.key: True for addon in OPERATOR_ADDONS},
}


@pytest.mark.parametrize("on", [{}, OPERATORS], ids=["off", "on"])
def test_operators_that_are_on_are_looked_for(
    on: dict[str, Any], deployed: Deployed, kubernetes: KubernetesApi
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

    assert len(before) == sum(
        len(addon.deployments) + len(addon.daemon_sets) + (addon.definition is not None)
        for addon in config.operators.addons
    )
    assert {check.found for check in before} == ({"is not installed"} if on else set())
    assert all(AGAIN in check.advice for check in before)
    assert [check.title for check in without_nodes if check.ok] == (
        [
            "kubectl get crd hyperpodpytorchjobs.sagemaker.amazonaws.com",
            "kubectl get ds ebs-csi-node -n kube-system",
            "kubectl get ds s3-csi-node -n kube-system",
            "kubectl get crd workspaces.workspace.jupyter.org",
            "kubectl get crd inferenceendpointconfigs.inference.sagemaker.aws.amazon.com",
            "kubectl get ds eks-node-monitoring-agent -n kube-system",
        ]
        if on
        else []
    )
    assert all(check.ok for check in after)
