"""What add-ons put into Kubernetes: the CSI driver, and pods on each node."""

import pytest

from emulator.aws.eks.addon_objects import objects_of
from emulator.kubernetes import KubernetesApi
from emulator.kubernetes.controllers.workloads import UNREACHABLE
from hyperpod_cli.inspect.verification.check import Check
from hyperpod_cli.inspect.verification.subjects.addon_pods import addon_pods
from tests.cli.inspect.verification.conftest import Deployed, join
from tests.conftest import Configure

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


def failed(configure: Configure, deployed: Deployed) -> dict[str, Check]:
    """Return each check of the default configuration that does not hold."""
    checks = [*addon_pods(deployed(configure({})))]
    assert len(checks) == 7
    return {check.title: check for check in checks if not check.ok}


@pytest.mark.usefixtures("installed")
def test_all_is_there(configure: Configure, deployed: Deployed) -> None:
    assert failed(configure, deployed) == {}


def test_nothing_is_there(
    configure: Configure, deployed: Deployed, kubernetes: KubernetesApi
) -> None:
    join(kubernetes, "n0", cluster="ml-cluster")
    found = failed(configure, deployed)
    assert {check.found for check in found.values()} == {"is not installed", "0 of 1; n0: none"}
    assert (len(found), found[CSI].found) == (7, "0 of 1; n0: none")
    assert all(AGAIN in check.advice for check in found.values())
    assert found[DRIVER].advice.startswith("Storage issues: no pod mounts the file system ")


def test_the_driver_is_not_registered(
    configure: Configure, deployed: Deployed, installed: KubernetesApi
) -> None:
    installed.delete("storage.k8s.io/v1", "CSIDriver", "fsx.csi.aws.com")
    (check,) = failed(configure, deployed).values()
    assert (check.title, check.found) == (DRIVER, "is not installed")


def test_a_node_is_named_with_the_state_of_its_pod(
    configure: Configure, deployed: Deployed, installed: KubernetesApi
) -> None:
    def change(spec: dict[str, object]) -> None:
        change = {"spec": {"template": {"spec": spec}}}
        installed.merge("apps/v1", "DaemonSet", "fsx-csi-node", change, namespace=SYSTEM)

    change({"nodeSelector": {"kubernetes.io/hostname": "n0"}})
    (check,) = failed(configure, deployed).values()
    assert (check.title, check.found) == (CSI, "1 of 2; n1: none")
    assert "kubectl describe pods -A -l app=fsx-csi-node" in check.advice

    image = {"name": "fsx-plugin", "image": f"{UNREACHABLE}fsx:v1"}
    change({"nodeSelector": None, "containers": [image]})
    (check,) = failed(configure, deployed).values()
    assert check.found == "0 of 2; n0: ImagePullBackOff, n1: ImagePullBackOff"


def test_the_pods_of_a_silent_node_are_not_ready(
    configure: Configure, deployed: Deployed, installed: KubernetesApi
) -> None:
    installed.silence_node("n1")
    found = failed(configure, deployed)
    assert {check.found for check in found.values()} == {"1 of 2; n1: not ready"}
    assert len(found) == 4


def test_the_driver_may_be_of_somebody_else(
    configure: Configure, deployed: Deployed, installed: KubernetesApi
) -> None:
    # As its own chart installs it, in whichever namespace.
    installed.delete("storage.k8s.io/v1", "CSIDriver", "fsx.csi.aws.com")
    config = configure({}).model_copy(
        update={"eks": configure({}).eks.model_copy(update={"cluster_arn": ARN, "addons": ()})}
    )
    driver, csi = addon_pods(deployed(config))
    assert (driver.title, driver.found, csi.ok) == (DRIVER, "is not installed", True)
    assert "Install the driver again" in driver.advice
