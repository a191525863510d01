"""What each add-on puts into Kubernetes, and whether its pods are ready.

Names, kinds, labels, tolerations and replicas are those of
https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html and the pages next to it,
https://github.com/aws/eks-charts (aws-vpc-cni), https://github.com/aws/eks-pod-identity-agent and
https://github.com/kubernetes-sigs/aws-fsx-csi-driver (charts, version 1.9.0), those of
cert-manager and of HyperPod's observability of
https://github.com/awslabs/awsome-distributed-ai/pull/926, those of CloudWatch's of
https://github.com/aws-observability/helm-charts (version 5.4.0). Settings and roles of add-ons are
left out, and what only some nodes run: nothing runs in their pods here. Like EKS, it uses
server-side apply:
https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-field-management.html
"""

import base64
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from emulator.aws.eks.hyperpod_pytorch_job import definition
from emulator.aws.settings import Settings

Object = dict[str, Any]

NODE_GROUP = "eks.amazonaws.com/nodegroup"
"""The label by which EKS knows its nodes."""
_NAMESPACE = "kube-system"
# https://docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html
_REGISTRY = "602401143452.dkr.ecr"
_EVERYWHERE = [{"operator": "Exists"}]
_CRITICAL = [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
_CONTROL_PLANE = [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]


def objects_of(addon_name: str, *, version: str, region: str) -> list[Object]:
    """Return the objects of an add-on.

    Args:
        addon_name: Its name, of those that configurations use.
        version: The version, which its images have as their tag.
        region: Where its images are pulled from.
    """

    def image(name: str) -> str:
        return f"{_REGISTRY}.{region}.amazonaws.com/{name}:{version}"

    return _OBJECTS[addon_name](image)


def _vpc_cni(image: Callable[[str], str]) -> list[Object]:
    containers = {
        "aws-node": image("amazon-k8s-cni"),
        "aws-eks-nodeagent": image("amazon/aws-network-policy-agent"),
    }
    return [_account("aws-node"), _daemon_set("aws-node", {"k8s-app": "aws-node"}, containers)]


def _kube_proxy(image: Callable[[str], str]) -> list[Object]:
    containers = {"kube-proxy": image("eks/kube-proxy")}
    labels = {"k8s-app": "kube-proxy"}
    return [_account("kube-proxy"), _daemon_set("kube-proxy", labels, containers)]


def _pod_identity_agent(image: Callable[[str], str]) -> list[Object]:
    name = "eks-pod-identity-agent"
    labels = {"app.kubernetes.io/name": name}
    return [_account(name), _daemon_set(name, labels, {name: image(f"eks/{name}")})]


def _coredns(image: Callable[[str], str]) -> list[Object]:
    labels = {"k8s-app": "kube-dns"}
    service = {
        **_object("v1", "Service", "kube-dns", labels),
        "spec": {
            "selector": labels,
            "ports": [
                {"name": "dns", "port": 53, "protocol": "UDP"},
                {"name": "dns-tcp", "port": 53, "protocol": "TCP"},
            ],
        },
    }
    containers = {"coredns": image("eks/coredns")}
    tolerations = [*_CRITICAL, *_CONTROL_PLANE]
    deployment = _deployment("coredns", labels, containers, tolerations=tolerations)
    return [_account("coredns"), service, deployment]


def _fsx_csi_driver(image: Callable[[str], str]) -> list[Object]:
    driver = _csi_driver(
        "fsx.csi.aws.com", attachRequired=False, fsGroupPolicy="ReadWriteOnceWithFSType"
    )
    node, controller = "fsx-csi-node", "fsx-csi-controller"
    containers = {"fsx-plugin": image("eks/aws-fsx-csi-driver")}
    return [
        driver,
        _account(f"{node}-sa"),
        _account(f"{controller}-sa"),
        _daemon_set(
            node,
            {"app": node},
            {**containers, "node-driver-registrar": image("eks/csi-node-driver-registrar")},
        ),
        _deployment(
            controller,
            {"app": controller},
            {**containers, "csi-provisioner": image("eks/csi-provisioner")},
            tolerations=_CRITICAL,
        ),
    ]


_WEBHOOK = "cert-manager-webhook"
_CERT_MANAGER = "cert-manager"


def _cert_manager(image: Callable[[str], str]) -> list[Object]:
    return [
        each
        for name, component in (
            (_CERT_MANAGER, "controller"),
            (f"{_CERT_MANAGER}-cainjector", "cainjector"),
            (_WEBHOOK, "webhook"),
        )
        for each in (
            _account(name, namespace=_CERT_MANAGER),
            _deployment(
                name,
                {"app.kubernetes.io/instance": _CERT_MANAGER, "app.kubernetes.io/name": component},
                {f"cert-manager-{component}": image(f"eks/cert-manager-{component}")},
                tolerations=_EVERYWHERE,
                namespace=_CERT_MANAGER,
                replicas=1,
            ),
        )
    ]


def _webhook() -> Object:
    return _object("apps/v1", "Deployment", _WEBHOOK, {}, namespace=_CERT_MANAGER)


def _metrics_server(image: Callable[[str], str]) -> list[Object]:
    name = "metrics-server"
    labels = {"app.kubernetes.io/name": name}
    containers = {name: image(f"eks/{name}")}
    return [_account(name), _deployment(name, labels, containers, tolerations=[])]


TRAINING_OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
_TRAINING_NAMESPACE = "aws-hyperpod"


def _training_operator(image: Callable[[str], str]) -> list[Object]:
    name = "hp-training-operator-controller-manager"
    deployment = _deployment(
        name,
        {"hp-training-control-plane": name},
        {"manager": image("hyperpod-training-operator")},
        tolerations=[],
        namespace=_TRAINING_NAMESPACE,
        replicas=1,
    )
    deployment["spec"]["template"]["spec"]["serviceAccountName"] = name
    account = _account(name, namespace=_TRAINING_NAMESPACE)
    return [definition(), account, deployment]


def _csi_driver(name: str, **spec: object) -> Object:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": name},
        "spec": spec,
    }


def _s3_csi_driver(image: Callable[[str], str]) -> list[Object]:
    """Return the objects of version 2 of the driver.

    https://github.com/awslabs/mountpoint-s3-csi-driver
    """
    node, controller = "s3-csi-node", "s3-csi-controller"
    containers = {"s3-plugin": image("eks/aws-s3-csi-driver")}
    return [
        _csi_driver("s3.csi.aws.com", attachRequired=False, podInfoOnMount=True),
        _account("s3-csi-driver-sa"),
        _account("s3-csi-driver-controller-sa"),
        _daemon_set(node, {"app": node}, containers),
        _deployment(controller, {"app": controller}, containers, tolerations=[], replicas=1),
    ]


def _ebs_csi_driver(image: Callable[[str], str]) -> list[Object]:
    driver = _csi_driver("ebs.csi.aws.com", attachRequired=True, fsGroupPolicy="File")
    node, controller = "ebs-csi-node", "ebs-csi-controller"
    containers = {"ebs-plugin": image("eks/aws-ebs-csi-driver")}
    return [
        driver,
        _account(f"{node}-sa"),
        _account(f"{controller}-sa"),
        _daemon_set(node, {"app": node}, containers),
        _deployment(
            controller,
            {"app": controller},
            {**containers, "csi-attacher": image("eks/csi-attacher")},
            tolerations=_CRITICAL,
        ),
    ]


def _definition(kind: str, *, group: str, version: str) -> Object:
    """Return the definition of a kind that takes any object."""
    singular = kind.lower()
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{singular}s.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": f"{singular}s", "singular": singular},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": anything},
                }
            ],
        },
    }


SPACES = "amazon-sagemaker-spaces"
_SPACES_NAMESPACE = "jupyter-k8s-system"


def _spaces(image: Callable[[str], str]) -> list[Object]:
    """Return the objects of Spaces.

    https://docs.aws.amazon.com/sagemaker/latest/dg/operator-install.html
    """
    name = "jupyter-k8s-controller-manager"
    definition = _definition("Workspace", group="workspace.jupyter.org", version="v1alpha1")
    deployment = _deployment(
        name,
        {"control-plane": "controller-manager", "app.kubernetes.io/name": "jupyter-k8s"},
        {"manager": image("jupyter-k8s-controller")},
        tolerations=[],
        namespace=_SPACES_NAMESPACE,
        replicas=1,
    )
    return [definition, _account(name, namespace=_SPACES_NAMESPACE), deployment]


INFERENCE = "amazon-sagemaker-hyperpod-inference"


def _inference_operator(image: Callable[[str], str]) -> list[Object]:
    """Return the objects of version 1 of the add-on, which brings its own KEDA.

    Names are those of
    https://github.com/aws/sagemaker-hyperpod-cli/blob/main/helm_chart/HyperPodHelmChart/charts/inference-operator/migration/helm_to_addon.sh
    """
    namespace, group = "hyperpod-inference-system", "inference.sagemaker.aws.amazon.com"
    replicas = {
        "hyperpod-inference-controller-manager": 1,
        "hyperpod-inference-alb": 2,
        "keda-operator": 1,
        "keda-operator-metrics-apiserver": 1,
        "keda-admission-webhooks": 1,
    }
    accounts = (
        "hyperpod-inference-controller-manager",
        "aws-load-balancer-controller",
        "keda-operator",
    )
    return [
        *(
            _definition(kind, group=group, version="v1")
            for kind in ("InferenceEndpointConfig", "JumpStartModel")
        ),
        *(_account(name, namespace=namespace) for name in accounts),
        *(
            _deployment(
                name,
                {"app.kubernetes.io/name": name},
                {name: image(f"eks/{INFERENCE}/{name}")},
                tolerations=[],
                namespace=namespace,
                replicas=count,
            )
            for name, count in replicas.items()
        ),
    ]


CLOUDWATCH = "amazon-cloudwatch-observability"


def _cloudwatch(image: Callable[[str], str]) -> list[Object]:
    namespace, manager = "amazon-cloudwatch", f"{CLOUDWATCH}-controller-manager"
    agent = "cloudwatch-agent"
    return [
        _account(manager, namespace=namespace),
        _account(agent, namespace=namespace),
        _deployment(
            manager,
            {"control-plane": "controller-manager", "app.kubernetes.io/name": CLOUDWATCH},
            {"manager": image("eks/observability/cloudwatch-agent-operator")},
            tolerations=_EVERYWHERE,
            namespace=namespace,
            replicas=1,
        ),
        _daemon_set(
            agent,
            {"app.kubernetes.io/name": agent},
            {"otc-container": image("eks/observability/cloudwatch-agent")},
            namespace=namespace,
        ),
    ]


METRICS = "amazon-sagemaker-hyperpod-observability"


def _metrics(image: Callable[[str], str]) -> list[Object]:
    namespace, operator = "hyperpod-observability", "hyperpod-observability"
    deployments = {
        f"{operator}-controller-manager": "manager",
        f"{operator}-central-collector": "collector",
        "hyp-obs-kube-state-metrics": "kube-state-metrics",
    }
    sets = {
        f"{operator}-node-collector": "collector",
        "hyp-obs-node-exporter-prometheus-node-exporter": "node-exporter",
    }
    return [
        _account("hyperpod-observability-operator-otel-collector", namespace=namespace),
        *(
            _deployment(
                name,
                {"app.kubernetes.io/name": name},
                {container: image(f"eks/{METRICS}/{container}")},
                tolerations=[],
                namespace=namespace,
                replicas=1,
            )
            for name, container in deployments.items()
        ),
        *(
            _daemon_set(
                name,
                {"app.kubernetes.io/name": name},
                {container: image(f"eks/{METRICS}/{container}")},
                namespace=namespace,
            )
            for name, container in sets.items()
        ),
    ]


TASK_GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"


def _task_governance(image: Callable[[str], str]) -> list[Object]:
    """Return Kueue's controller; namespaces of teams are made with their quotas.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup-task-governance.html
    """
    name, namespace = "kueue-controller-manager", "kueue-system"
    labels = {"app.kubernetes.io/name": "kueue", "control-plane": "controller-manager"}
    deployment = _deployment(
        name,
        labels,
        {"manager": image("hyperpod-task-governance")},
        tolerations=[],
        namespace=namespace,
        replicas=1,
    )
    return [_account(name, namespace=namespace), deployment]


_OBJECTS: Mapping[str, Callable[[Callable[[str], str]], list[Object]]] = {
    "vpc-cni": _vpc_cni,
    "kube-proxy": _kube_proxy,
    "eks-pod-identity-agent": _pod_identity_agent,
    "coredns": _coredns,
    "aws-fsx-csi-driver": _fsx_csi_driver,
    "cert-manager": _cert_manager,
    "metrics-server": _metrics_server,
    TRAINING_OPERATOR: _training_operator,
    "aws-ebs-csi-driver": _ebs_csi_driver,
    "aws-mountpoint-s3-csi-driver": _s3_csi_driver,
    SPACES: _spaces,
    INFERENCE: _inference_operator,
    CLOUDWATCH: _cloudwatch,
    METRICS: _metrics,
    TASK_GOVERNANCE: _task_governance,
}


def _account(name: str, *, namespace: str = _NAMESPACE) -> Object:
    return _object("v1", "ServiceAccount", name, {}, namespace=namespace)


def _daemon_set(
    name: str,
    labels: Mapping[str, str],
    images: Mapping[str, str],
    *,
    namespace: str = _NAMESPACE,
) -> Object:
    return _workload(
        "DaemonSet", name, labels, images, tolerations=_EVERYWHERE, namespace=namespace
    )


def _deployment(
    name: str,
    labels: Mapping[str, str],
    images: Mapping[str, str],
    *,
    tolerations: list[Object],
    namespace: str = _NAMESPACE,
    replicas: int = 2,
) -> Object:
    workload = _workload(
        "Deployment", name, labels, images, tolerations=tolerations, namespace=namespace
    )
    return {**workload, "spec": {**workload["spec"], "replicas": replicas}}


def _workload(
    kind: str,
    name: str,
    labels: Mapping[str, str],
    images: Mapping[str, str],
    *,
    tolerations: list[Object],
    namespace: str = _NAMESPACE,
) -> Object:
    return {
        **_object("apps/v1", kind, name, labels, namespace=namespace),
        "spec": {
            "selector": {"matchLabels": dict(labels)},
            "template": {
                "metadata": {"labels": dict(labels)},
                "spec": {
                    "containers": [
                        {"name": container, "image": image} for container, image in images.items()
                    ],
                    "tolerations": tolerations,
                },
            },
        },
    }


def _object(
    api_version: str,
    kind: str,
    name: str,
    labels: Mapping[str, str],
    *,
    namespace: str = _NAMESPACE,
) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


_GUIDE = " and see the troubleshooting guide for more information."
_MANAGER = "eks"
_PLURALS = {
    "CSIDriver": "csidrivers",
    "CustomResourceDefinition": "customresourcedefinitions",
    "DaemonSet": "daemonsets",
    "Deployment": "deployments",
    "Namespace": "namespaces",
    "Service": "services",
    "ServiceAccount": "serviceaccounts",
}
_WORKLOADS = ("DaemonSet", "Deployment")
_SECONDS = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class AddonManager:
    """The part of EKS that has a hand in a cluster's Kubernetes.

    Attributes:
        endpoint: URL of the Kubernetes API.
        ca: Base64 of the PEM certificate authority of that endpoint.
        token: Bearer token of EKS.
    """

    endpoint: str
    ca: str
    token: str = field(repr=False)

    @classmethod
    def of(cls, settings: Settings) -> "AddonManager | None":
        """Return the one of the settings; None without a Kubernetes API."""
        if not settings.kubernetes_token:
            return None
        return cls(
            endpoint=settings.kubernetes_endpoint,
            ca=settings.kubernetes_ca,
            token=settings.kubernetes_token,
        )

    def ready_nodes(self, group: str) -> int:
        """Count the nodes of a node group that are ready."""
        found = self._call("GET", f"/api/v1/nodes?labelSelector={NODE_GROUP}%3D{group}")
        return sum(
            condition["type"] == "Ready" and condition["status"] == "True"
            for node in (found or {}).get("items", ())
            for condition in node["status"]["conditions"]
        )

    def install(self, addon_name: str, *, version: str, region: str) -> None:
        """Make or change the objects of an add-on.

        Args:
            addon_name: Its name.
            version: The version of its images.
            region: Where its images are.
        """
        wanted = objects_of(addon_name, version=version, region=region)
        names = {item["metadata"].get("namespace", _NAMESPACE) for item in wanted}
        namespaces = [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            for name in sorted(names)
        ]
        for item in (*namespaces, *wanted):
            self._call("PATCH", f"{_path(item)}?fieldManager={_MANAGER}&force=true", item)

    def remove(self, addon_name: str) -> None:
        """Delete the objects of an add-on, but no namespace; those that are gone are none."""
        for item in objects_of(addon_name, version="", region=""):
            self._call("DELETE", _path(item))

    def lacks_webhook(self, addon_name: str) -> bool:
        """Say whether an add-on has a certificate, and cert-manager no webhook that judges it.

        Kubernetes then refuses the certificate, whoever has installed cert-manager.
        """
        if addon_name not in (TRAINING_OPERATOR, SPACES, INFERENCE):
            return False
        webhook = self._call("GET", _path(_webhook()))
        return webhook is None or not _has_its_pods(webhook)

    def lacks_dependency(self, addon_name: str) -> str | None:
        """Return what the inference operator says of a dependency that is not there, if of any.

        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-ts-cli.html
        """
        if addon_name != INFERENCE:
            return None
        for title, driver in (("S3", "s3.csi.aws.com"), ("FSx", "fsx.csi.aws.com")):
            if self._call("GET", _path(_csi_driver(driver))) is None:
                return (
                    f"{title} CSI driver not installed (missing CSIDriver {driver}). Please "
                    f"install the required CSI driver{_GUIDE}"
                )
        if self._call("GET", _path(_webhook())) is None:
            return (
                "Missing required CRD: certificaterequests.cert-manager.io. The cert-manager "
                f"add-on is not installed. Please install cert-manager{_GUIDE}"
            )
        return None

    def lacks_node(self, addon_name: str) -> bool:
        """Say whether an add-on that needs a node first has none."""
        if addon_name != METRICS:
            return False
        found = self._call("GET", "/api/v1/nodes")
        return not (found or {}).get("items")

    def is_healthy(self, addon_name: str) -> bool:
        """Say whether all workloads of an add-on are there, and all their pods ready."""
        return all(self._healthy(addon_name))

    def _healthy(self, addon_name: str) -> Iterator[bool]:
        for item in objects_of(addon_name, version="", region=""):
            if item["kind"] in _WORKLOADS:
                found = self._call("GET", _path(item))
                yield found is not None and _has_its_pods(found)

    def _call(self, method: str, path: str, body: Object | None = None) -> Object | None:
        """Return the answer; None if there is no such object."""
        # The URL is the emulator's own, on the loopback interface.
        request = urllib.request.Request(  # noqa: S310
            f"{self.endpoint}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/apply-patch+yaml",
            },
        )
        context = ssl.create_default_context(cadata=base64.b64decode(self.ca).decode())
        # As emulator/kubernetes/server/background_server.py says.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        try:
            with urllib.request.urlopen(  # noqa: S310
                request, timeout=_SECONDS, context=context
            ) as answer:
                found: Object = json.loads(answer.read())
        except urllib.error.HTTPError as error:
            if error.code != HTTPStatus.NOT_FOUND:
                raise
            return None
        return found


def _path(item: Mapping[str, Any]) -> str:
    metadata, version = item["metadata"], item["apiVersion"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    place = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{root}{place}/{_PLURALS[item['kind']]}/{metadata['name']}"


def _has_its_pods(workload: Object) -> bool:
    status = workload.get("status") or {}
    if workload["kind"] == "DaemonSet":
        return bool(status.get("numberReady", 0) >= status.get("desiredNumberScheduled", 0))
    return bool(status.get("readyReplicas", 0) >= workload["spec"]["replicas"])
