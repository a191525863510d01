"""EKS add-ons: their objects in Kubernetes, and the versions that EKS offers."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_emulator.kubernetes import Fault, InProcessControlPlane
from hyperpod_emulator.kubernetes.objects.errors import ApiError
from hyperpod_emulator.testing.site import Site
from hyperpod_emulator.testing.stacks import StackFailedError, client, deploy, resource

FSX = "aws-fsx-csi-driver"
OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
SYSTEM = "kube-system"


@pytest.fixture
def kubernetes(site: Site) -> Iterator[InProcessControlPlane]:
    """Return the cluster's Kubernetes, which has no node again afterwards."""
    yield site.kubernetes
    for node in site.kubernetes.objects("v1", "Node"):
        site.kubernetes.remove_node(node["metadata"]["name"])


def seen(site: Site, name: str) -> str:
    """Return the status of an add-on."""
    cluster = site.names["Cluster"].rpartition("/")[2]
    addon = client(site.aws, "eks").describe_addon(clusterName=cluster, addonName=name)["addon"]
    issues = [issue["code"] for issue in addon["health"]["issues"]]
    assert issues == ([] if addon["status"] == "ACTIVE" else ["InsufficientNumberOfReplicas"])
    return str(addon["status"])


def test_an_addon_without_nodes_is_created_and_degraded(
    site: Site, kubernetes: InProcessControlPlane
) -> None:
    cluster = site.names["Cluster"].rpartition("/")[2]
    eks = client(site.aws, "eks")
    deploy(
        site.aws,
        {"Dns": resource("AWS::EKS::Addon", ClusterName=cluster, AddonName="coredns")},
        {},
    )
    assert seen(site, "coredns") == "DEGRADED"
    kubernetes.put_node("n0", instance_type="ml.m5.xlarge")
    assert seen(site, "coredns") == "ACTIVE"
    kubernetes.remove_node("n0")
    assert seen(site, "coredns") == "DEGRADED"

    version = "v1.13.2-eksbuild.7"
    asked = {"clusterName": cluster, "addonName": "coredns"}
    update = eks.update_addon(**asked, addonVersion=version)["update"]
    assert seen(site, "coredns") == "UPDATING"
    [deployment] = kubernetes.objects("apps/v1", "Deployment", SYSTEM)
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert container["image"].endswith(f".us-west-2.amazonaws.com/eks/coredns:{version}")
    states = [
        eks.describe_update(name=cluster, addonName="coredns", updateId=update["id"])["update"]
        for _ in range(20)
    ]
    assert (states[0]["status"], states[-1]["status"]) == ("InProgress", "Failed")
    assert (eks.describe_addon(**asked)["addon"]["addonVersion"], seen(site, "coredns")) == (
        version,
        "DEGRADED",
    )


def test_a_stack_whose_addon_is_updated_without_nodes_cannot_go_back(
    site: Site, kubernetes: InProcessControlPlane
) -> None:
    cluster = site.names["Cluster"].rpartition("/")[2]

    def wanted(name: str, version: str) -> dict[str, Any]:
        addon = resource(
            "AWS::EKS::Addon", ClusterName=cluster, AddonName=name, AddonVersion=version
        )
        return {"Addon": addon}

    kubernetes.put_node("n0", instance_type="ml.m5.xlarge")
    former, newer = "v1.7.0-eksbuild.1", "v1.8.0-eksbuild.2"
    stack = deploy(site.aws, wanted(FSX, former), {})
    deploy(site.aws, wanted(FSX, newer), {}, stack=stack.name)
    kubernetes.remove_node("n0")

    with pytest.raises(StackFailedError, match="NotStabilized: Update"):
        deploy(site.aws, wanted(FSX, former), {}, stack=stack.name)
    [found] = client(site.aws, "cloudformation").describe_stacks(StackName=stack.name)["Stacks"]
    assert (found["StackStatus"], seen(site, FSX)) == ("UPDATE_ROLLBACK_FAILED", "DEGRADED")
    client(site.aws, "eks").delete_addon(clusterName=cluster, addonName=FSX)


def test_an_addon_is_as_healthy_as_its_pods(site: Site, kubernetes: InProcessControlPlane) -> None:
    cluster = site.names["Cluster"].rpartition("/")[2]
    eks = client(site.aws, "eks")
    kubernetes.put_node("n0", instance_type="ml.m5.xlarge")
    # Of a client, not of EKS.
    kubernetes.inject(Fault(times=None))
    eks.create_addon(clusterName=cluster, addonName=FSX)
    kubernetes.clear_faults()
    drivers = kubernetes.objects("storage.k8s.io/v1", "CSIDriver")
    assert [driver["metadata"]["name"] for driver in drivers] == ["fsx.csi.aws.com"]
    pods = kubernetes.objects("v1", "Pod", SYSTEM)
    assert [pod["metadata"]["labels"] for pod in pods] == [{"app": "fsx-csi-node"}]
    assert seen(site, FSX) == "ACTIVE"

    kubernetes.silence_node("n0")
    assert seen(site, FSX) == "DEGRADED"
    kubernetes.put_node("n0", instance_type="ml.m5.xlarge")
    kubernetes.delete("apps/v1", "DaemonSet", "fsx-csi-node", namespace=SYSTEM)
    assert seen(site, FSX) == "DEGRADED"

    eks.delete_addon(clusterName=cluster, addonName=FSX)
    assert kubernetes.objects("storage.k8s.io/v1", "CSIDriver") == []
    left = kubernetes.objects("apps/v1", "Deployment", SYSTEM)
    assert "fsx-csi-controller" not in [item["metadata"]["name"] for item in left]


def test_the_training_operator_needs_the_pods_of_cert_manager(
    site: Site, kubernetes: InProcessControlPlane
) -> None:
    cluster, version = site.names["Cluster"].rpartition("/")[2], "v1.2.1-eksbuild.1"
    eks = client(site.aws, "eks")
    operator = resource(
        "AWS::EKS::Addon", ClusterName=cluster, AddonName=OPERATOR, AddonVersion=version
    )
    eks.create_addon(clusterName=cluster, addonName="cert-manager")
    with pytest.raises(StackFailedError, match=f"Add-on {OPERATOR} is CREATE_FAILED: Admission"):
        deploy(site.aws, {"Operator": operator}, {})
    kubernetes.put_node("n0", instance_type="ml.m5.4xlarge")
    identity = {"serviceAccount": "hp-training-operator-controller-manager", "roleArn": "a:role"}
    asked = {"clusterName": cluster, "addonName": OPERATOR, "addonVersion": version}
    with pytest.raises(ClientError, match=f"not supported for addon version: {version}"):
        eks.create_addon(**asked, podIdentityAssociations=[identity])

    deploy(site.aws, {"Operator": operator}, {})

    assert (seen(site, "cert-manager"), seen(site, OPERATOR)) == ("ACTIVE", "ACTIVE")
    job = {
        "apiVersion": "sagemaker.amazonaws.com/v1",
        "kind": "HyperPodPyTorchJob",
        "metadata": {"name": "one", "namespace": "default"},
    }
    with pytest.raises(ApiError, match="replicaSpecs: Required value"):
        kubernetes.create({**job, "spec": {}})
    for name in (OPERATOR, "cert-manager"):
        eks.delete_addon(clusterName=cluster, addonName=name)
    assert kubernetes.objects("apps/v1", "Deployment", "aws-hyperpod") == []


def test_the_inference_operator_needs_two_drivers_and_cert_manager(
    site: Site, kubernetes: InProcessControlPlane
) -> None:
    cluster, name = site.names["Cluster"].rpartition("/")[2], "amazon-sagemaker-hyperpod-inference"
    eks = client(site.aws, "eks")
    needed = {
        "aws-mountpoint-s3-csi-driver": "missing CSIDriver s3.csi.aws.com",
        FSX: "missing CSIDriver fsx.csi.aws.com",
        "cert-manager": "Missing required CRD: certificaterequests.cert-manager.io",
    }
    operator = resource("AWS::EKS::Addon", ClusterName=cluster, AddonName=name)
    kubernetes.put_node("n0", instance_type="ml.m5.4xlarge")
    for addon, problem in needed.items():
        with pytest.raises(
            StackFailedError, match=f"CREATE_FAILED: K8sResourceNotFound.*{problem}"
        ):
            deploy(site.aws, {"Operator": operator}, {})
        eks.create_addon(clusterName=cluster, addonName=addon)

    deploy(site.aws, {"Operator": operator}, {})

    assert seen(site, name) == "ACTIVE"
    for addon in (name, *needed):
        eks.delete_addon(clusterName=cluster, addonName=addon)


@pytest.mark.parametrize("name", ["vpc-cni", "kube-proxy", "eks-pod-identity-agent"])
def test_a_daemon_set_alone_needs_no_nodes(
    name: str, site: Site, kubernetes: InProcessControlPlane
) -> None:
    cluster = site.names["Cluster"].rpartition("/")[2]
    eks = client(site.aws, "eks")
    eks.create_addon(clusterName=cluster, addonName=name)
    assert seen(site, name) == "ACTIVE"
    eks.delete_addon(clusterName=cluster, addonName=name)
    assert kubernetes.objects("apps/v1", "DaemonSet", SYSTEM) == []
