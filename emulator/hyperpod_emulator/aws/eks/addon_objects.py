"""What each add-on puts into Kubernetes, a row each.

Names, kinds, labels, tolerations and replicas are those of
https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html and the pages next to it,
https://github.com/aws/eks-charts (aws-vpc-cni), https://github.com/aws/eks-pod-identity-agent and
https://github.com/kubernetes-sigs/aws-fsx-csi-driver (charts, version 1.9.0), those of
cert-manager and of HyperPod's observability of
https://github.com/awslabs/awsome-distributed-ai/pull/926, those of CloudWatch's of
https://github.com/aws-observability/helm-charts (version 5.4.0). Settings and roles of add-ons are
left out, and what only some nodes run: nothing runs in their pods here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperpod_emulator.definitions import ANYTHING, definition, hyperpod_pytorch_job

Object = dict[str, Any]

NAMESPACE = "kube-system"
# https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
_REGISTRY = "602401143452.dkr.ecr"
_EVERYWHERE = ({"operator": "Exists"},)
_CRITICAL = ({"key": "CriticalAddonsOnly", "operator": "Exists"},)
_CONTROL_PLANE = ({"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},)
TRAINING_OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
SPACES = "amazon-sagemaker-spaces"
INFERENCE = "amazon-sagemaker-hyperpod-inference"
CLOUDWATCH = "amazon-cloudwatch-observability"
METRICS = "amazon-sagemaker-hyperpod-observability"
TASK_GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Workload:
    """A Deployment, or without replicas a DaemonSet, which tolerates every taint.

    Attributes:
        images: The repository of each container's image.
        labels: Of its pods. Default: app.kubernetes.io/name, which is its name.
        account: The service account, where it matters.
    """

    name: str
    images: Mapping[str, str]
    labels: Mapping[str, str] = field(default_factory=dict)
    replicas: int | None = None
    tolerations: Sequence[Mapping[str, str]] = ()
    account: str | None = None

    def to_object(self, *, namespace: str, region: str, version: str) -> Object:
        """Return it as Kubernetes has it."""
        labels = dict(self.labels or {"app.kubernetes.io/name": self.name})
        is_deployment = self.replicas is not None
        registry = f"{_REGISTRY}.{region}.amazonaws.com"
        pod = {
            "containers": [
                {"name": container, "image": f"{registry}/{repository}:{version}"}
                for container, repository in self.images.items()
            ],
            "tolerations": [*(self.tolerations if is_deployment else _EVERYWHERE)],
            **({} if self.account is None else {"serviceAccountName": self.account}),
        }
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment" if is_deployment else "DaemonSet",
            "metadata": {"name": self.name, "namespace": namespace, "labels": labels},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": pod},
                **({"replicas": self.replicas} if is_deployment else {}),
            },
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class _Addon:
    """What an add-on installs.

    Attributes:
        accounts: Its service accounts. Default: one for each of these, with its name.
        others: What else it installs, before them.
    """

    workloads: Sequence[_Workload]
    accounts: Sequence[str] = ()
    namespace: str = NAMESPACE
    others: Sequence[Object] = ()


def objects_of(
    addon_name: str, *, version: str, region: str, values: Mapping[str, Any] | None = None
) -> list[Object]:
    """Return the objects of an add-on; images have its version as tag, and are of the region.

    Of the add-on's configuration values, the one that lets the VPC CNI enforce network policies is
    played: https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy-configure.html
    """
    addon = _ADDONS[addon_name]
    accounts = (
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": name, "namespace": addon.namespace},
        }
        for name in addon.accounts or [each.name for each in addon.workloads]
    )
    workloads = (
        each.to_object(namespace=addon.namespace, region=region, version=version)
        for each in addon.workloads
    )
    made = [*addon.others, *accounts, *workloads]
    for container in made[-1]["spec"]["template"]["spec"]["containers"]:
        if container["name"] == _NETWORK_POLICY_AGENT:
            is_on = str((values or {}).get("enableNetworkPolicy", False)).lower()
            container["args"] = [f"--enable-network-policy={is_on}"]
    return made


def csi_driver(name: str, **spec: object) -> Object:
    """Return a CSI driver."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": name},
        "spec": spec,
    }


_DNS_LABELS = {"k8s-app": "kube-dns"}
_DNS: Object = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "kube-dns", "namespace": NAMESPACE, "labels": _DNS_LABELS},
    "spec": {
        "selector": _DNS_LABELS,
        "ports": [
            {"name": "dns", "port": 53, "protocol": "UDP"},
            {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
        ],
    },
}
_MONITORING = "eks-node-monitoring-agent"
_AGENT = "eks-pod-identity-agent"
_CERT_MANAGER = {
    "cert-manager": "controller",
    "cert-manager-cainjector": "cainjector",
    "cert-manager-webhook": "webhook",
}
_TRAINING = "hp-training-operator-controller-manager"
_SPACES = "jupyter-k8s-controller-manager"
_OBSERVABILITY = "hyperpod-observability"
_NETWORK_POLICY_AGENT = "aws-eks-nodeagent"
_KUEUE = "kueue-controller-manager"
_ADDONS: Mapping[str, _Addon] = {
    "vpc-cni": _Addon(
        workloads=[
            _Workload(
                name="aws-node",
                labels={"k8s-app": "aws-node"},
                images={
                    "aws-node": "amazon-k8s-cni",
                    _NETWORK_POLICY_AGENT: "amazon/aws-network-policy-agent",
                },
            )
        ],
    ),
    "kube-proxy": _Addon(
        workloads=[
            _Workload(
                name="kube-proxy",
                labels={"k8s-app": "kube-proxy"},
                images={"kube-proxy": "eks/kube-proxy"},
            )
        ],
    ),
    _AGENT: _Addon(workloads=[_Workload(name=_AGENT, images={_AGENT: f"eks/{_AGENT}"})]),
    "coredns": _Addon(
        others=[_DNS],
        workloads=[
            _Workload(
                name="coredns",
                labels=_DNS_LABELS,
                images={"coredns": "eks/coredns"},
                replicas=2,
                tolerations=(*_CRITICAL, *_CONTROL_PLANE),
            )
        ],
    ),
    "aws-fsx-csi-driver": _Addon(
        others=[
            csi_driver(
                "fsx.csi.aws.com", attachRequired=False, fsGroupPolicy="ReadWriteOnceWithFSType"
            )
        ],
        accounts=["fsx-csi-node-sa", "fsx-csi-controller-sa"],
        workloads=[
            _Workload(
                name="fsx-csi-node",
                labels={"app": "fsx-csi-node"},
                images={
                    "fsx-plugin": "eks/aws-fsx-csi-driver",
                    "node-driver-registrar": "eks/csi-node-driver-registrar",
                },
            ),
            _Workload(
                name="fsx-csi-controller",
                labels={"app": "fsx-csi-controller"},
                images={
                    "fsx-plugin": "eks/aws-fsx-csi-driver",
                    "csi-provisioner": "eks/csi-provisioner",
                },
                replicas=2,
                tolerations=_CRITICAL,
            ),
        ],
    ),
    "cert-manager": _Addon(
        namespace="cert-manager",
        workloads=[
            _Workload(
                name=name,
                labels={
                    "app.kubernetes.io/instance": "cert-manager",
                    "app.kubernetes.io/name": component,
                },
                images={f"cert-manager-{component}": f"eks/cert-manager-{component}"},
                replicas=1,
                tolerations=_EVERYWHERE,
            )
            for name, component in _CERT_MANAGER.items()
        ],
    ),
    "metrics-server": _Addon(
        workloads=[
            _Workload(
                name="metrics-server", images={"metrics-server": "eks/metrics-server"}, replicas=2
            )
        ],
    ),
    TRAINING_OPERATOR: _Addon(
        namespace="aws-hyperpod",
        others=[hyperpod_pytorch_job()],
        workloads=[
            _Workload(
                name=_TRAINING,
                labels={"hp-training-control-plane": _TRAINING},
                images={"manager": "hyperpod-training-operator"},
                replicas=1,
                account=_TRAINING,
            )
        ],
    ),
    "aws-ebs-csi-driver": _Addon(
        others=[csi_driver("ebs.csi.aws.com", attachRequired=True, fsGroupPolicy="File")],
        accounts=["ebs-csi-node-sa", "ebs-csi-controller-sa"],
        workloads=[
            _Workload(
                name="ebs-csi-node",
                labels={"app": "ebs-csi-node"},
                images={"ebs-plugin": "eks/aws-ebs-csi-driver"},
            ),
            _Workload(
                name="ebs-csi-controller",
                labels={"app": "ebs-csi-controller"},
                images={"ebs-plugin": "eks/aws-ebs-csi-driver", "csi-attacher": "eks/csi-attacher"},
                replicas=2,
                tolerations=_CRITICAL,
            ),
        ],
    ),
    # Version 2: https://github.com/awslabs/mountpoint-s3-csi-driver
    "aws-mountpoint-s3-csi-driver": _Addon(
        others=[csi_driver("s3.csi.aws.com", attachRequired=False, podInfoOnMount=True)],
        accounts=["s3-csi-driver-sa", "s3-csi-driver-controller-sa"],
        workloads=[
            _Workload(
                name=name,
                labels={"app": name},
                images={"s3-plugin": "eks/aws-s3-csi-driver"},
                replicas=replicas,
            )
            for name, replicas in (("s3-csi-node", None), ("s3-csi-controller", 1))
        ],
    ),
    _MONITORING: _Addon(
        workloads=[_Workload(name=_MONITORING, images={_MONITORING: f"eks/{_MONITORING}"})]
    ),
    # https://docs.aws.amazon.com/sagemaker/latest/dg/operator-install.html
    SPACES: _Addon(
        namespace="jupyter-k8s-system",
        others=[
            definition(
                "Workspace", group="workspace.jupyter.org", version="v1alpha1", schema=ANYTHING
            )
        ],
        workloads=[
            _Workload(
                name=_SPACES,
                labels={
                    "control-plane": "controller-manager",
                    "app.kubernetes.io/name": "jupyter-k8s",
                },
                images={"manager": "jupyter-k8s-controller"},
                replicas=1,
            )
        ],
    ),
    # Version 1, which brings its own KEDA:
    # https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/charts/inference-operator/migration/helm_to_addon.sh
    INFERENCE: _Addon(
        namespace="hyperpod-inference-system",
        others=[
            definition(kind, group="inference.sagemaker.aws.amazon.com", schema=ANYTHING)
            for kind in ("InferenceEndpointConfig", "JumpStartModel")
        ],
        accounts=[
            "hyperpod-inference-controller-manager",
            "aws-load-balancer-controller",
            "keda-operator",
        ],
        workloads=[
            _Workload(name=name, images={name: f"eks/{INFERENCE}/{name}"}, replicas=replicas)
            for name, replicas in (
                ("hyperpod-inference-controller-manager", 1),
                ("hyperpod-inference-alb", 2),
                ("keda-operator", 1),
                ("keda-operator-metrics-apiserver", 1),
                ("keda-admission-webhooks", 1),
            )
        ],
    ),
    CLOUDWATCH: _Addon(
        namespace="amazon-cloudwatch",
        workloads=[
            _Workload(
                name=f"{CLOUDWATCH}-controller-manager",
                labels={
                    "control-plane": "controller-manager",
                    "app.kubernetes.io/name": CLOUDWATCH,
                },
                images={"manager": "eks/observability/cloudwatch-agent-operator"},
                replicas=1,
                tolerations=_EVERYWHERE,
            ),
            _Workload(
                name="cloudwatch-agent",
                images={"otc-container": "eks/observability/cloudwatch-agent"},
            ),
        ],
    ),
    METRICS: _Addon(
        namespace=_OBSERVABILITY,
        accounts=[f"{_OBSERVABILITY}-operator-otel-collector"],
        workloads=[
            _Workload(name=name, images={image: f"eks/{METRICS}/{image}"}, replicas=replicas)
            for name, image, replicas in (
                (f"{_OBSERVABILITY}-controller-manager", "manager", 1),
                (f"{_OBSERVABILITY}-central-collector", "collector", 1),
                ("hyp-obs-kube-state-metrics", "kube-state-metrics", 1),
                (f"{_OBSERVABILITY}-node-collector", "collector", None),
                ("hyp-obs-node-exporter-prometheus-node-exporter", "node-exporter", None),
            )
        ],
    ),
    # Kueue's controller; namespaces of teams are made with their quotas.
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html
    TASK_GOVERNANCE: _Addon(
        namespace="kueue-system",
        workloads=[
            _Workload(
                name=_KUEUE,
                labels={"app.kubernetes.io/name": "kueue", "control-plane": "controller-manager"},
                images={"manager": "hyperpod-task-governance"},
                replicas=1,
            )
        ],
    ),
}
